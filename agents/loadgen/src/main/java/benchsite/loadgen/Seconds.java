package benchsite.loadgen;

import org.json.JSONObject;

/** Takes each second from all terminals as soon as it is over, reports it and adds it to the totals. */
final class Seconds {
    private final Events events;
    private final Course course;
    private final Window window;
    private final Totals totals;
    private double cpuSeconds = Clock.cpuSeconds();

    Seconds(Events events, Course course, Totals totals) {
        this.events = events;
        this.course = course;
        this.window = course.window();
        this.totals = totals;
    }

    void report(int second) {
        if (second == window.warmUpSeconds()) {
            totals.startCpu(cpuSeconds);
        }
        Taken taken = totals.take(second);
        Bin all = taken.all();
        double cpu = Clock.cpuSeconds();
        JSONObject event = new JSONObject().put("event", "second").put("t", second)
            .put("warm_up", window.isWarmUp(second)).put("n", all.count()).put("errors", all.errors())
            .put("retries", all.retries()).put("cpu_s", cpu - cpuSeconds);
        cpuSeconds = cpu;
        if (course.mix().programs().size() > 1) {
            event.put("types", types(taken));
        }
        if (course.isPaced()) {
            event.put("backlog", course.slots().backlog(Window.endOf(second)));
        }
        events.emit(Latencies.put(event, all));
    }

    private JSONObject types(Taken taken) {
        JSONObject types = new JSONObject();
        course.mix().programs().forEach(program -> types.put(program.name(), taken.count(program.name())));
        return types;
    }

    /** Everything that ended after the window. Call when all terminals have ended. */
    void tail() {
        totals.take(window.seconds());
    }
}
