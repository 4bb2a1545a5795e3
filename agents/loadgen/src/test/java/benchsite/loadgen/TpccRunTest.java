package benchsite.loadgen;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import benchsite.loadgen.tpcc.Sql;
import java.util.ArrayList;
import java.util.List;
import org.json.JSONArray;
import org.json.JSONObject;
import org.junit.jupiter.api.Test;

/** The five transactions side by side, from a parallel load to the consistency conditions after the run. */
class TpccRunTest {
    private static final int TERMINALS = 8;
    /**
     * What a terminal draws follows from the seed. Their first rollbacks are the 191st, 51st, 261st, 50th, 258th, 48th,
     * 704th and 77th transaction: however they share more than the sum of these, one of them has had its own.
     */
    private static final int ENOUGH = 2_000;
    private final Jobs jobs = new Jobs();

    private static JSONObject load() {
        JSONObject tables = Sql.ALL.getJSONObject("tables");
        JSONArray coded = new JSONArray();
        for (String name : tables.keySet()) {
            coded.put(new JSONObject(tables.getJSONObject(name).toString()).put("name", name)
                .put("program", "tpcc." + name).put("parameters", Sql.ALL.getJSONObject("parameters")));
        }
        return new JSONObject().put("op", "load").put("phase", "load").put("threads", 3).put("batch", 100)
            .put("seed", 42).put("tables", coded);
    }

    private static JSONObject[] programs() {
        JSONObject programs = Sql.ALL.getJSONObject("programs");
        return programs.keySet().stream().map(name -> new JSONObject(programs.getJSONObject(name).toString())
            .put("parameters", Sql.ALL.getJSONObject("parameters"))).toArray(JSONObject[]::new);
    }

    private static JSONObject query(String name, String sql) {
        return Jobs.query(sql).put("name", name);
    }

    private long answer(String name) {
        return jobs.emitted("query").stream().filter(event -> event.getString("name").equals(name)).findFirst()
            .orElseThrow().getJSONArray("rows").getJSONArray(0).getLong(0);
    }

    private static long committed(JSONObject types, String type) {
        return types.getJSONObject(type).getLong("committed");
    }

    @Test
    void theDatabaseIsConsistentAfterTerminalsHaveRunSideBySide() throws Exception {
        List<JSONObject> steps = new ArrayList<>();
        Sql.ALL.getJSONArray("schema").forEach(sql -> steps.add(Jobs.execute(sql.toString())));
        steps.add(load());
        steps.add(Jobs.run(TERMINALS, 1, 120, programs()).put("max_transactions", ENOUGH));
        JSONObject conditions = Sql.ALL.getJSONObject("run_conditions");
        conditions.keySet().forEach(name -> steps.add(query(name, conditions.getString(name))));
        steps.add(query("orders", "SELECT COUNT(*) FROM orders"));
        steps.add(query("payments", "SELECT COUNT(*) FROM history"));
        JSONObject retryable = new JSONObject().put("sqlstates", List.of("40001")).put("codes", List.of(50200, 90131));
        jobs.perform(Jobs.inMemory().put("retryable", retryable), steps.toArray(JSONObject[]::new));

        JSONObject summary = jobs.summary();
        assertTrue(summary.getJSONArray("dead_terminals").isEmpty(), summary.toString());
        for (String name : conditions.keySet()) {
            assertEquals(0, answer(name), "condition " + name);
        }
        JSONObject types = summary.getJSONObject("per_type");
        assertEquals(600 + committed(types, "new_order"), answer("orders"), "of two warehouses");
        assertEquals(600 + committed(types, "payment"), answer("payments"));
        assertEquals(5, types.length());
        assertEquals(summary.getLong("rolled_back"), types.getJSONObject("new_order").getLong("rolled_back"));
        assertEquals(ENOUGH, summary.getLong("committed"));
        long executed = summary.getLong("warm_up_transactions") + summary.getLong("transactions");
        assertTrue(executed > ENOUGH, "new orders that are rolled back are executed, too: " + summary);
    }
}
