package benchsite.loadgen.events;

import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;

/** Times in the units of the events. */
public final class Clock {
    public static final long NANOS_PER_SECOND = 1_000_000_000L;

    private Clock() {}

    public static double seconds(long fromNanos, long toNanos) {
        return (toNanos - fromNanos) / 1e9;
    }

    /** From a moment of {@code System.nanoTime()} until now. */
    public static double secondsSince(long nanos) {
        return seconds(nanos, System.nanoTime());
    }

    /** The machine's clock: seconds since 1970. */
    public static double at() {
        return System.currentTimeMillis() / 1000.0;
    }

    /** Sleeps until {@code System.nanoTime()} says so, to some 0.1 ms. Thread.sleep rounds to milliseconds. */
    public static void sleepUntil(long nanos) throws InterruptedException {
        for (long left = nanos - System.nanoTime(); left > 0; left = nanos - System.nanoTime()) {
            LockSupport.parkNanos(left);
            if (Thread.interrupted()) {
                throw new InterruptedException();
            }
        }
    }

    /** CPU time that this JVM has used, in seconds. */
    public static double cpuSeconds() {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return system.getProcessCpuTime() / 1e9;
    }

    /** How long this JVM has collected garbage, in milliseconds. */
    public static long gcMillis() {
        return ManagementFactory.getGarbageCollectorMXBeans().stream()
            .mapToLong(collector -> Math.max(collector.getCollectionTime(), 0)).sum();
    }
}
