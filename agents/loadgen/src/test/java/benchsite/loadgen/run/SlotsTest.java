package benchsite.loadgen.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class SlotsTest {
    private static final long SECOND = 1_000_000_000L;

    @Test
    void slotsAreDueAtEvenDistancesFromTheStart() {
        Slots slots = new Slots(4);
        assertEquals(0, slots.take());
        assertEquals(SECOND / 4, slots.take());
        assertEquals(SECOND / 2, slots.take());
    }

    @Test
    void aSlotAtTheBorderIsNotDueBeforeIt() {
        for (double rate : new double[] {0.1, 0.3, 1, 3, 7.7, 100, 12_345.6}) {
            Slots slots = new Slots(rate);
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
        Slots slots = new Slots(100);
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
            assertThrows(IllegalArgumentException.class, () -> new Slots(rate));
        }
    }
}
