package benchsite.loadgen.measure;

import benchsite.loadgen.events.Events;
import benchsite.loadgen.sql.Results;
import java.sql.Connection;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.json.JSONObject;

/** Queries by name that a thread of their own asks at given times, until the run is over. An error is an answer too. */
abstract class Asking {
    final Events events;
    final Map<String, String> queries = new TreeMap<>();
    private final CountDownLatch over = new CountDownLatch(1);
    private Thread thread;

    /** What the thread does. */
    interface Work {
        void run() throws InterruptedException;
    }

    /** {@code given}: SQL by name, or null. */
    Asking(Events events, JSONObject given) {
        this.events = events;
        if (given != null) {
            given.keySet().forEach(name -> queries.put(name, given.getString(name)));
        }
    }

    final void start(String name, Work work) {
        thread = new Thread(() -> {
            try {
                work.run();
            } catch (InterruptedException ended) {
                Thread.currentThread().interrupt();
            }
        }, name);
        thread.setDaemon(true);
        thread.start();
    }

    /** Waits for that time; false when the run is over before it. */
    final boolean await(long nanos) throws InterruptedException {
        over.await(nanos - System.nanoTime(), TimeUnit.NANOSECONDS);
        return System.nanoTime() >= nanos;
    }

    /** Whether there was an answer. */
    final boolean ask(Connection connection, String name, JSONObject event) {
        JSONObject answer = Results.answerOrError(connection, queries.get(name), event);
        events.emit(answer);
        return !answer.has("error");
    }

    /** The window is over; returns when the query under way, or the last snapshot, has ended. */
    public final void end() throws InterruptedException {
        over.countDown();
        if (thread != null) {
            thread.join();
        }
    }
}
