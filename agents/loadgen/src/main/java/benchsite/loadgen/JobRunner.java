package benchsite.loadgen;

import benchsite.loadgen.events.Events;
import benchsite.loadgen.events.PhaseException;
import benchsite.loadgen.load.LoadStep;
import benchsite.loadgen.run.RunStep;
import benchsite.loadgen.sql.Database;
import java.sql.Connection;
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
                case "execute" -> new SqlSteps(events, anchor).execute(step, phase);
                case "prepare_all" -> new SqlSteps(events, anchor).prepareAll(step, phase);
                case "query" -> new SqlSteps(events, anchor).query(step, phase);
                case "product" -> events.emit(Database.product(anchor).put("event", "product"));
                case "load" -> new LoadStep(database, events, step, phase).load();
                case "run" -> new RunStep(database, events, step, anchor).run();
                default -> throw new IllegalArgumentException("unknown step: " + operation);
            }
        } catch (SQLException | RuntimeException | InterruptedException | Error problem) {
            throw new PhaseException(phase, problem);
        }
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
}
