package benchsite.loadgen.load;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchsite.loadgen.Hooks;
import benchsite.loadgen.Jobs;
import benchsite.loadgen.events.Clock;
import benchsite.loadgen.events.PhaseException;
import java.sql.SQLException;
import java.util.List;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

class LoadStepTest {
    private static final JSONObject CREATE = Jobs.execute("CREATE TABLE a (n BIGINT PRIMARY KEY, t VARCHAR(20))",
        "CREATE TABLE b (n BIGINT PRIMARY KEY, t VARCHAR(20))");
    private final Jobs jobs = new Jobs();

    private static JSONObject table(String name, long rows) {
        JSONArray columns = new JSONArray(
            "[{'kind': 'sequence'}, {'kind': 'text', 'min_length': 5, 'max_length': 15, 'null_share': 0.1}]");
        return new JSONObject().put("name", name).put("insert", "INSERT INTO " + name + " VALUES (?, ?)")
            .put("rows", rows).put("columns", columns);
    }

    private static JSONObject load(JSONObject... tables) {
        return new JSONObject().put("op", "load").put("batch", 10).put("commit_every", 25)
            .put("tables", List.of(tables));
    }

    private static long number(JSONObject event) {
        return event.getJSONArray("rows").getJSONArray(0).getLong(0);
    }

    private JSONObject end() {
        return jobs.emitted("phase").stream().filter(event -> event.has("rows")).reduce((one, last) -> last)
            .orElseThrow();
    }

    @Test
    void anyNumberOfThreadsLoadsTheSameRows() throws Exception {
        String all = null;
        for (int threads : new int[] {1, 3, 7}) {
            jobs.perform(Jobs.inMemory(), CREATE, load(table("a", 1_000), table("b", 5)).put("threads", threads),
                Jobs.query("SELECT n, t FROM a UNION ALL SELECT n, t FROM b ORDER BY 1, 2"));
            List<JSONObject> queries = jobs.emitted("query");
            JSONArray rows = queries.get(queries.size() - 1).getJSONArray("rows");
            assertEquals(1_005, rows.length());
            assertTrue(all == null || all.equals(rows.toString()), threads + " threads");
            all = rows.toString();
        }
        assertEquals(1_005, end().getLong("rows"));
        assertEquals(7, end().getInt("threads"));
        assertEquals(5, end().getJSONObject("tables").getJSONObject("b").getLong("rows"));
    }

    @Test
    void queriesAreAskedEachSecondOfALoad() throws Exception {
        // The load is held after 200 committed rows until a sample has shown them.
        Hooks.reset(() -> jobs.await(1, event -> event.optString("name").equals("rows") && number(event) == 200));
        JSONObject sampled = new JSONObject().put("rows", "SELECT COUNT(*) FROM a").put("broken", "SELECT nothing");
        JSONObject held = table("a", 300)
            .put("insert", "INSERT INTO a VALUES (CAST(? AS BIGINT) + 0 * HOLD_AFTER(200), ?)");
        jobs.perform(Jobs.inMemory(), CREATE, Jobs.execute(Hooks.HOLD), load(held).put("sampled", sampled));
        List<JSONObject> asked = jobs.emitted("sampled");
        assertEquals("broken", asked.get(0).getString("name"));
        assertTrue(asked.get(0).has("error"), "said once");
        List<JSONObject> answers = asked.subList(1, asked.size());
        assertTrue(answers.stream().allMatch(event -> event.getString("name").equals("rows")), asked.toString());
        assertTrue(answers.stream().anyMatch(event -> number(event) == 200), asked.toString());
        assertEquals(300, end().getLong("rows"));
    }

    @Test
    void bytesAreThoseOfTheValues() throws Exception {
        jobs.perform(Jobs.inMemory(), CREATE, load(table("a", 100)),
            Jobs.query("SELECT SUM(4 + COALESCE(OCTET_LENGTH(t), 0)) FROM a"));
        assertEquals(jobs.answer(), end().getLong("bytes"));
    }

    @Test
    void theSlowPartIsThrottledOverAllThreadsTogether() throws Exception {
        JSONObject profile = new JSONObject().put("slow_share", 0.3).put("slow_rows_per_s", 100);
        jobs.perform(Jobs.inMemory(), CREATE, load(table("a", 500)).put("threads", 4).put("profile", profile),
            Jobs.query("SELECT COUNT(*) FROM a"));

        assertEquals(500, jobs.answer());
        JSONObject mark = jobs.emitted("mark").get(0);
        assertEquals(1, jobs.emitted("mark").size());
        assertEquals("slow_part", mark.getString("name"));
        assertEquals(350, mark.getLong("rows"));
        assertEquals(350, end().getLong("fast_rows"));
        double slow = end().getDouble("slow_s");
        assertTrue(1.49 <= slow && slow < 20, "150 rows at 100/s: " + slow);
        List<JSONObject> progress = jobs.emitted("progress");
        assertEquals("slow", progress.get(progress.size() - 1).getString("part"));
    }

    @Test
    void noRowOfTheSlowPartIsHandedOutBeforeItsTime() throws Exception {
        JSONObject profile = new JSONObject().put("slow_share", 1).put("slow_rows_per_s", 100);
        LoadProgress progress = new LoadProgress(LoadPlan.of(load().put("profile", profile)), 20, () -> {});
        long begun = System.nanoTime();
        for (int row = 0; row < 20; row++) {
            assertTrue(progress.takeRow());
            progress.awaitSlowRow();
            long elapsed = System.nanoTime() - begun;
            assertTrue(elapsed >= row * 10_000_000L, "row " + row + " after " + elapsed + " ns");
        }
    }

