package benchsite.loadgen.workload;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.SplittableRandom;
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

    /** A program prepared on the connection of one terminal. Used by its terminal's thread only. */
    public interface Work {
        /**
         * The values of the next transaction; they stay the same when it is tried again after a conflict.
         *
         * <p>The terminal is done with them before it draws again, so an implementation may use one object for all.
         */
        Object draw(SplittableRandom random);

        /**
         * Runs every statement of the transaction once; neither begins nor commits.
         *
         * @return false for a rollback that the workload wants: the terminal rolls back and counts it as executed
         */
        boolean execute(Object values) throws SQLException;
    }
}
