package benchsite.loadgen;

import java.sql.PreparedStatement;
import java.sql.SQLException;

/** The rows of a table that is loaded. Each thread of the loader has one of its own; row numbers count from 0. */
public interface RowSource {
    /** Number of columns, that is of parameters of one row. */
    int width();

    /**
     * Sets the parameters of this row, the first one behind {@code offset} others: an insert may take several rows.
     *
     * <p>The values depend on the row's number and the seed only, so that a table is the same whatever threads fill it.
     */
    void bind(PreparedStatement insert, long row, int offset) throws SQLException;

    /** Bytes of all values bound so far by this source, see {@link Widths}. */
    long bytes();
}
