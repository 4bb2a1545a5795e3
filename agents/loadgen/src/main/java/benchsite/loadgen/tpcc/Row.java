package benchsite.loadgen.tpcc;

import benchsite.loadgen.workload.Widths;
import java.math.BigDecimal;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.SplittableRandom;

/** Sets the parameters of an insert one after another, and counts the bytes of their values. */
final class Row {
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
