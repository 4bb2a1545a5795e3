package benchsite.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

class FixedRateTest {
    private static final String HISTORY = "CREATE TABLE history (n INT)";
    private static final JSONObject INSERT = Jobs.statement("INSERT INTO history VALUES (?)", "n")
        .put("expect_rows", 1);
    private final Jobs jobs = new Jobs();

    private static JSONObject call(String sql) {
        return Jobs.statement(sql).put("fetch", true);
    }

    private void assertCountsAgree() {
        JSONObject summary = jobs.summary();
        long measured = summary.getLong("transactions");
        assertEquals(measured, jobs.emitted("second").stream().filter(second -> !second.getBoolean("warm_up"))
            .mapToLong(second -> second.getLong("n")).sum());
        assertEquals(measured, TotalsTest.decoded(summary).getTotalCount());
        assertEquals(jobs.answer(), summary.getLong("committed"), "what the server holds");
    }

    @Test
    void everySlotIsUsedOnce() throws Exception {
        JSONObject run = Jobs.run(3, 1, 1, Jobs.transaction("insert", INSERT)).put("rate_per_s", 50);
        jobs.perform(Jobs.inMemory(), Jobs.execute(HISTORY), run, Jobs.query("SELECT COUNT(*) FROM history"));

        assertCountsAgree();
        JSONObject summary = jobs.summary();
        assertEquals(100, summary.getLong("slots"));
        assertEquals(0, summary.getLong("unstarted"));
        assertEquals(100, summary.getLong("committed"));
        assertEquals(50, summary.getLong("transactions"), 1);
        assertEquals(50.0, summary.getDouble("rate_per_s"));
        for (JSONObject second : jobs.emitted("second")) {
            assertTrue(second.getLong("backlog") <= 1, second.toString());
        }
    }

    @Test
    void aPauseOfTheServerIsSeenByAllThatShouldHaveBegunMeanwhile() throws Exception {
        Hooks.reset();
        JSONObject pausing = Jobs.transaction("pausing", INSERT, call("CALL PAUSE_ONCE()"));
        jobs.perform(Jobs.inMemory(), Jobs.execute(HISTORY, Hooks.PAUSE),
            Jobs.run(1, 0, 3, pausing).put("rate_per_s", 100), Jobs.query("SELECT COUNT(*) FROM history"));

        assertCountsAgree();
        JSONObject summary = jobs.summary();
        long pause = Hooks.PAUSE_MS * 1_000;
        assertEquals(pause, summary.getLong("p99_us"), 0.1 * pause);
        assertTrue(summary.getLong("service_p99_us") < pause / 5, summary.toString());
        assertEquals(pause, summary.getLong("service_max_us"), 0.3 * pause);
        assertTrue(summary.getDouble("mean_us") > 10 * summary.getDouble("service_p50_us"));
        assertTrue(jobs.emitted("second").get(0).getLong("backlog") > 50, "most of a second waits");
        assertEquals(0, summary.getLong("unstarted"), "all of it has been caught up with");
    }

    @Test
    void whatIsDueAndNeverBegunIsSaid() throws Exception {
        Hooks.reset();
        JSONObject late = Jobs.transaction("late", INSERT, call("CALL PAUSE_ONCE()"));
        // Call 20 is due at 0.95 s and lasts until 1.95 s; the window has ended by then.
        jobs.perform(Jobs.inMemory(), Jobs.execute(HISTORY, Hooks.PAUSE),
            Jobs.run(1, 0, 1, late).put("rate_per_s", 20.5), Jobs.query("SELECT COUNT(*) FROM history"));

        assertCountsAgree();
        JSONObject summary = jobs.summary();
        assertEquals(21, summary.getLong("slots"));
        assertEquals(1, summary.getLong("unstarted"));
        assertEquals(20, summary.getLong("committed"));
        assertEquals(1, summary.getLong("tail_transactions"));
    }

    @Test
    void aTerminalThatWaitsForItsSlotEndsWithTheWindow() throws Exception {
        long begun = System.nanoTime();
        jobs.perform(Jobs.inMemory(), Jobs.execute(HISTORY),
            Jobs.run(4, 0, 2, Jobs.transaction("insert", INSERT)).put("rate_per_s", 0.02));
        assertEquals(2, Clock.seconds(begun, System.nanoTime()), 0.9);
        assertEquals(2, jobs.emitted("second").size(), "and not before it");
        assertEquals(1, jobs.summary().getLong("committed"));
        assertEquals("window", jobs.summary().getString("ended_by"));
        assertTrue(jobs.summary().getJSONArray("dead_terminals").isEmpty());
    }

    @Test
    void aClosedLoopHasNoneOfIt() throws Exception {
        jobs.perform(Jobs.inMemory(), Jobs.execute(HISTORY), Jobs.run(1, 0, 1, Jobs.transaction("insert", INSERT)));
        for (String key : List.of("slots", "unstarted", "rate_per_s", "service_p99_us")) {
            assertFalse(jobs.summary().has(key), key);
        }
        assertFalse(jobs.emitted("second").get(0).has("backlog"));
    }
}
