package benchsite.loadgen;

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
            Program program = Programs.of((JSONObject) definition);
            programs.add(program);
            totalWeight += program.weight();
        }
        if (totalWeight <= 0 || programs.stream().anyMatch(program -> program.weight() < 0)) {
            throw new IllegalArgumentException("the weights of the transactions must be positive");
        }
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
        while (drawn >= programs.get(index).weight()) {
            drawn -= programs.get(index).weight();
            index++;
        }
        return index;
    }
}
