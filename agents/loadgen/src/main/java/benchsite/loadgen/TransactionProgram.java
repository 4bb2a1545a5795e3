package benchsite.loadgen;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import org.json.JSONArray;
import org.json.JSONObject;

/** A transaction as data: variables drawn anew for each transaction, and statements that bind them by name. */
final class TransactionProgram {
    private interface Variable {
        Object draw(SplittableRandom random);
    }

    /** One statement: where its parameters come from, whether it is fetched, how many rows it must touch (-1: any). */
    private record Step(String sql, int[] binds, boolean fetch, int expectedRows) {}

    private final String name;
    private final int weight;
    private final List<String> names = new ArrayList<>();
    private final List<Variable> variables = new ArrayList<>();
    private final List<Step> steps = new ArrayList<>();

    TransactionProgram(JSONObject definition) {
        name = definition.getString("name");
        weight = definition.optInt("weight", 1);
        for (Object variable : definition.optJSONArray("variables", new JSONArray())) {
            JSONObject object = (JSONObject) variable;
            names.add(object.getString("name"));
            variables.add(variable(object));
        }
        for (Object statement : definition.getJSONArray("statements")) {
            steps.add(step((JSONObject) statement));
        }
    }

    String name() {
        return name;
    }

    int weight() {
        return weight;
    }

    private static Variable variable(JSONObject definition) {
        String kind = definition.getString("kind");
        return switch (kind) {
            case "uniform" -> {
                int low = Math.toIntExact(definition.getLong("min"));
                int high = Math.toIntExact(definition.getLong("max"));
                yield random -> random.nextInt(low, high + 1);
            }
            case "timestamp" -> random -> new Timestamp(System.currentTimeMillis());
            default -> throw new IllegalArgumentException("unknown kind of variable: " + kind);
        };
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

    Object[] draw(SplittableRandom random) {
        Object[] values = new Object[variables.size()];
        for (int index = 0; index < values.length; index++) {
            values[index] = variables.get(index).draw(random);
        }
        return values;
    }

    PreparedStatement[] prepare(Connection connection) throws SQLException {
        PreparedStatement[] statements = new PreparedStatement[steps.size()];
        for (int index = 0; index < statements.length; index++) {
            statements[index] = connection.prepareStatement(steps.get(index).sql());
        }
        return statements;
    }

    /** Run every statement once with these values; neither begins nor commits. */
    void execute(PreparedStatement[] statements, Object[] values) throws SQLException {
        for (int index = 0; index < statements.length; index++) {
            Step step = steps.get(index);
            PreparedStatement statement = statements[index];
            bind(statement, step.binds(), values);
            int rows = step.fetch() ? fetch(statement) : statement.executeUpdate();
            if (step.expectedRows() >= 0 && rows != step.expectedRows()) {
                throw new SQLException(step.sql() + " touched " + rows + " rows, not " + step.expectedRows());
            }
        }
    }

    private static void bind(PreparedStatement statement, int[] binds, Object[] values) throws SQLException {
        for (int parameter = 0; parameter < binds.length; parameter++) {
            Object value = values[binds[parameter]];
            if (value instanceof Integer number) {
                statement.setInt(parameter + 1, number);
            } else if (value instanceof Timestamp time) {
                statement.setTimestamp(parameter + 1, time);
            } else {
                statement.setObject(parameter + 1, value);
            }
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
}
