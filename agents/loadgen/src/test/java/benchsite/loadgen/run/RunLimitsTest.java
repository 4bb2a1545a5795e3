package benchsite.loadgen.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchsite.loadgen.Hooks;
import benchsite.loadgen.Jobs;
import benchsite.loadgen.events.Clock;
import benchsite.loadgen.events.PhaseException;
import java.util.List;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

/** What ends a transaction or a run before its time: tolerable errors, too many retries, enough transactions. */
class RunLimitsTest {
    private static final String HISTORY = "CREATE TABLE history (n INT)";
    private static final String COUNT = "SELECT COUNT(*) FROM history";
    private static final JSONObject INSERT = Jobs.statement("INSERT INTO history VALUES (?)", "n")
        .put("expect_rows", 1);
    private final Jobs jobs = new Jobs();

    private static JSONObject failing(int each, String state) {
        String call = "CALL FAIL_EACH(" + each + ", '" + state + "')";
        return Jobs.transaction("failing", INSERT, Jobs.statement(call).put("fetch", true));
    }

    @Test
    void aTolerableErrorEndsItsTransactionOnly() throws Exception {
        Hooks.reset();
        JSONObject job = Jobs.inMemory().put("tolerable", new JSONObject().put("sqlstates", List.of("23505")));
        JSONObject steady = Jobs.transaction("steady", INSERT);
        jobs.perform(job, Jobs.execute(HISTORY, Hooks.FAIL), Jobs.run(2, 0, 1, failing(3, "23505"), steady),
            Jobs.query(COUNT));

        JSONObject summary = jobs.summary();
        assertTrue(summary.getJSONArray("dead_terminals").isEmpty());
        assertEquals(Hooks.calls() / 3, summary.getLong("errors"));
        assertTrue(summary.getLong("errors") > 10);
        assertEquals(jobs.answer(), summary.getLong("committed"), "what failed is rolled back");
        JSONObject types = summary.getJSONObject("per_type");
        assertEquals(summary.getLong("measured_errors"), types.getJSONObject("failing").getLong("errors"));
        assertEquals(0, types.getJSONObject("steady").getLong("errors"));
        JSONObject second = jobs.emitted("second").get(0);
        assertEquals(second.getLong("n"), second.getJSONObject("types").getLong("failing")
            + second.getJSONObject("types").getLong("steady"));
    }

    @Test
    void anotherErrorStillEndsTheTerminal() throws Exception {
        Hooks.reset();
        JSONObject job = Jobs.inMemory().put("tolerable",
            new JSONObject().put("codes", List.of(5)).put("sqlstate_prefixes", List.of("23")));
        jobs.perform(job, Jobs.execute(HISTORY, Hooks.FAIL), Jobs.run(1, 0, 1, failing(5, "58030")));
        assertEquals(1, jobs.summary().getJSONArray("dead_terminals").length());
        assertEquals("terminals", jobs.summary().getString("ended_by"));
    }

    @Test
    void aTransactionThatHasBeenRetriedOftenEnoughIsAnError() throws Exception {
        Hooks.reset();
        JSONObject job = Jobs.inMemory().put("retryable", new JSONObject().put("codes", List.of(99)));
        jobs.perform(job, Jobs.execute(HISTORY, Hooks.FAIL),
            Jobs.run(1, 0, 1, failing(1, "40001")).put("max_retries", 2), Jobs.query(COUNT));

        JSONObject summary = jobs.summary();
        assertEquals(0, jobs.answer());
        assertTrue(summary.getLong("errors") > 10);
        assertEquals(Hooks.calls(), 3.0 * summary.getLong("errors"), 3, "three attempts each");
        assertTrue(summary.getJSONArray("dead_terminals").isEmpty());
    }

    @Test
    void aRunEndsAfterExactlySoManyCommits() throws Exception {
        Hooks.reset();
        JSONObject job = Jobs.inMemory().put("tolerable", new JSONObject().put("sqlstates", List.of("23505")));
        long begun = System.nanoTime();
        jobs.perform(job, Jobs.execute(HISTORY, Hooks.FAIL),
            Jobs.run(4, 0, 60, failing(3, "23505")).put("max_transactions", 500), Jobs.query(COUNT));

        assertTrue(Clock.secondsSince(begun) < 20);
        JSONObject summary = jobs.summary();
        assertEquals("max_transactions", summary.getString("ended_by"));
        assertEquals(500, jobs.answer());
        assertEquals(500, summary.getLong("transactions"));
        assertEquals(500 / summary.getDouble("duration_s"), summary.getDouble("tps"), 1e-6);
        assertTrue(summary.getDouble("duration_s") < 20, "the time it took, not the window");
    }

    @Test
    void aWindowThatEndsFirstEndsTheRun() throws Exception {
        jobs.perform(Jobs.inMemory(), Jobs.execute(HISTORY), Jobs.run(1, 0, 1, Jobs.transaction("insert", INSERT))
            .put("max_transactions", 100).put("rate_per_s", 10).put("arrivals", "even"), Jobs.query(COUNT));
        JSONObject summary = jobs.summary();
        assertEquals("window", summary.getString("ended_by"));
        assertEquals(1.0, summary.getDouble("duration_s"));
        assertEquals(10, summary.getLong("slots"));
        assertEquals(10, summary.getLong("committed") + summary.getLong("unstarted"));
        assertEquals(jobs.answer(), summary.getLong("committed"), "what the server holds");
    }

    @Test
    void limitsThatMeanNothingAreRefused() {
        JSONObject insert = Jobs.transaction("insert", INSERT);
        for (JSONObject run : List.of(Jobs.run(0, 0, 1, insert), Jobs.run(1, 0, 1, insert).put("max_transactions", 0),
            Jobs.run(1, 0, 1, insert).put("max_retries", -1), Jobs.run(1, 0, 1, insert).put("rate_per_s", 0))) {
            var problem = assertThrows(PhaseException.class, () -> jobs.perform(Jobs.inMemory(), run));
            assertTrue(problem.getCause() instanceof IllegalArgumentException, run.toString());
        }
        assertFalse(jobs.emitted().stream().anyMatch(event -> event.getString("event").equals("phase")));
    }
}
