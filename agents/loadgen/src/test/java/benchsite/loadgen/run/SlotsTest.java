package benchsite.loadgen.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

class SlotsTest {
    private static final long SECOND = 1_000_000_000L;

    private static Slots even(double rate) {
        return new Slots(rate, Slots.Arrivals.EVEN, 1);
    }

    private static Slots poisson(double rate, long seed) {
        return new Slots(rate, Slots.Arrivals.POISSON, seed);
    }

    private static long[] due(Slots slots, int count) {
        return LongStream.generate(slots::take).limit(count).toArray();
    }

    @Test
    void independentCallersComeInAnExponentialTimeOfEachOther() {
        long[] due = due(poisson(1_000, 7), 100_000);
        assertEquals(100, due[due.length - 1] / 1e9, 1.5, "100,000 of them at 1,000 a second");
        double[] gaps = IntStream.range(1, due.length).mapToDouble(slot -> (due[slot] - due[slot - 1]) / 1e9).toArray();
        double mean = DoubleStream.of(gaps).average().orElseThrow();
        double variance = DoubleStream.of(gaps).map(gap -> (gap - mean) * (gap - mean)).average().orElseThrow();
        assertEquals(1, Math.sqrt(variance) / mean, 0.02, "as much spread as mean");
        double longer = DoubleStream.of(gaps).filter(gap -> gap > mean).count() / (double) gaps.length;
        assertEquals(Math.exp(-1), longer, 0.01);
    }

    @Test
    void theSameSeedHasTheSameCallersAndAnotherHasOthers() {
        assertArrayEquals(due(poisson(50, 3), 1_000), due(poisson(50, 3), 1_000));
        assertFalse(Arrays.equals(due(poisson(50, 3), 1_000), due(poisson(50, 4), 1_000)));
    }

    @Test
    void callersAreCountedAsTheyAreDueInWhateverOrderIsAsked() {
        long[] due = due(poisson(50, 3), 1_000);
        Slots slots = poisson(50, 3);
        for (int slot : new int[] {0, 400, 999, 17, 16, 17, 500, 0}) {
            assertEquals(slot, slots.dueBefore(due[slot]), "slot " + slot);
            assertEquals(slot + 1, slots.dueBefore(due[slot] + 1), "slot " + slot);
        }
    }

    @Test
    void whatWaitsIsWhatWasDueLast() {
        for (Slots slots : new Slots[] {poisson(50, 3), even(50)}) {
            long[] due = due(slots, 100);
            for (int begun = 0; begun < 90; begun++) {
                slots.start();
            }
            List<Long> waiting = new ArrayList<>();
            slots.forEachWaiting(due[99] + 1, waiting::add);
            assertArrayEquals(Arrays.copyOfRange(due, 90, 100), waiting.stream().mapToLong(at -> at).toArray());
        }
    }

    @Test
    void rarelyIsARateToo() {
        assertEquals(20 * SECOND, due(even(0.05), 2)[1]);
        long[] due = due(poisson(0.05, 1), 10_000);
        assertEquals(20, due[9_999] / 1e9 / 10_000, 0.5, "one in 20 s on average");
    }

    @Test
    void slotsAreDueAtEvenDistancesFromTheStart() {
        Slots slots = even(4);
        assertEquals(0, slots.take());
        assertEquals(SECOND / 4, slots.take());
        assertEquals(SECOND / 2, slots.take());
    }

    @Test
    void aSlotAtTheBorderIsNotDueBeforeIt() {
        for (double rate : new double[] {0.1, 0.3, 1, 3, 7.7, 100, 12_345.6}) {
            Slots slots = even(rate);
            long due = slots.take();
            for (int taken = 0; taken < 3_000; taken++) {
                assertEquals(taken, slots.dueBefore(due), rate + " per second");
                assertEquals(taken + 1, slots.dueBefore(due + 1), rate + " per second");
                due = slots.take();
            }
        }
    }

    @Test
    void theBacklogIsWhatIsDueAndNotStarted() {
        Slots slots = even(100);
        for (int taken = 0; taken < 8; taken++) {
            slots.take();
        }
        assertEquals(100, slots.backlog(SECOND), "a slot that is taken may still wait for its time");
        for (int started = 0; started < 60; started++) {
            slots.start();
        }
        assertEquals(40, slots.backlog(SECOND));
        assertEquals(0, slots.backlog(SECOND / 2));
    }

    @Test
    void aRateThatIsNoneIsRefused() {
        for (double rate : new double[] {0, -1, Double.NaN, 2e9}) {
            assertThrows(IllegalArgumentException.class, () -> even(rate));
        }
    }
}
