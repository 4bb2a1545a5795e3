package benchsite.loadgen.workload;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchsite.loadgen.workload.TransactionProgram.Variable;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

class NumberedTextTest {
    private final SplittableRandom random = new SplittableRandom(5);

    @Test
    void drawnKeysAreThoseOfLoadedRows() {
        Column column = Column.of(new JSONObject("{kind: numbered_text, prefix: u, width: 5, start: 100, step: 100}"));
        Set<Object> loaded = Set.of(column.value(0, random), column.value(1, random), column.value(2, random));
        assertEquals(Set.of("u00100", "u00200", "u00300"), loaded);
        Drawn drawn = Drawn.of(
            new JSONObject("{kind: numbered_text, prefix: u, width: 5, min: 1, max: 3, step: 100}"));
        Set<Object> seen = new TreeSet<>();
        for (int count = 0; count < 200; count++) {
            seen.add(drawn.draw(random));
        }
        assertEquals(loaded, seen);
    }

    @Test
    void scatteredKeysAreNewAndFallBetweenTheLoadedOnes() {
        Variable keys = Variable.of(new JSONObject(
            "{kind: scattered_text, prefix: u, width: 5, slots: 10, step: 100, multiplier: 7, start: 10}"));
        Set<Object> seen = new TreeSet<>();
        for (int count = 0; count < 50; count++) {
            seen.add(keys.draw(random, 0));
        }
        assertEquals(50, seen.size());
        assertTrue(seen.stream().noneMatch(key -> key.toString().endsWith("00")));
        assertEquals("u00102", seen.iterator().next());
    }

    @Test
    void itRefusesKeysWithoutRoom() {
        assertThrows(IllegalArgumentException.class, () -> Variable.of(new JSONObject(
            "{kind: scattered_text, slots: 10, step: 1, multiplier: 7}")));
        assertThrows(IllegalArgumentException.class, () -> Drawn.of(new JSONObject(
            "{kind: numbered_text, min: 3, max: 2}")));
    }
}
