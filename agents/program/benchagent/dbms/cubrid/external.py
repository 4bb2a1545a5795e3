"""CUBRID servers that somebody else runs. A schema is a user there, from 11.2 on; before, a database is one schema."""

# ruff: noqa: S608 - constants only
from __future__ import annotations

import re

from benchagent.dbms.base import Retryable
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.cubrid.counters import CubridCounters
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.external.server import MARKER, ExternalServer, Rows, ToolBackup, folder_of

DRIVER_CLASS = "cubrid.jdbc.driver.CUBRIDDriver"
UNIQUE_VIOLATION, LOCK_TIMEOUTS, DEADLOCK = -670, (-73, -74, -75, -76), -72
FIRST_WITH_USER_SCHEMA, FIRST_WITH_FOR_UPDATE = (11, 2), (10,)
# Name, where it is listed, its owner, and which: no serials of AUTO_INCREMENT, which go with their tables.
OBJECTS = (
    ("class_name", "db_class", "owner_name", "is_system_class = 'NO'"),
    ("CONCAT('serial ', name)", "db_serial", "owner.name", "class_name IS NULL"),
    ("CONCAT('procedure ', sp_name)", "db_stored_procedure", "owner", ""),
    ("CONCAT('trigger ', trigger_name)", "db_trig", "target_owner_name", ""),
)
# Listed since a schema is a user.
LATER_OBJECTS = (
    ("CONCAT('synonym ', synonym_name)", "db_synonym", "synonym_owner_name", ""),
    ("CONCAT('server ', link_name)", "db_server", "owner", ""),
)


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version)[:2])


def dialect_of(version: str) -> Dialect:
    return Dialect(
        double="DOUBLE",
        # TIMESTAMP counts whole seconds and ends in 2038.
        timestamp="DATETIME",
        timestamp_literal="DATETIME '{text}'",
        first="SELECT {select} LIMIT {n}",
        for_update=" FOR UPDATE" if _numbers(version) >= FIRST_WITH_FOR_UPDATE else "",
        after_load_each=("UPDATE STATISTICS ON {table}",),
    )


def external_server(version: str, schema: str) -> ExternalServer:
    own = _numbers(version) >= FIRST_WITH_USER_SCHEMA
    return ExternalServer(
        dbms="cubrid",
        dialect=dialect_of(version),
        objects=_objects(by_owner=own),
        # Unqualified names mean the schema of who has logged in, so that has to be the one.
        schemas="SELECT name FROM db_user WHERE name = UPPER('{schema}') AND name = SUBSTRING_INDEX(USER(), '@', 1)",
        create="",
        use=(),
        effective_queries={
            "isolation": "GET TRANSACTION ISOLATION LEVEL",
            "lock_timeout": "GET TRANSACTION LOCK TIMEOUT",
        },
        in_force=_in_force,
        settings_complete=False,
        engine_counters=CubridCounters(_numbers(version)),
        retryable=Retryable(codes=(DEADLOCK, *LOCK_TIMEOUTS)),
        tolerable=Retryable(codes=(UNIQUE_VIOLATION,)),
        driver_class=DRIVER_CLASS,
        driver="11.3.2.0053",
        version_query="SELECT VERSION()",
        folders="SHOW VOLUME HEADER OF 0",
        read_folders=_read_folders,
        marker=MARKER,
        # Of the database that the target is named like, while it is in use; the target is a folder.
        shown_backups=[
            ToolBackup(
                "backupdb",
                "cubrid backupdb",
                lambda target: ["cubrid", "backupdb", "-C", "-D", target, target.name],
                lambda source: ["cubrid", "restoredb", "-B", source, "-u", source.name],
            )
        ],
    )


def _read_folders(rows: Rows) -> list[tuple[str, str]]:
    """From the header of the first volume, whose columns differ: its path is the first. Of the log nothing is told."""
    paths = [str(value) for row in rows for value in row if str(value).startswith("/")]
    return [("the first volume", folder_of(paths[0])), ("other volumes and the log", "")] if paths else []


def _objects(*, by_owner: bool) -> str:
    selects = []
    for name, source, owner, which in (*OBJECTS, *LATER_OBJECTS) if by_owner else OBJECTS:
        conditions = [which, f"{owner} = UPPER('{{schema}}')" if by_owner else ""]
        where = " AND ".join(filter(None, conditions))
        selects.append(f"SELECT {name} FROM {source}{f' WHERE {where}' if where else ''}")
    return " UNION ALL ".join(selects)


def _in_force(rows: QueryRows) -> list[tuple[str, str]]:
    names = {"isolation": "isolation_level", "lock_timeout": "lock_timeout_in_secs"}
    return [(names[query], str(answer[0][0])) for query, answer in rows.items() if query in names and answer]
