package benchsite.loadgen.events;

import java.lang.management.ManagementFactory;
import java.util.concurrent.locks.LockSupport;

/** Times in the units of the events. */
public final class Clock {
    private static final double NANOS_PER_SECOND = 1e9;

    private Clock() {}

    public static double seconds(long fromNanos, long toNanos) {
        return (toNanos - fromNanos) / NANOS_PER_SECOND;
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
        return system.getProcessCpuTime() / NANOS_PER_SECOND;
    }
}
