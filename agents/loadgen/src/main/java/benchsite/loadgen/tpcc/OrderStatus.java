package benchsite.loadgen.tpcc;

import benchsite.loadgen.workload.Work;
import java.sql.SQLException;
import java.util.List;
import java.util.SplittableRandom;

/** The Order-Status transaction, clause 2.6: a customer's balance and the lines of the last order. */
final class OrderStatus implements Work {
    private final Draws draws;
    private final Prepared byName;
    private final Prepared customer;
    private final Prepared lastOrder;
    private final Prepared lines;

    OrderStatus(Statements statements, Draws draws) throws SQLException {
        this.draws = draws;
        byName = statements.prepare("customers_by_name");
        customer = statements.prepare("customer");
        lastOrder = statements.prepare("last_order");
        lines = statements.prepare("lines");
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
