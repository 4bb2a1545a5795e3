"""benchagent: runs database benchmarks on this machine for a Benchsite server."""

__version__ = "0.1.0"
