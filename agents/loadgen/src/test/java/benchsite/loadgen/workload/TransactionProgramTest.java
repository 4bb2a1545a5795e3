package benchsite.loadgen.workload;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchsite.loadgen.workload.Program.Work;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.json.JSONArray;
import org.json.JSONException;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

class TransactionProgramTest {
    private static final String VARIABLES =
        "[{'name': 'die', 'kind': 'uniform', 'min': -1, 'max': 2}, {'name': 'now', 'kind': 'timestamp'}]";

    private static TransactionProgram program(String variables, String statements) {
        return new TransactionProgram(new JSONObject().put("name", "t").put("variables", new JSONArray(variables))
            .put("statements", new JSONArray(statements)));
    }

    /** A copy: the values of the next draw are put in the same place. */
    private static Object[] values(Work work, SplittableRandom random) {
        return ((Object[]) work.draw(random)).clone();
    }

    @Test
    void itDrawsBothEndsAndNothingBeyond() throws SQLException {
        Work work = program(VARIABLES, "[]").open(null, 0);
        SplittableRandom random = new SplittableRandom(7);
        Set<Object> drawn = new TreeSet<>();
        for (int draw = 0; draw < 1_000; draw++) {
            drawn.add(values(work, random)[0]);
        }
        assertEquals(Set.of(-1, 0, 1, 2), drawn);
        assertTrue(values(work, random)[1] instanceof Timestamp);
    }

    @Test
    void theSameSeedGivesTheSameValues() throws SQLException {
        Work work = program("[{'name': 'a', 'kind': 'uniform', 'min': 1, 'max': 1000000}]", "[]").open(null, 0);
        assertArrayEquals(values(work, new SplittableRandom(3)), values(work, new SplittableRandom(3)));
    }

    @Test
    void whatItDoesNotKnowIsRefused() {
        var bind = assertThrows(IllegalArgumentException.class,
            () -> program(VARIABLES, "[{'sql': 'SELECT ?', 'bind': ['dice']}]"));
        assertTrue(bind.getMessage().contains("dice"), bind.getMessage());
        assertThrows(IllegalArgumentException.class, () -> program("[{'name': 'a', 'kind': 'zipf'}]", "[]"));
        assertThrows(JSONException.class, () -> new TransactionProgram(new JSONObject().put("name", "t")));
    }

    @Test
    void itBindsByNameAndCountsRows() throws SQLException {
        TransactionProgram program = program(VARIABLES,
            "[{'sql': 'INSERT INTO t VALUES (?, ?)', 'bind': ['now', 'die'], 'expect_rows': 1},"
            + "{'sql': 'SELECT b FROM t WHERE b = ?', 'bind': ['die'], 'fetch': true, 'expect_rows': 1}]");
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:");
             var statement = connection.createStatement()) {
            statement.execute("CREATE TABLE t (a TIMESTAMP, b INT)");
            Timestamp now = new Timestamp(1_700_000_000_000L);
            program.open(connection, 0).execute(new Object[] {2, now});
            var rows = statement.executeQuery("SELECT a, b FROM t");
            assertTrue(rows.next());
            assertEquals(now, rows.getTimestamp(1));
            assertEquals(2, rows.getInt(2));
            // The second row of the same value makes the SELECT return two.
            var problem = assertThrows(SQLException.class,
                () -> program.open(connection, 0).execute(new Object[] {2, now}));
            assertTrue(problem.getMessage().contains("2 rows, not 1"), problem.getMessage());
        }
    }

    @Test
    void aSequenceIsUniqueOverAllTerminalsAndATerminalKnowsItsNumber() throws SQLException {
        TransactionProgram program = program(
            "[{'name': 'id', 'kind': 'sequence', 'start': 10}, {'name': 'me', 'kind': 'terminal'}]", "[]");
        Work first = program.open(null, 0);
        Work second = program.open(null, 3);
        SplittableRandom random = new SplittableRandom(1);
        assertArrayEquals(new Object[] {10L, 0}, values(first, random));
        assertArrayEquals(new Object[] {11L, 3}, values(second, random));
        assertArrayEquals(new Object[] {12L, 0}, values(first, random));
    }

    @Test
    void everyKindOfValueCanBeBound() throws SQLException {
        TransactionProgram program = program("[{'name': 'l', 'kind': 'uniform', 'min': 9000000000, 'max': 9000000000},"
            + "{'name': 't', 'kind': 'text', 'min_length': 3}, {'name': 'd', 'kind': 'decimal', 'min': 1, 'max': 1,"
            + "'scale': 2}, {'name': 'c', 'kind': 'choice', 'values': [true]}, {'name': 'n', 'kind': 'constant'}]",
            "[{'sql': 'INSERT INTO t VALUES (?, ?, ?, ?, ?)', 'bind': ['l', 't', 'd', 'c', 'n'], 'expect_rows': 1}]");
        try (Connection connection = DriverManager.getConnection("jdbc:h2:mem:");
             var statement = connection.createStatement()) {
            statement.execute("CREATE TABLE t (l BIGINT, t CHAR(3), d DECIMAL(9, 2), c BOOLEAN, n INT)");
            Work work = program.open(connection, 0);
            assertTrue(work.execute(work.draw(new SplittableRandom(1))));
            var rows = statement.executeQuery("SELECT l, CHAR_LENGTH(t), d, c, n FROM t");
            assertTrue(rows.next());
            assertEquals(9_000_000_000L, rows.getLong(1));
            assertEquals(3, rows.getInt(2));
            assertEquals("1.00", rows.getString(3));
            assertTrue(rows.getBoolean(4));
            assertNull(rows.getObject(5));
        }
    }
}
