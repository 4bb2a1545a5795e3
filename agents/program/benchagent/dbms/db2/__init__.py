"""IBM Db2 for Linux, UNIX and Windows: servers that somebody else runs. No live server could be had for tests."""
