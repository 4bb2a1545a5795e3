package benchsite.loadgen.sql;

import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.json.JSONArray;
import org.json.JSONObject;

/** SQL errors of one kind, told by SQLSTATE, by how the SQLSTATE begins, or by the DBMS's own code. */
record ErrorClass(Set<String> states, List<String> prefixes, Set<Integer> codes) {
    /** An absent definition holds no error. */
    static ErrorClass of(JSONObject definition) {
        JSONObject given = definition == null ? new JSONObject() : definition;
        Set<Integer> codes = given.optJSONArray("codes", new JSONArray()).toList().stream()
            .map(code -> ((Number) code).intValue()).collect(Collectors.toUnmodifiableSet());
        return new ErrorClass(Set.copyOf(Database.strings(given.optJSONArray("sqlstates"))),
            Database.strings(given.optJSONArray("sqlstate_prefixes")), codes);
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
