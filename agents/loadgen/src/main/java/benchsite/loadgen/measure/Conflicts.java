package benchsite.loadgen.measure;

import benchsite.loadgen.events.Events;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.json.JSONArray;
import org.json.JSONObject;

/** The conflicts after which transactions were begun again: by SQLSTATE and code how many, and the first of them. */
final class Conflicts {
    private record Kind(String state, int code) {}

    private record Met(SQLException first, long count) {
        Met plus(Met later) {
            return new Met(first, count + later.count);
        }

        JSONObject asJson() {
            return Events.put(new JSONObject().put("count", count), first);
        }
    }

    private final Map<Kind, Met> kinds = new HashMap<>();

    void add(SQLException problem) {
        kinds.merge(new Kind(problem.getSQLState(), problem.getErrorCode()), new Met(problem, 1), Met::plus);
    }

    /** Of several terminals together, the most frequent first. */
    static JSONArray sum(List<Conflicts> each) {
        Map<Kind, Met> all = new HashMap<>();
        each.forEach(conflicts -> conflicts.kinds.forEach((kind, met) -> all.merge(kind, met, Met::plus)));
        return new JSONArray(all.values().stream().sorted(Comparator.comparing(Met::count).reversed())
            .map(Met::asJson).toList());
    }
}
