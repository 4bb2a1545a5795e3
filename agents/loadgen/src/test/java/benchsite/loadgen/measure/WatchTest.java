package benchsite.loadgen.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchsite.loadgen.Hooks;
import benchsite.loadgen.Jobs;
import java.util.List;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

/** Snapshots at both ends of the measured window, and queries of every second. */
class WatchTest {
    private static final String COUNT = "SELECT COUNT(*) FROM history";
    private static final JSONObject CREATE = Jobs.execute("CREATE TABLE history (n INT)");
    private final Jobs jobs = new Jobs();

    private static JSONObject run(int warmUp, int duration) {
        JSONObject insert = Jobs.statement("INSERT INTO history VALUES (?)", "n");
        return Jobs.run(2, warmUp, duration, Jobs.transaction("insert", insert)).put("rate_per_s", 100)
            .put("arrivals", "even");
    }

    /** So many transactions; all but the first few are held until something has been seen. */
    private static JSONObject held(int warmUp, int transactions, int free) {
        JSONObject held = Jobs.transaction("held", Jobs.statement("INSERT INTO history VALUES (?)", "n"),
            Jobs.statement("CALL HOLD_AFTER(" + free + ")").put("fetch", true));
        return Jobs.run(2, warmUp, 60, held).put("rate_per_s", 100).put("arrivals", "even")
            .put("max_transactions", transactions);
    }

    private static boolean isCalled(JSONObject event, String name) {
        return event.optString("name").equals(name);
    }

    private static long number(JSONObject event) {
        return event.getJSONArray("rows").getJSONArray(0).getLong(0);
    }

    @Test
    void snapshotsStandAtBothEndsOfTheMeasuredWindow() throws Exception {
        JSONObject snapshots = new JSONObject().put("rows", COUNT).put("broken", "SELECT nothing");
        jobs.perform(Jobs.inMemory(), CREATE, run(1, 1).put("snapshots", snapshots));

        List<JSONObject> queries = jobs.emitted("query");
        assertEquals(List.of("begin:broken", "begin:rows", "end:broken", "end:rows"),
            queries.stream().map(query -> query.getString("name")).toList());
        // What had ended by then is in the snapshot; the clock says no more than that.
        JSONObject summary = jobs.summary();
        long warmUp = summary.getLong("warm_up_transactions");
        long begin = number(queries.get(1));
        long end = number(queries.get(3));
        assertEquals(200, summary.getLong("slots"));
        assertTrue(warmUp <= begin && begin <= end, summary + ", begin " + begin + ", end " + end);
        assertTrue(warmUp + summary.getLong("transactions") <= end && end <= summary.getLong("committed"),
            summary + ", end " + end);
        assertTrue(queries.get(0).getString("sqlstate").startsWith("42"));
        List<String> names = jobs.emitted().stream().map(event -> event.getString("event")).toList();
        assertEquals(List.of("summary", "phase"), names.subList(names.size() - 2, names.size()));
    }

    @Test
    void theFirstSnapshotIsTakenAsSoonAsTheWarmUpIsOver() throws Exception {
        Hooks.reset(() -> jobs.await(1, event -> isCalled(event, "begin:rows")));
        jobs.perform(Jobs.inMemory(), CREATE, Jobs.execute(Hooks.HOLD),
            held(1, 150, 100).put("snapshots", new JSONObject().put("rows", COUNT)));

        List<JSONObject> queries = jobs.emitted("query");
        assertEquals("max_transactions", jobs.summary().getString("ended_by"), "nothing was held until the end");
        assertTrue(jobs.summary().getLong("warm_up_transactions") <= number(queries.get(0)), "not before");
        assertTrue(number(queries.get(0)) <= 100, "nor with what began after it");
        assertEquals(150, number(queries.get(1)));
    }

    @Test
    void withoutAWarmUpTheFirstSnapshotIsTakenBeforeTheFirstTransaction() throws Exception {
        jobs.perform(Jobs.inMemory(), CREATE, run(0, 60).put("max_transactions", 20)
            .put("snapshots", new JSONObject().put("rows", COUNT)));
        assertEquals(0, number(jobs.emitted("query").get(0)));
        assertEquals(20, number(jobs.emitted("query").get(1)), "a run that ends early has its last snapshot, too");
    }

    @Test
    void sampledQueriesAreAskedEverySecondOnAConnectionOfTheirOwn() throws Exception {
        JSONObject sampled = new JSONObject().put("rows", COUNT)
            .put("sessions", "SELECT COUNT(*) FROM INFORMATION_SCHEMA.SESSIONS").put("broken", "SELECT nothing");
        // Both terminals are held from the 11th transaction on, until two seconds have been sampled.
        Hooks.reset(() -> jobs.await(2, event -> isCalled(event, "rows")));
        jobs.perform(Jobs.inMemory(), CREATE, Jobs.execute(Hooks.HOLD), held(0, 20, 10).put("sampled", sampled));

        List<JSONObject> rows = jobs.emitted("sampled").stream().filter(event -> isCalled(event, "rows")).toList();
        int before = -1;
        for (JSONObject event : rows) {
            assertTrue(event.getInt("t") > before, "once a second: " + rows);
            before = event.getInt("t");
            assertTrue(ended(before) <= number(event), event + ": what had ended by then");
        }
        assertEquals(0, rows.get(0).getInt("t"));
        assertTrue(number(rows.get(1)) <= 10, rows.toString());
        assertEquals("[\"COUNT(*)\"]", rows.get(0).getJSONArray("columns").toString());
        JSONObject sessions = jobs.emitted("sampled").stream().filter(event -> isCalled(event, "sessions"))
            .findFirst().orElseThrow();
        assertEquals(1 + 2 + 1, number(sessions), "the job's, two terminals, this one");
        List<JSONObject> broken = jobs.emitted("sampled").stream().filter(event -> isCalled(event, "broken"))
            .toList();
        assertEquals(1, broken.size(), "said once");
        assertTrue(broken.get(0).has("error"));
        assertFalse(broken.get(0).has("rows"));
    }

    /** How many transactions had ended when this second was over. */
    private long ended(int second) {
        return jobs.emitted("second").stream().filter(event -> event.getInt("t") <= second)
            .mapToLong(event -> event.getLong("n")).sum();
    }
}
