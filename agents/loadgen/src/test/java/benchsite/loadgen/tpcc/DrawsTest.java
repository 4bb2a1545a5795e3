package benchsite.loadgen.tpcc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.HashSet;
import java.util.Set;
import java.util.SplittableRandom;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

class DrawsTest {
    private static final int DRAWN = 20_000;
    private final SplittableRandom random = new SplittableRandom(1);

    private static Draws draws(int warehouses) {
        return Draws.of(new JSONObject().put("warehouses", warehouses).put("seed", 7));
    }

    @Test
    void theConstantsOfLastNamesDifferAsTheStandardSays() {
        Set<Integer> loads = new HashSet<>();
        for (long seed = 0; seed < 2_000; seed++) {
            Constants constants = Constants.of(seed);
            int difference = Math.abs(constants.lastNameRun() - constants.lastNameLoad());
            assertTrue(difference >= 65 && difference <= 119 && difference != 96 && difference != 112,
                "seed " + seed + ": " + difference);
            assertEquals(constants, Constants.of(seed));
            loads.add(constants.lastNameLoad());
        }
        assertTrue(loads.size() > 200, "every seed has constants of its own: " + loads.size());
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
