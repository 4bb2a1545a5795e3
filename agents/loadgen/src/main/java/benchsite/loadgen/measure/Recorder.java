package benchsite.loadgen.measure;

import benchsite.loadgen.events.Events;
import java.sql.SQLException;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.json.JSONArray;
import org.json.JSONObject;

/**
 * One terminal's bins by second.
 *
 * <p>The end of a transaction is read under the lock under which the reporter takes a bin. So once the reporter has
 * taken second k after k is over, nothing can be added to k any more, and counts agree exactly.
 */
public final class Recorder {
    /** The conflicts after which transactions were begun again: by SQLSTATE and code how many, and the first of them. */
    static final class Conflicts {
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

    private final Window window;
    private final LongSupplier clock;
    private final boolean paced;
    private final Map<Integer, Map<String, Bin>> bins = new HashMap<>();
    private final Conflicts conflicts = new Conflicts();
    private long start;

    /** {@code paced}: transactions have a due time, which may lie before their start. */
    public Recorder(Window window, LongSupplier clock, boolean paced) {
        this.window = window;
        this.clock = clock;
        this.paced = paced;
    }

    public synchronized void startAt(long nanos) {
        start = nanos;
    }

    /** A transaction has ended as it should; its latency counts from {@code due}. */
    public synchronized void executed(String type, long due, long begun, long retried, boolean committed) {
        long now = clock.getAsLong();
        bin(now, type).record(now - due, now - begun, retried, committed);
    }

    /** A transaction was begun by a statement, which took so long. */
    public synchronized void began(String type, long nanos) {
        bin(clock.getAsLong(), type).recordBegin(nanos);
    }

    public synchronized void failure(String type, long retried) {
        bin(clock.getAsLong(), type).recordError(retried);
    }

    /** A conflict after which a transaction is begun again, or would be if the window had not ended. */
    public synchronized void conflict(SQLException problem) {
        conflicts.add(problem);
    }

    /** To be read when its terminal has ended. */
    synchronized Conflicts conflicts() {
        return conflicts;
    }

    /** Conflicts of a transaction that was not tried again, since the window had ended. */
    public synchronized void abandoned(String type, long retried) {
        bin(clock.getAsLong(), type).recordRetries(retried);
    }

    private Bin bin(long now, String type) {
        return bins.computeIfAbsent(window.secondOf(now - start), second -> new HashMap<>())
            .computeIfAbsent(type, key -> new Bin(paced));
    }

    /** The bins of a second that is over, by transaction type, removed from here. */
    synchronized Map<String, Bin> take(int second) {
        Map<String, Bin> taken = bins.remove(second);
        return taken == null ? Map.of() : taken;
    }
}
