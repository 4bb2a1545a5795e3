package benchsite.loadgen;

import benchsite.loadgen.events.Clock;
import benchsite.loadgen.events.Events;
import benchsite.loadgen.events.PhaseException;
import benchsite.loadgen.load.LoadStep;
import benchsite.loadgen.run.RunStep;
import benchsite.loadgen.sql.Database;
import benchsite.loadgen.sql.Results;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import org.json.JSONArray;
import org.json.JSONObject;

/** Does the steps of a job in order. */
final class JobRunner {
    private final JSONObject job;
    private final Database database;
    /** Of who runs SQL that somebody else wrote; where nobody is named, the job's own. */
    private final Database guest;
    private final Events events;
    private Connection guestAnchor;

    JobRunner(JSONObject job, Events events) {
        if (job.getInt("version") != 1) {
            throw new IllegalArgumentException("job version " + job.getInt("version") + " is not 1");
        }
        this.job = job;
        this.events = events;
        this.database = new Database(job);
        this.guest = job.has("guest") ? new Database(job, job.getJSONObject("guest")) : database;
    }

    void run() throws PhaseException, SQLException, InterruptedException {
        // Held open for the whole job: some embedded engines close a database with its last connection.
        try (Connection anchor = database.connectPlain()) {
            for (Object step : job.getJSONArray("steps")) {
                perform((JSONObject) step, anchor);
            }
            if (guestAnchor != null) {
                guestAnchor.close();
            }
        }
        close();
    }

    private void perform(JSONObject step, Connection anchor) throws PhaseException {
        String operation = step.getString("op");
        String phase = step.optString("phase", operation);
        try {
            boolean isGuest = step.optBoolean("guest") && guest != database;
            Database user = isGuest ? guest : database;
            SqlSteps sql = new SqlSteps(events, isGuest ? guestAnchor() : anchor);
            switch (operation) {
                case "execute" -> sql.execute(step, phase);
                case "prepare_all" -> sql.prepareAll(step, phase);
                case "query" -> sql.query(step, phase);
                case "product" -> events.emit(Database.product(anchor).put("event", "product"));
                case "load" -> new LoadStep(user, events, step, phase).load();
                case "run" -> new RunStep(user, events, step, anchor, database).run();
                default -> throw new IllegalArgumentException("unknown step: " + operation);
            }
        } catch (SQLException | RuntimeException | InterruptedException | Error problem) {
            throw new PhaseException(phase, problem);
        }
    }

    /** Connected when it is first needed: before, the guest may not be known to the DBMS. */
    private Connection guestAnchor() throws SQLException {
        if (guestAnchor == null) {
            guestAnchor = guest.connectPlain();
        }
        return guestAnchor;
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

    /** The steps that are SQL and no more: {@code execute}, {@code query}, {@code prepare_all}. */
    private record SqlSteps(Events events, Connection anchor) {
        /** Every statement, timed; an optional step goes on after one that fails. */
        void execute(JSONObject step, String phase) throws SQLException {
            events.begin(phase);
            boolean optional = step.optBoolean("optional");
            long begun = System.nanoTime();
            JSONArray statements = step.getJSONArray("statements");
            JSONArray elapsed = new JSONArray();
            JSONArray failures = new JSONArray();
            for (int index = 0; index < statements.length(); index++) {
                long before = System.nanoTime();
                try (Statement statement = anchor.createStatement()) {
                    statement.execute(statements.getString(index));
                } catch (SQLException problem) {
                    if (!optional) {
                        throw problem;
                    }
                    failures.put(Events.put(new JSONObject(), problem).put("statement", index));
                }
                elapsed.put(Clock.secondsSince(before));
            }
            JSONObject end = Events.end(phase, Clock.secondsSince(begun))
                .put("statements", statements.length()).put("elapsed", elapsed);
            if (!failures.isEmpty()) {
                end.put("errors", failures).put("error", failures.getJSONObject(0).getString("error"));
            }
            events.emit(end);
        }

        /** A query with a phase of its own says when that begins and ends, for whoever watches the server meanwhile. */
        void query(JSONObject step, String phase) throws SQLException {
            boolean watched = step.has("phase");
            if (watched) {
                events.begin(phase);
            }
            long begun = System.nanoTime();
            JSONObject event = new JSONObject().put("event", "query").put("name", step.getString("name"))
                .put("phase", phase).put("at", Clock.at())
                .put("columns", new JSONArray()).put("rows", new JSONArray());
            try (Statement statement = anchor.createStatement()) {
                long asked = System.nanoTime();
                Results.read(statement, statement.execute(step.getString("sql")),
                    step.optInt("max_rows", Integer.MAX_VALUE), event);
                event.put("elapsed_s", Clock.secondsSince(asked));
            } catch (SQLException problem) {
                if (!step.optBoolean("optional")) {
                    throw problem;
                }
                Events.put(event, problem);
            }
            if (watched) {
                double elapsed_s = event.optDouble("elapsed_s", Clock.secondsSince(begun));
                events.emit(Events.end(phase, elapsed_s));
            }
            events.emit(event);
        }

        /** Has the DBMS look at each statement without running it. Some drivers ask it only for the statement's shape. */
        void prepareAll(JSONObject step, String phase) throws SQLException {
            events.begin(phase);
            long begun = System.nanoTime();
            JSONArray statements = step.getJSONArray("statements");
            for (int index = 0; index < statements.length(); index++) {
                String sql = statements.getString(index);
                try (PreparedStatement statement = anchor.prepareStatement(sql)) {
                    statement.getMetaData();
                } catch (SQLException problem) {
                    String which = "statement " + (index + 1) + " of " + statements.length() + ": " + sql + ": ";
                    throw new SQLException(which + problem.getMessage(), problem.getSQLState(), problem.getErrorCode(),
                        problem);
                }
            }
            events.emit(Events.end(phase, Clock.secondsSince(begun))
                .put("statements", statements.length()));
        }
    }
}
