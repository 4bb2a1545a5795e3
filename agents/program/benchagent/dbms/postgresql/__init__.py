"""PostgreSQL: a private throw-away instance from the binaries on this machine, reached over loopback TCP."""

from benchagent.dbms.postgresql.adapter import ADAPTER as ADAPTER
