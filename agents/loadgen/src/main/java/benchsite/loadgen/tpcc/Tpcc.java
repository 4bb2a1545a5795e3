package benchsite.loadgen.tpcc;

import benchsite.loadgen.Program;
import benchsite.loadgen.RowSources;
import java.util.Map;
import java.util.function.Function;
import org.json.JSONObject;

/** What a job can name as {@code tpcc.<name>}: five transactions and nine tables of the TPC-C standard. */
public final class Tpcc {
    public static final Map<String, Function<JSONObject, Program>> PROGRAMS = Map.of(
        "new_order", definition -> new TpccProgram(definition, NewOrder::new),
        "payment", definition -> new TpccProgram(definition, Payment::new),
        "order_status", definition -> new TpccProgram(definition, OrderStatus::new),
        "delivery", definition -> new TpccProgram(definition, Delivery::new),
        "stock_level", definition -> new TpccProgram(definition, StockLevel::new));

    public static final Map<String, RowSources.Maker> ROW_SOURCES = Map.of(
        "warehouse", WarehouseRows.Warehouses::new,
        "district", WarehouseRows.Districts::new,
        "customer", CustomerRows.Customers::new,
        "history", CustomerRows.Payments::new,
        "orders", OrderRows.Orders::new,
        "order_line", OrderRows.Lines::new,
        "new_order", OrderRows.NewOnes::new,
        "item", StockRows.Items::new,
        "stock", StockRows.Stock::new);

    private Tpcc() {}
}
