package benchsite.loadgen;

import org.HdrHistogram.Histogram;
import org.json.JSONObject;

/** Latency figures of a bin, in microseconds; null where nothing ended. */
final class Latencies {
    private static final double P50 = 50;
    private static final double P95 = 95;
    private static final double P99 = 99;

    private Latencies() {}

    static JSONObject put(JSONObject event, Bin bin) {
        Histogram latencies = bin.latencies;
        boolean empty = bin.count() == 0;
        event.put("mean_us", empty ? JSONObject.NULL : bin.meanMicros());
        event.put("p50_us", empty ? JSONObject.NULL : latencies.getValueAtPercentile(P50));
        event.put("p95_us", empty ? JSONObject.NULL : latencies.getValueAtPercentile(P95));
        event.put("p99_us", empty ? JSONObject.NULL : latencies.getValueAtPercentile(P99));
        event.put("max_us", empty ? JSONObject.NULL : latencies.getMaxValue());
        return event;
    }
}
