package benchsite.loadgen.run;

import java.util.concurrent.atomic.AtomicLong;

/** How many transactions all terminals together may still commit. */
final class Budget {
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
