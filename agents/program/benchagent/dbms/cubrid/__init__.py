"""CUBRID: servers that somebody else runs. No live server could be had for tests."""
