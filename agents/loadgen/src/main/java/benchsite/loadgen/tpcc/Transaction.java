package benchsite.loadgen.tpcc;

import benchsite.loadgen.workload.Program.Work;
import java.sql.Connection;
import java.sql.SQLException;
import org.json.JSONObject;

/** One of the five transactions. Its statements are prepared when it is made, in the order of its fields. */
abstract class Transaction implements Work {
    /** SQL texts by name, to be prepared on one connection. */
    record Statements(Connection connection, JSONObject sql) {}

    final Draws draws;
    private final Statements statements;

    Transaction(Statements statements, Draws draws) {
        this.statements = statements;
        this.draws = draws;
    }

    final Prepared prepare(String name) throws SQLException {
        return new Prepared(name, statements.connection.prepareStatement(statements.sql.getString(name)));
    }
}
