package benchsite.loadgen.measure;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class WindowTest {
    private static final long SECOND = 1_000_000_000L;
    private final Window window = new Window(2, 3);

    @Test
    void aTransactionBelongsToTheSecondInWhichItEnded() {
        assertEquals(0, window.secondOf(0));
        assertEquals(0, window.secondOf(SECOND - 1));
        assertEquals(1, window.secondOf(SECOND));
        assertEquals(4, window.secondOf(5 * SECOND - 1));
    }

    @Test
    void whatEndsAfterTheWindowIsTheTail() {
        assertEquals(5, window.secondOf(5 * SECOND));
        assertEquals(window.seconds(), window.secondOf(500 * SECOND));
        assertEquals(5 * SECOND, window.endNanos());
    }

    @Test
    void theWarmUpEndsWhereTheMeasuredSecondsBegin() {
        assertTrue(window.isWarmUp(0));
        assertTrue(window.isWarmUp(1));
        assertFalse(window.isWarmUp(2));
        assertFalse(new Window(0, 1).isWarmUp(0));
    }
}
