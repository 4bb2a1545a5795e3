package benchsite.loadgen;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.h2.api.Trigger;

/** Counts the statements that insert: a trigger that is called once for each, whatever the number of its rows. */
public final class StatementCounter implements Trigger {
    @Override
    public void fire(Connection connection, Object[] before, Object[] after) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("INSERT INTO calls VALUES (1)");
        }
    }
}
