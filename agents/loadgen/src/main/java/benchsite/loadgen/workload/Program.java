package benchsite.loadgen.workload;

import java.sql.Connection;
import java.sql.SQLException;
import org.json.JSONObject;

/** One type of transaction of a run, shared by all terminals. */
public abstract class Program {
    /** What the figures of this type are called. */
    public final String name;
    /** Its part of the mix, in proportion to the sum of all weights. */
    public final int weight;
    /** Whether it changes nothing: some databases are told so when it begins. */
    public final boolean isReading;

    protected Program(JSONObject definition) {
        name = definition.getString("name");
        weight = definition.optInt("weight", 1);
        isReading = definition.optBoolean("read_only");
    }

    /** Prepares it on a terminal's connection. Terminals count from 0. */
    public abstract Work open(Connection connection, int terminal) throws SQLException;
}
