package benchsite.loadgen.workload;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.sql.Timestamp;
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

    @Test
    void numberedTextsAndTimestampsFollowTheRow() {
        RowGenerator rows = rows("[{'kind': 'numbered_text', 'prefix': 'c-', 'width': 4, 'start': 0},"
            + "{'kind': 'timestamp', 'start': '2026-01-31 23:59:59', 'step_s': 0.5}]");
        assertEquals("c-0012", rows.values(12)[0]);
        assertEquals("c-123456", rows.values(123_456)[0]);
        assertEquals(Timestamp.valueOf("2026-01-31 23:59:59"), rows.values(0)[1]);
        assertEquals(Timestamp.valueOf("2026-02-01 00:00:00.5"), rows.values(3)[1]);
    }

    @Test
    void drawnColumnsAreTheSameForTheSameRow() {
        String columns = "[{'kind': 'uniform', 'min': 1, 'max': 1000000}, {'kind': 'text', 'min_length': 8}]";
        assertArrayEquals(rows(columns).values(77), rows(columns).values(77));
        assertNotEquals(rows(columns).values(77)[1], rows(columns).values(78)[1]);
    }

    @Test
    void aShareOfTheRowsIsNull() {
        RowGenerator rows = rows("[{'kind': 'sequence', 'null_share': 0.25}]");
        int nulls = 0;
        for (long row = 0; row < 10_000; row++) {
            nulls += rows.values(row)[0] == null ? 1 : 0;
        }
        assertEquals(2_500, nulls, 200);
    }
}
