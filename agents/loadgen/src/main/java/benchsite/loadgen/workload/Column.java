package benchsite.loadgen.workload;

import java.sql.Timestamp;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Set;
import java.util.SplittableRandom;
import org.json.JSONObject;

/** Generates one column of a table. Row numbers count from 0. */
interface Column {
    Set<String> COUNTED = Set.of("sequence", "group", "constant", "numbered_text", "timestamp");

    /** {@code random} is null when no column of the table is drawn. */
    Object value(long row, SplittableRandom random);

    /** Whether its values are drawn at random. */
    static boolean isDrawn(JSONObject definition) {
        return definition.has("null_share")
            || !COUNTED.contains(definition.getString("kind")) && !isFilled(definition);
    }

    private static boolean isFilled(JSONObject definition) {
        return definition.getString("kind").equals("text") && definition.has("length");
    }

    /** Raises IllegalArgumentException for an unknown kind. */
    static Column of(JSONObject definition) {
        Column column = ofKind(definition);
        if (!definition.has("null_share")) {
            return column;
        }
        double share = definition.getDouble("null_share");
        return (row, random) -> random.nextDouble() < share ? null : column.value(row, random);
    }

    private static Column ofKind(JSONObject definition) {
        return switch (definition.getString("kind")) {
            case "sequence" -> {
                long start = definition.optLong("start", 1);
                long step = definition.optLong("step", 1);
                yield (row, random) -> start + row * step;
            }
            case "group" -> {
                long start = definition.optLong("start", 1);
                long size = definition.getLong("size");
                yield (row, random) -> start + row / size;
            }
            case "numbered_text" -> NumberedText.column(definition);
            case "timestamp" -> {
                LocalDateTime start = LocalDateTime.parse(definition.getString("start").replace(' ', 'T'));
                Duration step = Duration.ofNanos(Math.round(definition.optDouble("step_s", 1) * 1e9));
                yield (row, random) -> Timestamp.valueOf(start.plus(step.multipliedBy(row)));
            }
            default -> {
                if (isFilled(definition)) {
                    String text = definition.optString("fill", " ").repeat(definition.getInt("length"));
                    yield (row, random) -> text;
                }
                Drawn drawn = Drawn.of(definition);
                yield (row, random) -> drawn.draw(random);
            }
        };
    }
}
