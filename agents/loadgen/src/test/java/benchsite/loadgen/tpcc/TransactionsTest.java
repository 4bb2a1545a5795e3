package benchsite.loadgen.tpcc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchsite.loadgen.workload.Program.Work;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The effect of each transaction on the tables. */
class TransactionsTest {
    private static final Timestamp NOW = Timestamp.valueOf("2026-11-21 12:00:00");
    private static final String STOCK = " FROM stock WHERE s_w_id = 2 AND s_i_id = 7";
    private static final String CUSTOMER = " FROM customer WHERE c_w_id = 2 AND c_d_id = 4 AND c_id = 5";
    private Shop shop;

    @BeforeEach
    void open() throws SQLException {
        shop = new Shop();
    }

    @AfterEach
    void close() throws SQLException {
        shop.close();
    }

    private static NewOrder.Input order(int... itemsAndQuantities) {
        NewOrder.Line[] lines = new NewOrder.Line[itemsAndQuantities.length / 2];
        for (int index = 0; index < lines.length; index++) {
            lines[index] = new NewOrder.Line(itemsAndQuantities[2 * index], 2, itemsAndQuantities[2 * index + 1]);
        }
        return new NewOrder.Input(1, 3, 5, lines, NOW);
    }

    @Test
    void aNewOrderTakesTheNextNumberAndItsStock() throws Exception {
        shop.run("UPDATE stock SET s_quantity = 20 WHERE s_w_id = 2 AND s_i_id = 7");
        shop.run("UPDATE stock SET s_quantity = 19 WHERE s_w_id = 2 AND s_i_id = 8");
        BigDecimal price = shop.number("SELECT i_price FROM item WHERE i_id = 7");
        assertTrue(shop.work("new_order").execute(order(7, 10, 8, 10)));
        assertEquals("32", shop.value("SELECT d_next_o_id FROM district WHERE d_w_id = 1 AND d_id = 3"));
        String order = " WHERE o_w_id = 1 AND o_d_id = 3 AND o_id = 31";
        assertEquals("5 2 0", shop.value("SELECT o_c_id || ' ' || o_ol_cnt || ' ' || o_all_local FROM orders" + order
            + " AND o_carrier_id IS NULL AND o_entry_d = TIMESTAMP '2026-11-21 12:00:00'"));
        assertEquals("1", shop.value(
            "SELECT COUNT(*) FROM new_order WHERE no_w_id = 1 AND no_d_id = 3 AND no_o_id = 31"));
        String line = " FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = 31 AND ol_number = 1";
        assertEquals(price.multiply(BigDecimal.TEN).toPlainString(), shop.value("SELECT ol_amount" + line));
        assertEquals("7 2 10", shop.value(
            "SELECT ol_i_id || ' ' || ol_supply_w_id || ' ' || ol_quantity" + line + " AND ol_delivery_d IS NULL"));
        assertEquals(shop.value("SELECT s_dist_03" + STOCK), shop.value("SELECT ol_dist_info" + line));
        assertEquals("10 10 1 1", shop.value(
            "SELECT s_quantity || ' ' || s_ytd || ' ' || s_order_cnt || ' ' || s_remote_cnt" + STOCK));
        assertEquals("100", shop.value("SELECT s_quantity FROM stock WHERE s_w_id = 2 AND s_i_id = 8"),
            "less than 10 would be left: 91 come in");
    }

    @Test
    void anUnusedItemRollsTheOrderBack() throws Exception {
        assertFalse(shop.work("new_order").execute(order(7, 1, Shop.ITEMS + 1, 1)));
        assertEquals("1", shop.value("SELECT s_order_cnt" + STOCK), "what comes before it has been done");
    }

    @Test
    void oneOrderInHundredHasAnUnusedItemAsItsLast() throws Exception {
        Work work = shop.work("new_order");
        SplittableRandom random = new SplittableRandom(3);
        int unused = 0;
        int local = 0;
        for (int number = 0; number < 20_000; number++) {
            NewOrder.Input drawn = (NewOrder.Input) work.draw(random);
            NewOrder.Line[] lines = drawn.lines();
            assertTrue(lines.length >= 5 && lines.length <= 15);
            for (int index = 1; index < lines.length; index++) {
                assertTrue(lines[index - 1].item() <= lines[index].item(), "in the order of the items");
            }
            unused += lines[lines.length - 1].item() > Shop.ITEMS ? 1 : 0;
            local += drawn.isLocal() ? 1 : 0;
        }
        assertEquals(0.01, unused / 20_000.0, 0.003);
        assertEquals(0.905, local / 20_000.0, 0.015, "one line in hundred is remote, ten lines an order");
    }

