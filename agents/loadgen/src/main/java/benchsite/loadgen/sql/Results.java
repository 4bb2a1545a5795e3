package benchsite.loadgen.sql;

import benchsite.loadgen.events.Events;
import java.sql.Clob;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HexFormat;
import org.json.JSONArray;
import org.json.JSONObject;

/** Puts what a query returns into an event: {@code columns}, {@code rows}, {@code row_count}. */
public final class Results {
    private Results() {}

    /** The answer to a query, or its error, added to the event. */
    public static JSONObject answerOrError(Connection connection, String sql, JSONObject event) {
        try (Statement statement = connection.createStatement()) {
            return read(statement, statement.execute(sql), Integer.MAX_VALUE, event);
        } catch (SQLException problem) {
            return Events.put(event, problem);
        }
    }

    /**
     * Fetches every row of an executed statement and adds the first {@code maxRows} to the event.
     *
     * <p>A statement may return nothing at all, as a question about an unknown setting.
     */
    public static JSONObject read(Statement statement, boolean hasResult, int maxRows, JSONObject event)
        throws SQLException {
        JSONArray columns = new JSONArray();
        JSONArray rows = new JSONArray();
        long count = 0;
        if (hasResult) {
            try (ResultSet result = statement.getResultSet()) {
                ResultSetMetaData shape = result.getMetaData();
                for (int column = 1; column <= shape.getColumnCount(); column++) {
                    columns.put(shape.getColumnLabel(column));
                }
                for (; result.next(); count++) {
                    JSONArray row = row(result, columns.length());
                    if (count < maxRows) {
                        rows.put(row);
                    }
                }
            }
        }
        return event.put("columns", columns).put("rows", rows).put("row_count", count);
    }

    private static JSONArray row(ResultSet result, int columns) throws SQLException {
        JSONArray row = new JSONArray();
        for (int column = 1; column <= columns; column++) {
            row.put(plain(result.getObject(column)));
        }
        return row;
    }

    private static Object plain(Object value) throws SQLException {
        if (value == null) {
            return JSONObject.NULL;
        }
        if (value instanceof Clob text) {
            return text.getSubString(1, (int) Math.min(text.length(), Integer.MAX_VALUE));
        }
        if (value instanceof byte[] bytes) {
            return HexFormat.of().formatHex(bytes);
        }
        boolean known = value instanceof Number number && Double.isFinite(number.doubleValue());
        return known || value instanceof Boolean ? value : value.toString();
    }
}
