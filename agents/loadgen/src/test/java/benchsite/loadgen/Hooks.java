package benchsite.loadgen;

import java.sql.SQLException;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;

/** Functions that a database calls: a pause, a wait for an event, errors now and then, values that are gathered. */
public final class Hooks {
    public static final String PAUSE = "CREATE ALIAS PAUSE_ONCE FOR 'benchsite.loadgen.Hooks.pauseOnce'";
    public static final String HOLD = "CREATE ALIAS HOLD_AFTER FOR 'benchsite.loadgen.Hooks.holdAfter'";
    public static final String FAIL = "CREATE ALIAS FAIL_EACH FOR 'benchsite.loadgen.Hooks.failEach'";
    public static final String SEE = "CREATE ALIAS SEE FOR 'benchsite.loadgen.Hooks.see'";
    public static final long PAUSE_MS = 1_000;
    public static final Set<Long> SEEN = ConcurrentHashMap.newKeySet();
    public static final int PAUSED_CALL = 3;
    private static final AtomicInteger CALLS = new AtomicInteger();
    private static volatile Wait until = () -> {};

    private Hooks() {}

    /** For something that stays true. */
    public interface Wait {
        void await() throws InterruptedException;
    }

    public static void reset() {
        reset(() -> {});
    }

    /** {@code given}: what a call that pauses or is held waits for. */
    public static void reset(Wait given) {
        SEEN.clear();
        CALLS.set(0);
        until = given;
    }

    public static int calls() {
        return CALLS.get();
    }

    /** The third call of all takes a second, and until what it waits for has happened. */
    public static int pauseOnce() throws InterruptedException {
        int call = CALLS.incrementAndGet();
        if (call == PAUSED_CALL) {
            Thread.sleep(PAUSE_MS);
            until.await();
        }
        return call;
    }

    /** All calls but the first n wait. */
    public static int holdAfter(int n) throws InterruptedException {
        int call = CALLS.incrementAndGet();
        if (call > n) {
            until.await();
        }
        return call;
    }

    /** Every n-th call of all fails with this SQLSTATE. */
    public static int failEach(int n, String state) throws SQLException {
        int call = CALLS.incrementAndGet();
        if (call % n == 0) {
            throw new SQLException("call " + call, state, 99);
        }
        return call;
    }

    /** False when the value has been seen before. */
    public static boolean see(long value) {
        return SEEN.add(value);
    }
}
