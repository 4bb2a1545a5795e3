package benchsite.loadgen.tpcc;

import java.sql.SQLException;
import java.util.SplittableRandom;
import org.json.JSONObject;

/** Warehouses and their districts. Their payments so far are what the rows of the history add up to. */
final class WarehouseRows {
    static final int PAID_BY_CUSTOMER_CENTS = 10_00;

    private WarehouseRows() {}

    private static int tax(SplittableRandom random) {
        return random.nextInt(2_000 + 1);
    }

    static final class Warehouses extends Rows {
        Warehouses(JSONObject table, long seed) {
            super(table, seed, 9);
        }

        @Override
        void fill(Row row, SplittableRandom random, long number) throws SQLException {
            long paid = (long) Scale.DISTRICTS * scale.customers() * PAID_BY_CUSTOMER_CENTS;
            row.number((int) number + 1).text(Texts.alphanumeric(random, 6, 10)).address(random)
                .decimal(tax(random), 4).decimal(paid, 2);
        }
    }

    static final class Districts extends Rows {
        Districts(JSONObject table, long seed) {
            super(table, seed, 11);
        }

        @Override
        void fill(Row row, SplittableRandom random, long number) throws SQLException {
            Place place = Place.of(number, 1);
            long paid = (long) scale.customers() * PAID_BY_CUSTOMER_CENTS;
            row.number(place.district(), place.warehouse()).text(Texts.alphanumeric(random, 6, 10)).address(random)
                .decimal(tax(random), 4).decimal(paid, 2).number(scale.customers() + 1);
        }
    }
}
