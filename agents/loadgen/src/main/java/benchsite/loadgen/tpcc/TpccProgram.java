package benchsite.loadgen.tpcc;

import benchsite.loadgen.workload.Program;
import benchsite.loadgen.workload.Work;
import java.sql.Connection;
import java.sql.SQLException;
import org.json.JSONObject;

/** One of the five transactions, with the SQL of the job by the names that its class asks for. */
final class TpccProgram implements Program {
    interface Opening {
        Work open(Statements statements, Draws draws) throws SQLException;
    }

    private final String name;
    private final int weight;
    private final boolean reading;
    private final JSONObject sql;
    private final Draws draws;
    private final Opening opening;

    TpccProgram(JSONObject definition, Opening opening) {
        this.name = definition.getString("name");
        this.weight = definition.getInt("weight");
        this.reading = definition.optBoolean("read_only");
        this.sql = definition.getJSONObject("sql");
        this.draws = Draws.of(definition.getJSONObject("parameters"));
        this.opening = opening;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public int weight() {
        return weight;
    }

    @Override
    public boolean isReading() {
        return reading;
    }

    @Override
    public Work open(Connection connection, int terminal) throws SQLException {
        return opening.open(new Statements(connection, sql), draws);
    }
}
