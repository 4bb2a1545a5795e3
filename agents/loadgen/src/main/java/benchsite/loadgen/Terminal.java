package benchsite.loadgen;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.json.JSONObject;

/** One terminal: a platform thread with its connection, one transaction after another until the window ends. */
final class Terminal implements Runnable {
    private static final long SEEDS_APART = 1_000_003L;
    private final int number;
    private final Course course;
    private final Database database;
    private final SplittableRandom random;
    private final Recorder recorder;
    private Connection connection;
    private Statement control;
    private volatile long start;
    private volatile long endedAt;
    private volatile Throwable death;
    private volatile JSONObject product;

    Terminal(int number, Course course) {
        this.number = number;
        this.course = course;
        this.database = course.database();
        this.random = new SplittableRandom(course.seed() * SEEDS_APART + number);
        this.recorder = new Recorder(course.window(), course.clock(), course.isPaced());
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

    /** Nanoseconds from the start to its last transaction's end; to be read when its thread has ended. */
    long endedAfter() {
        return endedAt - start;
    }

    void startAt(long nanos) {
        start = nanos;
        recorder.startAt(nanos);
    }

    @Override
    public void run() {
        try (Connection own = database.connect(); Statement statement = own.createStatement()) {
            connection = own;
            control = statement;
            List<Work> works = prepare();
            course.ready().countDown();
            course.go().await();
            work(works);
        } catch (Throwable problem) { // whatever it is: a terminal that is gone unseen falsifies the figures
            problem.printStackTrace();
            death = problem;
        } finally {
            course.ready().countDown();
        }
    }

    private List<Work> prepare() throws SQLException {
        List<Work> works = new ArrayList<>();
        for (Program program : course.mix().programs()) {
            works.add(program.open(connection, number));
        }
        product = Database.product(connection);
        if (!connection.getAutoCommit()) {
            connection.commit();
        }
        return works;
    }

    private void work(List<Work> works) throws SQLException, InterruptedException {
        try {
            while (!isOver() && course.budget().take()) {
                boolean committed = false;
                try {
                    requireNoInterrupt();
                    committed = transactInTime(works);
                } finally {
                    if (!committed) {
                        course.budget().giveBack();
                    }
                }
            }
        } finally {
            endedAt = course.clock().getAsLong();
        }
    }

    /** The run is given up. */
    private static void requireNoInterrupt() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException("interrupted between two transactions");
        }
    }

    private boolean isOver() {
        return course.clock().getAsLong() - start >= course.window().endNanos();
    }

    /** At a fixed rate wait for the next slot first; a slot that nobody begins before the window ends is left. */
    private boolean transactInTime(List<Work> works) throws SQLException, InterruptedException {
        long due = 0;
        if (course.isPaced()) {
            long slot = course.slots().take();
            due = start + slot;
            Clock.sleepUntil(start + Math.min(slot, course.window().endNanos()));
            if (isOver()) {
                return false;
            }
            course.slots().start();
        }
        int choice = course.mix().choose(random);
        return transact(course.mix().programs().get(choice), works.get(choice), due);
    }

    /**
     * One transaction, begun again as a whole with the same values after a conflict; all of it is its latency.
     *
     * @return whether it was committed
     */
    private boolean transact(Program program, Work work, long due) throws SQLException {
        String type = program.name();
        Object values = work.draw(random);
        long begun = course.clock().getAsLong();
        long from = course.isPaced() ? due : begun;
        long retried = 0;
        while (true) {
            try {
                database.begin(control, program.isReading());
                boolean committed = work.execute(values);
                if (committed) {
                    database.commit(connection, control);
                } else {
                    database.rollback(connection, control);
                }
                recorder.executed(type, from, begun, retried, committed);
                return committed;
            } catch (SQLException problem) {
                database.rollbackFailed(connection, control);
                if (!isToBeRetried(type, retried, problem)) {
                    return false;
                }
                retried++;
            }
        }
    }

    /** False: it is given up, and recorded. Throws what this terminal does not outlive. */
    private boolean isToBeRetried(String type, long retried, SQLException problem) throws SQLException {
        boolean conflict = database.isRetryable(problem);
        if (conflict && retried < course.maxRetries()) {
            if (isOver()) { // it is rolled back; a conflict that never ends must not keep the run from ending
                recorder.abandoned(type, retried + 1);
                return false;
            }
            return true;
        }
        recorder.failure(type, retried);
        if (!conflict && !database.isTolerable(problem) || connection.isClosed()) {
            throw problem;
        }
        return false;
    }
}
