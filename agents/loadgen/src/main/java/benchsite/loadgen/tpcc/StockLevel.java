package benchsite.loadgen.tpcc;

import java.sql.SQLException;
import java.util.SplittableRandom;

/** The Stock-Level transaction, clause 2.8: how many items of a district's last 20 orders are low in stock. */
final class StockLevel extends Transaction {
    record Input(int warehouse, int district, int threshold) {}

    private static final int ORDERS = 20;
    private final Prepared nextNumber = prepare("next_number");
    private final Prepared low = prepare("low");

    StockLevel(Statements statements, Draws draws) throws SQLException {
        super(statements, draws);
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
        return Prepared.whole(
            low.row(input.warehouse(), input.district(), next - ORDERS, next, input.threshold())[0]);
    }
}
