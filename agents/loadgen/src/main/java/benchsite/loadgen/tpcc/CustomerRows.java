package benchsite.loadgen.tpcc;

import static benchsite.loadgen.tpcc.WarehouseRows.PAID_BY_CUSTOMER_CENTS;

import benchsite.loadgen.tpcc.Rows.Filler;
import benchsite.loadgen.tpcc.Rows.Key;

/** Customers, and the one payment that each has made. */
final class CustomerRows {
    private CustomerRows() {}

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

    static Filler payments(Scale scale, long seed) {
        return (row, random, number) -> {
            Key key = Key.of(number, scale.customers());
            row.number(key.id(), key.district(), key.warehouse(), key.district(), key.warehouse()).time(Rows.LOADED)
                .decimal(PAID_BY_CUSTOMER_CENTS, 2).text(Texts.alphanumeric(random, 12, 24));
        };
    }
}
