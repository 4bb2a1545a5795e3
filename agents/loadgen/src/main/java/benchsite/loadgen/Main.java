package benchsite.loadgen;

import benchsite.loadgen.events.Events;
import benchsite.loadgen.events.PhaseException;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import org.json.JSONObject;

/**
 * The load generator: one JSON job on the first line of standard input, one JSON event a line on standard output.
 *
 * <p>Standard input stays open as a life line: its end means "abort now", so this process never outlives its parent.
 * The last event, "finished", asks for that end: a JVM whose thread still waits for input takes 0.3 s longer to go.
 * Exit status: 0 all steps done, 1 an error event was printed, 3 aborted.
 */
public final class Main {
    public static final String VERSION = "0.1.0";
    private static final int FAILED = 1;
    private static final int ABORTED = 3;
    private static final int LET_GO_MS = 300;

    private Main() {}

    public static void main(String[] arguments) throws IOException, InterruptedException {
        BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        String line = input.readLine();
        if (line == null) {
            Runtime.getRuntime().halt(ABORTED);
        }
        AtomicBoolean done = new AtomicBoolean();
        Thread lifeLine = watchLifeLine(input, done);
        Events events = new Events(System.out);
        events.emit(new JSONObject().put("event", "started").put("java", System.getProperty("java.version"))
            .put("version", VERSION));
        int status = run(line, events);
        done.set(true);
        events.emit(new JSONObject().put("event", "finished"));
        lifeLine.join(LET_GO_MS);
        Runtime.getRuntime().halt(status);
    }

    private static int run(String line, Events events) {
        try {
            new JobRunner(new JSONObject(line), events).run();
            return 0;
        } catch (PhaseException problem) {
            events.error(problem.phase(), problem.getCause());
        } catch (Throwable problem) { // an engine that does not fit this Java throws errors, too
            events.error("", problem);
        }
        return FAILED;
    }

    private static Thread watchLifeLine(BufferedReader input, AtomicBoolean done) {
        Thread watcher = new Thread(() -> {
            try {
                while (input.readLine() != null) {
                    // Nothing but its end has a meaning.
                }
            } catch (IOException broken) {
                // The same as its end.
            }
            if (!done.get()) {
                Runtime.getRuntime().halt(ABORTED);
            }
        }, "life-line");
        watcher.setDaemon(true);
        watcher.start();
        return watcher;
    }
}
