package benchsite.loadgen.tpcc;

import benchsite.loadgen.tpcc.Rows.Filler;
import benchsite.loadgen.tpcc.Rows.Key;
import java.util.SplittableRandom;

/** Warehouses and their districts. Their payments so far are what the rows of the history add up to. */
final class WarehouseRows {
    static final int PAID_BY_CUSTOMER_CENTS = 10_00;

    private WarehouseRows() {}

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
}
