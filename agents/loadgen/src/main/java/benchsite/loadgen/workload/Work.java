package benchsite.loadgen.workload;

import java.sql.SQLException;
import java.util.SplittableRandom;

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
