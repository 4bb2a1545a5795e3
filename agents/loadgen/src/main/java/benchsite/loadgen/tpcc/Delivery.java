package benchsite.loadgen.tpcc;

import benchsite.loadgen.workload.Work;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.SplittableRandom;

/**
 * The Delivery transaction, clause 2.7: the oldest new order of each district of a warehouse.
 *
 * <p>All ten in one transaction, done at once and not put into a queue. A district without a new order is left out.
 */
final class Delivery implements Work {
    record Input(int warehouse, int carrier, Timestamp at) {}

    private static final int NONE = 0;
    private final Draws draws;
    private final Prepared oldest;
    private final Prepared lock;
    private final Prepared remove;
    private final Prepared order;
    private final Prepared carry;
    private final Prepared deliverLines;
    private final Prepared amount;
    private final Prepared chargeCustomer;

    Delivery(Statements statements, Draws draws) throws SQLException {
        this.draws = draws;
        oldest = statements.prepare("oldest");
        lock = statements.prepare("lock");
        remove = statements.prepare("remove");
        order = statements.prepare("order");
        carry = statements.prepare("carry");
        deliverLines = statements.prepare("deliver_lines");
        amount = statements.prepare("amount");
        chargeCustomer = statements.prepare("charge_customer");
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
        Object[] found = oldest.first(warehouse, district, NONE);
        while (found != null) {
            int number = Prepared.whole(found[0]);
            if (lock.first(warehouse, district, number) != null && remove.update(warehouse, district, number) == 1) {
                return number;
            }
            found = oldest.first(warehouse, district, number);
        }
        return NONE;
    }

    private void deliver(Input input, int district, int number) throws SQLException {
        int home = input.warehouse();
        int customer = Prepared.whole(order.row(home, district, number)[0]);
        carry.one(input.carrier(), home, district, number);
        deliverLines.update(input.at(), home, district, number);
        Object sum = amount.row(home, district, number)[0];
        chargeCustomer.one(Prepared.money(sum), home, district, customer);
    }
}
