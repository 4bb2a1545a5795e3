package benchsite.loadgen.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

class RecorderTest {
    private static final long SECOND = 1_000_000_000L;
    private static final long START = 777;
    private final AtomicLong clock = new AtomicLong(START);
    private final Recorder recorder = new Recorder(new Window(1, 2), clock::get, false);

    RecorderTest() {
        recorder.startAt(START);
    }

    private void succeedAt(long elapsed, String type, long latency, long retried) {
        clock.set(START + elapsed);
        long begun = START + elapsed - latency;
        recorder.executed(type, begun, begun, retried, true);
    }

    @Test
    void itSortsBySecondAndType() {
        succeedAt(SECOND / 2, "a", 1_000, 0);
        succeedAt(SECOND, "a", 2_000, 1);
        succeedAt(SECOND + 1, "b", 3_000, 0);
        succeedAt(9 * SECOND, "a", 4_000, 0);

        assertEquals(1, recorder.take(0).get("a").count());
        var second = recorder.take(1);
        assertEquals(1, second.get("a").count());
        assertEquals(1, second.get("a").retries());
        assertEquals(1, second.get("b").count());
        assertTrue(recorder.take(2).isEmpty());
        assertEquals(1, recorder.take(3).get("a").count(), "the tail");
    }

    @Test
    void aSecondIsHandedOutOnce() {
        succeedAt(0, "a", 1, 0);
        assertEquals(1, recorder.take(0).get("a").count());
        assertTrue(recorder.take(0).isEmpty());
    }

    @Test
    void aSecondWaitsForATransactionThatIsJustReadingItsEnd() throws InterruptedException {
        CountDownLatch reading = new CountDownLatch(1);
        Recorder slow = new Recorder(new Window(1, 2), () -> {
            reading.countDown();
            LockSupport.parkNanos(SECOND / 5);
            return SECOND - 1;
        }, false);
        Thread terminal = new Thread(() -> slow.executed("a", 0, 0, 0, true));
        terminal.start();
        reading.await();
        assertEquals(1, slow.take(0).size(), "its end lies in this second, so it must not be handed out without it");
        terminal.join();
    }

    @Test
    void failuresAndAbandonedTransactionsAreNoTransactions() {
        recorder.failure("a", 2);
        recorder.abandoned("a", 3);
        Bin bin = recorder.take(0).get("a");
        assertEquals(0, bin.count());
        assertEquals(1, bin.errors());
        assertEquals(5, bin.retries());
    }

    @Test
    void theMeanIsExactAndMicrosecondsAreRounded() {
        succeedAt(10, "a", 1_499, 0);
        succeedAt(20, "a", 2_500, 0);
        Bin bin = recorder.take(0).get("a");
        assertEquals(1.9995, bin.meanMicros(), 1e-9);
        assertEquals(1, bin.latencies.getMinValue());
        assertEquals(3, bin.latencies.getMaxValue());
    }

    @Test
    void atAFixedRateLatenciesCountFromTheDueTimeAndServiceTimesFromTheStart() {
        Recorder paced = new Recorder(new Window(0, 9), clock::get, true);
        paced.startAt(START);
        clock.set(START + 5_000_000);
        paced.executed("a", START + 1_000_000, START + 3_000_000, 0, true);
        Bin bin = paced.take(0).get("a");
        assertEquals(4_000, bin.meanMicros());
        assertEquals(2_000, bin.meanServiceMicros());
        assertEquals(1, bin.serviceTimes.getTotalCount());
    }

    @Test
    void aRollbackThatTheWorkloadWantsIsExecutedButNotCommitted() {
        clock.set(START + 1);
        recorder.executed("a", START, START, 0, false);
        recorder.executed("a", START, START, 0, true);
        Bin bin = recorder.take(0).get("a");
        assertEquals(2, bin.count());
        assertEquals(1, bin.rolledBack());
        assertEquals(1, bin.committed());
    }
}
