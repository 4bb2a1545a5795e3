package benchsite.loadgen;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.Callable;
import org.json.JSONObject;

/** One thread's part of a table: the rows from {@code from} up to {@code end}, on its own connection. */
final class RangeLoader implements Callable<Void> {
    private final Connection connection;
    private final JSONObject table;
    private final long from;
    private final long end;
    private final LoadPlan plan;
    private final LoadProgress progress;
    private PreparedStatement insert;
    private RowSource source;
    private int pending;
    private long uncommitted;
    private long reportedBytes;

    RangeLoader(Connection connection, JSONObject table, long from, long end, LoadPlan plan, LoadProgress progress) {
        this.connection = connection;
        this.table = table;
        this.from = from;
        this.end = end;
        this.plan = plan;
        this.progress = progress;
    }

    @Override
    public Void call() throws SQLException, InterruptedException {
        boolean done = false;
        try (PreparedStatement prepared = connection.prepareStatement(table.getString("insert"))) {
            source = RowSources.of(table, plan.seed());
            insert = prepared;
            load();
            flush();
            connection.commit();
            done = true;
        } finally {
            if (!done) {
                progress.stop();
                rollback();
            }
        }
        return null;
    }

    private void load() throws SQLException, InterruptedException {
        boolean wasSlow = false;
        for (long row = from; row < end && !progress.isStopped(); row++) {
            boolean slow = progress.takeRow();
            if (slow && !wasSlow) {
                flush();
            }
            if (slow) {
                progress.awaitSlowRow();
            }
            wasSlow = slow;
            source.bind(insert, row);
            insert.addBatch();
            pending++;
            boolean commits = uncommitted + pending >= plan.commitEvery(slow);
            if (commits || pending >= plan.batch(slow)) {
                flush();
            }
            if (commits) {
                connection.commit();
                uncommitted = 0;
            }
        }
    }

    private void flush() throws SQLException {
        if (pending > 0) {
            insert.executeBatch();
            progress.add(pending, source.bytes() - reportedBytes);
            reportedBytes = source.bytes();
            uncommitted += pending;
            pending = 0;
        }
    }

    /** Frees what other threads may be waiting for. */
    private void rollback() {
        try {
            connection.rollback();
        } catch (SQLException gone) {
            System.err.println("rollback: " + gone.getMessage());
        }
    }
}
