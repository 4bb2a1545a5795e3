package benchsite.loadgen;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongSupplier;
import org.json.JSONObject;

/** One terminal: a platform thread with its connection, one transaction after another until the window ends. */
final class Terminal implements Runnable {
    private final int number;
    private final Database database;
    private final Mix mix;
    private final Window window;
    private final SplittableRandom random;
    private final CountDownLatch ready;
    private final CountDownLatch go;
    private final LongSupplier clock;
    private final Recorder recorder;
    private volatile long start;
    private volatile Throwable death;
    private volatile JSONObject product;

    Terminal(int number, Database database, Mix mix, Window window, long seed, CountDownLatch ready, CountDownLatch go,
             LongSupplier clock) {
        this.number = number;
        this.database = database;
        this.mix = mix;
        this.window = window;
        this.random = new SplittableRandom(seed * 1_000_003L + number);
        this.ready = ready;
        this.go = go;
        this.clock = clock;
        this.recorder = new Recorder(window, clock);
    }

    Recorder recorder() {
        return recorder;
    }

    Throwable death() {
        return death;
    }

    int number() {
        return number;
    }

    JSONObject product() {
        return product;
    }

    void startAt(long nanos) {
        start = nanos;
        recorder.startAt(nanos);
    }

    @Override
    public void run() {
        try (Connection connection = database.connect(); Statement control = connection.createStatement()) {
            List<Work> prepared = new ArrayList<>();
            for (Program program : mix.programs()) {
                prepared.add(program.open(connection, number));
            }
            product = JobRunner.product(connection);
            if (!connection.getAutoCommit()) {
                connection.commit();
            }
            ready.countDown();
            go.await();
            while (!isOver()) {
                int choice = mix.choose(random);
                transact(connection, control, mix.programs().get(choice).name(), prepared.get(choice));
            }
        } catch (Throwable problem) { // whatever it is: a terminal that is gone unseen falsifies the figures
            problem.printStackTrace();
            death = problem;
        } finally {
            ready.countDown();
        }
    }

    private boolean isOver() {
        return clock.getAsLong() - start >= window.endNanos();
    }

    /** One transaction, begun again as a whole with the same values after a conflict; all of it is its latency. */
    private void transact(Connection connection, Statement control, String type, Work work) throws SQLException {
        Object values = work.draw(random);
        long begun = clock.getAsLong();
        long retried = 0;
        while (true) {
            try {
                database.begin(control);
                boolean wanted = work.execute(values);
                if (wanted) {
                    database.commit(connection, control);
                } else {
                    database.rollback(connection, control);
                }
                recorder.success(type, begun, retried);
                return;
            } catch (SQLException problem) {
                database.rollback(connection, control);
                if (!database.isRetryable(problem)) {
                    recorder.failure(type, retried);
                    throw problem;
                }
                retried++;
                if (isOver()) { // it is rolled back; a conflict that never ends must not keep the run from ending
                    recorder.abandoned(type, retried);
                    return;
                }
            }
        }
    }
}
