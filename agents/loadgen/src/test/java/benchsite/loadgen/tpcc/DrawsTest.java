package benchsite.loadgen.tpcc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchsite.loadgen.tpcc.Draws.Constants;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.function.ToIntBiFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

class DrawsTest {
    private static final int DRAWN = 20_000;
    private static final int SAMPLE = 5_000_000;
    private final SplittableRandom random = new SplittableRandom(1);

    private static Draws draws(int warehouses) {
        return Draws.of(new JSONObject().put("warehouses", warehouses).put("seed", 7));
    }

    @Test
    void theConstantOfLastNamesOfARunDiffersFromThatOfTheLoadAsTheStandardSays() {
        Set<Integer> runs = new HashSet<>();
        for (long seed = 0; seed < 2_000; seed++) {
            Constants constants = Constants.of(seed);
            int difference = Math.abs(constants.lastName() - Constants.LOADED_LAST_NAME);
            assertTrue(difference >= 65 && difference <= 119 && difference != 96 && difference != 112,
                "seed " + seed + ": " + difference);
            assertEquals(constants, Constants.of(seed));
            runs.add(constants.lastName());
        }
        assertEquals(2 * 53, runs.size(), "every constant that is allowed, on either side");
    }

    /** The figures of docs/method/tpcc.md; even draws would give 0.10. */
    @Test
    void smallWarehousesAreDrawnFromMoreEvenly() {
        assertEquals(0.61, hottest(new Scale(1, 1), 3_000, Draws::customer), 0.01);
        assertEquals(0.37, hottest(new Scale(1, 10), 300, Draws::customer), 0.01);
        assertEquals(0.71, hottest(new Scale(1, 1), 100_000, Draws::item), 0.01);
        assertEquals(0.68, hottest(new Scale(1, 10), 10_000, Draws::item), 0.01);
    }

    /** Share of the draws that meet the most drawn tenth of all: one sample says which these are, another how often. */
    private double hottest(Scale scale, int all, ToIntBiFunction<Draws, SplittableRandom> drawn) {
        Draws draws = new Draws(scale, Constants.of(7));
        int[] counts = counts(draws, all, drawn);
        Set<Integer> hot = IntStream.rangeClosed(1, all).boxed()
            .sorted(Comparator.comparingInt((Integer number) -> counts[number]).reversed()).limit(all / 10)
            .collect(Collectors.toSet());
        int[] again = counts(draws, all, drawn);
        return hot.stream().mapToInt(number -> again[number]).sum() / (double) SAMPLE;
    }

    private int[] counts(Draws draws, int all, ToIntBiFunction<Draws, SplittableRandom> drawn) {
        int[] counts = new int[all + 1];
        for (int index = 0; index < SAMPLE; index++) {
            counts[drawn.applyAsInt(draws, random)]++;
        }
        return counts;
    }

    @Test
    void itemsAreDrawnFromAllButNotEvenly() {
        int[] counts = new int[100_001];
        for (int index = 0; index < 1_000_000; index++) {
            counts[draws(1).item(random)]++;
        }
        int highest = 0;
        for (int count : counts) {
            highest = Math.max(highest, count);
        }
        assertEquals(0, counts[0]);
        assertTrue(highest > 50, "ten each on average, but some are drawn much more often: " + highest);
    }

    @Test
    void lastNamesAreMadeOfSyllables() {
        assertEquals("BARBARBAR", Texts.lastName(0));
        assertEquals("PRICALLYOUGHT", Texts.lastName(371));
        assertEquals("EINGEINGEING", Texts.lastName(999));
    }

    @Test
    void oneInTenDataTextsHoldsOriginal() {
        int originals = 0;
        for (int index = 0; index < DRAWN; index++) {
            String data = Texts.data(random);
            assertTrue(data.length() >= 26 && data.length() <= 50, data);
            originals += data.contains("ORIGINAL") ? 1 : 0;
        }
        assertEquals(0.10, originals / (double) DRAWN, 0.01);
    }

    @Test
    void aRemoteWarehouseIsAnotherOne() {
        int remote = 0;
        for (int index = 0; index < DRAWN; index++) {
            int drawn = draws(3).remote(random, 2, 15);
            assertTrue(drawn >= 1 && drawn <= 3, "warehouse " + drawn);
            remote += drawn == 2 ? 0 : 1;
        }
        assertEquals(0.15, remote / (double) DRAWN, 0.01);
        assertEquals(1, draws(1).remote(random, 1, 100), "there is no other");
        assertNotEquals(2, draws(3).remote(random, 2, 100));
    }

    @Test
    void sixtyOfHundredCustomersAreToldByName() {
        int named = 0;
        for (int index = 0; index < DRAWN; index++) {
            Draws.Customer customer = draws(1).customer(random, 1, 1);
            named += customer.lastName() == null ? 0 : 1;
            assertTrue(customer.lastName() != null || customer.id() >= 1 && customer.id() <= 3_000);
        }
        assertEquals(0.60, named / (double) DRAWN, 0.01);
    }

    @Test
    void theCardinalitiesAreThoseOfTheStandard() {
        Scale scale = new Scale(5, 1);
        assertEquals(100_000, scale.items());
        assertEquals(3_000, scale.customers());
        assertEquals(2_100, scale.delivered());
        assertEquals(1_000, scale.lastNames());
        assertThrows(IllegalArgumentException.class, () -> new Scale(0, 1));
        assertThrows(IllegalArgumentException.class, () -> new Scale(1, 7));
    }
}
