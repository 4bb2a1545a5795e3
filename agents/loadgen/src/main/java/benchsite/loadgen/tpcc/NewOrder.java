package benchsite.loadgen.tpcc;

import java.math.BigDecimal;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.Arrays;
import java.util.Comparator;
import java.util.SplittableRandom;

/**
 * The New-Order transaction, clause 2.4: an order of 5 to 15 lines, one line in a hundred from another warehouse, one
 * order in a hundred with an unused item, which is rolled back.
 *
 * <p>The number of the order is read after it was counted up, so that two terminals never take the same one, whatever
 * the isolation level is and whether or not a SELECT can lock. Lines come in the order of their items: two orders
 * never wait for each other's stock.
 */
final class NewOrder extends Transaction {
    record Line(int item, int supplier, int quantity) {}

    record Input(int warehouse, int district, int customer, Line[] lines, Timestamp at) {
        boolean isLocal() {
            return Arrays.stream(lines).allMatch(line -> line.supplier() == warehouse);
        }
    }

    private static final Comparator<Line> BY_ITEM =
        Comparator.comparingInt(Line::item).thenComparingInt(Line::supplier);
    private final Prepared warehouse = prepare("warehouse");
    private final Prepared district = prepare("district");
    private final Prepared takeNumber = prepare("take_number");
    private final Prepared nextNumber = prepare("next_number");
    private final Prepared customer = prepare("customer");
    private final Prepared order = prepare("insert_order");
    private final Prepared newOrder = prepare("insert_new_order");
    private final Prepared item = prepare("item");
    private final Prepared takeStock = prepare("take_stock");
    private final Prepared[] stock = new Prepared[Scale.DISTRICTS];
    private final Prepared line = prepare("insert_line");

    NewOrder(Statements statements, Draws draws) throws SQLException {
        super(statements, draws);
        for (int number = 1; number <= stock.length; number++) {
            stock[number - 1] = prepare("stock_%02d".formatted(number));
        }
    }

    @Override
    public Input draw(SplittableRandom random) {
        int home = draws.warehouse(random);
        int inDistrict = draws.district(random);
        int of = draws.customer(random);
        Line[] lines = new Line[random.nextInt(5, 15 + 1)];
        for (int index = 0; index < lines.length; index++) {
            lines[index] =
                new Line(draws.item(random), draws.remote(random, home, 1), random.nextInt(1, 10 + 1));
        }
        if (random.nextInt(100) == 0) {
            int last = lines.length - 1;
            lines[last] = new Line(draws.unusedItem(), lines[last].supplier(), lines[last].quantity());
        }
        Arrays.sort(lines, BY_ITEM); // an unused item has the highest number and stays last
        return new Input(home, inDistrict, of, lines, draws.now());
    }

    @Override
    public boolean execute(Object values) throws SQLException {
        Input input = (Input) values;
        int home = input.warehouse();
        warehouse.row(home);
        district.row(home, input.district());
        takeNumber.updateRow(home, input.district());
        int number = Prepared.whole(nextNumber.row(home, input.district())[0]) - 1;
        customer.row(home, input.district(), input.customer());
        order.updateRow(number, input.district(), home, input.customer(), input.at(), input.lines().length,
            input.isLocal() ? 1 : 0);
        newOrder.updateRow(number, input.district(), home);
        for (int index = 0; index < input.lines().length; index++) {
            if (!sell(input, number, index + 1, input.lines()[index])) {
                return false;
            }
        }
        return true;
    }

    private boolean sell(Input input, int orderNumber, int lineNumber, Line sold) throws SQLException {
        Object[] wanted = item.first(sold.item());
        if (wanted == null) {
            return false;
        }
        int quantity = sold.quantity();
        int remote = sold.supplier() == input.warehouse() ? 0 : 1;
        takeStock.updateRow(quantity, quantity, quantity, quantity, remote, sold.supplier(), sold.item());
        Object[] left = stock[input.district() - 1].row(sold.supplier(), sold.item());
        BigDecimal amount = Prepared.money(wanted[0]).multiply(BigDecimal.valueOf(quantity));
        line.updateRow(orderNumber, input.district(), input.warehouse(), lineNumber, sold.item(), sold.supplier(),
            quantity, amount, left[1].toString());
        return true;
    }
}
