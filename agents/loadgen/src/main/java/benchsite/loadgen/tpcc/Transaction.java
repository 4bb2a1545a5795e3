package benchsite.loadgen.tpcc;

import benchsite.loadgen.workload.Work;
import java.sql.SQLException;

/** One of the five transactions. Its statements are prepared when it is made, in the order of its fields. */
abstract class Transaction implements Work {
    final Draws draws;
    private final Statements statements;

    Transaction(Statements statements, Draws draws) {
        this.statements = statements;
        this.draws = draws;
    }

    final Prepared prepare(String name) throws SQLException {
        return statements.prepare(name);
    }
}
