package benchsite.loadgen.load;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** How far a load is, over all of its threads. Hands the rows of the slow part out at their rate. */
final class LoadProgress {
    private final long fastRows;
    private final boolean hasSlowPart;
    private final long slowIntervalNanos;
    private final Runnable onSlow;
    private final AtomicLong reserved = new AtomicLong();
    final AtomicLong rows = new AtomicLong();
    final AtomicLong bytes = new AtomicLong();
    private final CountDownLatch stop = new CountDownLatch(1);
    private long nextSlowRow = Long.MIN_VALUE;

    /** {@code onSlow} is called once, by the thread that takes the first row of the slow part. */
    LoadProgress(LoadPlan plan, long total, Runnable onSlow) {
        this.fastRows = plan.fastRows(total);
        this.hasSlowPart = plan.slowShare() > 0;
        this.slowIntervalNanos = plan.slowRowsPerSecond() > 0
            ? Math.round(1e9 / plan.slowRowsPerSecond()) : 0;
        this.onSlow = onSlow;
    }

    boolean isSlow() {
        return hasSlowPart && reserved.get() > fastRows;
    }

    void add(long moreRows, long moreBytes) {
        rows.addAndGet(moreRows);
        bytes.addAndGet(moreBytes);
    }

    /** Takes one row; whether it belongs to the slow part. */
    boolean takeRow() {
        if (!hasSlowPart) {
            return false;
        }
        long row = reserved.getAndIncrement();
        if (row == fastRows) {
            onSlow.run();
        }
        return row >= fastRows;
    }

    /** Waits until the next row of the slow part may be loaded; what was missed is not caught up with. */
    void awaitSlowRow() throws InterruptedException {
        if (slowIntervalNanos > 0) {
            stop.await(reserveSlowRow(System.nanoTime()) - System.nanoTime(), TimeUnit.NANOSECONDS);
        }
    }

    private synchronized long reserveSlowRow(long now) {
        long due = nextSlowRow == Long.MIN_VALUE ? now : Math.max(nextSlowRow, now);
        nextSlowRow = due + slowIntervalNanos;
        return due;
    }

    /** Every thread ends at its next row. */
    void stop() {
        stop.countDown();
    }

    boolean isStopped() {
        return stop.getCount() == 0;
    }
}
