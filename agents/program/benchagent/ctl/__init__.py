"""`benchctl`: results, comparisons and experiments of a Benchsite server from the command line."""
