package benchsite.loadgen;

import benchsite.loadgen.events.Clock;
import benchsite.loadgen.events.Events;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.zip.DataFormatException;
import org.HdrHistogram.Histogram;
import org.json.JSONArray;
import org.json.JSONObject;

/** What the tests share: jobs on a fresh database in memory, and the events that they emit. */
public final class Jobs {
    private static final long PATIENCE_S = 30;
    private volatile boolean inVain;
    private final ByteArrayOutputStream output = new ByteArrayOutputStream();
    public final Events events = new Events(new PrintStream(output, true, StandardCharsets.UTF_8));

    /** A job without steps. The database lives as long as this JVM. */
    public static JSONObject inMemory() {
        return job("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
    }

    public static JSONObject job(String url) {
        return new JSONObject().put("version", 1).put("steps", new JSONArray())
            .put("connection", new JSONObject().put("url", url).put("driver_class", JSONObject.NULL));
    }

    public static JSONObject execute(String... statements) {
        return new JSONObject().put("op", "execute").put("phase", "create").put("statements", List.of(statements));
    }

    public static JSONObject query(String sql) {
        return new JSONObject().put("op", "query").put("name", "answer").put("sql", sql);
    }

    public static JSONObject run(int terminals, int warmUp, int duration, JSONObject... transactions) {
        return new JSONObject().put("op", "run").put("phase", "run").put("terminals", terminals)
            .put("warm_up_s", warmUp)
            .put("duration_s", duration).put("seed", 42).put("transactions", List.of(transactions));
    }

    public static JSONObject transaction(String name, JSONObject... statements) {
        JSONObject variable = new JSONObject().put("name", "n").put("kind", "uniform").put("min", 1)
            .put("max", 1_000_000);
        return new JSONObject().put("name", name).put("weight", 1).put("variables", List.of(variable))
            .put("statements", List.of(statements));
    }

    public static JSONObject statement(String sql, String... bind) {
        return new JSONObject().put("sql", sql).put("bind", List.of(bind));
    }

    /** Do these steps; what they emitted. */
    public List<JSONObject> perform(JSONObject job, JSONObject... steps) throws Exception {
        new JobRunner(job.put("steps", List.of(steps)), events).run();
        return emitted();
    }

    public List<JSONObject> emitted() {
        return output.toString(StandardCharsets.UTF_8).lines().map(JSONObject::new).toList();
    }

    public List<JSONObject> emitted(String event) {
        return emitted().stream().filter(sent -> sent.getString("event").equals(event)).toList();
    }

    /** Waits until so many events like this are out: for another thread than that of the job. Patient once only. */
    public void await(int count, Predicate<JSONObject> wanted) throws InterruptedException {
        long begun = System.nanoTime();
        while (soFar().stream().filter(wanted).count() < count) {
            if (inVain || Clock.secondsSince(begun) > PATIENCE_S) {
                inVain = true;
                throw new AssertionError("waited in vain, after " + soFar());
            }
            Thread.sleep(10);
        }
    }

    public void await(String event) throws InterruptedException {
        await(1, sent -> sent.getString("event").equals(event));
    }

    /** What is emitted while the job goes on: its last line may not be whole yet. */
    private List<JSONObject> soFar() {
        String text = output.toString(StandardCharsets.UTF_8);
        return text.substring(0, text.lastIndexOf('\n') + 1).lines().map(JSONObject::new).toList();
    }

    public JSONObject summary() {
        return emitted("summary").get(0);
    }

    /** The one value of the last query. */
    public long answer() {
        List<JSONObject> queries = emitted("query");
        return queries.get(queries.size() - 1).getJSONArray("rows").getJSONArray(0).getLong(0);
    }

    /** The histogram of a summary. */
    public static Histogram decoded(JSONObject summary) {
        try {
            byte[] bytes = Base64.getDecoder().decode(summary.getString("histogram"));
            return Histogram.decodeFromCompressedByteBuffer(ByteBuffer.wrap(bytes), 0);
        } catch (DataFormatException broken) {
            throw new AssertionError(broken);
        }
    }
}
