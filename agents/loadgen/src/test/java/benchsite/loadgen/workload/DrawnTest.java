package benchsite.loadgen.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigDecimal;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

class DrawnTest {
    private final SplittableRandom random = new SplittableRandom(11);

    private Set<Object> draw(int times, String definition) {
        Drawn drawn = Drawn.of(new JSONObject(definition));
        Set<Object> values = new TreeSet<>();
        for (int count = 0; count < times; count++) {
            values.add(drawn.draw(random));
        }
        return values;
    }

    @Test
    void uniformNumbersAreIntegersWhereTheyCanBe() {
        assertEquals(Set.of(-1, 0, 1), draw(500, "{kind: uniform, min: -1, max: 1}"));
        assertEquals(Set.of(5_000_000_000L, 5_000_000_001L),
            draw(500, "{kind: uniform, min: 5000000000, max: 5000000001}"));
        assertEquals(Set.of(2147483647, 2147483646), draw(500, "{kind: uniform, min: 2147483646, max: 2147483647}"));
        assertEquals(Set.of(7), draw(5, "{kind: uniform, min: 7, max: 7}"));
    }

    @Test
    void nurandStaysInItsRangeAndPrefersSomeOfIt() {
        Drawn drawn = Drawn.of(new JSONObject("{kind: nurand, a: 255, c: 123, min: 1, max: 1000}"));
        int[] counts = new int[1_001];
        for (int count = 0; count < 300_000; count++) {
            counts[(Integer) drawn.draw(random)]++;
        }
        assertEquals(0, counts[0]);
        // Clause 2.1.6: (((0..A) | (x..y)) + C) % (y - x + 1) + x. A bit of the OR is 1 in three cases of four,
        // so 255 | … is drawn (3/4)^8 of the time and its neighbour with one bit less a third as often.
        int favourite = (255 + 123) % 1_000 + 1;
        int neighbour = (254 + 123) % 1_000 + 1;
        assertEquals(3.0, counts[favourite] / (double) counts[neighbour], 0.4);
        assertTrue(counts[favourite] > 10 * 300, "far above a thousandth");
    }

    @Test
    void textsHaveTheirLengthAndAlphabet() {
        Set<Object> texts = draw(2_000, "{kind: text, min_length: 0, max_length: 2, alphabet: xy}");
        assertEquals(Set.of("", "x", "y", "xx", "xy", "yx", "yy"), texts);
        assertTrue(draw(50, "{kind: text, min_length: 12}").stream()
            .allMatch(text -> text.toString().matches("[A-Za-z0-9]{12}")));
    }

    @Test
    void decimalsHaveTheirScale() {
        Set<Object> decimals = draw(500, "{kind: decimal, min: -0.01, max: 0.01, scale: 2}");
        assertEquals(Set.of(new BigDecimal("-0.01"), new BigDecimal("0.00"), new BigDecimal("0.01")), decimals);
    }

    @Test
    void choicesAndConstants() {
        assertEquals(Set.of("GC", "BC"), draw(500, "{kind: choice, values: [GC, BC]}"));
        assertEquals(Set.of(3), draw(5, "{kind: constant, value: 3}"));
        Drawn nothing = Drawn.of(new JSONObject("{kind: choice, values: [null]}"));
        assertNull(nothing.draw(random));
    }

    @Test
    void limitsThatHoldNoValueAreRefused() {
        for (String broken : List.of("{kind: uniform, min: 2, max: 1}", "{kind: nurand, a: -1, c: 0, min: 1, max: 2}",
            "{kind: text, min_length: 3, max_length: 2}", "{kind: text, min_length: 1, alphabet: ''}",
            "{kind: decimal, min: 1, max: 0, scale: 2}", "{kind: choice, values: []}", "{kind: zipf}")) {
            assertThrows(IllegalArgumentException.class, () -> Drawn.of(new JSONObject(broken)), broken);
        }
        assertThrows(ArithmeticException.class,
            () -> Drawn.of(new JSONObject("{kind: decimal, min: 0.005, max: 1, scale: 2}")), "half a cent");
    }

    @Test
    void aRowsRandomValuesDependOnSeedTableAndRow() {
        long first = RowSource.random(1, "stock", 7).nextLong();
        assertEquals(first, RowSource.random(1, "stock", 7).nextLong());
        assertNotEquals(first, RowSource.random(2, "stock", 7).nextLong());
        assertNotEquals(first, RowSource.random(1, "item", 7).nextLong());
        assertNotEquals(first, RowSource.random(1, "stock", 8).nextLong());
        long ones = 0;
        for (int row = 0; row < 10_000; row++) {
            ones += RowSource.random(1, "stock", row).nextInt(2);
        }
        assertEquals(5_000, ones, 250, "neighbours have nothing in common");
    }
}
