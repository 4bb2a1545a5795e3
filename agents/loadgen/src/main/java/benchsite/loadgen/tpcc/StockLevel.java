package benchsite.loadgen.tpcc;

import benchsite.loadgen.workload.Work;
import java.sql.SQLException;
import java.util.SplittableRandom;

/** The Stock-Level transaction, clause 2.8: how many items of a district's last 20 orders are low in stock. */
final class StockLevel implements Work {
    record Input(int warehouse, int district, int threshold) {}

    private static final int ORDERS = 20;
    private final Draws draws;
    private final Prepared nextNumber;
    private final Prepared low;

    StockLevel(Statements statements, Draws draws) throws SQLException {
        this.draws = draws;
        nextNumber = statements.prepare("next_number");
        low = statements.prepare("low");
    }

    @Override
    public Input draw(SplittableRandom random) {
        return new Input(draws.warehouse(random), draws.district(random), random.nextInt(10, 20 + 1));
    }

    @Override
    public boolean execute(Object values) throws SQLException {
        count((Input) values);
        return true;
    }

    int count(Input input) throws SQLException {
        int next = Prepared.whole(nextNumber.row(input.warehouse(), input.district())[0]);
        Object[] found = low.row(input.warehouse(), input.district(), next - ORDERS, next, input.threshold());
        return Prepared.whole(found[0]);
    }
}
