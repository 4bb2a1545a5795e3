package benchsite.loadgen;

import java.sql.PreparedStatement;
import java.sql.SQLException;

/** The rows of a table that is loaded. Each thread of the loader has one of its own; row numbers count from 0. */
public interface RowSource {
    /** Number of columns, that is of parameters of the insert. */
    int width();

    /**
     * Sets every parameter for this row.
     *
     * <p>The values depend on the row's number and the seed only, so that a table is the same whatever threads fill it.
     */
    void bind(PreparedStatement insert, long row) throws SQLException;

    /** Bytes of all values bound so far by this source, see {@link Widths}. */
    long bytes();
}
