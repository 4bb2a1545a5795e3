package benchsite.loadgen.events;

/** A failure and the phase it happened in. */
public final class PhaseException extends Exception {
    private static final long serialVersionUID = 1L;
    private final String phase;

    public PhaseException(String phase, Throwable cause) {
        super(cause);
        this.phase = phase;
    }

    public String phase() {
        return phase;
    }
}
