package benchsite.loadgen.workload;

import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;

/**
 * How many bytes a value counts in the progress of a load, whatever the DBMS makes of it.
 *
 * <p>Text: its length in UTF-8; whole numbers: 4, beyond 32 bits 8; decimals, floating-point numbers, timestamps: 8;
 * truth values: 1; null: 0.
 */
public final class Widths {
    private static final int SHORT = 4;
    private static final int LONG = 8;

    private Widths() {}

    public static int of(Object value) {
        if (value == null) {
            return 0;
        }
        if (value instanceof String text) {
            return text.getBytes(StandardCharsets.UTF_8).length;
        }
        if (value instanceof Boolean) {
            return 1;
        }
        boolean whole = value instanceof Number
            && !(value instanceof BigDecimal || value instanceof Double || value instanceof Float);
        return whole && ((Number) value).longValue() == ((Number) value).intValue() ? SHORT : LONG;
    }
}