    @Test
    void theSlowPartMayBeRowByRow() throws Exception {
        JSONObject profile = new JSONObject().put("slow_share", 0.5).put("slow_batch", 1).put("slow_commit_every", 1);
        jobs.perform(Jobs.inMemory(), CREATE, load(table("a", 101)).put("profile", profile),
            Jobs.query("SELECT COUNT(*) FROM a"));
        assertEquals(101, jobs.answer());
        assertEquals(50, jobs.emitted("mark").get(0).getLong("rows"));
    }

    @Test
    void theFirstErrorOfAThreadEndsAllOfThem() {
        // Row 301 exists already; the other threads have hours of work left.
        JSONObject slow = load(table("a", 1_000)).put("threads", 4).put("batch", 1)
            .put("profile", new JSONObject().put("slow_share", 0.7).put("slow_rows_per_s", 1));
        JSONObject hit = Jobs.execute("INSERT INTO a VALUES (3, 'there')");
        long begun = System.nanoTime();
        var problem = assertThrows(PhaseException.class, () -> jobs.perform(Jobs.inMemory(), CREATE, hit, slow));
        assertEquals("load", problem.phase());
        assertEquals("23505", ((SQLException) problem.getCause()).getSQLState());
        assertTrue(Clock.secondsSince(begun) < 60);
        assertFalse(jobs.emitted("phase").stream().anyMatch(event -> event.has("rows")));
    }

    private static JSONObject together(JSONObject table) {
        String insert = "INSERT INTO " + table.getString("name") + " VALUES (?, ?), (?, ?), (?, ?), (?, ?)";
        return table.put("many", new JSONObject().put("insert", insert).put("rows", 4));
    }

    private String rows() {
        List<JSONObject> queries = jobs.emitted("query");
        return queries.get(queries.size() - 1).getJSONArray("rows").toString();
    }

    @Test
    void severalRowsInOneStatementAreTheSameRows() throws Exception {
        JSONObject all = Jobs.query("SELECT n, t FROM a UNION ALL SELECT n, t FROM b ORDER BY 1, 2");
        jobs.perform(Jobs.inMemory(), CREATE, load(table("a", 1_003), table("b", 3)), all);
        String expected = rows();
        long bytes = end().getLong("bytes");
        for (int threads : new int[] {1, 3, 7}) {
            jobs.perform(Jobs.inMemory(), CREATE, load(together(table("a", 1_003)), together(table("b", 3)))
                .put("threads", threads), all);
            assertEquals(expected, rows(), threads + " threads");
            assertEquals(1_006, end().getLong("rows"));
            assertEquals(bytes, end().getLong("bytes"));
        }
    }

    @Test
    void onlyRowsThatFillAStatementGoOutTogether() throws Exception {
        // Batches of 10 are rounded down to 8: two of two statements, then one, and three rows one by one.
        JSONObject marked = Jobs.execute("CREATE TABLE calls (n INT)",
            "CREATE TRIGGER seen AFTER INSERT ON a CALL 'benchsite.loadgen.StatementCounter'");
        jobs.perform(Jobs.inMemory(), CREATE, marked, load(together(table("a", 23))).put("commit_every", 100),
            Jobs.query("SELECT COUNT(*) FROM calls"));
        assertEquals(5 + 3, jobs.answer());
    }

    @Test
    void theSlowPartRowByRowHasNoStatementsOfSeveralRows() throws Exception {
        JSONObject profile = new JSONObject().put("slow_share", 0.5).put("slow_batch", 1).put("slow_commit_every", 1);
        JSONObject marked = Jobs.execute("CREATE TABLE calls (n INT)",
            "CREATE TRIGGER seen AFTER INSERT ON a CALL 'benchsite.loadgen.StatementCounter'");
        jobs.perform(Jobs.inMemory(), CREATE, marked, load(together(table("a", 40))).put("profile", profile)
            .put("commit_every", 100), Jobs.query("SELECT COUNT(*) FROM calls"));
        assertEquals(5 + 20, jobs.answer());
        assertEquals(20, jobs.emitted("mark").get(0).getLong("rows"));
        assertEquals(40, end().getLong("rows"));
    }

    @Test
    void anErrorAmongSeveralRowsIsToldAsItIs() {
        JSONObject hit = Jobs.execute("INSERT INTO a VALUES (7, 'there')");
        var problem = assertThrows(PhaseException.class,
            () -> jobs.perform(Jobs.inMemory(), CREATE, hit, load(together(table("a", 100)))));
        assertEquals("23505", ((SQLException) problem.getCause()).getSQLState());
        assertFalse(jobs.emitted("phase").stream().anyMatch(event -> event.has("rows")));
    }

    @Test
    void anUnknownRowSourceIsNamed() {
        JSONObject coded = table("a", 1).put("program", "tpcc.nothing");
        var problem = assertThrows(PhaseException.class, () -> jobs.perform(Jobs.inMemory(), CREATE, load(coded)));
        assertEquals("unknown row source: tpcc.nothing", problem.getCause().getMessage());
    }

    @Test
    void limitsThatMeanNothingAreRefused() {
        for (JSONObject broken : List.of(load().put("threads", 0), load().put("batch", 0),
            load().put("profile", new JSONObject().put("slow_share", 1.5)))) {
            var problem = assertThrows(PhaseException.class, () -> jobs.perform(Jobs.inMemory(), broken));
            assertTrue(problem.getCause() instanceof IllegalArgumentException, broken.toString());
        }
    }
}
