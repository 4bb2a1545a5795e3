package benchsite.loadgen.workload;

import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.SplittableRandom;

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

    /** Random values of one row: the same for the same seed, table and row, whoever asks and in whatever order. */
    static SplittableRandom random(long seed, String table, long row) {
        return new SplittableRandom(mixed(mixed(seed * 0x9E3779B97F4A7C15L + table.hashCode()) + row));
    }

    /** The finaliser of MurmurHash3: neighbours become seeds that have nothing in common. */
    private static long mixed(long value) {
        long mixed = (value ^ (value >>> 33)) * 0xff51afd7ed558ccdL;
        mixed = (mixed ^ (mixed >>> 33)) * 0xc4ceb9fe1a85ec53L;
        return mixed ^ (mixed >>> 33);
    }
}
