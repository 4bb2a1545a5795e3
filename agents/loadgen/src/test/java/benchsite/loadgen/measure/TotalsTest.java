package benchsite.loadgen.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchsite.loadgen.Jobs;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

class TotalsTest {
    private static final long SECOND = 1_000_000_000L;
    private static final int WRITERS = 4;
    /** A "second" of the clock of this test lasts a millisecond: many borders are crossed while bins are taken. */
    private static final long SPEED = 1_000;

    @Test
    void nothingIsLostOrCountedTwiceWhileTheReporterTakesBins() throws InterruptedException {
        Window window = new Window(100, 300);
        long start = System.nanoTime();
        List<Recorder> recorders = new ArrayList<>();
        List<Thread> writers = new ArrayList<>();
        AtomicLong written = new AtomicLong();
        for (int number = 0; number < WRITERS; number++) {
            Recorder recorder = new Recorder(window, () -> (System.nanoTime() - start) * SPEED, false);
            recorders.add(recorder);
            writers.add(new Thread(() -> written.addAndGet(write(recorder, window, start))));
        }
        writers.forEach(Thread::start);

        Totals totals = new Totals(window, recorders, false);
        long ofSeconds = 0;
        for (int second = 0; second < window.seconds(); second++) {
            while ((System.nanoTime() - start) * SPEED < (second + 1) * SECOND) {
                Thread.onSpinWait();
            }
            long taken = totals.take(second).all().count();
            ofSeconds += window.isWarmUp(second) ? 0 : taken;
        }
        for (Thread writer : writers) {
            writer.join();
        }
        totals.take(window.seconds());

        JSONObject summary = totals.summary(window.durationSeconds());
        long measured = summary.getLong("transactions");
        assertTrue(measured > 10_000, "the test did little: " + measured);
        assertEquals(measured, ofSeconds, "sum of the seconds");
        assertEquals(measured, Jobs.decoded(summary).getTotalCount(), "histogram");
        assertEquals(measured, sum(summary, "per_terminal"), "terminals");
        assertEquals(summary.getLong("warm_up_transactions"), sum(summary, "warm_up_per_terminal"));
        long outside = summary.getLong("warm_up_transactions") + summary.getLong("tail_transactions");
        assertEquals(written.get(), measured + outside);
        assertEquals(measured, summary.getJSONObject("per_type").getJSONObject("even").getLong("transactions")
            + summary.getJSONObject("per_type").getJSONObject("odd").getLong("transactions"));
    }

    /** Records until some time after the window has ended; returns how often. */
    private static long write(Recorder recorder, Window window, long start) {
        long count = 0;
        while (true) {
            long now = (System.nanoTime() - start) * SPEED;
            if (now > window.endNanos() + 20 * SECOND) {
                return count;
            }
            recorder.executed(count % 2 == 0 ? "even" : "odd", now, now, 0, true);
            count++;
        }
    }

    private static long sum(JSONObject summary, String key) {
        long sum = 0;
        for (Object number : summary.getJSONArray(key)) {
            sum += ((Number) number).longValue();
        }
        return sum;
    }

    @Test
    void theWarmUpAndTheTailAreLeftOutOfTheFigures() {
        Window window = new Window(1, 2);
        AtomicLong clock = new AtomicLong();
        Recorder recorder = new Recorder(window, clock::get, false);
        Totals totals = new Totals(window, List.of(recorder), false);
        long[] ends = {SECOND / 2, SECOND, 2 * SECOND, 2 * SECOND + 5, 7 * SECOND};
        long[] micros = {900_000, 10, 20, 30, 4_000_000};
        for (int index = 0; index < ends.length; index++) {
            clock.set(ends[index]);
            long begun = ends[index] - micros[index] * 1_000;
            recorder.began("t", micros[index] * 500);
            recorder.executed("t", begun, begun, index, index != 3);
        }
        for (int second = 0; second <= window.seconds(); second++) {
            totals.take(second);
        }

        JSONObject summary = totals.summary(window.durationSeconds());
        assertEquals(3, summary.getLong("transactions"));
        assertEquals(1, summary.getLong("warm_up_transactions"));
        assertEquals(1, summary.getLong("tail_transactions"));
        assertEquals(1.5, summary.getDouble("tps"));
        assertEquals(20, summary.getDouble("mean_us"));
        assertEquals(10, summary.getDouble("begin_us"), "half of each transaction was its begin");
        assertEquals(30, summary.getLong("max_us"));
        assertEquals(1 + 2 + 3, summary.getLong("retries"));
        assertEquals(1, summary.getLong("rolled_back"));
        assertEquals(4, summary.getLong("committed"), "warm-up, measured and tail without the one rolled back");
        assertEquals(4, summary.getJSONObject("per_type").getJSONObject("t").getLong("committed"));
        assertEquals(4_000_000, summary.getDouble("tail_max_us"), 4_000);
    }

    @Test
    void nothingMeasuredIsNullNotZero() {
        Window window = new Window(0, 1);
        Totals totals = new Totals(window, List.of(new Recorder(window, () -> 0, false)), false);
        totals.take(0);
        JSONObject summary = totals.summary(window.durationSeconds());
        assertEquals(0, summary.getLong("transactions"));
        for (String key : List.of("mean_us", "p50_us", "p95_us", "p99_us", "max_us", "tail_max_us")) {
            assertTrue(summary.isNull(key), key);
        }
        assertTrue(totals.summary(0).isNull("tps"), "ended in the warm-up");
    }
}
