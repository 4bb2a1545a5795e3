package benchsite.loadgen;

import java.sql.SQLException;

/** A program found that another transaction was first: this one is begun again, as after a conflict of the DBMS. */
public final class Conflict extends SQLException {
    private static final long serialVersionUID = 1L;

    public Conflict(String reason) {
        super(reason);
    }
}
