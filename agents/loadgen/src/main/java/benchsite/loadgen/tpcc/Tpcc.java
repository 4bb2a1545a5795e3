package benchsite.loadgen.tpcc;

import benchsite.loadgen.Program;
import benchsite.loadgen.RowSources;
import java.util.Map;
import java.util.function.Function;
import org.json.JSONObject;

/** What a job can name as {@code tpcc.<name>}. */
public final class Tpcc {
    public static final Map<String, Function<JSONObject, Program>> PROGRAMS = Map.of();
    public static final Map<String, RowSources.Maker> ROW_SOURCES = Map.of();

    private Tpcc() {}
}
