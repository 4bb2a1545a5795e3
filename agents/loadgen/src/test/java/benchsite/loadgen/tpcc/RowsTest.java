package benchsite.loadgen.tpcc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchsite.loadgen.tpcc.Draws.Constants;
import benchsite.loadgen.workload.RowSource;
import java.lang.reflect.Proxy;
import java.sql.PreparedStatement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

class RowsTest {
    private static final int LAST_NAME = 5;

    /** What a source sets for a row. */
    private static List<Object> row(RowSource source, long number) throws Exception {
        List<Object> values = new ArrayList<>();
        PreparedStatement recorder = (PreparedStatement) Proxy.newProxyInstance(RowsTest.class.getClassLoader(),
            new Class<?>[] {PreparedStatement.class}, (proxy, method, arguments) -> {
                assertEquals(values.size() + 1, arguments[0], "parameters are set one after another");
                values.add(method.getName().equals("setNull") ? "null" : arguments[1]);
                return null;
            });
        source.bind(recorder, number, 0);
        return values;
    }

    @Test
    void aRowDependsOnItsNumberAndTheSeedOnly() throws Exception {
        for (String name : Sql.ALL.getJSONObject("tables").keySet()) {
            JSONObject table = Shop.table(name);
            long last = table.getLong("rows") - 1;
            RowSource forwards = Shop.source(table, 42);
            List<Object> first = row(forwards, 0);
            assertEquals(forwards.width(), first.size(), name);
            List<Object> end = row(forwards, last);
            RowSource backwards = Shop.source(table, 42);
            assertEquals(end, row(backwards, last), name);
            assertEquals(first, row(backwards, 0), name);
            assertEquals(forwards.bytes(), backwards.bytes(), name);
            if (!name.equals("new_order")) { // nothing in it is drawn
                assertNotEquals(first, row(Shop.source(table, 43), 0), name);
            }
        }
    }

    /** Less the constant a name is a number x | y with many bits set: 5.69 of the lower 8; less another one 5.42. */
    @Test
    void theLastNamesOfALoadAreDrawnWithTheSameConstantWhateverItsSeed() throws Exception {
        Map<Object, Integer> numbers = new HashMap<>();
        for (int number = 0; number < 1_000; number++) {
            numbers.put(Texts.lastName(number), number);
        }
        JSONObject table = Shop.table("customer").put("parameters", new JSONObject().put("warehouses", 1));
        for (long seed : new long[] {42, 43}) {
            RowSource customers = Shop.source(table, seed);
            int bits = 0;
            for (int customer = 1_000; customer < 3_000; customer++) {
                int drawn = numbers.get(row(customers, customer).get(LAST_NAME)) - Constants.LOADED_LAST_NAME;
                bits += Integer.bitCount(Math.floorMod(drawn, 1_000) & Constants.A_LAST_NAME);
            }
            assertEquals(5.69, bits / 2_000.0, 0.13, "seed " + seed);
        }
    }

    @Test
    void bytesAreCounted() throws Exception {
        RowSource source = Shop.source(Shop.table("new_order"), 42);
        row(source, 0);
        row(source, 1);
        assertEquals(2 * 3 * 4, source.bytes());
    }

    @Test
    void aLoadedDatabaseIsConsistent() throws Exception {
        try (Shop shop = new Shop()) {
            assertEquals(Map.of(), shop.violations("load"));
            assertEquals("6000", shop.value("SELECT COUNT(*) FROM order_line"));
            assertEquals("180", shop.value("SELECT COUNT(*) FROM new_order"));
            assertEquals("5", shop.value("SELECT MIN(o_ol_cnt) FROM orders"));
            assertEquals("15", shop.value("SELECT MAX(o_ol_cnt) FROM orders"));
        }
    }

    @Test
    void everyCustomerHasOneOrder() throws Exception {
        try (Shop shop = new Shop()) {
            assertEquals("600", shop.value("SELECT COUNT(*) FROM customer JOIN orders "
                + "ON o_w_id = c_w_id AND o_d_id = c_d_id AND o_c_id = c_id"));
            assertNotEquals("30", shop.value(
                "SELECT COUNT(*) FROM orders WHERE o_w_id = 1 AND o_d_id = 1 AND o_id = o_c_id"), "they are shuffled");
        }
    }

    @Test
    void whatIsNotDeliveredHasNoCarrierAndADifferentAmount() throws Exception {
        try (Shop shop = new Shop()) {
            assertEquals("0", shop.value("SELECT COUNT(*) FROM orders WHERE (o_id <= 21) = (o_carrier_id IS NULL)"));
            assertEquals("0", shop.value(
                "SELECT COUNT(*) FROM order_line WHERE (ol_o_id <= 21) = (ol_delivery_d IS NULL OR ol_amount > 0)"));
            assertTrue(shop.number("SELECT COUNT(*) FROM customer WHERE c_credit = 'BC'").intValue() > 20);
        }
    }
}
