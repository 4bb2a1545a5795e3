"""Firebird: a private server with a configuration, a security database and a database of its own."""

from benchagent.dbms.firebird.adapter import ADAPTER as ADAPTER
