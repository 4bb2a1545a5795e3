package benchsite.loadgen.tpcc;

import java.sql.SQLException;
import java.util.SplittableRandom;
import org.json.JSONObject;

/** Customers, and the one payment that each has made. */
final class CustomerRows {
    private CustomerRows() {}

    static final class Customers extends Rows {
        Customers(JSONObject table, long seed) {
            super(table, seed, 21);
        }

        @Override
        void fill(Row row, SplittableRandom random, long number) throws SQLException {
            Place place = Place.of(number, scale.customers());
            String credit = random.nextInt(10) == 0 ? "BC" : "GC";
            row.number(place.id(), place.district(), place.warehouse())
                .text(Texts.alphanumeric(random, 8, 16), "OE", lastName(random, place.id())).address(random)
                .text(Texts.digits(random, 16)).time(LOADED).text(credit).decimal(50_000_00, 2)
                .decimal(random.nextInt(5_000 + 1), 4).decimal(-WarehouseRows.PAID_BY_CUSTOMER_CENTS, 2)
                .decimal(WarehouseRows.PAID_BY_CUSTOMER_CENTS, 2).number(1, 0)
                .text(Texts.alphanumeric(random, 300, 500));
        }

        private String lastName(SplittableRandom random, int customer) {
            int names = scale.lastNames();
            if (customer <= names) {
                return Texts.lastName(customer - 1);
            }
            return Texts.lastName(
                Constants.nonUniform(random, Constants.A_LAST_NAME, Constants.LOADED_LAST_NAME, 0, names - 1));
        }
    }

    static final class Payments extends Rows {
        Payments(JSONObject table, long seed) {
            super(table, seed, 8);
        }

        @Override
        void fill(Row row, SplittableRandom random, long number) throws SQLException {
            Place place = Place.of(number, scale.customers());
            row.number(place.id(), place.district(), place.warehouse(), place.district(), place.warehouse())
                .time(LOADED).decimal(WarehouseRows.PAID_BY_CUSTOMER_CENTS, 2)
                .text(Texts.alphanumeric(random, 12, 24));
        }
    }
}
