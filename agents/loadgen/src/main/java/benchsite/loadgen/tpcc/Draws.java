package benchsite.loadgen.tpcc;

import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.SplittableRandom;
import org.json.JSONObject;

/**
 * What the transactions draw.
 *
 * <p>Each transaction draws its warehouse from all: with a home for each terminal, a few terminals would use a few
 * warehouses only, and the size of the database would not matter.
 */
record Draws(Scale scale, Constants constants) {
    static Draws of(JSONObject parameters) {
        return new Draws(Scale.of(parameters), Constants.of(parameters.getLong("seed")));
    }

    int warehouse(SplittableRandom random) {
        return random.nextInt(1, scale.warehouses() + 1);
    }

    /** Another warehouse so many times of a hundred; always the same one when there is no other. */
    int remote(SplittableRandom random, int home, int percent) {
        if (scale.warehouses() == 1 || random.nextInt(100) >= percent) {
            return home;
        }
        int other = random.nextInt(1, scale.warehouses());
        return other < home ? other : other + 1;
    }

    int district(SplittableRandom random) {
        return random.nextInt(1, Scale.DISTRICTS + 1);
    }

    int customer(SplittableRandom random) {
        return Constants.nonUniform(random, Constants.A_CUSTOMER, constants.customer(), 1, scale.customers());
    }

    int item(SplittableRandom random) {
        return Constants.nonUniform(random, Constants.A_ITEM, constants.item(), 1, scale.items());
    }

    /** A number that no item has. */
    int unusedItem() {
        return scale.items() + 1;
    }

    private String lastName(SplittableRandom random) {
        int highest = scale.lastNames() - 1;
        return Texts.lastName(Constants.nonUniform(random, Constants.A_LAST_NAME, constants.lastName(), 0, highest));
    }

    /** A customer of a district: 60 times of 100 told by the last name, else by the number. */
    Customer customer(SplittableRandom random, int warehouse, int district) {
        boolean byName = random.nextInt(100) < 60;
        return byName ? new Customer(warehouse, district, 0, lastName(random))
            : new Customer(warehouse, district, customer(random), null);
    }

    Timestamp now() {
        return new Timestamp(System.currentTimeMillis());
    }

    /** {@code lastName} is null for one that is told by the number. */
    record Customer(int warehouse, int district, int id, String lastName) {
        /** The number; of those with the last name, the one in the middle by first name, rounded up. */
        int resolve(Prepared byName) throws SQLException {
            if (lastName == null) {
                return id;
            }
            var namesakes = byName.rows(warehouse, district, lastName);
            if (namesakes.isEmpty()) {
                throw new SQLException("no customer " + lastName + " in " + warehouse + ", " + district);
            }
            return Prepared.whole(namesakes.get((namesakes.size() - 1) / 2)[0]);
        }
    }

    /**
     * The constants C of the non-uniform distributions, clauses 2.1.6 and 2.1.6.1, drawn from the seed of the run.
     *
     * <p>That of the loaded last names is always the same: data are used again by runs with other seeds. That of a run
     * differs from it by 65 to 119, but neither 96 nor 112.
     */
    record Constants(int lastName, int customer, int item) {
        static final int A_LAST_NAME = 255;
        static final int A_CUSTOMER = 1_023;
        static final int A_ITEM = 8_191;
        // In the middle, so that a run may be on either side.
        static final int LOADED_LAST_NAME = 128;

        static Constants of(long seed) {
            SplittableRandom random = new SplittableRandom(seed);
            int lastName = random.nextInt(A_LAST_NAME + 1);
            while (!isAllowed(Math.abs(lastName - LOADED_LAST_NAME))) {
                lastName = random.nextInt(A_LAST_NAME + 1);
            }
            return new Constants(lastName, random.nextInt(A_CUSTOMER + 1), random.nextInt(A_ITEM + 1));
        }

        private static boolean isAllowed(int difference) {
            return difference >= 65 && difference <= 119 && difference != 96 && difference != 112;
        }

        /** NURand(a, low, high): values between both limits, some of them much more often than others. */
        static int nonUniform(SplittableRandom random, int a, int c, int low, int high) {
            int either = random.nextInt(a + 1) | random.nextInt(low, high + 1);
            return (either + c) % (high - low + 1) + low;
        }
    }
}
