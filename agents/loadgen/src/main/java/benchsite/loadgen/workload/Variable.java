package benchsite.loadgen.workload;

import java.sql.Timestamp;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.json.JSONObject;

/** A variable of a transaction: drawn once for each transaction. Shared by all terminals. */
interface Variable {
    Object draw(SplittableRandom random, int terminal);

    /** Raises IllegalArgumentException for an unknown kind. */
    static Variable of(JSONObject definition) {
        return switch (definition.getString("kind")) {
            case "timestamp" -> (random, terminal) -> new Timestamp(System.currentTimeMillis());
            case "sequence" -> {
                AtomicLong next = new AtomicLong(definition.optLong("start", 1));
                yield (random, terminal) -> next.getAndIncrement();
            }
            case "scattered_text" -> NumberedText.scattered(definition);
            case "terminal" -> (random, terminal) -> terminal;
            default -> {
                Drawn drawn = Drawn.of(definition);
                yield (random, terminal) -> drawn.draw(random);
            }
        };
    }
}
