package benchsite.loadgen.workload;

import benchsite.loadgen.sql.Database;
import benchsite.loadgen.sql.Parameters;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicLong;
import org.json.JSONArray;
import org.json.JSONObject;

/** A transaction as data: variables drawn anew for each transaction, and statements that bind them by name. */
public final class TransactionProgram extends Program {
    /** One statement: where its parameters come from, whether it is fetched, how many rows it must touch (-1: any). */
    private record Step(String sql, int[] binds, boolean fetch, int expectedRows) {}

    private final List<String> names = new ArrayList<>();
    private final List<Variable> variables = new ArrayList<>();
    private final List<Step> steps = new ArrayList<>();

    public TransactionProgram(JSONObject definition) {
        super(definition);
        for (Object variable : definition.optJSONArray("variables", new JSONArray())) {
            JSONObject object = (JSONObject) variable;
            names.add(object.getString("name"));
            variables.add(Variable.of(object));
        }
        for (Object statement : definition.getJSONArray("statements")) {
            steps.add(step((JSONObject) statement));
        }
    }

    private Step step(JSONObject definition) {
        List<String> bound = Database.strings(definition.optJSONArray("bind"));
        int[] binds = bound.stream().mapToInt(this::indexOf).toArray();
        return new Step(definition.getString("sql"), binds, definition.optBoolean("fetch"),
            definition.optInt("expect_rows", -1));
    }

    private int indexOf(String variable) {
        int index = names.indexOf(variable);
        if (index < 0) {
            throw new IllegalArgumentException("transaction " + name + " binds an unknown variable: " + variable);
        }
        return index;
    }

    @Override
    public Work open(Connection connection, int terminal) throws SQLException {
        Parameters[] prepared = new Parameters[steps.size()];
        for (int index = 0; index < prepared.length; index++) {
            prepared[index] = new Parameters(connection.prepareStatement(steps.get(index).sql()));
        }
        return new Prepared(terminal, prepared);
    }

    private final class Prepared implements Work {
        private final int terminal;
        private final Parameters[] prepared;
        private final Object[] values = new Object[variables.size()];

        Prepared(int terminal, Parameters[] prepared) {
            this.terminal = terminal;
            this.prepared = prepared;
        }

        @Override
        public Object draw(SplittableRandom random) {
            for (int index = 0; index < values.length; index++) {
                values[index] = variables.get(index).draw(random, terminal);
            }
            return values;
        }

        @Override
        public boolean execute(Object drawn) throws SQLException {
            Object[] given = (Object[]) drawn;
            for (int index = 0; index < prepared.length; index++) {
                perform(steps.get(index), prepared[index], given);
            }
            return true;
        }
    }

    private static void perform(Step step, Parameters parameters, Object[] values) throws SQLException {
        int[] binds = step.binds();
        for (int parameter = 0; parameter < binds.length; parameter++) {
            parameters.set(parameter + 1, values[binds[parameter]]);
        }
        PreparedStatement statement = parameters.statement();
        int rows = step.fetch() ? fetch(statement) : statement.executeUpdate();
        if (step.expectedRows() >= 0 && rows != step.expectedRows()) {
            throw new SQLException(step.sql() + " touched " + rows + " rows, not " + step.expectedRows());
        }
    }

    private static int fetch(PreparedStatement statement) throws SQLException {
        int rows = 0;
        try (ResultSet result = statement.executeQuery()) {
            while (result.next()) {
                result.getObject(1);
                rows++;
            }
        }
        return rows;
    }

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
}
