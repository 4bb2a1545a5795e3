package benchsite.loadgen.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchsite.loadgen.Hooks;
import benchsite.loadgen.Jobs;
import benchsite.loadgen.events.Clock;
import java.util.List;
import java.util.stream.LongStream;
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
        assertEquals(measured + summary.getLong("waiting"), Jobs.decoded(summary).getTotalCount());
        assertEquals(jobs.answer(), summary.getLong("committed"), "what the server holds");
    }

    @Test
    void everySlotIsUsedOnce() throws Exception {
        // Ended by the number of transactions, not by the clock: no slot can be too late.
        JSONObject run = Jobs.run(3, 1, 60, Jobs.transaction("insert", INSERT)).put("rate_per_s", 50)
            .put("arrivals", "even").put("max_transactions", 80);
        jobs.perform(Jobs.inMemory(), Jobs.execute(HISTORY), run, Jobs.query("SELECT COUNT(*) FROM history"));

        assertCountsAgree();
        JSONObject summary = jobs.summary();
        assertEquals("max_transactions", summary.getString("ended_by"));
        assertEquals(80, summary.getLong("committed"));
        assertEquals(summary.getLong("slots"), summary.getLong("committed") + summary.getLong("unstarted"));
        assertEquals(80, summary.getLong("warm_up_transactions") + summary.getLong("transactions"));
        assertTrue(summary.getLong("transactions") >= 30, "30 are due after the warm-up");
        assertTrue(summary.getDouble("duration_s") >= 0.58, "the last is due 1.58 s after the start");
        assertEquals(50.0, summary.getDouble("rate_per_s"));
        assertEquals(0, summary.getLong("waiting"), "the number of transactions ended it, nothing had to wait");
    }

    @Test
    void aPauseOfTheServerIsSeenByAllThatShouldHaveBegunMeanwhile() throws Exception {
        Hooks.reset(() -> jobs.await("second"));
        JSONObject pausing = Jobs.transaction("pausing", INSERT, call("CALL PAUSE_ONCE()"));
        jobs.perform(Jobs.inMemory(), Jobs.execute(HISTORY, Hooks.PAUSE),
            Jobs.run(1, 0, 60, pausing).put("rate_per_s", 100).put("arrivals", "even").put("max_transactions", 150),
            Jobs.query("SELECT COUNT(*) FROM history"));

        assertCountsAgree();
        JSONObject summary = jobs.summary();
        long pause = Hooks.PAUSE_MS * 1_000;
        assertTrue(summary.getLong("p99_us") >= 0.9 * pause, summary.toString());
        assertTrue(summary.getLong("service_max_us") >= pause, summary.toString());
        assertTrue(summary.getLong("service_p50_us") < pause / 5, summary.toString());
        // 99 slots are due while the third call pauses, and wait for half a second on average.
        assertTrue(summary.getDouble("mean_us") - summary.getDouble("service_mean_us") >= 0.3 * pause,
            summary.toString());
        long backlog = jobs.emitted("second").get(0).getLong("backlog");
        assertTrue(100 - Hooks.PAUSED_CALL <= backlog && backlog <= 100, "what was due in a second waits: " + backlog);
        assertEquals(150, summary.getLong("committed"), "all of it has been caught up with");
        assertEquals(summary.getLong("slots"), summary.getLong("committed") + summary.getLong("unstarted"));
    }

    @Test
    void whatIsDueAndNeverBegunIsSaid() throws Exception {
        // Call 3 is due at 0.04 s and lasts until the second and last second has been reported.
        Hooks.reset(() -> jobs.await(2, event -> event.getString("event").equals("second")));
        JSONObject late = Jobs.transaction("late", INSERT, call("CALL PAUSE_ONCE()"));
        jobs.perform(Jobs.inMemory(), Jobs.execute(HISTORY, Hooks.PAUSE),
            Jobs.run(1, 0, 2, late).put("rate_per_s", 50.2).put("arrivals", "even"),
            Jobs.query("SELECT COUNT(*) FROM history"));

        assertCountsAgree();
        JSONObject summary = jobs.summary();
        assertEquals(101, summary.getLong("slots"));
        assertEquals(98, summary.getLong("unstarted"));
        assertEquals(98, summary.getLong("waiting"));
        // Due from 0.06 to 1.99 s, they had waited until 2 s: in a closed loop's percentiles none of them would be.
        long maximum = summary.getLong("max_us");
        assertTrue(1_930_000 <= maximum && maximum <= 1_950_000, "the first of them waited for 1.94 s: " + maximum);
        long median = summary.getLong("p50_us");
        assertTrue(940_000 <= median && median <= 980_000, "half of them waited for 0.96 s or more: " + median);
        assertTrue(summary.getLong("service_p50_us") < 500_000, "of those begun: " + summary);
        assertEquals(Hooks.PAUSED_CALL, summary.getLong("committed"));
        assertEquals(1, summary.getLong("tail_transactions"));
    }

    @Test
    void callersComeIndependentlyUnlessToldOtherwise() throws Exception {
        JSONObject run = Jobs.run(3, 0, 60, Jobs.transaction("insert", INSERT)).put("rate_per_s", 100)
            .put("max_transactions", 120).put("seed", 5);
        jobs.perform(Jobs.inMemory(), Jobs.execute(HISTORY), run, Jobs.query("SELECT COUNT(*) FROM history"));
        assertCountsAgree();
        Slots same = new Slots(100, Slots.Arrivals.POISSON, 5);
        long lastDue = LongStream.generate(same::take).limit(120).max().orElseThrow();
        assertTrue(jobs.summary().getDouble("duration_s") >= lastDue / 1e9, "by the due times of its seed");
        assertEquals(jobs.summary().getLong("slots"), jobs.summary().getLong("committed")
            + jobs.summary().getLong("unstarted"));
    }

    @Test
    void aTerminalThatWaitsForItsSlotEndsWithTheWindow() throws Exception {
        long begun = System.nanoTime();
        jobs.perform(Jobs.inMemory(), Jobs.execute(HISTORY),
            Jobs.run(4, 0, 2, Jobs.transaction("insert", INSERT)).put("rate_per_s", 0.02).put("arrivals", "even"));
        double elapsed = Clock.secondsSince(begun);
        assertTrue(elapsed >= 2, "not before it: " + elapsed);
        assertTrue(elapsed < 30, "nor with the slot, 50 s after the start: " + elapsed);
        assertEquals(1, jobs.summary().getLong("committed") + jobs.summary().getLong("unstarted"));
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
