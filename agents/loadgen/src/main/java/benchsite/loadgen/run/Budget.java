package benchsite.loadgen.run;

import java.util.concurrent.atomic.AtomicLong;

/** How many transactions all terminals together may still commit. */
final class Budget {
    private final AtomicLong left;

    private Budget(AtomicLong left) {
        this.left = left;
    }

    static Budget unlimited() {
        return new Budget(null);
    }

    static Budget of(long transactions) {
        if (transactions < 1) {
            throw new IllegalArgumentException("max_transactions has to be 1 at least, not " + transactions);
        }
        return new Budget(new AtomicLong(transactions));
    }

    /** Reserves one transaction. False: as many as there may be are committed or under way. */
    boolean take() {
        if (left == null) {
            return true;
        }
        long before = left.getAndUpdate(number -> Math.max(number - 1, 0));
        return before > 0;
    }

    /** The transaction that was reserved has not been committed. */
    void giveBack() {
        if (left != null) {
            left.incrementAndGet();
        }
    }

    boolean isUsedUp() {
        return left != null && left.get() == 0;
    }
}
