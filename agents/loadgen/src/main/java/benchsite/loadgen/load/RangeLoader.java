package benchsite.loadgen.load;

import benchsite.loadgen.tpcc.Tpcc;
import benchsite.loadgen.workload.RowGenerator;
import benchsite.loadgen.workload.RowSource;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.concurrent.Callable;
import org.json.JSONObject;

/**
 * One thread's part of a table: the rows from {@code from} up to {@code end}, on its own connection.
 *
 * <p>Rows are bound when they are sent. A table may have a statement that takes several: what does not fill it goes
 * out by the insert of one row.
 */
final class RangeLoader implements Callable<Void> {
    private final Connection connection;
    private final JSONObject table;
    private final long from;
    private final long end;
    private final LoadPlan plan;
    private final LoadProgress progress;
    private final int rowsOfMany;
    private PreparedStatement insert;
    private PreparedStatement insertMany;
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
        this.rowsOfMany = table.has("many") ? LoadPlan.atLeastOne(table.getJSONObject("many"), "rows", 0) : 1;
    }

    @Override
    public Void call() throws SQLException, InterruptedException {
        String many = rowsOfMany > 1 ? table.getJSONObject("many").getString("insert") : null;
        try (PreparedStatement single = connection.prepareStatement(table.getString("insert"));
             PreparedStatement several = many == null ? null : connection.prepareStatement(many)) {
            source = source();
            insert = single;
            insertMany = several;
            load();
            connection.commit();
        } catch (Throwable problem) {
            progress.stop();
            try { // frees what other threads may be waiting for
                connection.rollback();
            } catch (SQLException gone) {
                System.err.println("rollback: " + gone.getMessage());
            }
            throw problem;
        }
        return null;
    }

    private RowSource source() {
        if (!table.has("program")) {
            return new RowGenerator(table, plan.seed());
        }
        var maker = Tpcc.ROW_SOURCES.get(table.getString("program"));
        if (maker == null) {
            throw new IllegalArgumentException("unknown row source: " + table.getString("program"));
        }
        return maker.apply(table, plan.seed());
    }

    private void load() throws SQLException, InterruptedException {
        boolean wasSlow = false;
        long row = from;
        for (; row < end && !progress.isStopped(); row++) {
            boolean slow = progress.takeRow();
            if (slow && !wasSlow) {
                flush(row);
            }
            if (slow) {
                progress.awaitSlowRow();
            }
            wasSlow = slow;
            pending++;
            boolean commits = uncommitted + pending >= plan.commitEvery(slow);
            if (commits || pending >= wholeStatements(plan.batch(slow))) {
                flush(row + 1);
            }
            if (commits) {
                connection.commit();
                uncommitted = 0;
            }
        }
        flush(row);
    }

    /** So that no batch but the last ones before a commit ends with rows that go out one by one. */
    private int wholeStatements(int batch) {
        return batch < rowsOfMany ? batch : batch - batch % rowsOfMany;
    }

    /** Sends the pending rows, which are those before {@code next}. */
    private void flush(long next) throws SQLException {
        if (pending > 0) {
            int together = rowsOfMany > 1 ? pending - pending % rowsOfMany : 0;
            send(insertMany, rowsOfMany, next - pending, together);
            send(insert, 1, next - pending + together, pending - together);
            progress.add(pending, source.bytes() - reportedBytes);
            reportedBytes = source.bytes();
            uncommitted += pending;
            pending = 0;
        }
    }

    private void send(PreparedStatement statement, int rowsEach, long first, int rows) throws SQLException {
        for (int sent = 0; sent < rows; sent++) {
            source.bind(statement, first + sent, sent % rowsEach * source.width());
            if (sent % rowsEach == rowsEach - 1) {
                statement.addBatch();
            }
        }
        if (rows > 0) {
            statement.executeBatch();
        }
    }
}
