package benchsite.loadgen.measure;

import benchsite.loadgen.events.Events;
import benchsite.loadgen.sql.Database;
import java.sql.Connection;
import java.sql.SQLException;
import org.json.JSONObject;

/**
 * Queries at the end of every second of a run, on a connection of their own.
 *
 * <p>One that takes longer than a second leaves seconds out. One that fails says so once and is not asked again.
 */
public final class Sampled extends Asking {
    private final Database database;
    private final Window window;
    private Connection connection;

    /** {@code given}: SQL by name, or null. */
    public Sampled(Events events, Database database, Window window, JSONObject given) {
        super(events, given);
        this.database = database;
        this.window = window;
    }

    public void connect() {
        if (queries.isEmpty()) {
            return;
        }
        try {
            connection = database.connectPlain();
        } catch (SQLException problem) {
            queries.keySet().forEach(name -> events.emit(Events.put(event(name, 0), problem)));
        }
    }

    public void startAt(long start) {
        if (connection != null) {
            start("sampled", () -> sample(start));
        }
    }

    private void sample(long start) throws InterruptedException {
        try (Connection own = connection) {
            int second = 0;
            while (second < window.seconds() && !queries.isEmpty() && await(start + Window.endOf(second))) {
                int ended = second;
                queries.keySet().removeIf(name -> !ask(own, name, event(name, ended)));
                second = Math.max(window.secondOf(System.nanoTime() - start), second + 1);
            }
        } catch (SQLException gone) {
            System.err.println("sampled: " + gone.getMessage());
        }
    }

    private static JSONObject event(String name, int second) {
        return new JSONObject().put("event", "sampled").put("t", second).put("name", name);
    }
}
