package benchsite.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
        return Jobs.run(2, warmUp, duration, Jobs.transaction("insert", insert)).put("rate_per_s", 100);
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
        assertEquals(100, number(queries.get(1)), 15);
        assertEquals(200, number(queries.get(3)), 15);
        assertEquals(1, queries.get(3).getDouble("at") - queries.get(1).getDouble("at"), 0.3);
        assertTrue(queries.get(0).getString("sqlstate").startsWith("42"));
        List<String> names = jobs.emitted().stream().map(event -> event.getString("event")).toList();
        assertEquals(List.of("summary", "phase"), names.subList(names.size() - 2, names.size()));
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
        jobs.perform(Jobs.inMemory(), CREATE, run(1, 1).put("sampled", sampled));

        List<JSONObject> rows = jobs.emitted("sampled").stream()
            .filter(event -> event.getString("name").equals("rows")).toList();
        assertEquals(List.of(0, 1), rows.stream().map(event -> event.getInt("t")).toList());
        assertEquals(100, number(rows.get(0)), 15);
        assertEquals(200, number(rows.get(1)), 15);
        assertEquals("[\"COUNT(*)\"]", rows.get(0).getJSONArray("columns").toString());
        JSONObject sessions = jobs.emitted("sampled").stream()
            .filter(event -> event.getString("name").equals("sessions")).findFirst().orElseThrow();
        assertEquals(1 + 2 + 1, number(sessions), "the job's, two terminals, this one");
        List<JSONObject> broken = jobs.emitted("sampled").stream()
            .filter(event -> event.getString("name").equals("broken")).toList();
        assertEquals(1, broken.size(), "said once");
        assertTrue(broken.get(0).has("error"));
        assertFalse(broken.get(0).has("rows"));
    }
}
