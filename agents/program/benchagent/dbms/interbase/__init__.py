"""InterBase: servers that somebody else runs. No live server could be had for tests."""

from __future__ import annotations

from benchagent.dbms.external.only import OnlyExternal

ADAPTER = OnlyExternal("interbase")
