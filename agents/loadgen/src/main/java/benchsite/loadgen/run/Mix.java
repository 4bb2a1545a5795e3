package benchsite.loadgen.run;

import benchsite.loadgen.tpcc.Tpcc;
import benchsite.loadgen.workload.Program;
import benchsite.loadgen.workload.TransactionProgram;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.json.JSONArray;
import org.json.JSONObject;

/** The transaction programs of a run with their weights. */
final class Mix {
    private final List<Program> programs = new ArrayList<>();
    private int totalWeight;

    Mix(JSONArray definitions) {
        for (Object definition : definitions) {
            Program program = program((JSONObject) definition);
            programs.add(program);
            totalWeight += program.weight;
        }
        if (totalWeight <= 0 || programs.stream().anyMatch(program -> program.weight < 0)) {
            throw new IllegalArgumentException("the weights of the transactions must be positive");
        }
    }

    /** Most are data; one with {@code program} is a class of this load generator. */
    private static Program program(JSONObject definition) {
        if (!definition.has("program")) {
            return new TransactionProgram(definition);
        }
        var maker = Tpcc.PROGRAMS.get(definition.getString("program"));
        if (maker == null) {
            throw new IllegalArgumentException("unknown program: " + definition.getString("program"));
        }
        return maker.apply(definition);
    }

    List<Program> programs() {
        return programs;
    }

    /** Index of the next program, drawn by weight. */
    int choose(SplittableRandom random) {
        if (programs.size() == 1) {
            return 0;
        }
        int drawn = random.nextInt(totalWeight);
        int index = 0;
        while (drawn >= programs.get(index).weight) {
            drawn -= programs.get(index).weight;
            index++;
        }
        return index;
    }
}
