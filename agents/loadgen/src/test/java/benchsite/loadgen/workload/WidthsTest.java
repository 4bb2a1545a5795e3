package benchsite.loadgen.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigDecimal;
import java.sql.Timestamp;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WidthsTest {
    @Test
    void textCountsAsInUtf8() {
        Map.of("", 0, "plain", 5, "Zürich", 7, "€", 3, "𝄞 clef", 9)
            .forEach((text, bytes) -> assertEquals(bytes, Widths.of(text), text));
    }

    @Test
    void numbersCountByTheirSize() {
        assertEquals(4, Widths.of(7));
        assertEquals(4, Widths.of(7L));
        assertEquals(8, Widths.of(7_000_000_000L));
        assertEquals(8, Widths.of(new BigDecimal("1.50")));
        assertEquals(8, Widths.of(1.5));
        assertEquals(8, Widths.of(new Timestamp(0)));
        assertEquals(1, Widths.of(true));
        assertEquals(0, Widths.of(null));
    }
}