    private Payment.Input payment(Draws.Customer customer) {
        return new Payment.Input(1, 3, customer, new BigDecimal("12.34"), NOW);
    }

    @Test
    void aPaymentIsBookedFourTimes() throws Exception {
        shop.run("UPDATE customer SET c_credit = 'GC' WHERE c_w_id = 2 AND c_d_id = 4 AND c_id = 5");
        String data = shop.value("SELECT c_data" + CUSTOMER);
        assertTrue(shop.work("payment").execute(payment(new Draws.Customer(2, 4, 5, null))));
        assertEquals("3012.34", shop.value("SELECT w_ytd FROM warehouse WHERE w_id = 1"));
        assertEquals("312.34", shop.value("SELECT d_ytd FROM district WHERE d_w_id = 1 AND d_id = 3"));
        assertEquals("-22.34 22.34 2", shop.value(
            "SELECT c_balance || ' ' || c_ytd_payment || ' ' || c_payment_cnt" + CUSTOMER));
        assertEquals(data, shop.value("SELECT c_data" + CUSTOMER));
        String history = "SELECT h_data FROM history WHERE h_c_id = 5 AND h_c_d_id = 4 AND h_c_w_id = 2 "
            + "AND h_d_id = 3 AND h_w_id = 1 AND h_amount = 12.34";
        String names = "SELECT w_name || '    ' || d_name FROM warehouse, district WHERE w_id = 1 AND d_w_id = 1 "
            + "AND d_id = 3";
        assertEquals(shop.value(names), shop.value(history));
        assertEquals(Map.of(), shop.violations("run"));
    }

    @Test
    void aPaymentOfBadCreditIsWrittenIntoTheCustomersData() throws Exception {
        shop.run("UPDATE customer SET c_credit = 'BC', c_data = 'old' WHERE c_w_id = 2 AND c_d_id = 4 AND c_id = 5");
        Work work = shop.work("payment");
        work.execute(payment(new Draws.Customer(2, 4, 5, null)));
        assertEquals("5 4 2 3 1 12.34|old", shop.value("SELECT c_data" + CUSTOMER));
        for (int payment = 0; payment < 40; payment++) {
            work.execute(payment(new Draws.Customer(2, 4, 5, null)));
        }
        assertEquals("500", shop.value("SELECT LENGTH(c_data)" + CUSTOMER));
    }

    @Test
    void ofCustomersWithTheSameNameTheMiddleOnePays() throws Exception {
        shop.run("UPDATE customer SET c_last = 'MIDDLING', c_first = CASE c_id WHEN 1 THEN 'D' WHEN 2 THEN 'A' "
            + "WHEN 3 THEN 'C' ELSE 'B' END WHERE c_w_id = 2 AND c_d_id = 4 AND c_id <= 4");
        Work work = shop.work("payment");
        work.execute(payment(new Draws.Customer(2, 4, 0, "MIDDLING")));
        assertEquals("4", shop.value("SELECT c_id FROM customer WHERE c_payment_cnt = 2"), "second of four");
        shop.run("UPDATE customer SET c_last = 'ELSE' WHERE c_w_id = 2 AND c_d_id = 4 AND c_id = 1");
        work.execute(payment(new Draws.Customer(2, 4, 0, "MIDDLING")));
        assertEquals("4", shop.value("SELECT c_id FROM customer WHERE c_payment_cnt = 3"), "second of three");
        assertThrows(SQLException.class, () -> work.execute(payment(new Draws.Customer(2, 4, 0, "NOBODY"))));
    }

    @Test
    void orderStatusFindsTheLinesOfTheLastOrder() throws Exception {
        shop.work("new_order").execute(order(7, 1, 8, 2, 9, 3));
        OrderStatus work = (OrderStatus) shop.work("order_status");
        var lines = work.linesOfLastOrder(new Draws.Customer(1, 3, 5, null));
        assertEquals(3, lines.size());
        assertEquals(7, Prepared.whole(lines.get(0)[0]));
        String name = shop.value("SELECT c_last FROM customer WHERE c_w_id = 1 AND c_d_id = 3 AND c_id = 5");
        assertEquals(3, work.linesOfLastOrder(new Draws.Customer(1, 3, 0, name)).size(), "names are unique here");
    }

