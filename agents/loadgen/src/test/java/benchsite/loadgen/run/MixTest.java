package benchsite.loadgen.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import benchsite.loadgen.Jobs;
import java.util.SplittableRandom;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

class MixTest {
    private static Mix mix(int... weights) {
        JSONArray definitions = new JSONArray();
        for (int weight : weights) {
            definitions.put(Jobs.transaction("weight-" + weight).put("weight", weight));
        }
        return new Mix(definitions);
    }

    @Test
    void itDrawsByWeight() {
        Mix mix = mix(20, 0, 30, 50);
        SplittableRandom random = new SplittableRandom(42);
        int[] drawn = new int[4];
        for (int draw = 0; draw < 40_000; draw++) {
            drawn[mix.choose(random)]++;
        }
        assertEquals(8_000, drawn[0], 300);
        assertEquals(0, drawn[1]);
        assertEquals(12_000, drawn[2], 300);
        assertEquals(20_000, drawn[3], 300);
    }

    @Test
    void aSingleTransactionIsAlwaysDrawn() {
        assertEquals(0, mix(7).choose(new SplittableRandom(1)));
    }

    @Test
    void weightsThatMeanNothingAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> mix());
        assertThrows(IllegalArgumentException.class, () -> mix(0, 0));
        assertThrows(IllegalArgumentException.class, () -> mix(3, -1));
    }

    @Test
    void aProgramThatIsNotThereIsNamed() {
        for (String name : new String[] {"tpcc.nothing", "nothing", "no.thing", "."}) {
            var problem = assertThrows(IllegalArgumentException.class,
                () -> new Mix(new JSONArray().put(new JSONObject().put("name", "t").put("program", name))));
            assertEquals("unknown program: " + name, problem.getMessage());
        }
    }
}
