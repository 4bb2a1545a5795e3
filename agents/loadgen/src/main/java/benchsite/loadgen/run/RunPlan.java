package benchsite.loadgen.run;

import benchsite.loadgen.measure.Window;
import benchsite.loadgen.sql.Database;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.json.JSONObject;

/**
 * What all terminals of a run share.
 *
 * @param slots null in a closed loop
 * @param maxRetries how often one transaction may be begun again after a conflict
 * @param ready counted down by each terminal that is connected, or that never will be
 * @param go opened when all are connected
 */
record RunPlan(Database database, Mix mix, Window window, Slots slots, Budget budget, long maxRetries, long seed,
              LongSupplier clock, CountDownLatch ready, CountDownLatch go) {
    static RunPlan of(Database database, JSONObject step) {
        int terminals = step.getInt("terminals");
        if (terminals < 1) {
            throw new IllegalArgumentException("terminals has to be 1 at least, not " + terminals);
        }
        long maxRetries = step.optLong("max_retries", Long.MAX_VALUE);
        if (maxRetries < 0) {
            throw new IllegalArgumentException("max_retries has to be 0 at least, not " + maxRetries);
        }
        return new RunPlan(database, new Mix(step.getJSONArray("transactions")),
            new Window(step.getInt("warm_up_s"), step.getInt("duration_s")),
            step.isNull("rate_per_s") ? null
                : new Slots(step.getDouble("rate_per_s"), arrivals(step), step.optLong("seed", 1)),
            new Budget(step.isNull("max_transactions") ? Budget.UNLIMITED : step.getLong("max_transactions")),
            maxRetries, step.optLong("seed", 1), System::nanoTime, new CountDownLatch(terminals),
            new CountDownLatch(1));
    }

    private static Slots.Arrivals arrivals(JSONObject step) {
        String asked = step.optString("arrivals", "poisson");
        return switch (asked) {
            case "poisson" -> Slots.Arrivals.POISSON;
            case "even" -> Slots.Arrivals.EVEN;
            default -> throw new IllegalArgumentException("arrivals has to be poisson or even, not " + asked);
        };
    }

    boolean isPaced() {
        return slots != null;
    }

    /** How many transactions all terminals together may still commit. */
    static final class Budget {
        static final long UNLIMITED = Long.MAX_VALUE;
        private final AtomicLong left;

        Budget(long transactions) {
            if (transactions < 1) {
                throw new IllegalArgumentException("max_transactions has to be 1 at least, not " + transactions);
            }
            left = new AtomicLong(transactions);
        }

        /** Reserves one transaction. False: as many as there may be are committed or under way. */
        boolean take() {
            return left.getAndUpdate(number -> Math.max(number - 1, 0)) > 0;
        }

        /** The transaction that was reserved has not been committed. */
        void giveBack() {
            left.incrementAndGet();
        }

        boolean isUsedUp() {
            return left.get() == 0;
        }
    }
}
