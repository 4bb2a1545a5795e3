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
        } catch (SQLException | RuntimeException | InterruptedException | Error problem) {
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
        JSONObject event = new JSONObject().put("event", "query").put("name", step.getString("name"))
            .put("columns", new JSONArray()).put("rows", new JSONArray());
        try (Statement statement = anchor.createStatement()) {
            // A statement may return nothing at all, as a question about an unknown setting.
            if (statement.execute(step.getString("sql"))) {
                read(statement.getResultSet(), event);
            }
        }
        events.emit(event);
    }

    private static void read(ResultSet result, JSONObject event) throws SQLException {
        try (result) {
            ResultSetMetaData shape = result.getMetaData();
            for (int column = 1; column <= shape.getColumnCount(); column++) {
                event.getJSONArray("columns").put(shape.getColumnLabel(column));
            }
            event.put("rows", rows(result, shape.getColumnCount()));
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
