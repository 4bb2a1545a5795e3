package benchsite.loadgen.tpcc;

import benchsite.loadgen.workload.Program;
import benchsite.loadgen.workload.RowSource;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.json.JSONObject;

/** What a job can name: five transactions and nine tables of the TPC-C standard. */
public final class Tpcc {
    public static final Map<String, Function<JSONObject, Program>> PROGRAMS = Map.of(
        "tpcc.new_order", definition -> new TpccProgram(definition, NewOrder::new),
        "tpcc.payment", definition -> new TpccProgram(definition, Payment::new),
        "tpcc.order_status", definition -> new TpccProgram(definition, OrderStatus::new),
        "tpcc.delivery", definition -> new TpccProgram(definition, Delivery::new),
        "tpcc.stock_level", definition -> new TpccProgram(definition, StockLevel::new));

    /** Each thread of a load makes its own, from the table of the job and the seed. */
    public static final Map<String, BiFunction<JSONObject, Long, RowSource>> ROW_SOURCES = Map.of(
        "tpcc.warehouse", rows(9, WarehouseRows::warehouses),
        "tpcc.district", rows(11, WarehouseRows::districts),
        "tpcc.customer", rows(21, CustomerRows::customers),
        "tpcc.history", rows(8, CustomerRows::payments),
        "tpcc.orders", rows(8, OrderRows.Orders::new),
        "tpcc.order_line", rows(10, OrderRows.Lines::new),
        "tpcc.new_order", rows(3, OrderRows::newOrders),
        "tpcc.item", rows(5, StockRows::items),
        "tpcc.stock", rows(17, StockRows::stock));

    private Tpcc() {}

    private static BiFunction<JSONObject, Long, RowSource> rows(int width, Rows.Filler.Maker maker) {
        return (table, seed) -> new Rows(table, seed, width, maker);
    }
}
