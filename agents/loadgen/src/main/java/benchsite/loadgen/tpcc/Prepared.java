package benchsite.loadgen.tpcc;

import benchsite.loadgen.sql.Parameters;
import java.math.BigDecimal;
import java.math.RoundingMode;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** A prepared statement of a transaction. Every column of what it finds is read, as a terminal would show it. */
final class Prepared {
    private final String name;
    private final PreparedStatement statement;
    private final Parameters parameters;

    Prepared(String name, PreparedStatement statement) {
        this.name = name;
        this.statement = statement;
        this.parameters = new Parameters(statement);
    }

    private void bind(Object[] values) throws SQLException {
        for (int index = 0; index < values.length; index++) {
            parameters.set(index + 1, values[index]);
        }
    }

    int update(Object... values) throws SQLException {
        bind(values);
        return statement.executeUpdate();
    }

    /** A change of exactly one row. */
    void updateRow(Object... values) throws SQLException {
        int rows = update(values);
        if (rows != 1) {
            throw new SQLException(name + " touched " + rows + " rows, not 1");
        }
    }

    List<Object[]> rows(Object... values) throws SQLException {
        return read(Integer.MAX_VALUE, values);
    }

    /** The first row; null when there is none. */
    Object[] first(Object... values) throws SQLException {
        List<Object[]> rows = read(1, values);
        return rows.isEmpty() ? null : rows.get(0);
    }

    /** The first row, which has to be there. */
    Object[] row(Object... values) throws SQLException {
        Object[] row = first(values);
        if (row == null) {
            throw new SQLException(name + " found no row");
        }
        return row;
    }

    private List<Object[]> read(int most, Object[] values) throws SQLException {
        bind(values);
        List<Object[]> rows = new ArrayList<>();
        try (ResultSet result = statement.executeQuery()) {
            int width = result.getMetaData().getColumnCount();
            while (rows.size() < most && result.next()) {
                Object[] row = new Object[width];
                for (int column = 0; column < width; column++) {
                    row[column] = result.getObject(column + 1);
                }
                rows.add(row);
            }
        }
        return rows;
    }

    static int whole(Object value) {
        return ((Number) value).intValue();
    }

    /** To the cent: some engines compute with floating-point numbers. */
    static BigDecimal money(Object value) {
        return new BigDecimal(value.toString()).setScale(2, RoundingMode.HALF_UP);
    }
}
