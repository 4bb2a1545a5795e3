package benchsite.loadgen.run;

import static benchsite.loadgen.events.Clock.NANOS_PER_SECOND;

import java.util.concurrent.atomic.AtomicLong;

/**
 * The time table of a fixed rate, shared by all terminals: slot k is due k / rate seconds after the start.
 *
 * <p>Slots are handed out in order, each once. Latencies count from when a slot was due, not from when a terminal
 * was free for it. So a server that pauses shows in every transaction that should have begun meanwhile, not only in the
 * few that were under way.
 */
final class Slots {
    private final double perSecond;
    private final AtomicLong taken = new AtomicLong();
    private final AtomicLong started = new AtomicLong();

    Slots(double perSecond) {
        if (!(perSecond > 0 && perSecond <= NANOS_PER_SECOND)) {
            throw new IllegalArgumentException("rate_per_s has to be above 0, at most 1e9, not " + perSecond);
        }
        this.perSecond = perSecond;
    }

    double perSecond() {
        return perSecond;
    }

    /** Takes the next slot; when it is due, in nanoseconds after the start. */
    long take() {
        return dueNanos(taken.getAndIncrement());
    }

    /** The transaction of a slot begins. */
    void start() {
        started.incrementAndGet();
    }

    private long dueNanos(long slot) {
        return Math.round(slot / perSecond * NANOS_PER_SECOND);
    }

    /** How many slots are due before this moment. */
    long dueBefore(long elapsedNanos) {
        long count = (long) (elapsedNanos / 1e9 * perSecond);
        while (count > 0 && dueNanos(count - 1) >= elapsedNanos) {
            count--;
        }
        while (dueNanos(count) < elapsedNanos) {
            count++;
        }
        return count;
    }

    /** Slots that were due before this moment and that no terminal has begun yet. */
    long backlog(long elapsedNanos) {
        return Math.max(dueBefore(elapsedNanos) - started.get(), 0);
    }
}
