package benchsite.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchsite.loadgen.events.Events;
import benchsite.loadgen.events.PhaseException;
import benchsite.loadgen.run.RunStep;
import benchsite.loadgen.sql.Database;
import java.sql.Connection;
import java.sql.Driver;
import java.sql.DriverManager;
import java.sql.DriverPropertyInfo;
import java.util.List;
import java.util.Properties;
import java.util.logging.Logger;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

class JobRunnerTest {
    private final Jobs jobs = new Jobs();

    private static JSONObject load(int rows, int batch, int commitEvery) {
        JSONArray columns = new JSONArray(
            "[{'kind': 'sequence'}, {'kind': 'group', 'size': 10}, {'kind': 'constant', 'value': null}]");
        JSONObject table = new JSONObject().put("name", "t").put("insert", "INSERT INTO t VALUES (?, ?, ?)")
            .put("rows", rows).put("columns", columns);
        return new JSONObject().put("op", "load").put("phase", "load").put("batch", batch)
            .put("commit_every", commitEvery).put("tables", List.of(table));
    }

    @Test
    void anotherVersionOfTheJobIsRefused() {
        var problem = assertThrows(IllegalArgumentException.class,
            () -> jobs.perform(Jobs.inMemory().put("version", 2)));
        assertTrue(problem.getMessage().contains("version 2"), problem.getMessage());
        assertTrue(jobs.emitted().isEmpty());
    }

    @Test
    void anErrorNamesItsPhase() {
        var problem = assertThrows(PhaseException.class,
            () -> jobs.perform(Jobs.inMemory(), Jobs.execute("CREATE TABEL t (a INT)")));
        assertEquals("create", problem.phase());
        assertTrue(Events.put(new JSONObject(), problem.getCause()).getString("sqlstate").startsWith("42"), "syntax error");
        var unknown = assertThrows(PhaseException.class,
            () -> jobs.perform(Jobs.inMemory(), new JSONObject().put("op", "backup")));
        assertEquals("backup", unknown.phase());
    }

    @Test
    void aLoadFillsEveryRowWhateverTheBatches() throws Exception {
        for (int[] sizes : new int[][] {{95, 10, 30}, {100, 10, 10}, {7, 1000, 10_000}, {0, 10, 10}}) {
            jobs.perform(Jobs.inMemory(), Jobs.execute("CREATE TABLE t (a BIGINT PRIMARY KEY, b INT, c INT)"),
                load(sizes[0], sizes[1], sizes[2]),
                Jobs.query("SELECT COUNT(*) + 1000 * COALESCE(MAX(b), 0) + 1000000 * COUNT(c) FROM t"));
            assertEquals(sizes[0] + 1000L * ((sizes[0] + 9) / 10), jobs.answer());
        }
        JSONObject end = jobs.emitted("phase").stream().filter(event -> event.has("rows")).findFirst().orElseThrow();
        assertEquals(95, end.getLong("rows"));
        assertEquals("end", end.getString("state"));
    }

    @Test
    void aQueryReturnsEveryRowAsPlainValues() throws Exception {
        jobs.perform(Jobs.inMemory(),
            Jobs.query("SELECT * FROM (VALUES (1, 'ä', NULL, TRUE), (2, 'b', 3.5, FALSE)) AS v(a, b, c, d)"));
        JSONObject query = jobs.emitted("query").get(0);
        assertEquals("[\"A\",\"B\",\"C\",\"D\"]", query.getJSONArray("columns").toString());
        assertEquals("[[1,\"ä\",null,true],[2,\"b\",3.5,false]]", query.getJSONArray("rows").toString());
    }

    @Test
    void aQueryWithoutAResultHasNoRows() throws Exception {
        jobs.perform(Jobs.job("jdbc:sqlite::memory:"), Jobs.query("PRAGMA no_such_setting"));
        assertTrue(jobs.emitted("query").get(0).getJSONArray("rows").isEmpty());
    }

    @Test
    void sessionStatementsAreRunOnEveryConnection() throws Exception {
        JSONObject job = Jobs.inMemory();
        jobs.perform(job, Jobs.execute("CREATE TABLE sessions (id INT)"));
        job.put("session", List.of("INSERT INTO sessions VALUES (SESSION_ID())"));
        jobs.perform(job, Jobs.run(3, 0, 1, Jobs.transaction("idle", Jobs.statement("SELECT 1").put("fetch", true))),
            Jobs.query("SELECT COUNT(DISTINCT id) FROM sessions"));
        assertEquals(1 + 3, jobs.answer(), "the job's own connection and the terminals");
    }

    @Test
    void whatFailsWhileClosingIsNotFatal() throws Exception {
        JSONObject job = Jobs.inMemory().put("close", List.of("NO SUCH STATEMENT"))
            .put("close_url", "jdbc:no-such-engine:");
        assertTrue(jobs.perform(job).isEmpty());
    }

    @Test
    void theCloseStatementsAreDone() throws Exception {
        JSONObject job = Jobs.inMemory();
        jobs.perform(job.put("close", List.of("SHUTDOWN")), Jobs.execute("CREATE TABLE t (a INT)"));
        job.remove("close");
        // A database in memory is gone after its shutdown, so the table can be created once more.
        jobs.perform(job, Jobs.execute("CREATE TABLE t (a INT)"));
        assertEquals(2, jobs.emitted("phase").stream().filter(event -> event.getString("state").equals("end")).count());
    }

    @Test
    void aDriverThatDoesNotFitThisJavaIsAnErrorOfThePhase() throws Exception {
        Driver unfit = new Unfit();
        DriverManager.registerDriver(unfit);
        try {
            JSONObject job = Jobs.job("jdbc:unfit:");
            Database unreachable = new Database(job);
            RunStep phase = new RunStep(unreachable, jobs.events,
                Jobs.run(2, 0, 60, Jobs.transaction("any")), null, unreachable);
            var problem = assertThrows(PhaseException.class, phase::run);
            assertTrue(problem.getCause() instanceof UnsupportedClassVersionError);
        } finally {
            DriverManager.deregisterDriver(unfit);
        }
    }

    @Test
    void aMissingDriverClassIsNamed() {
        JSONObject job = Jobs.inMemory();
        job.getJSONObject("connection").put("driver_class", "com.example.NoDriver");
        var problem = assertThrows(IllegalArgumentException.class, () -> jobs.perform(job));
        assertTrue(problem.getMessage().contains("com.example.NoDriver"), problem.getMessage());
    }

    /** Fails as a driver does whose classes are too new: with an Error, not an Exception. */
    private static final class Unfit implements Driver {
        @Override
        public Connection connect(String url, Properties info) {
            if (acceptsURL(url)) {
                throw new UnsupportedClassVersionError("compiled by a more recent version of Java");
            }
            return null;
        }

        @Override
        public boolean acceptsURL(String url) {
            return url.startsWith("jdbc:unfit:");
        }

        @Override
        public DriverPropertyInfo[] getPropertyInfo(String url, Properties info) {
            return new DriverPropertyInfo[0];
        }

        @Override
        public int getMajorVersion() {
            return 1;
        }

        @Override
        public int getMinorVersion() {
            return 0;
        }

        @Override
        public boolean jdbcCompliant() {
            return false;
        }

        @Override
        public Logger getParentLogger() {
            return null;
        }
    }
}
