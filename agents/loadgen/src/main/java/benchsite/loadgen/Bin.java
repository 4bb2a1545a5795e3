package benchsite.loadgen;

import org.HdrHistogram.Histogram;

/** What ended in one second: latencies in microseconds (3 significant digits), retries, errors. Not thread-safe. */
final class Bin {
    private static final int SIGNIFICANT_DIGITS = 3;
    final Histogram latencies = new Histogram(SIGNIFICANT_DIGITS);
    private long sumNanos;
    private long retries;
    private long errors;

    Bin() {
        latencies.setAutoResize(true);
    }

    void record(long latencyNanos, long retried) {
        latencies.recordValue(Math.max((latencyNanos + 500) / 1000, 0));
        sumNanos += latencyNanos;
        retries += retried;
    }

    void recordError(long retried) {
        errors++;
        retries += retried;
    }

    void recordRetries(long retried) {
        retries += retried;
    }

    void add(Bin other) {
        latencies.add(other.latencies);
        sumNanos += other.sumNanos;
        retries += other.retries;
        errors += other.errors;
    }

    long count() {
        return latencies.getTotalCount();
    }

    /** Exact mean, not the histogram's: the check of terminals = TPS x mean latency leans on it. */
    double meanMicros() {
        return sumNanos / 1000.0 / count();
    }

    long retries() {
        return retries;
    }

    long errors() {
        return errors;
    }
}