    @Test
    void aDeliveryTakesTheOldestOrderOfEachDistrict() throws Exception {
        String oldest = "SELECT o_c_id FROM orders WHERE o_w_id = 2 AND o_d_id = 9 AND o_id = " + (Shop.DELIVERED + 1);
        String customer = " FROM customer WHERE c_w_id = 2 AND c_d_id = 9 AND c_id = " + shop.value(oldest);
        BigDecimal amount = shop.number(
            "SELECT SUM(ol_amount) FROM order_line WHERE ol_w_id = 2 AND ol_d_id = 9 AND ol_o_id = 22");
        Work work = shop.work("delivery");
        assertTrue(work.execute(new Delivery.Input(2, 6, NOW)));
        assertEquals("10", shop.value(
            "SELECT COUNT(*) FROM orders WHERE o_w_id = 2 AND o_id = 22 AND o_carrier_id = 6"));
        assertEquals("80", shop.value("SELECT COUNT(*) FROM new_order WHERE no_w_id = 2 AND no_o_id > 22"));
        assertEquals("80", shop.value("SELECT COUNT(*) FROM new_order WHERE no_w_id = 2"));
        assertEquals("90", shop.value("SELECT COUNT(*) FROM new_order WHERE no_w_id = 1"));
        assertEquals(amount.subtract(BigDecimal.TEN).toPlainString(), shop.value("SELECT c_balance" + customer));
        assertEquals("1", shop.value("SELECT c_delivery_cnt" + customer));
        assertEquals(Map.of(), shop.violations("run"));
    }

    @Test
    void aDeliveryLeavesOutDistrictsWithoutNewOrders() throws Exception {
        Work work = shop.work("delivery");
        for (int time = 0; time < 9; time++) {
            work.execute(new Delivery.Input(1, 1, NOW));
        }
        assertEquals("0", shop.value("SELECT COUNT(*) FROM new_order WHERE no_w_id = 1"));
        assertTrue(work.execute(new Delivery.Input(1, 1, NOW)));
    }

    @Test
    void anOrderThatAnotherDeliveryHasTakenIsFollowedByTheNext() throws Exception {
        String oldest = Sql.ALL.getJSONObject("programs").getJSONObject("delivery").getJSONObject("sql")
            .getString("oldest");
        // Still sees order 5, which was delivered long ago.
        Work work = shop.work("delivery", "oldest", "SELECT n.* FROM (SELECT 5 AS no_o_id UNION ALL SELECT 22) n "
            + "CROSS JOIN (SELECT CAST(? AS INT) w, CAST(? AS INT) d) p WHERE n.no_o_id > ? ORDER BY 1");
        assertTrue(oldest.contains("no_o_id > ?"), oldest);
        assertTrue(work.execute(new Delivery.Input(1, 1, NOW)));
        assertEquals("10", shop.value(
            "SELECT COUNT(*) FROM orders WHERE o_w_id = 1 AND o_id = 22 AND o_carrier_id = 1"));
        assertEquals("80", shop.value("SELECT COUNT(*) FROM new_order WHERE no_w_id = 1"));
    }

    @Test
    void stockLevelCountsItemsOfTheLastTwentyOrders() throws Exception {
        shop.run("UPDATE stock SET s_quantity = 50");
        StockLevel work = (StockLevel) shop.work("stock_level");
        assertEquals(0, work.count(new StockLevel.Input(1, 3, 20)));
        shop.run("UPDATE order_line SET ol_i_id = 7 WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id IN (11, 12)");
        shop.run("UPDATE order_line SET ol_i_id = 8 WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_o_id = 10");
        shop.run("UPDATE stock SET s_quantity = CASE WHEN s_i_id IN (7, 8) THEN 19 ELSE 50 END");
        int others = shop.number("SELECT COUNT(*) FROM order_line WHERE ol_w_id = 1 AND ol_d_id = 3 AND ol_i_id = 8 "
            + "AND ol_o_id >= 11").intValue();
        assertEquals(1 + Math.min(others, 1), work.count(new StockLevel.Input(1, 3, 20)), "order 10 is too old");
        assertEquals(0, work.count(new StockLevel.Input(1, 3, 19)));
    }
}
