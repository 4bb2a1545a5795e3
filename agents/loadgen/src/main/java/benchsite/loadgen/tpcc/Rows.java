package benchsite.loadgen.tpcc;

import benchsite.loadgen.workload.RowSource;
import benchsite.loadgen.workload.Widths;
import java.math.BigDecimal;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
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

    /** Sets the parameters of an insert one after another, and counts the bytes of their values. */
    static final class Row {
        private PreparedStatement insert;
        private int column;
        private long bytes;

        /** The first parameter to be set is the one behind {@code offset} others. */
        void begin(PreparedStatement statement, int offset) {
            insert = statement;
            column = offset;
        }

        long bytes() {
            return bytes;
        }

        Row number(int... values) throws SQLException {
            for (int value : values) {
                insert.setInt(++column, value);
                bytes += Widths.of(value);
            }
            return this;
        }

        Row text(String... values) throws SQLException {
            for (String value : values) {
                insert.setString(++column, value);
                bytes += Widths.of(value);
            }
            return this;
        }

        Row decimal(long unscaled, int scale) throws SQLException {
            BigDecimal value = BigDecimal.valueOf(unscaled, scale);
            insert.setBigDecimal(++column, value);
            bytes += Widths.of(value);
            return this;
        }

        Row time(Timestamp value) throws SQLException {
            insert.setTimestamp(++column, value);
            bytes += Widths.of(value);
            return this;
        }

        Row noNumber() throws SQLException {
            insert.setNull(++column, Types.INTEGER);
            return this;
        }

        Row noTime() throws SQLException {
            insert.setNull(++column, Types.TIMESTAMP);
            return this;
        }

        /** Two streets, city, state, zip. */
        Row address(SplittableRandom random) throws SQLException {
            for (int line = 0; line < 3; line++) {
                text(Texts.alphanumeric(random, 10, 20));
            }
            return text(Texts.letters(random, 2), Texts.digits(random, 4) + "11111");
        }
    }
}
