package benchsite.loadgen.tpcc;

import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.SplittableRandom;

/**
 * The Delivery transaction, clause 2.7: the oldest new order of each district of a warehouse.
 *
 * <p>All ten in one transaction, done at once and not put into a queue. A district without a new order is left out.
 */
final class Delivery extends Transaction {
    record Input(int warehouse, int carrier, Timestamp at) {}

    private static final int NONE = 0;
    private final Prepared oldest = prepare("oldest");
    private final Prepared lock = prepare("lock");
    private final Prepared remove = prepare("remove");
    private final Prepared order = prepare("order");
    private final Prepared carry = prepare("carry");
    private final Prepared deliverLines = prepare("deliver_lines");
    private final Prepared amount = prepare("amount");
    private final Prepared chargeCustomer = prepare("charge_customer");

    Delivery(Statements statements, Draws draws) throws SQLException {
        super(statements, draws);
    }

    @Override
    public Input draw(SplittableRandom random) {
        return new Input(draws.warehouse(random), random.nextInt(1, 10 + 1), draws.now());
    }

    @Override
    public boolean execute(Object values) throws SQLException {
        Input input = (Input) values;
        for (int district = 1; district <= Scale.DISTRICTS; district++) {
            int number = takeOldest(input.warehouse(), district);
            if (number != NONE) {
                deliver(input, district, number);
            }
        }
        return true;
    }

    /** When another delivery was first, the next one: this transaction may still see what is gone. */
    private int takeOldest(int warehouse, int district) throws SQLException {
        Object[] next = oldest.first(warehouse, district, NONE);
        while (next != null) {
            int number = Prepared.whole(next[0]);
            if (lock.first(warehouse, district, number) != null && remove.update(warehouse, district, number) == 1) {
                return number;
            }
            next = oldest.first(warehouse, district, number);
        }
        return NONE;
    }

    private void deliver(Input input, int district, int number) throws SQLException {
        int home = input.warehouse();
        int customer = Prepared.whole(order.row(home, district, number)[0]);
        carry.updateRow(input.carrier(), home, district, number);
        deliverLines.update(input.at(), home, district, number);
        Object sum = amount.row(home, district, number)[0];
        chargeCustomer.updateRow(Prepared.money(sum), home, district, customer);
    }
}
