package benchsite.loadgen.load;

import org.json.JSONObject;

/**
 * How a load is done.
 *
 * @param batch rows sent at once
 * @param commitEvery rows of one thread after which it commits
 * @param slowShare last part of all rows that is loaded slowly; 0: none
 * @param slowRowsPerSecond of all threads together; 0: as fast as it goes
 */
record LoadPlan(int threads, int batch, long commitEvery, long seed, double slowShare, double slowRowsPerSecond,
                int slowBatch, long slowCommitEvery) {
    private static final int DEFAULT_BATCH = 1_000;
    private static final long DEFAULT_COMMIT = 10_000;
    private static final int STEPS_PER_SECOND = 10;

    static LoadPlan of(JSONObject step) {
        int threads = atLeastOne(step, "threads", 1);
        int batch = atLeastOne(step, "batch", DEFAULT_BATCH);
        long commitEvery = step.optLong("commit_every", DEFAULT_COMMIT);
        JSONObject profile = step.optJSONObject("profile", new JSONObject());
        double share = profile.optDouble("slow_share", 0);
        double rate = profile.optDouble("slow_rows_per_s", 0);
        if (!(share >= 0 && share <= 1) || !(rate >= 0)) {
            throw new IllegalArgumentException("slow_share has to be 0 … 1, slow_rows_per_s not below 0");
        }
        return new LoadPlan(threads, batch, commitEvery, step.optLong("seed", 1), share, rate,
            atLeastOne(profile, "slow_batch", evenBatch(batch, rate / threads)),
            profile.optLong("slow_commit_every", commitEvery));
    }

    static int atLeastOne(JSONObject given, String key, int otherwise) {
        int value = given.optInt(key, otherwise);
        if (value < 1) {
            throw new IllegalArgumentException(key + " has to be 1 at least, not " + value);
        }
        return value;
    }

    /** Small enough for several batches a second, so that the slow part is no row of bursts. */
    private static int evenBatch(int batch, double rowsPerSecond) {
        return rowsPerSecond == 0 ? batch : (int) Math.max(1, Math.min(batch, rowsPerSecond / STEPS_PER_SECOND));
    }

    /** Rows before the slow part. */
    long fastRows(long total) {
        return total - Math.round(total * slowShare);
    }

    int batch(boolean slow) {
        return slow ? slowBatch : batch;
    }

    long commitEvery(boolean slow) {
        return slow ? slowCommitEvery : commitEvery;
    }
}
