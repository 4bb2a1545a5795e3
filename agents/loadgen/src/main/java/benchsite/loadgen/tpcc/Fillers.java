package benchsite.loadgen.tpcc;

import benchsite.loadgen.tpcc.Draws.Constants;
import benchsite.loadgen.tpcc.Rows.Filler;
import benchsite.loadgen.tpcc.Rows.Key;
import benchsite.loadgen.tpcc.Rows.Row;
import benchsite.loadgen.workload.RowSource;
import java.sql.SQLException;
import java.util.SplittableRandom;

/**
 * What is in the rows of each table. The payments of warehouses and districts are what the history adds up to.
 *
 * <p>An order has 5 to 15 lines. So that every line can be made from its row number alone, two neighbours have 20
 * together: the first draws, the second has the rest. Either count is uniform, as the standard wants it.
 */
final class Fillers {
    private static final int PAID_BY_CUSTOMER_CENTS = 10_00;

    private Fillers() {}

    private static int tax(SplittableRandom random) {
        return random.nextInt(2_000 + 1);
    }

    static Filler warehouses(Scale scale, long seed) {
        long paid = (long) Scale.DISTRICTS * scale.customers() * PAID_BY_CUSTOMER_CENTS;
        return (row, random, number) -> row.number((int) number + 1).text(Texts.alphanumeric(random, 6, 10))
            .address(random).decimal(tax(random), 4).decimal(paid, 2);
    }

    static Filler districts(Scale scale, long seed) {
        long paid = (long) scale.customers() * PAID_BY_CUSTOMER_CENTS;
        return (row, random, number) -> {
            Key key = Key.of(number, 1);
            row.number(key.district(), key.warehouse()).text(Texts.alphanumeric(random, 6, 10)).address(random)
                .decimal(tax(random), 4).decimal(paid, 2).number(scale.customers() + 1);
        };
    }

    static Filler customers(Scale scale, long seed) {
        int names = scale.lastNames();
        return (row, random, number) -> {
            Key key = Key.of(number, scale.customers());
            String credit = random.nextInt(10) == 0 ? "BC" : "GC";
            row.number(key.id(), key.district(), key.warehouse()).text(Texts.alphanumeric(random, 8, 16), "OE");
            int lastName = key.id() <= names ? key.id() - 1
                : Constants.nonUniform(random, Constants.A_LAST_NAME, Constants.LOADED_LAST_NAME, 0, names - 1);
            row.text(Texts.lastName(lastName)).address(random).text(Texts.digits(random, 16)).time(Rows.LOADED)
                .text(credit).decimal(50_000_00, 2).decimal(random.nextInt(5_000 + 1), 4)
                .decimal(-PAID_BY_CUSTOMER_CENTS, 2).decimal(PAID_BY_CUSTOMER_CENTS, 2).number(1, 0)
                .text(Texts.alphanumeric(random, 300, 500));
        };
    }

    /** The one payment that each customer has made. */
    static Filler payments(Scale scale, long seed) {
        return (row, random, number) -> {
            Key key = Key.of(number, scale.customers());
            row.number(key.id(), key.district(), key.warehouse(), key.district(), key.warehouse()).time(Rows.LOADED)
                .decimal(PAID_BY_CUSTOMER_CENTS, 2).text(Texts.alphanumeric(random, 12, 24));
        };
    }

    static Filler items(Scale scale, long seed) {
        return (row, random, number) -> row.number((int) number + 1, random.nextInt(1, 10_000 + 1))
            .text(Texts.alphanumeric(random, 14, 24)).decimal(random.nextInt(1_00, 100_00 + 1), 2)
            .text(Texts.data(random));
    }

    /** How many of each item every warehouse has. */
    static Filler stock(Scale scale, long seed) {
        return (row, random, number) -> {
            row.number((int) (number % scale.items()) + 1, (int) (number / scale.items()) + 1,
                random.nextInt(10, 100 + 1));
            for (int district = 0; district < Scale.DISTRICTS; district++) {
                row.text(Texts.alphanumeric(random, 24));
            }
            row.number(0, 0, 0).text(Texts.data(random));
        };
    }

    /** Lines of the first order of a pair; pairs are numbered through all districts and warehouses. */
    private static int linesOfFirst(long seed, long pair) {
        return RowSource.random(seed, "lines of orders", pair).nextInt(5, 15 + 1);
    }

    static final class Orders implements Filler {
        private final Scale scale;
        private final long seed;
        private int[] customers = {};
        private long district = -1;

        Orders(Scale scale, long seed) {
            this.scale = scale;
            this.seed = seed;
        }

        @Override
        public void fill(Row row, SplittableRandom random, long number) throws SQLException {
            Key key = Key.of(number, scale.customers());
            int first = linesOfFirst(seed, number / 2);
            row.number(key.id(), key.district(), key.warehouse(), customer(number)).time(Rows.LOADED);
            if (key.id() <= scale.delivered()) {
                row.number(random.nextInt(1, 10 + 1));
            } else {
                row.noNumber();
            }
            row.number(number % 2 == 0 ? first : Scale.LINES_PER_PAIR - first, 1);
        }

        /** Every customer of a district has one order; who has which is shuffled. */
        private int customer(long number) {
            if (number / scale.customers() != district) {
                district = number / scale.customers();
                customers = shuffled(RowSource.random(seed, "customers of orders", district), scale.customers());
            }
            return customers[(int) (number % scale.customers())];
        }

        private static int[] shuffled(SplittableRandom random, int count) {
            int[] numbers = new int[count];
            for (int index = 0; index < count; index++) {
                int other = random.nextInt(index + 1);
                numbers[index] = numbers[other];
                numbers[other] = index + 1;
            }
            return numbers;
        }
    }

    static final class Lines implements Filler {
        private final Scale scale;
        private final long seed;
        private long pair = -1;
        private int first;

        Lines(Scale scale, long seed) {
            this.scale = scale;
            this.seed = seed;
        }

        @Override
        public void fill(Row row, SplittableRandom random, long number) throws SQLException {
            if (number / Scale.LINES_PER_PAIR != pair) {
                pair = number / Scale.LINES_PER_PAIR;
                first = linesOfFirst(seed, pair);
            }
            int line = (int) (number % Scale.LINES_PER_PAIR);
            Key order = Key.of(2 * pair + (line < first ? 0 : 1), scale.customers());
            row.number(order.id(), order.district(), order.warehouse(), 1 + (line < first ? line : line - first))
                .number(random.nextInt(1, scale.items() + 1), order.warehouse());
            if (order.id() <= scale.delivered()) {
                row.time(Rows.LOADED).number(5).decimal(0, 2);
            } else {
                row.noTime().number(5).decimal(random.nextInt(1, 9_999_99 + 1), 2);
            }
            row.text(Texts.alphanumeric(random, 24));
        }
    }

    static Filler newOrders(Scale scale, long seed) {
        return (row, random, number) -> {
            Key key = Key.of(number, scale.customers() - scale.delivered());
            row.number(scale.delivered() + key.id(), key.district(), key.warehouse());
        };
    }
}
