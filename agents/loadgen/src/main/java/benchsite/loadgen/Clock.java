package benchsite.loadgen;

import java.lang.management.ManagementFactory;

/** Times in the units of the events. */
final class Clock {
    private static final double NANOS_PER_SECOND = 1e9;

    private Clock() {}

    static double seconds(long fromNanos, long toNanos) {
        return (toNanos - fromNanos) / NANOS_PER_SECOND;
    }

    /** CPU time that this JVM has used, in seconds. */
    static double cpuSeconds() {
        var system = (com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        return system.getProcessCpuTime() / NANOS_PER_SECOND;
    }
}
