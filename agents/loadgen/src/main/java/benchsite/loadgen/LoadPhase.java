package benchsite.loadgen;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.json.JSONObject;

/** The step {@code run}: terminals in a closed loop, a {@code second} event each second, at last a {@code summary}. */
final class LoadPhase {
    private static final long NANOS_PER_SECOND = 1_000_000_000L;
    private final Database database;
    private final Events events;
    private final JSONObject step;
    private final String phase;
    private final Window window;
    private final List<Terminal> terminals = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();

    LoadPhase(Database database, Events events, JSONObject step) {
        this.database = database;
        this.events = events;
        this.step = step;
        this.phase = step.optString("phase", "run");
        this.window = new Window(step.getInt("warm_up_s"), step.getInt("duration_s"));
    }

    void run() throws PhaseException, InterruptedException {
        events.phase(phase, "begin");
        long begun = System.nanoTime();
        long start = start();
        Totals totals = new Totals(window, terminals);
        Seconds seconds = new Seconds(events, window, totals);
        for (int second = 0; second < window.seconds(); second++) {
            boolean alive = threads.stream().anyMatch(Thread::isAlive);
            sleepUntil(start + (second + 1) * NANOS_PER_SECOND);
            seconds.report(second);
            if (!alive) {
                break;
            }
        }
        totals.stopCpu();
        for (Thread thread : threads) {
            thread.join();
        }
        seconds.tail();
        events.emit(totals.summary());
        events.emit(Events.phaseEvent(phase, "end").put("elapsed_s", Clock.seconds(begun, System.nanoTime())));
    }

    private long start() throws PhaseException, InterruptedException {
        int count = step.getInt("terminals");
        CountDownLatch ready = new CountDownLatch(count);
        CountDownLatch go = new CountDownLatch(1);
        Mix mix = new Mix(step.getJSONArray("transactions"));
        long begun = System.nanoTime();
        for (int number = 0; number < count; number++) {
            long seed = step.optLong("seed", 1);
            Terminal terminal = new Terminal(number, database, mix, window, seed, ready, go, System::nanoTime);
            terminals.add(terminal);
            Thread thread = new Thread(terminal, "terminal-" + number);
            threads.add(thread);
            thread.setDaemon(true);
            thread.start();
        }
        ready.await();
        requireAll();
        announce(count, Clock.seconds(begun, System.nanoTime()));
        long start = System.nanoTime();
        terminals.forEach(terminal -> terminal.startAt(start));
        go.countDown();
        return start;
    }

    /** A terminal that could not connect or prepare ends the run before it begins. */
    private void requireAll() throws PhaseException {
        for (Terminal terminal : terminals) {
            if (terminal.death() != null) {
                threads.forEach(Thread::interrupt);
                throw new PhaseException(phase, terminal.death());
            }
        }
    }

    private void announce(int count, double elapsed) {
        JSONObject event = new JSONObject().put("event", "connected").put("terminals", count).put("elapsed_s", elapsed);
        terminals.stream().map(Terminal::product).filter(product -> product != null).findFirst()
            .ifPresent(product -> product.keySet().forEach(key -> event.put(key, product.get(key))));
        events.emit(event);
    }

    private static void sleepUntil(long nanos) throws InterruptedException {
        long left = nanos - System.nanoTime();
        while (left > 0) {
            Thread.sleep(left / 1_000_000, (int) (left % 1_000_000));
            left = nanos - System.nanoTime();
        }
    }
}
