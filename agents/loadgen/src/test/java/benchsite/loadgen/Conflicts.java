package benchsite.loadgen;

import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Functions that a database calls and that fail when they are told to. */
public final class Conflicts {
    public static final String ALIAS = "CREATE ALIAS TWO_CONFLICTS FOR 'benchsite.loadgen.Conflicts.twoConflicts'";
    public static final String DEADLY = "CREATE ALIAS DIE_AT_100 FOR 'benchsite.loadgen.Conflicts.dieAt100'";
    public static final long DELAY_MS = 5;
    public static final List<Integer> SEEN = Collections.synchronizedList(new ArrayList<>());
    private static final AtomicInteger CALLS = new AtomicInteger();

    private Conflicts() {}

    public static void reset() {
        SEEN.clear();
        CALLS.set(0);
    }

    /** Two calls of three fail, late. */
    public static int twoConflicts(int value) throws SQLException, InterruptedException {
        SEEN.add(value);
        if (SEEN.size() % 3 != 0) {
            Thread.sleep(DELAY_MS);
            throw new SQLException("could not serialize access", "40001");
        }
        return value;
    }

    public static int dieAt100() throws SQLException {
        int call = CALLS.incrementAndGet();
        if (call == 100) {
            throw new SQLException("the disk is gone", "58030");
        }
        return call;
    }
}
