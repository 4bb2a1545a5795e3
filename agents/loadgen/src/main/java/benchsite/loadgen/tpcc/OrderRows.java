package benchsite.loadgen.tpcc;

import benchsite.loadgen.workload.RowSource;
import java.sql.SQLException;
import java.util.SplittableRandom;
import org.json.JSONObject;

/**
 * Orders, their lines, and which of them are new.
 *
 * <p>An order has 5 to 15 lines. So that every line can be made from its row number alone, two neighbours have 20
 * together: the first draws, the second has the rest. Either count is uniform, as the standard wants it.
 */
final class OrderRows {
    private OrderRows() {}

    /** Lines of the first order of a pair; pairs are numbered through all districts and warehouses. */
    private static int linesOfFirst(long seed, long pair) {
        return RowSource.random(seed, "lines of orders", pair).nextInt(5, 15 + 1);
    }

    static final class Orders extends Rows {
        private int[] customers = {};
        private long district = -1;

        Orders(JSONObject table, long seed) {
            super(table, seed, 8);
        }

        @Override
        void fill(Row row, SplittableRandom random, long number) throws SQLException {
            Place place = Place.of(number, scale.customers());
            int first = linesOfFirst(seed, number / 2);
            row.number(place.id(), place.district(), place.warehouse(), customer(number)).time(LOADED);
            if (place.id() <= scale.delivered()) {
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

    static final class Lines extends Rows {
        private long pair = -1;
        private int first;

        Lines(JSONObject table, long seed) {
            super(table, seed, 10);
        }

        @Override
        void fill(Row row, SplittableRandom random, long number) throws SQLException {
            if (number / Scale.LINES_PER_PAIR != pair) {
                pair = number / Scale.LINES_PER_PAIR;
                first = linesOfFirst(seed, pair);
            }
            int line = (int) (number % Scale.LINES_PER_PAIR);
            Place order = Place.of(2 * pair + (line < first ? 0 : 1), scale.customers());
            row.number(order.id(), order.district(), order.warehouse(), 1 + (line < first ? line : line - first))
                .number(random.nextInt(1, scale.items() + 1), order.warehouse());
            if (order.id() <= scale.delivered()) {
                row.time(LOADED).number(5).decimal(0, 2);
            } else {
                row.noTime().number(5).decimal(random.nextInt(1, 9_999_99 + 1), 2);
            }
            row.text(Texts.alphanumeric(random, 24));
        }
    }

    static final class NewOnes extends Rows {
        NewOnes(JSONObject table, long seed) {
            super(table, seed, 3);
        }

        @Override
        void fill(Row row, SplittableRandom random, long number) throws SQLException {
            Place place = Place.of(number, scale.customers() - scale.delivered());
            row.number(scale.delivered() + place.id(), place.district(), place.warehouse());
        }
    }
}
