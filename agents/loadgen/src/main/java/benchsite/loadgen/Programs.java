package benchsite.loadgen;

import benchsite.loadgen.tpcc.Tpcc;
import java.util.Map;
import java.util.function.Function;
import org.json.JSONObject;

/** Makes the programs of a run: most are data; one with {@code program} is a class of this load generator. */
public final class Programs {
    private static final Map<String, Map<String, Function<JSONObject, Program>>> CODED = Map.of("tpcc", Tpcc.PROGRAMS);

    private Programs() {}

    /** Raises IllegalArgumentException for a program that is not there. */
    public static Program of(JSONObject definition) {
        if (!definition.has("program")) {
            return new TransactionProgram(definition);
        }
        return Coded.find(CODED, "program", definition.getString("program")).apply(definition);
    }
}
