package benchsite.loadgen.tpcc;

import java.util.SplittableRandom;

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
