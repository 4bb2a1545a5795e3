package benchsite.loadgen;

import org.json.JSONArray;
import org.json.JSONObject;

/** Makes the columns of generated rows. Row numbers count from 0. */
final class RowGenerator {
    private interface Column {
        Object value(long row);
    }

    private final Column[] columns;

    RowGenerator(JSONArray definitions) {
        columns = new Column[definitions.length()];
        for (int index = 0; index < columns.length; index++) {
            columns[index] = column(definitions.getJSONObject(index));
        }
    }

    int width() {
        return columns.length;
    }

    Object value(int column, long row) {
        return columns[column].value(row);
    }

    private static Column column(JSONObject definition) {
        String kind = definition.getString("kind");
        switch (kind) {
            case "sequence": {
                long start = definition.optLong("start", 1);
                long step = definition.optLong("step", 1);
                return row -> start + row * step;
            }
            case "group": {
                long start = definition.optLong("start", 1);
                long size = definition.getLong("size");
                return row -> start + row / size;
            }
            case "constant": {
                Object value = definition.isNull("value") ? null : definition.get("value");
                return row -> value;
            }
            case "text": {
                String text = definition.optString("fill", " ").repeat(definition.getInt("length"));
                return row -> text;
            }
            default:
                throw new IllegalArgumentException("unknown kind of column: " + kind);
        }
    }
}
