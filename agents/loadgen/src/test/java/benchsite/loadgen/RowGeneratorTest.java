package benchsite.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.json.JSONArray;
import org.junit.jupiter.api.Test;

class RowGeneratorTest {
    private static RowGenerator rows(String columns) {
        return new RowGenerator(new JSONArray(columns));
    }

    @Test
    void aSequenceCountsInSteps() {
        RowGenerator rows = rows("[{'kind': 'sequence', 'start': 5, 'step': 3}, {'kind': 'sequence'}]");
        assertEquals(2, rows.width());
        assertEquals(5L, rows.value(0, 0));
        assertEquals(5L + 3 * 4_000_000_000L, rows.value(0, 4_000_000_000L));
        assertEquals(8L, rows.value(1, 7));
    }

    @Test
    void aGroupHoldsSizeRows() {
        RowGenerator rows = rows("[{'kind': 'group', 'size': 10, 'start': 1}]");
        assertEquals(1L, rows.value(0, 0));
        assertEquals(1L, rows.value(0, 9));
        assertEquals(2L, rows.value(0, 10));
    }

    @Test
    void constantsAndTexts() {
        RowGenerator rows = rows("[{'kind': 'constant', 'value': 0}, {'kind': 'constant', 'value': null},"
            + "{'kind': 'text', 'length': 4, 'fill': 'x'}, {'kind': 'text', 'length': 2}]");
        assertEquals(0, rows.value(0, 3));
        assertNull(rows.value(1, 3));
        assertEquals("xxxx", rows.value(2, 3));
        assertEquals("  ", rows.value(3, 3));
    }

    @Test
    void anUnknownKindIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> rows("[{'kind': 'zipf'}]"));
    }
}
