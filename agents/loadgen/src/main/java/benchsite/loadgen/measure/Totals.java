package benchsite.loadgen.measure;

import benchsite.loadgen.events.Clock;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.json.JSONArray;
import org.json.JSONObject;

/** Sums over the warm-up, the measured window and the tail; counts per terminal and per transaction type. */
public final class Totals {
    /** One second of all terminals: everything, and by type of transaction what there was of it. */
    public record Second(Bin all, Map<String, Bin> types) {
        public long count(String type) {
            Bin bin = types.get(type);
            return bin == null ? 0 : bin.count();
        }
    }

    private final Window window;
    private final List<Recorder> recorders;
    private final boolean paced;
    private final Bin warmUp;
    private final Bin measured;
    private final Bin tail;
    private final Map<String, Bin> types = new TreeMap<>();
    private final Map<String, Long> committed = new HashMap<>();
    private final long[] perTerminal;
    private final long[] warmUpPerTerminal;
    private double cpuAtStart;
    private double cpuSeconds;

    public Totals(Window window, List<Recorder> recorders, boolean paced) {
        this.window = window;
        this.recorders = recorders;
        this.paced = paced;
        this.warmUp = new Bin(paced);
        this.measured = new Bin(paced);
        this.tail = new Bin(paced);
        this.perTerminal = new long[recorders.size()];
        this.warmUpPerTerminal = new long[recorders.size()];
    }

    public void startCpu(double now) {
        cpuAtStart = now;
    }

    public void stopCpu() {
        cpuSeconds = Clock.cpuSeconds() - cpuAtStart;
    }

    /** Take a second that is over from every terminal and add it to the sums; {@code window.seconds()} is the tail. */
    public Second take(int second) {
        Second taken = new Second(new Bin(paced), new HashMap<>());
        for (int terminal = 0; terminal < recorders.size(); terminal++) {
            long[] counts = window.isWarmUp(second) ? warmUpPerTerminal : perTerminal;
            for (Map.Entry<String, Bin> recorded : recorders.get(terminal).take(second).entrySet()) {
                Bin bin = recorded.getValue();
                taken.all().add(bin);
                taken.types().computeIfAbsent(recorded.getKey(), key -> new Bin(paced)).add(bin);
                counts[terminal] += second < window.seconds() ? bin.count() : 0;
            }
        }
        taken.types().forEach((type, bin) -> committed.merge(type, bin.committed(), Long::sum));
        if (second >= window.seconds()) {
            tail.add(taken.all());
        } else if (window.isWarmUp(second)) {
            warmUp.add(taken.all());
        } else {
            measured.add(taken.all());
            taken.types().forEach((type, bin) -> types.computeIfAbsent(type, key -> new Bin(paced)).add(bin));
        }
        return taken;
    }

    /** A transaction that was due in the window, or before, and was never begun, waited until its end. */
    public void waited(long nanos) {
        measured.recordWaiting(nanos);
    }

    /** {@code measuredSeconds}: how long it really was; 0 when the run ended in its warm-up. */
    public JSONObject summary(double measuredSeconds) {
        JSONObject summary = new JSONObject().put("event", "summary").put("transactions", measured.count())
            .put("warm_up_transactions", warmUp.count()).put("tail_transactions", tail.count())
            .put("tail_max_us", tail.count() == 0 ? JSONObject.NULL : tail.latencies.getMaxValue())
            .put("duration_s", measuredSeconds)
            .put("tps", measuredSeconds > 0 ? measured.count() / measuredSeconds : JSONObject.NULL)
            .put("retried", Recorder.Conflicts.sum(recorders.stream().map(Recorder::conflicts).toList()))
            .put("retries", measured.retries()).put("errors", warmUp.errors() + measured.errors() + tail.errors())
            .put("measured_errors", measured.errors()).put("rolled_back", measured.rolledBack())
            .put("committed", warmUp.committed() + measured.committed() + tail.committed())
            .put("per_terminal", new JSONArray(perTerminal))
            .put("warm_up_per_terminal", new JSONArray(warmUpPerTerminal)).put("per_type", perType())
            .put("histogram", encoded(measured.latencies)).put("cpu_s", cpuSeconds)
            .put("begin_us", measured.meanBeginMicros()).put("waiting", measured.waiting());
        return measured.putAll(summary);
    }

    private JSONObject perType() {
        JSONObject perType = new JSONObject();
        committed.forEach((type, all) -> {
            Bin bin = types.getOrDefault(type, new Bin(paced));
            JSONObject figures = new JSONObject().put("transactions", bin.count()).put("retries", bin.retries())
                .put("errors", bin.errors()).put("rolled_back", bin.rolledBack()).put("committed", all);
            perType.put(type, bin.putAll(figures));
        });
        return perType;
    }

    /** HdrHistogram's own V2 format, compressed, base64. */
    private static String encoded(Histogram histogram) {
        ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        int length = histogram.encodeIntoCompressedByteBuffer(buffer);
        return Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length));
    }
}
