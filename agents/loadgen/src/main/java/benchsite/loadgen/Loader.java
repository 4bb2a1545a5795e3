package benchsite.loadgen;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import org.json.JSONObject;

/** Fills tables with generated rows, batched, committing every so many rows. */
final class Loader {
    private static final long PROGRESS_NANOS = 1_000_000_000L;
    private final Database database;
    private final Events events;
    private long done;
    private long total;
    private long lastProgress;

    Loader(Database database, Events events) {
        this.database = database;
        this.events = events;
    }

    void load(JSONObject step, String phase) throws SQLException {
        events.phase(phase, "begin");
        long begun = System.nanoTime();
        for (Object table : step.getJSONArray("tables")) {
            total += ((JSONObject) table).getLong("rows");
        }
        try (Connection connection = database.connectPlain()) {
            connection.setAutoCommit(false);
            for (Object table : step.getJSONArray("tables")) {
                fill(connection, (JSONObject) table, step, phase);
            }
            connection.setAutoCommit(true);
        }
        events.emit(Events.phaseEvent(phase, "end").put("elapsed_s", Clock.seconds(begun, System.nanoTime()))
            .put("rows", done));
    }

    private void fill(Connection connection, JSONObject table, JSONObject step, String phase) throws SQLException {
        RowSource rows = RowSources.of(table, step.optLong("seed", 1));
        int batch = step.optInt("batch", 1000);
        long commitEvery = step.optLong("commit_every", 10_000);
        long count = table.getLong("rows");
        try (PreparedStatement insert = connection.prepareStatement(table.getString("insert"))) {
            for (long row = 0; row < count; row++) {
                rows.bind(insert, row);
                insert.addBatch();
                done++;
                if ((row + 1) % batch == 0 || row + 1 == count) {
                    insert.executeBatch();
                    progress(phase);
                }
                if ((row + 1) % commitEvery == 0) {
                    connection.commit();
                }
            }
            connection.commit();
        }
    }

    private void progress(String phase) {
        long now = System.nanoTime();
        if (now - lastProgress >= PROGRESS_NANOS) {
            lastProgress = now;
            events.emit(new JSONObject().put("event", "progress").put("phase", phase).put("rows", done)
                .put("of", total));
        }
    }
}
