package benchsite.loadgen;

import benchsite.loadgen.tpcc.Tpcc;
import java.util.Map;
import java.util.SplittableRandom;
import org.json.JSONObject;

/** Makes the rows of a table of a job: most are columns of generated values; one with {@code program} is a class. */
public final class RowSources {
    private static final Map<String, Map<String, Maker>> CODED = Map.of("tpcc", Tpcc.ROW_SOURCES);
    private static final long ODD = 0x9E3779B97F4A7C15L;

    /** Makes a source of a table's rows, called once for each thread of the loader. */
    public interface Maker {
        RowSource make(JSONObject table, long seed);
    }

    private RowSources() {}

    /** Raises IllegalArgumentException for a program that is not there. */
    public static RowSource of(JSONObject table, long seed) {
        if (!table.has("program")) {
            return new RowGenerator(table, seed);
        }
        return Coded.find(CODED, "row source", table.getString("program")).make(table, seed);
    }

    /** Random values of one row: the same for the same seed, table and row, whoever asks and in whatever order. */
    public static SplittableRandom random(long seed, String table, long row) {
        return new SplittableRandom(mixed(mixed(seed * ODD + table.hashCode()) + row));
    }

    /** The finaliser of MurmurHash3: neighbours become seeds that have nothing in common. */
    private static long mixed(long value) {
        long mixed = (value ^ (value >>> 33)) * 0xff51afd7ed558ccdL;
        mixed = (mixed ^ (mixed >>> 33)) * 0xc4ceb9fe1a85ec53L;
        return mixed ^ (mixed >>> 33);
    }
}
