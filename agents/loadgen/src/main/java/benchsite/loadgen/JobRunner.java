package benchsite.loadgen;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import org.json.JSONArray;
import org.json.JSONObject;

/** Does the steps of a job in order. */
final class JobRunner {
    private final JSONObject job;
    private final Database database;
    private final Events events;

    JobRunner(JSONObject job, Events events) {
        if (job.getInt("version") != 1) {
            throw new IllegalArgumentException("job version " + job.getInt("version") + " is not 1");
        }
        this.job = job;
        this.events = events;
        this.database = new Database(job);
    }

    void run() throws PhaseException, SQLException, InterruptedException {
        // Held open for the whole job: some embedded engines close a database with its last connection.
        try (Connection anchor = database.connectPlain()) {
            for (Object step : job.getJSONArray("steps")) {
                perform((JSONObject) step, anchor);
            }
        }
        close();
    }

    private void perform(JSONObject step, Connection anchor) throws PhaseException {
        String operation = step.getString("op");
        String phase = step.optString("phase", operation);
        try {
            switch (operation) {
                case "execute" -> execute(step, phase, anchor);
                case "load" -> new Loader(database, events).load(step, phase);
                case "run" -> new LoadPhase(database, events, step).run();
                case "query" -> query(step, anchor);
                default -> throw new IllegalArgumentException("unknown step: " + operation);
            }
        } catch (SQLException | RuntimeException | InterruptedException problem) {
            throw new PhaseException(phase, problem);
        }
    }

    private void execute(JSONObject step, String phase, Connection anchor) throws SQLException {
        events.phase(phase, "begin");
        long begun = System.nanoTime();
        JSONArray statements = step.getJSONArray("statements");
        try (Statement statement = anchor.createStatement()) {
            for (Object sql : statements) {
                statement.execute(sql.toString());
            }
        }
        events.emit(Events.phaseEvent(phase, "end").put("elapsed_s", Clock.seconds(begun, System.nanoTime()))
            .put("statements", statements.length()));
    }

    private void query(JSONObject step, Connection anchor) throws SQLException {
        try (Statement statement = anchor.createStatement(); ResultSet result = statement.executeQuery(step.getString("sql"))) {
            ResultSetMetaData shape = result.getMetaData();
            JSONArray columns = new JSONArray();
            for (int column = 1; column <= shape.getColumnCount(); column++) {
                columns.put(shape.getColumnLabel(column));
            }
            events.emit(new JSONObject().put("event", "query").put("name", step.getString("name")).put("columns", columns)
                .put("rows", rows(result, shape.getColumnCount())));
        }
    }

    private static JSONArray rows(ResultSet result, int columns) throws SQLException {
        JSONArray rows = new JSONArray();
        while (result.next()) {
            JSONArray row = new JSONArray();
            for (int column = 1; column <= columns; column++) {
                row.put(plain(result.getObject(column)));
            }
            rows.put(row);
        }
        return rows;
    }

    private static Object plain(Object value) {
        if (value == null) {
            return JSONObject.NULL;
        }
        return value instanceof Number || value instanceof Boolean ? value : value.toString();
    }

    private void close() throws SQLException {
        JSONArray statements = job.optJSONArray("close", new JSONArray());
        if (!statements.isEmpty()) {
            try (Connection last = database.connectPlain(); Statement statement = last.createStatement()) {
                for (Object sql : statements) {
                    statement.execute(sql.toString());
                }
            } catch (SQLException problem) {
                System.err.println("close: " + problem.getMessage());
            }
        }
        if (!job.isNull("close_url")) {
            database.touch(job.getString("close_url"));
        }
    }

    static JSONObject product(Connection connection) throws SQLException {
        DatabaseMetaData facts = connection.getMetaData();
        return new JSONObject().put("product", facts.getDatabaseProductName())
            .put("product_version", facts.getDatabaseProductVersion())
            .put("driver_name", facts.getDriverName()).put("driver_version", facts.getDriverVersion());
    }
}
