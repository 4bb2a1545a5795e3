"""Firebird: a private server with a configuration, a security database and a database of its own."""

from __future__ import annotations

from benchagent.dbms.firebird.adapter import ADAPTER

__all__ = ["ADAPTER"]
