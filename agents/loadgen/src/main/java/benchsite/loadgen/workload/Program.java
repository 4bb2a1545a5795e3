package benchsite.loadgen.workload;

import java.sql.Connection;
import java.sql.SQLException;

/** One type of transaction of a run, shared by all terminals. */
public interface Program {
    /** What the figures of this type are called. */
    String name();

    /** Its part of the mix, in proportion to the sum of all weights. */
    int weight();

    /** Whether it changes nothing: some databases are told so when it begins. */
    boolean isReading();

    /** Prepares it on a terminal's connection. Terminals count from 0. */
    Work open(Connection connection, int terminal) throws SQLException;
}
