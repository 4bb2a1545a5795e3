package benchsite.loadgen.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchsite.loadgen.Conflicts;
import benchsite.loadgen.Jobs;
import benchsite.loadgen.events.Clock;
import benchsite.loadgen.events.PhaseException;
import java.nio.file.Path;
import java.util.List;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RunStepTest {
    private static final String HISTORY = "CREATE TABLE history (n INT)";
    private static final String COUNT = "SELECT COUNT(*) FROM history";
    private static final JSONObject INSERT = Jobs.statement("INSERT INTO history VALUES (?)", "n")
        .put("expect_rows", 1);
    private static final JSONObject DIVISION_BY_ZERO =
        Jobs.statement("SELECT 1 / (CAST(? AS INT) - CAST(? AS INT))", "n", "n").put("fetch", true);
    private final Jobs jobs = new Jobs();

    private long total(String... keys) {
        long total = 0;
        for (String key : keys) {
            total += jobs.summary().getLong(key);
        }
        return total;
    }

    private void assertCountsAgree() {
        JSONObject summary = jobs.summary();
        long measured = summary.getLong("transactions");
        long ofSeconds = 0;
        long ofWarmUp = 0;
        for (JSONObject second : jobs.emitted("second")) {
            ofSeconds += second.getBoolean("warm_up") ? 0 : second.getLong("n");
            ofWarmUp += second.getBoolean("warm_up") ? second.getLong("n") : 0;
        }
        assertTrue(measured > 0);
        assertEquals(measured, ofSeconds);
        assertEquals(summary.getLong("warm_up_transactions"), ofWarmUp);
        assertEquals(measured, Jobs.decoded(summary).getTotalCount());
        assertEquals(jobs.answer(), total("transactions", "warm_up_transactions", "tail_transactions"),
            "what the server holds");
    }

    @Test
    void everySecondIsToldThoughNobodyTookTheEventsUntilTheTerminalsHadEnded() throws Exception {
        Thread holding = new Thread(() -> {
            try {
                jobs.await("second");
                synchronized (jobs.events) {
                    Thread.sleep(4_500);
                }
            } catch (InterruptedException stopped) {
                Thread.currentThread().interrupt();
            }
        });
        holding.start();
        jobs.perform(Jobs.inMemory(), Jobs.execute(HISTORY), Jobs.run(2, 0, 4, Jobs.transaction("insert", INSERT)),
            Jobs.query(COUNT));
        holding.join();
        assertCountsAgree();
        assertEquals(List.of(0, 1, 2, 3), jobs.emitted("second").stream().map(second -> second.getInt("t")).toList());
    }

    @Test
    void theCountsOfClientAndServerAgree() throws Exception {
        jobs.perform(Jobs.inMemory(), Jobs.execute(HISTORY), Jobs.run(3, 1, 2, Jobs.transaction("insert", INSERT)),
            Jobs.query(COUNT));

        assertCountsAgree();
        JSONObject summary = jobs.summary();
        assertEquals(List.of(0, 1, 2), jobs.emitted("second").stream().map(second -> second.getInt("t")).toList());
        assertEquals(3, summary.getJSONArray("per_terminal").length());
        assertEquals(summary.getLong("transactions") / 2.0, summary.getDouble("tps"));
        assertTrue(summary.getJSONArray("dead_terminals").isEmpty());
        long last = 0;
        for (String percentile : List.of("p50_us", "p95_us", "p99_us", "max_us")) {
            assertTrue(summary.getLong(percentile) >= last, percentile);
            last = summary.getLong(percentile);
        }
        // Closed loop: three terminals are busy all the time, but for what they do between two transactions.
        assertEquals(3, summary.getDouble("tps") * summary.getDouble("mean_us") / 1e6, 1.0);
        assertTrue(summary.getDouble("cpu_s") > 0);
        assertEquals("H2", jobs.emitted("connected").get(0).getString("product"));
    }

    @Test
    void explicitBeginAndCommitKeepAllTerminalsOfASingleWriterAlive(@TempDir Path folder) throws Exception {
        JSONObject job = Jobs.job("jdbc:sqlite:" + folder.resolve("bench.db"))
            .put("session", List.of("PRAGMA busy_timeout = 20000", "PRAGMA synchronous = OFF"))
            .put("transaction", new JSONObject().put("begin", "BEGIN IMMEDIATE").put("commit", "COMMIT")
                .put("rollback", "ROLLBACK"))
            .put("retryable", new JSONObject().put("codes", List.of(5)));
        jobs.perform(job, Jobs.execute("PRAGMA journal_mode = WAL", HISTORY),
            Jobs.run(4, 1, 1, Jobs.transaction("insert", INSERT)), Jobs.query(COUNT));

        assertCountsAgree();
        assertTrue(jobs.summary().getJSONArray("dead_terminals").isEmpty());
    }

    @Test
    void theIsolationLevelIsThatOfTheTerminalsOwnTransactions() throws Exception {
        String level = "SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL SERIALIZABLE";
        jobs.perform(Jobs.inMemory(), Jobs.execute(HISTORY), Jobs.run(2, 0, 1, Jobs.transaction("insert", INSERT)));
        assertEquals("read committed", jobs.summary().getString("isolation"));

        Jobs stricter = new Jobs();
        stricter.perform(Jobs.inMemory().put("session", List.of(level)), Jobs.execute(HISTORY),
            Jobs.run(2, 0, 1, Jobs.transaction("insert", INSERT)));
        assertEquals("serializable", stricter.summary().getString("isolation"));
    }

    @Test
    void whatOnlyReadsBeginsOtherwiseWhereTheJobSaysSo() throws Exception {
        // Each begins by saying what it is; the count is of what has been said.
        JSONObject job = Jobs.inMemory().put("transaction", new JSONObject().put("commit", "").put("rollback", "")
            .put("begin", "INSERT INTO history VALUES (1)").put("begin_reading", "INSERT INTO history VALUES (0)"));
        JSONObject look = Jobs.transaction("look", Jobs.statement("SELECT 1").put("fetch", true));
        JSONObject change = Jobs.transaction("change", Jobs.statement("SELECT 1").put("fetch", true));
        jobs.perform(job, Jobs.execute(HISTORY),
            Jobs.run(1, 0, 60, look.put("read_only", true), change).put("max_transactions", 50),
            Jobs.query("SELECT SUM(n) FROM history"));

        JSONObject types = jobs.summary().getJSONObject("per_type");
        assertEquals(50, jobs.summary().getLong("committed"));
        assertTrue(types.getJSONObject("look").getLong("committed") > 0);
        assertEquals(types.getJSONObject("change").getLong("committed"), jobs.answer());
    }

    @Test
    void aConflictIsTriedAgainAsAWholeWithTheSameValuesInsideItsLatency() throws Exception {
        Conflicts.reset();
        JSONObject job = Jobs.inMemory().put("retryable", new JSONObject().put("sqlstates", List.of("40001")));
        // The first statement has changed something when the second one meets the conflict.
        JSONObject transaction = Jobs.transaction("conflict", INSERT, Jobs.statement("CALL TWO_CONFLICTS(?)", "n")
            .put("fetch", true));
        jobs.perform(job, Jobs.execute(HISTORY, Conflicts.ALIAS), Jobs.run(1, 0, 1, transaction), Jobs.query(COUNT));

        assertCountsAgree();
        JSONObject summary = jobs.summary();
        assertEquals(2 * summary.getLong("transactions"), summary.getLong("retries"));
        assertEquals(0, summary.getLong("errors"));
        JSONObject retried = summary.getJSONArray("retried").getJSONObject(0);
        assertEquals(1, summary.getJSONArray("retried").length());
        long ofAbandoned = retried.getLong("count") - 2 * summary.getLong("committed");
        assertTrue(0 <= ofAbandoned && ofAbandoned <= 2, "the tail's too, and of the one that the end cut off");
        assertEquals("40001", retried.getString("sqlstate"));
        assertTrue(retried.getString("error").contains("could not serialize access"), retried.toString());
        assertTrue(summary.getLong("p50_us") >= 2 * Conflicts.DELAY_MS * 1_000, "the failed attempts are part of it");
        List<Integer> seen = Conflicts.SEEN;
        for (int call = 0; call + 2 < seen.size(); call += 3) {
            assertEquals(1, seen.subList(call, call + 3).stream().distinct().count(), "one value for three attempts");
        }
        assertTrue(seen.stream().distinct().count() > 1, "the next transaction draws anew");
    }

    @Test
    void aConflictThatNeverEndsDoesNotKeepTheRunFromEnding() throws Exception {
        JSONObject job = Jobs.inMemory().put("retryable", new JSONObject().put("sqlstate_prefixes", List.of("22")));
        JSONObject hopeless = Jobs.transaction("hopeless", INSERT, DIVISION_BY_ZERO);
        jobs.perform(job, Jobs.execute(HISTORY), Jobs.run(2, 0, 1, hopeless), Jobs.query(COUNT));

        JSONObject retried = jobs.summary().getJSONArray("retried").getJSONObject(0);
        assertEquals(1, jobs.summary().getJSONArray("retried").length(), "of both terminals together");
        assertEquals("22012", retried.getString("sqlstate"));
        assertTrue(retried.getString("error").contains("Division by zero"), retried.toString());
        assertTrue(retried.getLong("count") > 10, retried.toString());
        assertEquals(0, total("transactions", "tail_transactions", "errors"));
        assertEquals(0, jobs.answer(), "all of it is rolled back");
        assertTrue(jobs.summary().getJSONArray("dead_terminals").isEmpty());
    }

    @Test
    void aTerminalThatMeetsConflictsUntilTheEndIsSeenInTheSummary() throws Exception {
        JSONObject job = Jobs.inMemory().put("retryable", new JSONObject().put("sqlstates", List.of("22012")));
        JSONObject number = new JSONObject().put("name", "n").put("kind", "terminal");
        JSONObject divided = Jobs.transaction("divided", INSERT, Jobs.statement("SELECT 1 / CAST(? AS INT)", "n")
            .put("fetch", true)).put("variables", List.of(number));
        jobs.perform(job, Jobs.execute(HISTORY), Jobs.run(2, 0, 1, divided), Jobs.query(COUNT));

        assertCountsAgree();
        JSONObject summary = jobs.summary();
        assertEquals(0, summary.getJSONArray("per_terminal").getLong(0));
        assertEquals(0, total("retries", "errors"), "it has ended nothing in the window");
        assertEquals(1, summary.getJSONArray("retried").length());
        JSONObject retried = summary.getJSONArray("retried").getJSONObject(0);
        assertTrue(retried.getLong("count") > 0, retried.toString());
        assertTrue(retried.getString("error").contains("Division by zero"), retried.toString());
    }

    @Test
    void aDeadTerminalIsReportedAndTheOthersGoOn() throws Exception {
        Conflicts.reset();
        JSONObject transaction = Jobs.transaction("dying", INSERT, Jobs.statement("CALL DIE_AT_100()")
            .put("fetch", true));
        jobs.perform(Jobs.inMemory(), Jobs.execute(HISTORY, Conflicts.DEADLY), Jobs.run(2, 0, 2, transaction),
            Jobs.query(COUNT));

        assertCountsAgree();
        JSONObject summary = jobs.summary();
        assertEquals(1, summary.getLong("errors"));
        assertEquals(1, summary.getJSONArray("dead_terminals").length());
        JSONObject dead = summary.getJSONArray("dead_terminals").getJSONObject(0);
        assertEquals("58030", dead.getString("sqlstate"));
        assertTrue(dead.getString("error").contains("the disk is gone"), dead.getString("error"));
        assertFalse(dead.has("message"));
        assertTrue(summary.getJSONArray("per_terminal").getLong(1 - dead.getInt("terminal")) > 100);
    }

    @Test
    void aRunWithoutTerminalsEndsBeforeItsTime() throws Exception {
        JSONObject broken = Jobs.transaction("broken", DIVISION_BY_ZERO);
        long begun = System.nanoTime();
        jobs.perform(Jobs.inMemory(), Jobs.run(2, 0, 60, broken));
        assertTrue(Clock.secondsSince(begun) < 45);
        assertEquals(2, jobs.summary().getLong("errors"));
        assertEquals(2, jobs.summary().getJSONArray("dead_terminals").length());
    }

    @Test
    void aTerminalThatCannotStartIsAnErrorOfThePhase() {
        JSONObject unknown = Jobs.transaction("unknown", Jobs.statement("SELECT * FROM no_such_table")
            .put("fetch", true));
        var problem = assertThrows(PhaseException.class,
            () -> jobs.perform(Jobs.inMemory(), Jobs.run(2, 0, 60, unknown)));
        assertEquals("run", problem.phase());
        assertTrue(problem.getCause().getMessage().contains("NO_SUCH_TABLE"), problem.getCause().getMessage());
    }
}
