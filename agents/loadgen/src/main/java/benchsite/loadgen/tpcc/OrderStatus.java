package benchsite.loadgen.tpcc;

import java.sql.SQLException;
import java.util.List;
import java.util.SplittableRandom;

/** The Order-Status transaction, clause 2.6: a customer's balance and the lines of the last order. */
final class OrderStatus extends Transaction {
    private final Prepared byName = prepare("customers_by_name");
    private final Prepared customer = prepare("customer");
    private final Prepared lastOrder = prepare("last_order");
    private final Prepared lines = prepare("lines");

    OrderStatus(Statements statements, Draws draws) throws SQLException {
        super(statements, draws);
    }

    @Override
    public Draws.Customer draw(SplittableRandom random) {
        return draws.customer(random, draws.warehouse(random), draws.district(random));
    }

    @Override
    public boolean execute(Object values) throws SQLException {
        linesOfLastOrder((Draws.Customer) values);
        return true;
    }

    List<Object[]> linesOfLastOrder(Draws.Customer of) throws SQLException {
        int id = of.resolve(byName);
        customer.row(of.warehouse(), of.district(), id);
        int order = Prepared.whole(lastOrder.row(of.warehouse(), of.district(), id)[0]);
        return lines.rows(of.warehouse(), of.district(), order);
    }
}
