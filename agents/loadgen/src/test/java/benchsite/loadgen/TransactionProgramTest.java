package benchsite.loadgen;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

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
}
