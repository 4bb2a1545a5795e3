package benchsite.loadgen.tpcc;

import benchsite.loadgen.workload.RowSource;
import benchsite.loadgen.workload.Program.Work;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import org.json.JSONObject;

/** A fresh database of two small warehouses in memory: 30 customers and orders a district, 1,000 items. */
final class Shop implements AutoCloseable {
    static final int CUSTOMERS = 30;
    static final int DELIVERED = 21;
    static final int ITEMS = 1_000;
    final Connection connection;

    Shop() throws SQLException {
        connection = DriverManager.getConnection("jdbc:h2:mem:" + UUID.randomUUID());
        for (Object sql : Sql.ALL.getJSONArray("schema")) {
            run(sql.toString());
        }
        JSONObject tables = Sql.ALL.getJSONObject("tables");
        for (String name : tables.keySet()) {
            fill(table(name), tables.getJSONObject(name).getString("insert"));
        }
    }

    static JSONObject table(String name) {
        return new JSONObject().put("name", name).put("program", "tpcc." + name)
            .put("rows", Sql.ALL.getJSONObject("tables").getJSONObject(name).getInt("rows"))
            .put("parameters", Sql.ALL.getJSONObject("parameters"));
    }

    static RowSource source(JSONObject table, long seed) {
        return Tpcc.ROW_SOURCES.get(table.getString("program")).apply(table, seed);
    }

    private void fill(JSONObject table, String insert) throws SQLException {
        RowSource rows = source(table, 42);
        try (PreparedStatement statement = connection.prepareStatement(insert)) {
            for (long row = 0; row < table.getLong("rows"); row++) {
                rows.bind(statement, row, 0);
                statement.addBatch();
            }
            statement.executeBatch();
        }
    }

    /** A transaction, prepared; its SQL can be replaced. */
    Work work(String name, String... replaced) throws SQLException {
        JSONObject program = new JSONObject(Sql.ALL.getJSONObject("programs").getJSONObject(name).toString());
        for (int index = 0; index < replaced.length; index += 2) {
            program.getJSONObject("sql").put(replaced[index], replaced[index + 1]);
        }
        program.put("parameters", Sql.ALL.getJSONObject("parameters"));
        return Tpcc.PROGRAMS.get(program.getString("program")).apply(program).open(connection, 0);
    }

    void run(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** The one value of a query, as text: numbers without needless digits. */
    String value(String sql) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet found = statement.executeQuery(sql)) {
            found.next();
            Object value = found.getObject(1);
            return value instanceof BigDecimal number ? number.toPlainString() : String.valueOf(value);
        }
    }

    BigDecimal number(String sql) throws SQLException {
        return new BigDecimal(value(sql));
    }

    /** Conditions that do not hold, with the number of rows that violate them; {@code when}: load or run. */
    Map<String, String> violations(String when) throws SQLException {
        Map<String, String> found = new LinkedHashMap<>();
        JSONObject conditions = Sql.ALL.getJSONObject(when + "_conditions");
        for (String name : conditions.keySet()) {
            String count = value(conditions.getString(name));
            if (!count.equals("0")) {
                found.put(name, count);
            }
        }
        return found;
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
