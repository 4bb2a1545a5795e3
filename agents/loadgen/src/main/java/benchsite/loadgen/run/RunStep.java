package benchsite.loadgen.run;

import benchsite.loadgen.events.Clock;
import benchsite.loadgen.events.Events;
import benchsite.loadgen.events.PhaseException;
import benchsite.loadgen.measure.Bin;
import benchsite.loadgen.measure.Recorder;
import benchsite.loadgen.measure.Sampled;
import benchsite.loadgen.measure.Snapshots;
import benchsite.loadgen.measure.Totals;
import benchsite.loadgen.measure.Window;
import benchsite.loadgen.sql.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.json.JSONArray;
import org.json.JSONObject;

/**
 * The step {@code run}: terminals in a closed loop or at a fixed rate.
 *
 * <p>A {@code second} event each second, at last a {@code summary}.
 */
public final class RunStep {
    private final Events events;
    private final String phase;
    private final Connection anchor;
    private final RunPlan plan;
    private final Window window;
    private final Snapshots snapshots;
    private final Sampled sampled;
    private final List<Terminal> terminals = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    /** {@code watching}: as whom the DBMS is asked beside the terminals, as by {@code anchor}. */
    public RunStep(Database database, Events events, JSONObject step, Connection anchor, Database watching) {
        this.events = events;
        this.phase = step.optString("phase", "run");
        this.anchor = anchor;
        this.plan = RunPlan.of(database, step);
        this.window = plan.window();
        this.snapshots = new Snapshots(events, phase, anchor, step.optJSONObject("snapshots"));
        this.sampled = new Sampled(events, watching, window, step.optJSONObject("sampled"));
    }

    public void run() throws SQLException, PhaseException, InterruptedException {
        events.begin(phase);
        long begun = System.nanoTime();
        try {
            events.emit(measure());
        } catch (Throwable aborted) {
            threads.forEach(Thread::interrupt);
            throw aborted;
        }
        events.emit(Events.end(phase, Clock.secondsSince(begun)));
    }

    private JSONObject measure() throws SQLException, PhaseException, InterruptedException {
        long start = start();
        List<Recorder> recorders = terminals.stream().map(terminal -> terminal.recorder).toList();
        Totals totals = new Totals(window, recorders, plan.isPaced());
        report(totals, start);
        totals.stopCpu();
        snapshots.end();
        sampled.end();
        for (Thread thread : threads) {
            thread.join();
        }
        totals.take(window.seconds());
        return summary(totals);
    }

    /**
     * Every second of the window, or until all terminals have ended. A second that is over already is told in any case:
     * on a machine that stood still the terminals may have ended long before they were looked at.
     */
    private void report(Totals totals, long start) throws InterruptedException {
        boolean alive = true;
        double cpuSeconds = Clock.cpuSeconds();
        long gcMillis = Clock.gcMillis();
        for (int second = 0; second < window.seconds() && alive; second++) {
            long end = start + Window.endOf(second);
            alive = threads.stream().anyMatch(Thread::isAlive) || System.nanoTime() - end >= 0;
            Clock.sleepUntil(end);
            if (second == window.warmUpSeconds()) {
                totals.startCpu(cpuSeconds);
            }
            Totals.Second taken = totals.take(second);
            double cpuNow = Clock.cpuSeconds();
            long gcNow = Clock.gcMillis();
            events.emit(event(second, taken).put("cpu_s", cpuNow - cpuSeconds).put("gc_ms", gcNow - gcMillis));
            cpuSeconds = cpuNow;
            gcMillis = gcNow;
        }
    }

    private JSONObject event(int second, Totals.Second taken) {
        Bin all = taken.all();
        JSONObject event = new JSONObject().put("event", "second").put("t", second)
            .put("warm_up", window.isWarmUp(second)).put("n", all.count()).put("errors", all.errors())
            .put("retries", all.retries()).put("buckets", all.buckets());
        if (plan.mix().programs().size() > 1) {
            JSONObject types = new JSONObject();
            plan.mix().programs().forEach(program -> types.put(program.name, taken.count(program.name)));
            event.put("types", types);
        }
        if (plan.isPaced()) {
            event.put("backlog", plan.slots().backlog(Window.endOf(second)));
        }
        return all.put(event);
    }

    /** The figures of a run whose terminals have all died are those of its whole window: it is no result anyway. */
    private JSONObject summary(Totals totals) {
        boolean usedUp = plan.budget().isUsedUp();
        long lastEnd = terminals.stream().mapToLong(Terminal::endedAfter).max().orElse(0);
        long end = usedUp ? Math.min(lastEnd, window.endNanos()) : window.endNanos();
        JSONArray deaths = new JSONArray();
        for (Terminal terminal : terminals) {
            if (terminal.death != null) {
                deaths.put(Events.put(new JSONObject(), terminal.death).put("terminal", terminal.number));
            }
        }
        if (plan.isPaced() && !usedUp) { // what a number of transactions has ended was not kept waiting
            plan.slots().forEachWaiting(end, due -> totals.waited(end - due));
        }
        JSONObject summary = totals.summary(window.measuredSeconds(end))
            .put("ended_by", usedUp ? "max_transactions" : deaths.length() == terminals.size() ? "terminals" : "window")
            .put("dead_terminals", deaths).put("isolation", terminals.get(0).isolation);
        if (plan.isPaced()) {
            Slots slots = plan.slots();
            summary.put("rate_per_s", slots.perSecond()).put("slots", slots.dueBefore(end))
                .put("unstarted", slots.backlog(end));
        }
        return summary;
    }

    private long start() throws SQLException, PhaseException, InterruptedException {
        long begun = System.nanoTime();
        long count = plan.ready().getCount();
        for (int number = 0; number < count; number++) {
            Terminal terminal = new Terminal(number, plan);
            Thread thread = new Thread(terminal, "terminal-" + number);
            terminals.add(terminal);
            threads.add(thread);
            thread.setDaemon(true);
            thread.start();
        }
        plan.ready().await();
        for (Terminal terminal : terminals) { // one that could not connect or prepare ends the run before it begins
            if (terminal.death != null) {
                throw new PhaseException(phase, terminal.death);
            }
        }
        events.emit(Database.product(anchor).put("event", "connected").put("terminals", terminals.size())
            .put("elapsed_s", Clock.secondsSince(begun)));
        sampled.connect();
        if (window.warmUpSeconds() == 0) {
            snapshots.takeBegin();
        }
        long start = System.nanoTime();
        terminals.forEach(terminal -> terminal.startAt(start));
        plan.go().countDown();
        snapshots.startAt(start, window);
        sampled.startAt(start);
        return start;
    }
}
