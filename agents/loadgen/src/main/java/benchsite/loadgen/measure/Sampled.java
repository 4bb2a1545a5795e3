package benchsite.loadgen.measure;

import benchsite.loadgen.events.Events;
import benchsite.loadgen.sql.Database;
import benchsite.loadgen.sql.Results;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.json.JSONObject;

/**
 * Queries at the end of every second of a run, on a connection of their own.
 *
 * <p>One that takes longer than a second leaves seconds out. One that fails says so once and is not asked again.
 */
public final class Sampled {
    private final Events events;
    private final Database database;
    private final Window window;
    private final Map<String, String> queries = new TreeMap<>();
    private final CountDownLatch over = new CountDownLatch(1);
    private Connection connection;
    private Thread thread;

    /** {@code given}: SQL by name, or null. */
    public Sampled(Events events, Database database, Window window, JSONObject given) {
        this.events = events;
        this.database = database;
        this.window = window;
        if (given != null) {
            given.keySet().forEach(name -> queries.put(name, given.getString(name)));
        }
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
            thread = new Thread(() -> sample(start), "sampled");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void sample(long start) {
        try (Connection own = connection) {
            for (int second = 0; second < window.seconds() && !queries.isEmpty();
                 second = Math.max(window.secondOf(System.nanoTime() - start), second + 1)) {
                long due = start + Window.endOf(second);
                over.await(due - System.nanoTime(), TimeUnit.NANOSECONDS);
                if (System.nanoTime() < due) {
                    break;
                }
                askAll(own, second);
            }
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        } catch (SQLException gone) {
            System.err.println("sampled: " + gone.getMessage());
        }
    }

    private void askAll(Connection own, int second) {
        for (String name : queries.keySet().toArray(String[]::new)) {
            JSONObject event = Results.answerOrError(own, queries.get(name), event(name, second));
            events.emit(event);
            if (event.has("error")) {
                queries.remove(name);
            }
        }
    }

    private static JSONObject event(String name, int second) {
        return new JSONObject().put("event", "sampled").put("t", second).put("name", name);
    }

    /** The window is over; returns when the query under way has ended. */
    public void end() throws InterruptedException {
        over.countDown();
        if (thread != null) {
            thread.join();
        }
    }
}
