package benchsite.loadgen.tpcc;

import benchsite.loadgen.tpcc.Transaction.Statements;
import benchsite.loadgen.workload.Program;
import benchsite.loadgen.workload.RowSource;
import benchsite.loadgen.workload.Program.Work;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.json.JSONObject;

/** What a job can name: five transactions and nine tables of the TPC-C standard. */
public final class Tpcc {
    public static final Map<String, Function<JSONObject, Program>> PROGRAMS = Map.of(
        "tpcc.new_order", definition -> new Named(definition, NewOrder::new),
        "tpcc.payment", definition -> new Named(definition, Payment::new),
        "tpcc.order_status", definition -> new Named(definition, OrderStatus::new),
        "tpcc.delivery", definition -> new Named(definition, Delivery::new),
        "tpcc.stock_level", definition -> new Named(definition, StockLevel::new));

    /** Each thread of a load makes its own, from the table of the job and the seed. */
    public static final Map<String, BiFunction<JSONObject, Long, RowSource>> ROW_SOURCES = Map.of(
        "tpcc.warehouse", rows(9, Fillers::warehouses),
        "tpcc.district", rows(11, Fillers::districts),
        "tpcc.customer", rows(21, Fillers::customers),
        "tpcc.history", rows(8, Fillers::payments),
        "tpcc.orders", rows(8, Fillers.Orders::new),
        "tpcc.order_line", rows(10, Fillers.Lines::new),
        "tpcc.new_order", rows(3, Fillers::newOrders),
        "tpcc.item", rows(5, Fillers::items),
        "tpcc.stock", rows(17, Fillers::stock));

    private Tpcc() {}

    private static BiFunction<JSONObject, Long, RowSource> rows(int width, Rows.Filler.Maker maker) {
        return (table, seed) -> new Rows(table, seed, width, maker);
    }

    private interface Opening {
        Work open(Statements statements, Draws draws) throws SQLException;
    }

    /** One of the five transactions, with the SQL of the job by the names that its class asks for. */
    private static final class Named extends Program {
        private final JSONObject sql;
        private final Draws draws;
        private final Opening opening;

        Named(JSONObject definition, Opening opening) {
            super(definition);
            this.sql = definition.getJSONObject("sql");
            this.draws = Draws.of(definition.getJSONObject("parameters"));
            this.opening = opening;
        }

        @Override
        public Work open(Connection connection, int terminal) throws SQLException {
            return opening.open(new Statements(connection, sql), draws);
        }
    }
}
