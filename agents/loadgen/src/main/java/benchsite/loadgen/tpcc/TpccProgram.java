package benchsite.loadgen.tpcc;

import benchsite.loadgen.workload.Program;
import benchsite.loadgen.workload.Work;
import java.sql.Connection;
import java.sql.SQLException;
import org.json.JSONObject;

/** One of the five transactions, with the SQL of the job by the names that its class asks for. */
final class TpccProgram extends Program {
    interface Opening {
        Work open(Statements statements, Draws draws) throws SQLException;
    }

    private final JSONObject sql;
    private final Draws draws;
    private final Opening opening;

    TpccProgram(JSONObject definition, Opening opening) {
        super(definition);
        this.sql = definition.getJSONObject("sql");
        this.draws = Draws.of(definition.getJSONObject("parameters"));
        this.opening = opening;
    }

    @Override
    public Work open(Connection connection, int terminal) throws SQLException {
        return opening.open(new Statements(connection, sql), draws);
    }
}
