package benchsite.loadgen.workload;

import java.math.BigDecimal;
import java.util.List;
import java.util.SplittableRandom;
import org.json.JSONObject;

/** A value drawn at random; the kinds that variables of transactions and columns of tables have in common. */
public interface Drawn {
    String ALPHABET = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

    Object draw(SplittableRandom random);

    /** Raises IllegalArgumentException for a kind that is not one of these, or for limits that hold no value. */
    static Drawn of(JSONObject definition) {
        String kind = definition.getString("kind");
        return switch (kind) {
            case "uniform" -> uniform(definition.getLong("min"), definition.getLong("max"));
            case "nurand" -> nurand(definition);
            case "text" -> text(definition);
            case "decimal" -> decimal(definition);
            case "numbered_text" -> NumberedText.drawn(definition);
            case "choice" -> {
                List<Object> values = definition.getJSONArray("values").toList();
                require(!values.isEmpty(), "choice", "no values");
                yield random -> values.get(random.nextInt(values.size()));
            }
            case "constant" -> {
                Object value = definition.isNull("value") ? null : definition.get("value");
                yield random -> value;
            }
            default -> throw new IllegalArgumentException("unknown kind: " + kind);
        };
    }

    private static void require(boolean holds, String kind, String what) {
        if (!holds) {
            throw new IllegalArgumentException(kind + ": " + what);
        }
    }

    /** Integers when both limits are, else longs; both ends may be drawn. */
    private static Drawn uniform(long low, long high) {
        require(low <= high && high < Long.MAX_VALUE, "uniform", "no value from " + low + " to " + high);
        if (low >= Integer.MIN_VALUE && high <= Integer.MAX_VALUE) {
            if (low == Integer.MIN_VALUE || high == Integer.MAX_VALUE) {
                return random -> (int) random.nextLong(low, high + 1);
            }
            int first = (int) low;
            int end = (int) high + 1;
            return random -> random.nextInt(first, end);
        }
        return random -> random.nextLong(low, high + 1);
    }

    /** The non-uniform distribution of TPC-C, clause 2.1.6: min + ((0..a | min..max) + c) modulo the range. */
    private static Drawn nurand(JSONObject definition) {
        int a = definition.getInt("a");
        int c = definition.getInt("c");
        int low = definition.getInt("min");
        int high = definition.getInt("max");
        require(0 <= a && 0 <= c && 0 <= low && low <= high, "nurand", "a, c and min have to be 0 at least, max min");
        long range = (long) high - low + 1;
        return random -> {
            long either = random.nextLong(a + 1L) | random.nextLong(low, high + 1L);
            return (int) ((either + c) % range + low);
        };
    }

    private static Drawn text(JSONObject definition) {
        int shortest = definition.getInt("min_length");
        int longest = definition.optInt("max_length", shortest);
        String alphabet = definition.optString("alphabet", ALPHABET);
        require(0 <= shortest && shortest <= longest && longest < Integer.MAX_VALUE, "text",
            "no length from " + shortest + " to " + longest);
        require(!alphabet.isEmpty(), "text", "an empty alphabet");
        return random ->
            text(random, alphabet, shortest == longest ? shortest : random.nextInt(shortest, longest + 1));
    }

    static String text(SplittableRandom random, String alphabet, int length) {
        char[] text = new char[length];
        for (int index = 0; index < length; index++) {
            text[index] = alphabet.charAt(random.nextInt(alphabet.length()));
        }
        return new String(text);
    }

    /** With exactly {@code scale} digits behind the point; both ends may be drawn. */
    private static Drawn decimal(JSONObject definition) {
        int scale = definition.getInt("scale");
        long low = unscaled(definition, "min", scale);
        long high = unscaled(definition, "max", scale);
        require(low <= high && high < Long.MAX_VALUE, "decimal", "no value from min to max");
        return random -> BigDecimal.valueOf(random.nextLong(low, high + 1), scale);
    }

    private static long unscaled(JSONObject definition, String limit, int scale) {
        return definition.getBigDecimal(limit).setScale(scale).unscaledValue().longValueExact();
    }
}
