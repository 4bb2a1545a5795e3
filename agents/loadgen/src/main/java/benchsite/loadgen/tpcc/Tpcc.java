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
        "tpcc.warehouse", WarehouseRows.Warehouses::new,
        "tpcc.district", WarehouseRows.Districts::new,
        "tpcc.customer", CustomerRows.Customers::new,
        "tpcc.history", CustomerRows.Payments::new,
        "tpcc.orders", OrderRows.Orders::new,
        "tpcc.order_line", OrderRows.Lines::new,
        "tpcc.new_order", OrderRows.NewOnes::new,
        "tpcc.item", StockRows.Items::new,
        "tpcc.stock", StockRows.Stock::new);

    private Tpcc() {}
}
