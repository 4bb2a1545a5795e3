package benchsite.loadgen;

import java.util.Map;

/** Finds what is written as "family.name" in a job. */
final class Coded {
    private Coded() {}

    static <T> T find(Map<String, Map<String, T>> families, String what, String fullName) {
        int dot = fullName.indexOf('.');
        Map<String, T> family = families.getOrDefault(fullName.substring(0, Math.max(dot, 0)), Map.of());
        T found = family.get(fullName.substring(dot + 1));
        if (found == null) {
            throw new IllegalArgumentException("unknown " + what + ": " + fullName);
        }
        return found;
    }
}
