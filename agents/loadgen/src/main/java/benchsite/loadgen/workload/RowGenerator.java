package benchsite.loadgen.workload;

import benchsite.loadgen.sql.Parameters;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.SplittableRandom;
import org.json.JSONArray;
import org.json.JSONObject;

/** Rows whose columns are generated as the job says. */
public final class RowGenerator implements RowSource {
    private final String table;
    private final long seed;
    private final Column[] columns;
    private final boolean random;
    private final Map<PreparedStatement, Parameters> known = new IdentityHashMap<>();
    private Parameters parameters;
    private long bytes;

    public RowGenerator(JSONObject table, long seed) {
        this.table = table.optString("name", "");
        this.seed = seed;
        JSONArray definitions = table.getJSONArray("columns");
        columns = new Column[definitions.length()];
        boolean drawn = false;
        for (int index = 0; index < columns.length; index++) {
            columns[index] = Column.of(definitions.getJSONObject(index));
            drawn |= Column.isDrawn(definitions.getJSONObject(index));
        }
        random = drawn;
    }

    @Override
    public int width() {
        return columns.length;
    }

    @Override
    public long bytes() {
        return bytes;
    }

    /** All columns of a row. */
    Object[] values(long row) {
        SplittableRandom drawing = random ? RowSource.random(seed, table, row) : null;
        Object[] values = new Object[columns.length];
        for (int index = 0; index < values.length; index++) {
            values[index] = columns[index].value(row, drawing);
        }
        return values;
    }

    @Override
    public void bind(PreparedStatement insert, long row, int offset) throws SQLException {
        if (parameters == null || parameters.statement() != insert) {
            parameters = known.computeIfAbsent(insert, Parameters::new);
        }
        Object[] values = values(row);
        for (int index = 0; index < values.length; index++) {
            parameters.set(offset + index + 1, values[index]);
            bytes += Widths.of(values[index]);
        }
    }
}
