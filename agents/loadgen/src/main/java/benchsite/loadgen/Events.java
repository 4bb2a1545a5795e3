package benchsite.loadgen;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import org.json.JSONObject;

/** Writes events, one JSON object a line, flushed. Safe to use from several threads. */
final class Events {
    private final PrintStream out;

    Events(PrintStream out) {
        this.out = new PrintStream(out, false, StandardCharsets.UTF_8);
    }

    synchronized void emit(JSONObject event) {
        out.println(event);
        out.flush();
    }

    void phase(String phase, String state) {
        emit(phaseEvent(phase, state));
    }

    static JSONObject phaseEvent(String phase, String state) {
        return new JSONObject().put("event", "phase").put("phase", phase).put("state", state)
            .put("at", System.currentTimeMillis() / 1000.0);
    }

    void error(String phase, Throwable problem) {
        problem.printStackTrace();
        emit(describe(problem).put("event", "error").put("phase", phase));
    }

    /** {@code message} (called {@code error} by the dead terminals), {@code sqlstate} and {@code code} of a problem. */
    static JSONObject describe(Throwable problem) {
        String text = problem.getMessage() == null ? problem.toString() : problem.getMessage();
        JSONObject description = new JSONObject().put("message", text);
        if (problem instanceof SQLException sql) {
            description.put("sqlstate", sql.getSQLState() == null ? JSONObject.NULL : sql.getSQLState());
            description.put("code", sql.getErrorCode());
        }
        return description;
    }
}
