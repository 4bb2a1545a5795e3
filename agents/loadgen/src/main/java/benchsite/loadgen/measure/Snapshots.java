package benchsite.loadgen.measure;

import benchsite.loadgen.events.Clock;
import benchsite.loadgen.events.Events;
import java.sql.Connection;
import org.json.JSONObject;

/** Queries at the begin and the end of the measured window, on the job's own connection; a slow one delays nothing. */
public final class Snapshots extends Asking {
    private final String phase;
    private final Connection anchor;
    private boolean begun;

    /** {@code queries}: SQL by name, or null. */
    public Snapshots(Events events, String phase, Connection anchor, JSONObject queries) {
        super(events, queries);
        this.phase = phase;
        this.anchor = anchor;
    }

    /** At once: for a run without a warm-up, before it starts. */
    public void takeBegin() {
        begun = true;
        take("begin:");
    }

    public void startAt(long start, Window window) {
        if (queries.isEmpty()) {
            return;
        }
        start("snapshots", () -> {
            if (!begun) {
                await(start + window.measuredFromNanos());
                takeBegin();
            }
            await(start + window.endNanos());
            take("end:");
        });
    }

    private void take(String prefix) {
        for (String name : queries.keySet()) {
            ask(anchor, name, new JSONObject().put("event", "query").put("name", prefix + name).put("phase", phase)
                .put("at", Clock.at()));
        }
    }
}
