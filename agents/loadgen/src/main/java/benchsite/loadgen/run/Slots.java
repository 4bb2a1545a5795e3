package benchsite.loadgen.run;

import static benchsite.loadgen.events.Clock.NANOS_PER_SECOND;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongConsumer;

/**
 * The time table of a fixed rate, shared by all terminals: when each slot is due, in nanoseconds after the start.
 *
 * <p>Slots are handed out in order, each once. Latencies count from when a slot was due, not from when a terminal
 * was free for it. So a server that pauses shows in every transaction that should have begun meanwhile, not only in the
 * few that were under way.
 */
final class Slots {
    /** How slots follow each other: slot k after k / rate seconds, or as independent callers come (a Poisson process). */
    enum Arrivals { EVEN, POISSON }

    /** Due times in their order: the same ones for the same seed, however often they are gone through. */
    private final class Times {
        private final SplittableRandom random = new SplittableRandom(seed);
        private long slot = -1;
        private double seconds;

        long next() {
            slot++;
            if (arrivals == Arrivals.EVEN) {
                return Math.round(slot / perSecond * NANOS_PER_SECOND);
            }
            seconds -= Math.log(1 - random.nextDouble()) / perSecond;
            return Math.round(seconds * NANOS_PER_SECOND);
        }
    }

    private final double perSecond;
    private final Arrivals arrivals;
    private final long seed;
    private final Times taken;
    private final AtomicLong started = new AtomicLong();
    /** How far has been counted: so many slots before {@code next}, the last of them due at {@code last}. */
    private Times counted;
    private long before;
    private long last;
    private long next;

    Slots(double perSecond, Arrivals arrivals, long seed) {
        if (!(perSecond > 0 && perSecond <= NANOS_PER_SECOND)) {
            throw new IllegalArgumentException("rate_per_s has to be above 0, at most 1e9, not " + perSecond);
        }
        this.perSecond = perSecond;
        this.arrivals = arrivals;
        this.seed = seed;
        this.taken = new Times();
    }

    double perSecond() {
        return perSecond;
    }

    /** Takes the next slot; when it is due, in nanoseconds after the start. */
    long take() {
        synchronized (taken) {
            return taken.next();
        }
    }

    /** The transaction of a slot begins. */
    void start() {
        started.incrementAndGet();
    }

    /** How many slots are due before this moment. */
    synchronized long dueBefore(long elapsedNanos) {
        if (counted == null || before > 0 && last >= elapsedNanos) {
            counted = new Times();
            before = 0;
            next = counted.next();
        }
        while (next < elapsedNanos) {
            last = next;
            before++;
            next = counted.next();
        }
        return before;
    }

    /** Slots that were due before this moment and that no terminal has begun yet. */
    long backlog(long elapsedNanos) {
        return Math.max(dueBefore(elapsedNanos) - started.get(), 0);
    }

    /** When each of the backlog was due: slots are begun in their order, so that these are the last. */
    void forEachWaiting(long elapsedNanos, LongConsumer due) {
        long waiting = backlog(elapsedNanos);
        Times times = new Times();
        for (long begun = dueBefore(elapsedNanos) - waiting; begun > 0; begun--) {
            times.next();
        }
        for (; waiting > 0; waiting--) {
            due.accept(times.next());
        }
    }
}
