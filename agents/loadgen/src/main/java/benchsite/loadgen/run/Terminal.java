package benchsite.loadgen.run;

import benchsite.loadgen.events.Clock;
import benchsite.loadgen.measure.Recorder;
import benchsite.loadgen.sql.Database;
import benchsite.loadgen.workload.Program;
import benchsite.loadgen.workload.Program.Work;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/** One terminal: a platform thread with its connection, one transaction after another until the window ends. */
final class Terminal implements Runnable {
    private static final long SEEDS_APART = 1_000_003L;
    final int number;
    final Recorder recorder;
    /** What it died of; null while it lives. */
    volatile Throwable death;
    /** The isolation level in force, of the first terminal: asked within its first transaction. Else null. */
    volatile String isolation;
    private final RunPlan plan;
    private final Database database;
    private final SplittableRandom random;
    private Connection connection;
    private Statement control;
    private volatile long start;
    private volatile long endedAt;

    Terminal(int number, RunPlan plan) {
        this.number = number;
        this.plan = plan;
        this.database = plan.database();
        this.random = new SplittableRandom(plan.seed() * SEEDS_APART + number);
        this.recorder = new Recorder(plan.window(), plan.clock(), plan.isPaced());
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
            plan.ready().countDown();
            plan.go().await();
            work(works);
        } catch (Throwable problem) { // whatever it is: a terminal that is gone unseen falsifies the figures
            problem.printStackTrace();
            death = problem;
        } finally {
            plan.ready().countDown();
        }
    }

    private List<Work> prepare() throws SQLException {
        List<Work> works = new ArrayList<>();
        for (Program program : plan.mix().programs()) {
            works.add(program.open(connection, number));
        }
        if (!connection.getAutoCommit()) {
            connection.commit();
        }
        return works;
    }

    private void work(List<Work> works) throws SQLException, InterruptedException {
        try {
            while (!isOver() && plan.budget().take()) {
                boolean committed = false;
                try {
                    if (Thread.interrupted()) { // the run is given up
                        throw new InterruptedException("interrupted between two transactions");
                    }
                    committed = transactInTime(works);
                } finally {
                    if (!committed) {
                        plan.budget().giveBack();
                    }
                }
            }
        } finally {
            endedAt = plan.clock().getAsLong();
        }
    }

    private boolean isOver() {
        return plan.clock().getAsLong() - start >= plan.window().endNanos();
    }

    /** At a fixed rate wait for the next slot first; a slot that nobody begins before the window ends is left. */
    private boolean transactInTime(List<Work> works) throws SQLException, InterruptedException {
        long due = 0;
        if (plan.isPaced()) {
            long slot = plan.slots().take();
            due = start + slot;
            Clock.sleepUntil(start + Math.min(slot, plan.window().endNanos()));
            if (isOver()) {
                return false;
            }
            plan.slots().start();
        }
        int choice = plan.mix().choose(random);
        return transact(plan.mix().programs().get(choice), works.get(choice), due);
    }

    /**
     * One transaction, begun again as a whole with the same values after a conflict; all of it is its latency.
     *
     * @return whether it was committed
     */
    private boolean transact(Program program, Work work, long due) throws SQLException {
        String type = program.name;
        Object values = work.draw(random);
        long begun = plan.clock().getAsLong();
        long from = plan.isPaced() ? due : begun;
        long retried = 0;
        while (true) {
            try {
                begin(program);
                boolean committed = work.execute(values);
                if (number == 0 && isolation == null) {
                    isolation = Database.isolation(connection);
                }
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

    /** Where one lock is for all who write, this is where they wait for it. */
    private void begin(Program program) throws SQLException {
        if (database.beginsByStatement()) {
            long asked = plan.clock().getAsLong();
            database.begin(control, program.isReading);
            recorder.began(program.name, plan.clock().getAsLong() - asked);
        }
    }

    /** False: it is given up, and recorded. Throws what this terminal does not outlive. */
    private boolean isToBeRetried(String type, long retried, SQLException problem) throws SQLException {
        boolean conflict = database.isRetryable(problem);
        if (conflict && retried < plan.maxRetries()) {
            recorder.conflict(problem);
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
