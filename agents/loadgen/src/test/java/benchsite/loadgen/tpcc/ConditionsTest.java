package benchsite.loadgen.tpcc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Every consistency condition finds what it is there for. */
class ConditionsTest {
    private static final String ORDER = " WHERE o_w_id = 1 AND o_d_id = 1 AND o_id = ";
    private static final String LINE = " WHERE ol_w_id = 1 AND ol_d_id = 1 AND ol_number = 1 AND ol_o_id = ";
    // What breaks the database -> conditions that must notice; the seed has chosen warehouse 1.
    private static final Map<String, Set<String>> BROKEN = Map.ofEntries(
        Map.entry("UPDATE warehouse SET w_ytd = w_ytd + 0.01 WHERE w_id = 2", Set.of("1", "8")),
        Map.entry("UPDATE district SET d_ytd = d_ytd + 0.01 WHERE d_id = 4 AND d_w_id = 2", Set.of("1", "9")),
        Map.entry("UPDATE district SET d_next_o_id = 33 WHERE d_id = 4 AND d_w_id = 2", Set.of("2")),
        Map.entry("DELETE FROM new_order WHERE no_w_id = 1 AND no_d_id = 1 AND no_o_id = 25",
            Set.of("3", "5 (orders)", "11", "rows of new_order")),
        Map.entry("DELETE FROM order_line" + LINE + "25", Set.of("4", "6", "rows of order_line")),
        Map.entry("UPDATE orders SET o_carrier_id = 1" + ORDER + "25", Set.of("5 (new orders)", "7")),
        Map.entry("UPDATE orders SET o_carrier_id = NULL" + ORDER + "5", Set.of("5 (orders)", "7")),
        Map.entry("UPDATE order_line SET ol_delivery_d = NULL" + LINE + "5", Set.of("7")),
        Map.entry("UPDATE history SET h_amount = 10.01 WHERE h_c_w_id = 1 AND h_c_d_id = 1 AND h_c_id = 1",
            Set.of("8", "9", "10")),
        Map.entry("UPDATE customer SET c_balance = -9.99 WHERE c_w_id = 1 AND c_d_id = 1 AND c_id = 1",
            Set.of("10", "12")),
        Map.entry("UPDATE order_line SET ol_amount = 0.01" + LINE + "5", Set.of("10", "12")),
        // Nothing is left to add up or to compare with.
        Map.entry("DELETE FROM history WHERE h_w_id = 1", Set.of("8", "9", "10", "rows of history")),
        Map.entry("DELETE FROM orders WHERE o_w_id = 1 AND o_d_id = 4",
            Set.of("2", "4", "5 (new orders)", "11", "rows of orders")),
        Map.entry("DELETE FROM district WHERE d_w_id = 1", Set.of("1", "9", "rows of district")));

    @Test
    void whatIsBrokenIsFound() throws Exception {
        try (Shop shop = new Shop()) {
            shop.connection.setAutoCommit(false);
            for (Map.Entry<String, Set<String>> entry : BROKEN.entrySet()) {
                shop.run(entry.getKey());
                assertEquals(entry.getValue(), shop.violations("load").keySet(), entry.getKey());
                shop.connection.rollback();
            }
            assertTrue(shop.violations("load").isEmpty());
        }
    }
}
