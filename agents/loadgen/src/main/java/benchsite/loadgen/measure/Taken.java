package benchsite.loadgen.measure;

import java.util.Map;

/** One second of all terminals: everything, and by type of transaction what there was of it. */
public record Taken(Bin all, Map<String, Bin> types) {
    public long count(String type) {
        Bin bin = types.get(type);
        return bin == null ? 0 : bin.count();
    }
}
