package benchsite.loadgen.sql;

import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import org.json.JSONArray;
import org.json.JSONObject;

/** How to reach the database of a job: connection, session statements, transaction hooks, retryable conflicts. */
public final class Database {
    /** SQL errors of one kind, told by SQLSTATE, by how the SQLSTATE begins, or by the DBMS's own code. */
    private record ErrorClass(Set<String> states, List<String> prefixes, Set<Integer> codes) {
        /** An absent definition holds no error. */
        static ErrorClass of(JSONObject definition) {
            JSONObject given = definition == null ? new JSONObject() : definition;
            Set<Integer> codes = given.optJSONArray("codes", new JSONArray()).toList().stream()
                .map(code -> ((Number) code).intValue()).collect(Collectors.toUnmodifiableSet());
            return new ErrorClass(Set.copyOf(strings(given.optJSONArray("sqlstates"))),
                strings(given.optJSONArray("sqlstate_prefixes")), codes);
        }

        /** Whether the problem or one that is chained to it is of this kind. */
        boolean holds(SQLException problem) {
            for (SQLException cause = problem; cause != null; cause = cause.getNextException()) {
                String state = cause.getSQLState() == null ? "" : cause.getSQLState();
                if (states.contains(state) || prefixes.stream().anyMatch(state::startsWith)
                    || codes.contains(cause.getErrorCode())) {
                    return true;
                }
            }
            return false;
        }
    }

    private final String url;
    private final Properties properties = new Properties();
    private final List<String> session;
    private final String begin;
    private final String beginReading;
    private final String commit;
    private final String rollback;
    private final ErrorClass retryable;
    private final ErrorClass tolerable;

    public Database(JSONObject job) {
        this(job, job.getJSONObject("connection"));
    }

    /** Another connection, of somebody with other rights, beside the job's own. */
    public Database(JSONObject job, JSONObject connection) {
        url = connection.getString("url");
        JSONObject given = connection.optJSONObject("properties", new JSONObject());
        given.keySet().forEach(key -> properties.setProperty(key, given.get(key).toString()));
        String driver = connection.optString("driver_class", "");
        if (!driver.isEmpty() && !connection.isNull("driver_class")) {
            try {
                Class.forName(driver);
            } catch (ClassNotFoundException missing) {
                throw new IllegalArgumentException("JDBC driver class not on the class path: " + driver, missing);
            }
        }
        session = strings(job.optJSONArray("session"));
        JSONObject transaction = job.optJSONObject("transaction", new JSONObject());
        begin = textOrNull(transaction, "begin");
        String reading = textOrNull(transaction, "begin_reading");
        beginReading = reading == null ? begin : reading;
        commit = textOrNull(transaction, "commit");
        rollback = textOrNull(transaction, "rollback");
        retryable = ErrorClass.of(job.optJSONObject("retryable"));
        tolerable = ErrorClass.of(job.optJSONObject("tolerable"));
    }

    private static String textOrNull(JSONObject object, String key) {
        return object.isNull(key) ? null : object.getString(key);
    }

    public static List<String> strings(JSONArray array) {
        return array == null ? List.of() : array.toList().stream().map(Object::toString).toList();
    }

    /** A connection for transactions, session statements done. */
    public Connection connect() throws SQLException {
        Connection connection = connectPlain();
        connection.setAutoCommit(begin != null);
        return connection;
    }

    /** A connection in auto-commit mode, session statements done. */
    public Connection connectPlain() throws SQLException {
        Connection connection = DriverManager.getConnection(url, properties);
        try (Statement statement = connection.createStatement()) {
            for (String sql : session) {
                statement.execute(sql);
            }
        }
        return connection;
    }

    /** Connect to a URL whose only answer is an error, as the shutdown URLs of some embedded engines. */
    public void touch(String closeUrl) {
        try {
            DriverManager.getConnection(closeUrl, properties).close();
        } catch (SQLException expected) {
            System.err.println("closed: " + expected.getMessage());
        }
    }

    public boolean beginsByStatement() {
        return begin != null;
    }

    public void begin(Statement control, boolean isReading) throws SQLException {
        executeUnlessEmpty(control, isReading ? beginReading : begin);
    }

    /** An empty text sends nothing: with all three empty, each statement is a transaction of its own. */
    private static void executeUnlessEmpty(Statement control, String sql) throws SQLException {
        if (!sql.isEmpty()) {
            control.execute(sql);
        }
    }

    public void commit(Connection connection, Statement control) throws SQLException {
        if (commit != null) {
            executeUnlessEmpty(control, commit);
        } else {
            connection.commit();
        }
    }

    public void rollback(Connection connection, Statement control) throws SQLException {
        if (rollback != null) {
            executeUnlessEmpty(control, rollback);
        } else if (!connection.getAutoCommit()) {
            connection.rollback();
        }
    }

    /** Best effort: a failed transaction may be gone already. */
    public void rollbackFailed(Connection connection, Statement control) {
        try {
            rollback(connection, control);
        } catch (SQLException gone) {
            System.err.println("rollback: " + gone.getMessage());
        }
    }

    /** A conflict: the transaction is begun again. */
    public boolean isRetryable(SQLException problem) {
        return retryable.holds(problem);
    }

    /** It ends its transaction, but not its terminal. */
    public boolean isTolerable(SQLException problem) {
        return tolerable.holds(problem);
    }

    /** In the standard's words, as the driver says that it is in force; empty where it does not say. */
    public static String isolation(Connection connection) {
        try {
            return switch (connection.getTransactionIsolation()) {
                case Connection.TRANSACTION_READ_UNCOMMITTED -> "read uncommitted";
                case Connection.TRANSACTION_READ_COMMITTED -> "read committed";
                case Connection.TRANSACTION_REPEATABLE_READ -> "repeatable read";
                case Connection.TRANSACTION_SERIALIZABLE -> "serializable";
                default -> "";
            };
        } catch (SQLException unsaid) {
            System.err.println("isolation level: " + unsaid.getMessage());
            return "";
        }
    }

    /** Names and versions of the DBMS and of its driver. */
    public static JSONObject product(Connection connection) throws SQLException {
        DatabaseMetaData facts = connection.getMetaData();
        return new JSONObject().put("product", facts.getDatabaseProductName())
            .put("product_version", facts.getDatabaseProductVersion())
            .put("driver_name", facts.getDriverName()).put("driver_version", facts.getDriverVersion());
    }
}
