package benchsite.loadgen.sql;

import java.math.BigDecimal;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.util.Arrays;

/** Sets the parameters of one prepared statement by the type of their values. Parameters count from 1. */
public final class Parameters {
    private final PreparedStatement statement;
    private int[] nullTypes = new int[0];

    public Parameters(PreparedStatement statement) {
        this.statement = statement;
    }

    public PreparedStatement statement() {
        return statement;
    }

    public void set(int parameter, Object value) throws SQLException {
        if (value instanceof Integer number) {
            statement.setInt(parameter, number);
        } else if (value instanceof String text) {
            statement.setString(parameter, text);
        } else if (value instanceof Long number) {
            statement.setLong(parameter, number);
        } else if (value instanceof Timestamp time) {
            statement.setTimestamp(parameter, time);
        } else if (value instanceof BigDecimal number) {
            statement.setBigDecimal(parameter, number);
        } else if (value == null) {
            statement.setNull(parameter, nullType(parameter));
        } else {
            statement.setObject(parameter, value);
        }
    }

    /** Some drivers take a null of the parameter's own type only; asking for it may cost a round trip, so once. */
    private int nullType(int parameter) {
        if (nullTypes.length < parameter) {
            nullTypes = askForTypes(parameter);
        }
        return nullTypes[parameter - 1];
    }

    private int[] askForTypes(int atLeast) {
        int[] types = new int[atLeast];
        try {
            var facts = statement.getParameterMetaData();
            types = new int[Math.max(atLeast, facts.getParameterCount())];
            for (int index = 0; index < types.length; index++) {
                types[index] = facts.getParameterType(index + 1);
            }
        } catch (SQLException | UnsupportedOperationException | AbstractMethodError untold) {
            Arrays.fill(types, Types.NULL);
        }
        return types;
    }
}
