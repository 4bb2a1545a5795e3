package benchsite.loadgen.workload;

import benchsite.loadgen.workload.TransactionProgram.Variable;
import java.util.concurrent.atomic.AtomicLong;
import org.json.JSONObject;

/** Keys as text: a prefix and a number with leading zeros, {@code width} digits at least. */
record NumberedText(String prefix, int width) {
    static NumberedText of(JSONObject definition) {
        return new NumberedText(definition.optString("prefix", ""), definition.optInt("width", 1));
    }

    String of(long number) {
        String digits = Long.toString(number);
        return prefix + "0".repeat(Math.max(width - digits.length(), 0)) + digits;
    }

    /** Rows start, start + step, …, as a loader makes them. */
    static Column column(JSONObject definition) {
        NumberedText text = of(definition);
        long start = definition.optLong("start", 1);
        long step = definition.optLong("step", 1);
        return (row, random) -> text.of(start + row * step);
    }

    /** One of the numbers {@code min … max}, times {@code step}: a row that such a column has made. */
    static Drawn drawn(JSONObject definition) {
        NumberedText text = of(definition);
        long low = definition.getLong("min");
        long high = definition.getLong("max");
        long step = definition.optLong("step", 1);
        if (low > high || high == Long.MAX_VALUE) {
            throw new IllegalArgumentException("numbered_text: no value from " + low + " to " + high);
        }
        return random -> text.of(random.nextLong(low, high + 1) * step);
    }

    /**
     * New keys between those of {@code slots} rows that lie {@code step} apart, each once, in no order: the k-th is in
     * slot k × {@code multiplier} modulo {@code slots}. The multiplier has to have no common divisor with the slots.
     */
    static Variable scattered(JSONObject definition) {
        NumberedText text = of(definition);
        long slots = definition.getLong("slots");
        long step = definition.getLong("step");
        long multiplier = definition.getLong("multiplier");
        if (slots < 1 || step < 2 || Math.floorMod(multiplier, slots) == 0 && slots > 1) {
            throw new IllegalArgumentException("scattered_text: slots, step and multiplier leave no room");
        }
        AtomicLong next = new AtomicLong(definition.optLong("start", 0));
        return (random, terminal) -> {
            long count = next.getAndIncrement();
            long slot = Math.floorMod(count % slots * (multiplier % slots), slots);
            return text.of((slot + 1) * step + 1 + count / slots % (step - 1));
        };
    }
}
