package benchsite.loadgen.measure;

import static benchsite.loadgen.events.Clock.NANOS_PER_SECOND;

import benchsite.loadgen.events.Clock;

/** The time table of a run: seconds from the common start; first the warm-up, then the measured ones, then the tail. */
public record Window(int warmUpSeconds, int durationSeconds) {
    /** Until something else ends it. */
    public static final Window ENDLESS = new Window(0, Integer.MAX_VALUE);

    public int seconds() {
        return warmUpSeconds + durationSeconds;
    }

    public boolean isWarmUp(int second) {
        return second < warmUpSeconds;
    }

    /** Index of the second in which {@code elapsedNanos} lies; {@link #seconds()} stands for the tail. */
    int secondOf(long elapsedNanos) {
        return (int) Math.min(elapsedNanos / NANOS_PER_SECOND, seconds());
    }

    /** When a second is over, in nanoseconds after the start. */
    public static long endOf(int second) {
        return (second + 1L) * NANOS_PER_SECOND;
    }

    long measuredFromNanos() {
        return warmUpSeconds * NANOS_PER_SECOND;
    }

    public long endNanos() {
        return seconds() * NANOS_PER_SECOND;
    }

    /** How much of the measured window lies before {@code endNanos} after the start, in seconds. */
    public double measuredSeconds(long endNanos) {
        return Clock.seconds(measuredFromNanos(), Math.max(Math.min(endNanos, endNanos()), measuredFromNanos()));
    }
}
