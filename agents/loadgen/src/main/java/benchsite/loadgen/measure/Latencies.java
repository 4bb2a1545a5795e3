package benchsite.loadgen.measure;

import org.HdrHistogram.Histogram;
import org.json.JSONObject;

/** Latency figures of a bin, in microseconds; null where nothing ended. */
public final class Latencies {
    private Latencies() {}

    public static JSONObject put(JSONObject event, Bin bin) {
        return put(event, "", bin.latencies, bin.meanMicros());
    }

    /** At a fixed rate also {@code service_…}: without the time that a transaction waited for a free terminal. */
    static JSONObject putAll(JSONObject event, Bin bin) {
        put(event, bin);
        return bin.serviceTimes == null ? event : put(event, "service_", bin.serviceTimes, bin.meanServiceMicros());
    }

    private static JSONObject put(JSONObject event, String prefix, Histogram latencies, double mean) {
        boolean empty = latencies.getTotalCount() == 0;
        event.put(prefix + "mean_us", empty ? JSONObject.NULL : mean);
        event.put(prefix + "p50_us", empty ? JSONObject.NULL : latencies.getValueAtPercentile(50));
        event.put(prefix + "p95_us", empty ? JSONObject.NULL : latencies.getValueAtPercentile(95));
        event.put(prefix + "p99_us", empty ? JSONObject.NULL : latencies.getValueAtPercentile(99));
        event.put(prefix + "max_us", empty ? JSONObject.NULL : latencies.getMaxValue());
        return event;
    }
}
