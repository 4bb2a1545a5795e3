package benchsite.loadgen.tpcc;

import benchsite.loadgen.workload.Drawn;
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
        return Drawn.text(random, ALPHANUMERIC, random.nextInt(shortest, longest + 1));
    }

    static String alphanumeric(SplittableRandom random, int length) {
        return Drawn.text(random, ALPHANUMERIC, length);
    }

    static String letters(SplittableRandom random, int length) {
        return Drawn.text(random, LETTERS, length);
    }

    static String digits(SplittableRandom random, int length) {
        return Drawn.text(random, DIGITS, length);
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
