package benchsite.loadgen.load;

import benchsite.loadgen.events.Clock;
import benchsite.loadgen.events.Events;
import benchsite.loadgen.events.PhaseException;
import benchsite.loadgen.measure.Sampled;
import benchsite.loadgen.measure.Window;
import benchsite.loadgen.sql.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionService;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorCompletionService;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.json.JSONArray;
import org.json.JSONObject;

/**
 * The step {@code load}: fills one table after another, each by all threads, and says every second how far it is.
 *
 * <p>The first error of any thread ends all of them.
 */
public final class LoadStep {
    private static final long PATIENCE_S = 60;
    private final Database database;
    private final Events events;
    private final String phase;
    private final JSONArray tables;
    private final LoadPlan plan;
    private final LoadProgress progress;
    private final Sampled sampled;
    private final long total;
    private final List<Connection> connections = new ArrayList<>();
    private final JSONObject perTable = new JSONObject();
    private long begun;
    private long nextProgress;
    private volatile long slowFrom;

    public LoadStep(Database database, Events events, JSONObject step, String phase) {
        this.database = database;
        this.events = events;
        this.phase = phase;
        this.tables = step.getJSONArray("tables");
        this.plan = LoadPlan.of(step);
        this.sampled = new Sampled(events, database, Window.ENDLESS, step.optJSONObject("sampled"));
        long rows = 0;
        for (Object table : tables) {
            rows += ((JSONObject) table).getLong("rows");
        }
        this.total = rows;
        this.progress = new LoadProgress(plan, total, this::markSlowPart);
    }

    public void load() throws SQLException, PhaseException, InterruptedException {
        events.begin(phase);
        begun = System.nanoTime();
        nextProgress = begun + Clock.NANOS_PER_SECOND;
        ExecutorService threads = Executors.newFixedThreadPool(plan.threads(), task -> {
            Thread thread = new Thread(task, "loader");
            thread.setDaemon(true);
            return thread;
        });
        try {
            for (int number = 0; number < plan.threads(); number++) {
                connections.add(database.connectPlain());
                connections.get(number).setAutoCommit(false);
            }
            sampled.connect();
            sampled.startAt(begun);
            for (Object table : tables) {
                fill((JSONObject) table, threads);
            }
        } finally {
            progress.stop();
            threads.shutdown();
            disconnect(threads);
        }
        JSONObject end = end();
        sampled.end();
        events.emit(end);
    }

    /** Whatever went wrong before is what is told, not that a connection cannot be closed after it. */
    private void disconnect(ExecutorService threads) throws InterruptedException {
        try {
            threads.awaitTermination(PATIENCE_S, TimeUnit.SECONDS);
        } finally {
            for (Connection connection : connections) {
                try (connection) {
                    connection.rollback();
                } catch (SQLException gone) {
                    System.err.println("close: " + gone.getMessage());
                }
            }
        }
    }

    private void fill(JSONObject table, ExecutorService threads) throws PhaseException, InterruptedException {
        long rowsBefore = progress.rows.get();
        long bytesBefore = progress.bytes.get();
        long before = System.nanoTime();
        long rows = table.getLong("rows");
        CompletionService<Void> parts = new ExecutorCompletionService<>(threads);
        for (int number = 0; number < plan.threads(); number++) {
            parts.submit(new RangeLoader(connections.get(number), table, border(rows, number),
                border(rows, number + 1), plan, progress));
        }
        for (int number = 0; number < plan.threads(); number++) {
            await(parts, table.optString("name", ""));
        }
        perTable.put(table.optString("name", ""), new JSONObject().put("rows", progress.rows.get() - rowsBefore)
            .put("bytes", progress.bytes.get() - bytesBefore).put("elapsed_s", Clock.secondsSince(before)));
    }

    /** First row of a thread's part. */
    private long border(long rows, int thread) {
        return rows / plan.threads() * thread + rows % plan.threads() * thread / plan.threads();
    }

    private void await(CompletionService<Void> parts, String table) throws PhaseException, InterruptedException {
        Future<Void> done = null;
        while (done == null) {
            done = parts.poll(nextProgress - System.nanoTime(), TimeUnit.NANOSECONDS);
            report(table);
        }
        try {
            done.get();
        } catch (ExecutionException failed) {
            throw new PhaseException(phase, failed.getCause());
        }
    }

    private void report(String table) {
        long now = System.nanoTime();
        if (now < nextProgress) {
            return;
        }
        nextProgress = Math.max(nextProgress + Clock.NANOS_PER_SECOND, now);
        JSONObject event = new JSONObject().put("event", "progress").put("phase", phase)
            .put("t", Clock.seconds(begun, now)).put("table", table).put("rows", progress.rows.get()).put("of", total)
            .put("bytes", progress.bytes.get());
        events.emit(plan.slowShare() > 0 ? event.put("part", progress.isSlow() ? "slow" : "fast") : event);
    }

    private void markSlowPart() {
        slowFrom = System.nanoTime();
        events.emit(new JSONObject().put("event", "mark").put("name", "slow_part").put("phase", phase)
            .put("rows", plan.fastRows(total)).put("t", Clock.seconds(begun, slowFrom)).put("at", Clock.at()));
    }

    private JSONObject end() {
        long now = System.nanoTime();
        JSONObject event = Events.end(phase, Clock.seconds(begun, now))
            .put("rows", progress.rows.get()).put("bytes", progress.bytes.get()).put("threads", plan.threads())
            .put("tables", perTable);
        if (progress.isSlow()) {
            event.put("fast_rows", plan.fastRows(total)).put("fast_s", Clock.seconds(begun, slowFrom))
                .put("slow_s", Clock.seconds(slowFrom, now));
        }
        return event;
    }
}
