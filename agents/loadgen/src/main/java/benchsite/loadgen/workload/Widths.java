package benchsite.loadgen.workload;

import java.math.BigDecimal;

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
            return ofText(text);
        }
        if (value instanceof Boolean) {
            return 1;
        }
        boolean whole = value instanceof Number
            && !(value instanceof BigDecimal || value instanceof Double || value instanceof Float);
        return whole && ((Number) value).longValue() == ((Number) value).intValue() ? SHORT : LONG;
    }

    /** A surrogate counts two, so a pair counts the four bytes that it takes. */
    private static int ofText(String text) {
        int bytes = text.length();
        for (int index = 0; index < text.length(); index++) {
            char character = text.charAt(index);
            if (character >= 0x800 && !Character.isSurrogate(character)) {
                bytes += 2;
            } else if (character >= 0x80) {
                bytes += 1;
            }
        }
        return bytes;
    }
}
