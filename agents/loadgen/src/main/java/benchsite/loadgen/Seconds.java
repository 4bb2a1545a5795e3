package benchsite.loadgen;

import org.json.JSONObject;

/** Takes each second from all terminals as soon as it is over, reports it and adds it to the totals. */
final class Seconds {
    private final Events events;
    private final Window window;
    private final Totals totals;
    private double cpuSeconds = Clock.cpuSeconds();

    Seconds(Events events, Window window, Totals totals) {
        this.events = events;
        this.window = window;
        this.totals = totals;
    }

    void report(int second) {
        if (second == window.warmUpSeconds()) {
            totals.startCpu(cpuSeconds);
        }
        Bin all = totals.take(second);
        double cpu = Clock.cpuSeconds();
        JSONObject event = new JSONObject().put("event", "second").put("t", second)
            .put("warm_up", window.isWarmUp(second)).put("n", all.count()).put("errors", all.errors())
            .put("retries", all.retries()).put("cpu_s", cpu - cpuSeconds);
        cpuSeconds = cpu;
        events.emit(Latencies.put(event, all));
    }

    /** Everything that ended after the window. Call when all terminals have ended. */
    void tail() {
        totals.take(window.seconds());
    }
}
