package benchsite.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

class RowGeneratorTest {
    private static RowGenerator rows(String columns) {
        return new RowGenerator(new JSONObject().put("name", "t").put("columns", new JSONArray(columns)), 42);
    }

    @Test
    void aSequenceCountsInSteps() {
        RowGenerator rows = rows("[{'kind': 'sequence', 'start': 5, 'step': 3}, {'kind': 'sequence'}]");
        assertEquals(2, rows.width());
        assertEquals(5L, rows.values(0)[0]);
        assertEquals(5L + 3 * 4_000_000_000L, rows.values(4_000_000_000L)[0]);
        assertEquals(8L, rows.values(7)[1]);
    }

    @Test
    void aGroupHoldsSizeRows() {
        RowGenerator rows = rows("[{'kind': 'group', 'size': 10, 'start': 1}]");
        assertEquals(1L, rows.values(0)[0]);
        assertEquals(1L, rows.values(9)[0]);
        assertEquals(2L, rows.values(10)[0]);
    }

    @Test
    void constantsAndTexts() {
        RowGenerator rows = rows("[{'kind': 'constant', 'value': 0}, {'kind': 'constant', 'value': null},"
            + "{'kind': 'text', 'length': 4, 'fill': 'x'}, {'kind': 'text', 'length': 2}]");
        assertEquals(0, rows.values(3)[0]);
        assertNull(rows.values(3)[1]);
        assertEquals("xxxx", rows.values(3)[2]);
        assertEquals("  ", rows.values(3)[3]);
    }

    @Test
    void anUnknownKindIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> rows("[{'kind': 'zipf'}]"));
    }
}
