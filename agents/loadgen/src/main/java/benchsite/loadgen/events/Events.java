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

    public void begin(String phase) {
        emit(phaseEvent(phase, "begin"));
    }

    public static JSONObject end(String phase, double elapsedSeconds) {
        return phaseEvent(phase, "end").put("elapsed_s", elapsedSeconds);
    }

    private static JSONObject phaseEvent(String phase, String state) {
        return new JSONObject().put("event", "phase").put("phase", phase).put("state", state).put("at", Clock.at());
    }

    /** The failure of the job. */
    public void error(String phase, Throwable problem) {
        problem.printStackTrace();
        emit(put(new JSONObject().put("event", "error").put("phase", phase), "message", problem));
    }

    /** Adds a failure that is part of something else. */
    public static JSONObject put(JSONObject event, Throwable problem) {
        return put(event, "error", problem);
    }

    private static JSONObject put(JSONObject event, String text, Throwable problem) {
        event.put(text, problem.getMessage() == null ? problem.toString() : problem.getMessage());
        if (problem instanceof SQLException sql) {
            event.put("sqlstate", sql.getSQLState() == null ? JSONObject.NULL : sql.getSQLState());
            event.put("code", sql.getErrorCode());
        }
        return event;
    }
}
