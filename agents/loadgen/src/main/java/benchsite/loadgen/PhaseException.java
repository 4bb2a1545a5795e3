package benchsite.loadgen;

/** A failure and the phase it happened in. */
final class PhaseException extends Exception {
    private static final long serialVersionUID = 1L;
    private final String phase;

    PhaseException(String phase, Throwable cause) {
        super(cause);
        this.phase = phase;
    }

    String phase() {
        return phase;
    }
}
