package benchsite.loadgen;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.HdrHistogram.Histogram;
import org.json.JSONArray;
import org.json.JSONObject;

/** Sums over the warm-up, the measured window and the tail; counts per terminal and per transaction type. */
final class Totals {
    private final Window window;
    private final List<Terminal> terminals;
    private final Bin warmUp = new Bin();
    private final Bin measured = new Bin();
    private final Bin tail = new Bin();
    private final Map<String, Bin> types = new TreeMap<>();
    private final long[] perTerminal;
    private final long[] warmUpPerTerminal;
    private double cpuAtStart;
    private double cpuSeconds;

    Totals(Window window, List<Terminal> terminals) {
        this.window = window;
        this.terminals = terminals;
        this.perTerminal = new long[terminals.size()];
        this.warmUpPerTerminal = new long[terminals.size()];
    }

    void startCpu(double now) {
        cpuAtStart = now;
    }

    void stopCpu() {
        cpuSeconds = Clock.cpuSeconds() - cpuAtStart;
    }

    /** Take a second that is over from every terminal and add it to the sums; {@code window.seconds()} is the tail. */
    Bin take(int second) {
        Bin all = new Bin();
        for (Terminal terminal : terminals) {
            terminal.recorder().take(second).forEach((type, bin) -> {
                all.add(bin);
                count(terminal.number(), second, type, bin);
            });
        }
        if (second >= window.seconds()) {
            tail.add(all);
        } else if (window.isWarmUp(second)) {
            warmUp.add(all);
        } else {
            measured.add(all);
        }
        return all;
    }

    private void count(int terminal, int second, String type, Bin bin) {
        if (second >= window.seconds()) {
            return;
        }
        if (window.isWarmUp(second)) {
            warmUpPerTerminal[terminal] += bin.count();
        } else {
            perTerminal[terminal] += bin.count();
            types.computeIfAbsent(type, key -> new Bin()).add(bin);
        }
    }

    JSONObject summary() {
        JSONObject summary = new JSONObject().put("event", "summary").put("transactions", measured.count())
            .put("warm_up_transactions", warmUp.count()).put("tail_transactions", tail.count())
            .put("tail_max_us", tail.count() == 0 ? JSONObject.NULL : tail.latencies.getMaxValue())
            .put("duration_s", window.durationSeconds())
            .put("tps", measured.count() / (double) window.durationSeconds())
            .put("retries", measured.retries()).put("errors", warmUp.errors() + measured.errors() + tail.errors())
            .put("per_terminal", numbers(perTerminal)).put("warm_up_per_terminal", numbers(warmUpPerTerminal))
            .put("per_type", perType()).put("histogram", encoded(measured.latencies)).put("cpu_s", cpuSeconds)
            .put("dead_terminals", deaths());
        return Latencies.put(summary, measured);
    }

    private static JSONArray numbers(long[] counts) {
        return new JSONArray(Arrays.stream(counts).boxed().toList());
    }

    private JSONObject perType() {
        JSONObject perType = new JSONObject();
        types.forEach((type, bin) -> perType.put(type,
            Latencies.put(new JSONObject().put("transactions", bin.count()).put("retries", bin.retries()), bin)));
        return perType;
    }

    private JSONArray deaths() {
        JSONArray deaths = new JSONArray();
        for (Terminal terminal : terminals) {
            if (terminal.death() != null) {
                JSONObject death = Events.describe(terminal.death());
                deaths.put(death.put("error", death.remove("message")).put("terminal", terminal.number()));
            }
        }
        return deaths;
    }

    /** HdrHistogram's own V2 format, compressed, base64. */
    private static String encoded(Histogram histogram) {
        ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        int length = histogram.encodeIntoCompressedByteBuffer(buffer);
        return Base64.getEncoder().encodeToString(Arrays.copyOf(buffer.array(), length));
    }
}
