package benchsite.loadgen.tpcc;

import java.sql.Connection;
import java.sql.SQLException;
import org.json.JSONObject;

/** The named SQL texts of a transaction, to be prepared on one connection. */
record Statements(Connection connection, JSONObject sql) {
    Prepared prepare(String name) throws SQLException {
        return new Prepared(name, connection.prepareStatement(sql.getString(name)));
    }
}
