package benchsite.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchsite.loadgen.events.PhaseException;
import java.util.concurrent.atomic.AtomicReference;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

/** A job whose thread is interrupted gives up what it does, soon and with all of its threads. */
class InterruptTest {
    private static final long SOON_MS = 20_000;
    private static final JSONObject CREATE = Jobs.execute("CREATE TABLE t (a BIGINT)");
    private final Jobs jobs = new Jobs();

    /** Interrupts the step when it has emitted such an event. */
    private void interrupted(JSONObject step, String event, String threads) throws InterruptedException {
        AtomicReference<Throwable> problem = new AtomicReference<>();
        Thread job = new Thread(() -> {
            try {
                jobs.perform(Jobs.inMemory(), CREATE, step);
            } catch (Throwable thrown) {
                problem.set(thrown);
            }
        });
        job.start();
        jobs.await(event);
        job.interrupt();
        job.join(SOON_MS);
        assertFalse(job.isAlive());
        assertTrue(problem.get() instanceof PhaseException, String.valueOf(problem.get()));
        assertTrue(problem.get().getCause() instanceof InterruptedException);
        assertEquals(0, running(threads, System.nanoTime()));
    }

    /** How many threads of that name are left, after some time to end. */
    private static long running(String name, long since) throws InterruptedException {
        while (true) {
            long count = Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().startsWith(name)).count();
            if (count == 0 || System.nanoTime() - since > SOON_MS * 1_000_000) {
                return count;
            }
            Thread.sleep(10);
        }
    }

    @Test
    void aLoadThatWaits() throws InterruptedException {
        JSONObject table = new JSONObject().put("name", "t").put("insert", "INSERT INTO t VALUES (?)").put("rows", 500)
            .put("columns", new JSONArray("[{'kind': 'sequence'}]"));
        interrupted(new JSONObject().put("op", "load").put("threads", 3).put("tables", new JSONArray().put(table))
            .put("profile", new JSONObject().put("slow_share", 1).put("slow_rows_per_s", 0.1)), "mark", "loader");
    }

    @Test
    void aRunInAClosedLoop() throws InterruptedException {
        interrupted(Jobs.run(2, 0, 60, Jobs.transaction("i", Jobs.statement("INSERT INTO t VALUES (?)", "n"))),
            "second", "terminal-");
    }

    @Test
    void aRunThatWaitsForItsSlots() throws InterruptedException {
        interrupted(Jobs.run(2, 0, 60, Jobs.transaction("i", Jobs.statement("INSERT INTO t VALUES (?)", "n")))
            .put("rate_per_s", 0.01).put("arrivals", "even"), "second", "terminal-");
    }
}
