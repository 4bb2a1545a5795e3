package benchsite.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchsite.loadgen.events.PhaseException;
import benchsite.loadgen.sql.Parameters;
import benchsite.loadgen.sql.Results;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

class SqlStepsTest {
    private static final String NUMBERS = "SELECT X FROM SYSTEM_RANGE(1, 1000)";
    private final Jobs jobs = new Jobs();

    private JSONObject only(String event) {
        List<JSONObject> found = jobs.emitted(event);
        assertEquals(1, found.size());
        return found.get(0);
    }

    @Test
    void aQueryIsTimedAndAllItsRowsAreFetchedWhateverIsShown() throws Exception {
        jobs.perform(Jobs.inMemory(), Jobs.query(NUMBERS).put("max_rows", 2));
        JSONObject query = only("query");
        assertEquals("[[1],[2]]", query.getJSONArray("rows").toString());
        assertEquals(1_000, query.getLong("row_count"));
        assertTrue(query.getDouble("elapsed_s") > 0);
        assertTrue(jobs.emitted("phase").isEmpty());
    }

    @Test
    void aQueryWithAPhaseOfItsOwnTellsItsBeginAndItsEnd() throws Exception {
        jobs.perform(Jobs.inMemory(), Jobs.query(NUMBERS).put("phase", "count"));
        List<JSONObject> phases = jobs.emitted("phase");
        assertEquals(List.of("begin", "end"), phases.stream().map(phase -> phase.getString("state")).toList());
        assertEquals("count", phases.get(0).getString("phase"));
        assertEquals(only("query").getDouble("elapsed_s"), phases.get(1).getDouble("elapsed_s"));
    }

    @Test
    void aStatementTakesParametersOfAnyKind() throws Exception {
        Object[] values = {7, "seven", new BigDecimal("7.5"), null, 7_000_000_000L};
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:");
             PreparedStatement statement = connection.prepareStatement("SELECT CAST(? AS INT) + 1, "
                 + "CAST(? AS VARCHAR(9)) || '!', CAST(? AS DECIMAL(4, 1)), CAST(? AS INT), CAST(? AS BIGINT)")) {
            Parameters parameters = new Parameters(statement);
            for (int index = 0; index < values.length; index++) {
                parameters.set(index + 1, values[index]);
            }
            JSONObject event = Results.read(statement, statement.execute(), 1, new JSONObject());
            assertEquals("[[8,\"seven!\",7.5,null,7000000000]]", event.getJSONArray("rows").toString());
        }
    }

    @Test
    void anOptionalQueryShowsItsError() throws Exception {
        jobs.perform(Jobs.inMemory(), Jobs.query("SELECT nothing FROM nowhere").put("optional", true));
        JSONObject query = only("query");
        assertTrue(query.getString("error").contains("NOWHERE"), query.toString());
        assertTrue(query.getString("sqlstate").startsWith("42"));
        assertTrue(query.getJSONArray("rows").isEmpty());
        assertThrows(PhaseException.class, () -> jobs.perform(Jobs.inMemory(), Jobs.query("SELECT a FROM nowhere")));
    }

    @Test
    void aQueryThatFailsEndsItsPhaseAllTheSame() throws Exception {
        JSONObject failing = Jobs.query("SELECT nothing FROM nowhere").put("optional", true).put("phase", "count");
        jobs.perform(Jobs.inMemory(), failing);
        List<JSONObject> phases = jobs.emitted("phase");
        assertEquals(List.of("begin", "end"), phases.stream().map(phase -> phase.getString("state")).toList());
        assertTrue(phases.get(1).getDouble("elapsed_s") > 0);
        assertTrue(only("query").has("error"));
    }

    @Test
    void everyStatementIsTimed() throws Exception {
        jobs.perform(Jobs.inMemory(), Jobs.execute("CREATE TABLE t (a INT)", "INSERT INTO t " + NUMBERS));
        JSONObject end = jobs.emitted("phase").get(1);
        JSONArray elapsed = end.getJSONArray("elapsed");
        assertEquals(2, elapsed.length());
        assertTrue(elapsed.getDouble(0) > 0 && elapsed.getDouble(1) > 0, elapsed.toString());
        assertTrue(elapsed.getDouble(0) + elapsed.getDouble(1) <= end.getDouble("elapsed_s") + 1e-9, end.toString());
        assertFalse(end.has("error"));
    }

    @Test
    void anOptionalStatementThatFailsDoesNotStopTheNext() throws Exception {
        jobs.perform(Jobs.inMemory(), Jobs.execute("CREATE TABLE t (a INT)", "ANALYSE ALL OF IT",
            "INSERT INTO t VALUES (5)").put("optional", true), Jobs.query("SELECT a FROM t"));
        assertEquals(5, jobs.answer());
        JSONObject end = jobs.emitted("phase").get(1);
        assertEquals(1, end.getJSONArray("errors").length());
        assertEquals(1, end.getJSONArray("errors").getJSONObject(0).getInt("statement"));
        assertTrue(end.getString("error").contains("ANALYSE"), end.toString());
        assertEquals(3, end.getJSONArray("elapsed").length());
    }

    @Test
    void preparingAllChecksEveryStatementAndRunsNone() throws Exception {
        JSONObject step = new JSONObject().put("op", "prepare_all").put("phase", "check");
        JSONObject create = Jobs.execute("CREATE TABLE t (a INT)");
        jobs.perform(Jobs.inMemory(), create, step.put("statements",
            List.of("INSERT INTO t VALUES (?)", "SELECT a FROM t WHERE a = ?", "DROP TABLE t")),
            Jobs.query("SELECT COUNT(*) FROM t"));
        assertEquals(0, jobs.answer());
        assertEquals(3, jobs.emitted("phase").get(3).getInt("statements"));

        step.put("statements", List.of("SELECT a FROM t", "SELECT b FROM t"));
        var problem = assertThrows(PhaseException.class, () -> jobs.perform(Jobs.inMemory(), create, step));
        SQLException cause = (SQLException) problem.getCause();
        assertTrue(cause.getMessage().startsWith("statement 2 of 2: SELECT b FROM t: "), cause.getMessage());
        assertTrue(cause.getSQLState().startsWith("42"));
    }

    @Test
    void valuesThatJsonLacksAreText() throws Exception {
        jobs.perform(Jobs.inMemory(), Jobs.query(
            "SELECT CAST('NaN' AS DOUBLE), CAST('long' AS CLOB), X'00ff', DATE '2026-01-02'"));
        assertEquals("[[\"NaN\",\"long\",\"00ff\",\"2026-01-02\"]]", only("query").getJSONArray("rows").toString());
    }
}
