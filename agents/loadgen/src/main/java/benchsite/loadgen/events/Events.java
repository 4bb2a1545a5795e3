package benchsite.loadgen.events;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import org.json.JSONObject;

/** Writes events, one JSON object a line, flushed. Safe to use from several threads. */
public final class Events {
    private final PrintStream out;

    public Events(PrintStream out) {
        this.out = new PrintStream(out, false, StandardCharsets.UTF_8);
    }

    public synchronized void emit(JSONObject event) {
        out.println(event);
        out.flush();
    }

    public void phase(String phase, String state) {
        emit(phaseEvent(phase, state));
    }

    public static JSONObject phaseEvent(String phase, String state) {
        return new JSONObject().put("event", "phase").put("phase", phase).put("state", state)
            .put("at", System.currentTimeMillis() / 1000.0);
    }

    public void error(String phase, Throwable problem) {
        problem.printStackTrace();
        emit(describe(problem).put("event", "error").put("phase", phase));
    }

    /** {@code message}, {@code sqlstate} and {@code code} of a problem, for an event of its own. */
    public static JSONObject describe(Throwable problem) {
        JSONObject description = failure(problem);
        return description.put("message", description.remove("error"));
    }

    /** The same as part of something else, its text called {@code error}. */
    public static JSONObject failure(Throwable problem) {
        return put(new JSONObject(), problem);
    }

    public static JSONObject put(JSONObject event, Throwable problem) {
        event.put("error", problem.getMessage() == null ? problem.toString() : problem.getMessage());
        if (problem instanceof SQLException sql) {
            event.put("sqlstate", sql.getSQLState() == null ? JSONObject.NULL : sql.getSQLState());
            event.put("code", sql.getErrorCode());
        }
        return event;
    }
}
