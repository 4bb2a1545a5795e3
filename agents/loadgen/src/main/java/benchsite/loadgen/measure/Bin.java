package benchsite.loadgen.measure;

import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.json.JSONArray;
import org.json.JSONObject;

/** What ended in one second: latencies in microseconds (3 significant digits), retries, errors. Not thread-safe. */
public final class Bin {
    private static final int[] PERCENTILES = {50, 95, 99};
    final Histogram latencies = histogram();
    /** From the actual start instead of the due time; null in a closed loop, where they are the same. */
    final Histogram serviceTimes;
    private long sumNanos;
    private long serviceSumNanos;
    private long beginNanos;
    private long retries;
    private long errors;
    private long rolledBack;
    /** Of the latencies, those of transactions that nobody has begun. */
    private long waiting;

    Bin(boolean paced) {
        serviceTimes = paced ? histogram() : null;
    }

    private static Histogram histogram() {
        Histogram histogram = new Histogram(3);
        histogram.setAutoResize(true);
        return histogram;
    }

    private static long micros(long nanos) {
        return Math.max((nanos + 500) / 1000, 0);
    }

    /**
     * {@code latencyNanos} from the due time, {@code serviceNanos} from the actual start. What is not committed was
     * rolled back because the workload wanted it.
     */
    void record(long latencyNanos, long serviceNanos, long retried, boolean committed) {
        latencies.recordValue(micros(latencyNanos));
        sumNanos += latencyNanos;
        retries += retried;
        rolledBack += committed ? 0 : 1;
        if (serviceTimes != null) {
            serviceTimes.recordValue(micros(serviceNanos));
            serviceSumNanos += serviceNanos;
        }
    }

    void recordBegin(long nanos) {
        beginNanos += nanos;
    }

    /** A transaction that was due and that nobody began has waited at least so long. */
    void recordWaiting(long nanos) {
        latencies.recordValue(micros(nanos));
        sumNanos += nanos;
        waiting++;
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
        beginNanos += other.beginNanos;
        if (serviceTimes != null) {
            serviceTimes.add(other.serviceTimes);
            serviceSumNanos += other.serviceSumNanos;
        }
        retries += other.retries;
        errors += other.errors;
        rolledBack += other.rolledBack;
        waiting += other.waiting;
    }

    /** Transactions that were executed, those rolled back on purpose included. */
    public long count() {
        return latencies.getTotalCount() - waiting;
    }

    long waiting() {
        return waiting;
    }

    long committed() {
        return count() - rolledBack;
    }

    /** Exact mean, not the histogram's: the check of terminals = TPS x mean latency leans on it. */
    double meanMicros() {
        return sumNanos / 1000.0 / latencies.getTotalCount();
    }

    double meanServiceMicros() {
        return serviceSumNanos / 1000.0 / count();
    }

    /** Of all that were executed; 0 where no statement begins a transaction. */
    double meanBeginMicros() {
        return count() == 0 ? 0 : beginNanos / 1000.0 / count();
    }

    /** Adds the latencies, in microseconds; null where nothing ended. */
    public JSONObject put(JSONObject event) {
        return put(event, "", latencies, meanMicros());
    }

    /** At a fixed rate also {@code service_…}: without the time that a transaction waited for a free terminal. */
    JSONObject putAll(JSONObject event) {
        put(event);
        return serviceTimes == null ? event : put(event, "service_", serviceTimes, meanServiceMicros());
    }

    private static JSONObject put(JSONObject event, String prefix, Histogram micros, double mean) {
        boolean empty = micros.getTotalCount() == 0;
        event.put(prefix + "mean_us", empty ? JSONObject.NULL : mean);
        for (int percent : PERCENTILES) {
            event.put(prefix + "p" + percent + "_us", empty ? JSONObject.NULL : micros.getValueAtPercentile(percent));
        }
        return event.put(prefix + "max_us", empty ? JSONObject.NULL : micros.getMaxValue());
    }

    /** How many took how long: k, n, k, n …, where n took from 2^(k/2) to less than 2^((k+1)/2) microseconds. */
    public JSONArray buckets() {
        TreeMap<Integer, Long> counts = new TreeMap<>();
        latencies.recordedValues().forEach(value -> counts.merge(
            (int) Math.floor(2 * Math.log(Math.max(value.getValueIteratedTo(), 1)) / Math.log(2)),
            value.getCountAddedInThisIterationStep(), Long::sum));
        JSONArray flat = new JSONArray();
        counts.forEach((bucket, count) -> flat.put(bucket.intValue()).put(count.longValue()));
        return flat;
    }

    public long retries() {
        return retries;
    }

    public long errors() {
        return errors;
    }

    long rolledBack() {
        return rolledBack;
    }
}
