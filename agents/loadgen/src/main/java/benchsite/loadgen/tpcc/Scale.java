package benchsite.loadgen.tpcc;

import org.json.JSONObject;

/**
 * Cardinalities of the database, clause 1.2.1 of the standard: all but the items grow with the warehouses.
 *
 * <p>A {@code divisor} above 1 makes small warehouses, and fewer items; every kind of row stays. The A of the
 * non-uniform draws stay as well, so that these are nearer to even ones than in a warehouse of the standard.
 */
record Scale(int warehouses, int divisor) {
    static final int DISTRICTS = 10;
    static final int LINES_PER_PAIR = 20;
    private static final int ITEMS = 100_000;
    private static final int CUSTOMERS = 3_000;
    private static final int DELIVERED = 2_100;
    private static final int LAST_NAMES = 1_000;
    // Keeps the orders of a district even in number and the delivered ones whole.
    private static final int LARGEST_DIVISOR = 300;

    Scale {
        if (warehouses < 1 || divisor < 1 || LARGEST_DIVISOR % divisor != 0) {
            throw new IllegalArgumentException("no database of " + warehouses + " warehouses, divided by " + divisor);
        }
    }

    static Scale of(JSONObject parameters) {
        return new Scale(parameters.getInt("warehouses"), parameters.optInt("scale_divisor", 1));
    }

    int items() {
        return ITEMS / divisor;
    }

    /** Customers of a district; it has as many orders at first. */
    int customers() {
        return CUSTOMERS / divisor;
    }

    /** Orders of a district that are delivered at first; those with higher numbers are new. */
    int delivered() {
        return DELIVERED / divisor;
    }

    /** How many last names there are: the first customers of each district have one each. */
    int lastNames() {
        return Math.min(LAST_NAMES, customers());
    }
}
