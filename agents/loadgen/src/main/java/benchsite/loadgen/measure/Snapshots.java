package benchsite.loadgen.measure;

import benchsite.loadgen.events.Clock;
import benchsite.loadgen.events.Events;
import benchsite.loadgen.sql.Results;
import java.sql.Connection;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.json.JSONObject;

/**
 * Queries at the begin and at the end of the measured window, on the job's own connection.
 *
 * <p>They run in a thread of their own, so that a slow one delays no report of a second. An error is part of the event.
 */
public final class Snapshots {
    private final Events events;
    private final String phase;
    private final Connection anchor;
    private final JSONObject queries;
    private final CountDownLatch over = new CountDownLatch(1);
    private boolean begun;
    private Thread thread;

    /** {@code queries}: SQL by name, or null. */
    public Snapshots(Events events, String phase, Connection anchor, JSONObject queries) {
        this.events = events;
        this.phase = phase;
        this.anchor = anchor;
        this.queries = queries == null ? new JSONObject() : queries;
    }

    /** At once: for a run without a warm-up, before it starts. */
    public void takeBegin() {
        begun = true;
        take("begin:");
    }

    public void startAt(long start, Window window) {
        if (!queries.isEmpty()) {
            thread = new Thread(() -> watch(start, window), "snapshots");
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void watch(long start, Window window) {
        try {
            if (!begun) {
                await(start + window.measuredFromNanos());
                takeBegin();
            }
            await(start + window.endNanos());
            take("end:");
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    /** Until that time, or until the run is over before it. */
    private void await(long nanos) throws InterruptedException {
        over.await(nanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    }

    private void take(String prefix) {
        for (String name : queries.keySet().stream().sorted().toList()) {
            JSONObject event = new JSONObject().put("event", "query").put("name", prefix + name).put("phase", phase)
                .put("at", Clock.at());
            events.emit(Results.answerOrError(anchor, queries.getString(name), event));
        }
    }

    /** The window is over; returns when the last snapshot is taken. */
    public void end() throws InterruptedException {
        over.countDown();
        if (thread != null) {
            thread.join();
        }
    }
}
