package benchsite.loadgen.tpcc;

import benchsite.loadgen.workload.RowSource;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.SplittableRandom;
import org.json.JSONObject;

/** The rows of one table, as clause 4.3.3.1 of the standard fills it. */
final class Rows implements RowSource {
    /** When the database is said to have been filled: one moment for all, so that the same seed gives the same data. */
    static final Timestamp LOADED = Timestamp.valueOf("2026-01-01 00:00:00");
    private final String table;
    private final long seed;
    private final int width;
    private final Filler filler;
    private final Row row = new Row();

    Rows(JSONObject table, long seed, int width, Filler.Maker maker) {
        this.table = table.getString("name");
        this.seed = seed;
        this.width = width;
        this.filler = maker.make(Scale.of(table.getJSONObject("parameters")), seed);
    }

    /** Sets the columns of one row. Each thread of a load has its own. */
    interface Filler {
        void fill(Row row, SplittableRandom random, long number) throws SQLException;

        interface Maker {
            Filler make(Scale scale, long seed);
        }
    }

    @Override
    public int width() {
        return width;
    }

    @Override
    public long bytes() {
        return row.bytes();
    }

    @Override
    public void bind(PreparedStatement insert, long number, int offset) throws SQLException {
        row.begin(insert, offset);
        filler.fill(row, RowSource.random(seed, table, number), number);
    }

    /** Number of a row within its district, the district and the warehouse; each from 1. */
    record Key(int id, int district, int warehouse) {
        static Key of(long number, int perDistrict) {
            long district = number / perDistrict;
            return new Key((int) (number % perDistrict) + 1, (int) (district % Scale.DISTRICTS) + 1,
                (int) (district / Scale.DISTRICTS) + 1);
        }
    }
}
