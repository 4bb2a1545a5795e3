package benchsite.loadgen.tpcc;

import java.util.SplittableRandom;

/** Random text, clause 4.3.2 of the standard. */
final class Texts {
    private static final String LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    private static final String DIGITS = "0123456789";
    private static final String ALPHANUMERIC = LETTERS + "abcdefghijklmnopqrstuvwxyz" + DIGITS;
    private static final String[] SYLLABLES =
        {"BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING"};
    private static final String ORIGINAL = "ORIGINAL";

    private Texts() {}

    static String alphanumeric(SplittableRandom random, int shortest, int longest) {
        return drawn(random, ALPHANUMERIC, random.nextInt(shortest, longest + 1));
    }

    static String alphanumeric(SplittableRandom random, int length) {
        return drawn(random, ALPHANUMERIC, length);
    }

    static String letters(SplittableRandom random, int length) {
        return drawn(random, LETTERS, length);
    }

    static String digits(SplittableRandom random, int length) {
        return drawn(random, DIGITS, length);
    }

    private static String drawn(SplittableRandom random, String alphabet, int length) {
        char[] text = new char[length];
        for (int index = 0; index < length; index++) {
            text[index] = alphabet.charAt(random.nextInt(alphabet.length()));
        }
        return new String(text);
    }

    /** Data of an item or of its stock; one in ten holds the word ORIGINAL somewhere. */
    static String data(SplittableRandom random) {
        String text = alphanumeric(random, 26, 50);
        if (random.nextInt(10) > 0) {
            return text;
        }
        int at = random.nextInt(text.length() - ORIGINAL.length() + 1);
        return text.substring(0, at) + ORIGINAL + text.substring(at + ORIGINAL.length());
    }

    /** Three syllables, one for each digit of a number from 0 to 999. */
    static String lastName(int number) {
        return SYLLABLES[number / 100] + SYLLABLES[number / 10 % 10] + SYLLABLES[number % 10];
    }
}
