package benchsite.loadgen.tpcc;

import benchsite.loadgen.workload.RowSource;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.SplittableRandom;
import org.json.JSONObject;

/** The rows of one table, as clause 4.3.3.1 of the standard fills it. */
abstract class Rows implements RowSource {
    /** When the database is said to have been filled: one moment for all, so that the same seed gives the same data. */
    static final Timestamp LOADED = Timestamp.valueOf("2026-01-01 00:00:00");
    final Scale scale;
    final long seed;
    private final String table;
    private final int width;
    private final Row row = new Row();

    Rows(JSONObject table, long seed, int width) {
        this.table = table.getString("name");
        this.scale = Scale.of(table.getJSONObject("parameters"));
        this.seed = seed;
        this.width = width;
    }

    abstract void fill(Row row, SplittableRandom random, long number) throws SQLException;

    @Override
    public final int width() {
        return width;
    }

    @Override
    public final long bytes() {
        return row.bytes();
    }

    @Override
    public final void bind(PreparedStatement insert, long number, int offset) throws SQLException {
        row.begin(insert, offset);
        fill(row, RowSource.random(seed, table, number), number);
    }

    /** Number of a row within its district, the district and the warehouse; each from 1. */
    record Place(int id, int district, int warehouse) {
        static Place of(long number, int perDistrict) {
            long district = number / perDistrict;
            return new Place((int) (number % perDistrict) + 1, (int) (district % Scale.DISTRICTS) + 1,
                (int) (district / Scale.DISTRICTS) + 1);
        }
    }
}
