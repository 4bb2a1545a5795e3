package benchsite.loadgen.run;

import benchsite.loadgen.events.Clock;
import benchsite.loadgen.events.Events;
import benchsite.loadgen.measure.Bin;
import benchsite.loadgen.measure.Totals;
import benchsite.loadgen.measure.Window;
import org.json.JSONObject;

/** Takes each second from all terminals as soon as it is over, reports it and adds it to the totals. */
final class Seconds {
    private final Events events;
    private final RunPlan plan;
    private final Window window;
    private final Totals totals;
    private double cpuSeconds = Clock.cpuSeconds();

    Seconds(Events events, RunPlan plan, Totals totals) {
        this.events = events;
        this.plan = plan;
        this.window = plan.window();
        this.totals = totals;
    }

    void report(int second) {
        if (second == window.warmUpSeconds()) {
            totals.startCpu(cpuSeconds);
        }
        Totals.Second taken = totals.take(second);
        Bin all = taken.all();
        double cpu = Clock.cpuSeconds();
        JSONObject event = new JSONObject().put("event", "second").put("t", second)
            .put("warm_up", window.isWarmUp(second)).put("n", all.count()).put("errors", all.errors())
            .put("retries", all.retries()).put("cpu_s", cpu - cpuSeconds);
        cpuSeconds = cpu;
        if (plan.mix().programs().size() > 1) {
            JSONObject types = new JSONObject();
            plan.mix().programs().forEach(program -> types.put(program.name, taken.count(program.name)));
            event.put("types", types);
        }
        if (plan.isPaced()) {
            event.put("backlog", plan.slots().backlog(Window.endOf(second)));
        }
        events.emit(all.put(event));
    }
}
