"""CUBRID servers that somebody else runs. A schema is a user there, from 11.2 on; before, a database is one schema.

SQL is told by SHOW commands, most of them for members of DBA only, whose columns are read by their names. The server's
counters as a whole are shown by its tool `cubrid statdump` on its machine; SHOW EXEC STATISTICS has those of the
session that asks.
"""

# ruff: noqa: S608 - constants only
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchagent.dbms.base import Retryable
from benchagent.dbms.counters import COUNTERS, EFFORT, EngineCounters, IndexFacts, QueryRows, TableFacts, by_column
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.external.server import ExternalServer, Rows, ToolBackup, folder_of

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
        # It backs up the database that the target is named like, while it is in use; the target is a folder.
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


LOG_HEADER, PAGE_BUFFER = "SHOW LOG HEADER", "SHOW PAGE BUFFER STATUS"
# Documented with such a condition: there are hundreds of threads.
THREADS = "SHOW THREADS WHERE STATUS = 'WAIT'"
FIRST_WITH_THREADS, FIRST_WITH_PAGE_BUFFER = (10, 0), (11, 0)
# The one that waits for work does not count.
SUSPENDED, IDLE = "_SUSPENDED", "JOB_QUEUE_SUSPENDED"
ADDRESS = re.compile(r"\((\d+)\|(\d+)\)")
BY_TOOL = (
    "CUBRID shows SQL the counters of the session that asks (SHOW EXEC STATISTICS); those of the server are shown by "
    "`cubrid statdump` on its machine"
)
LATER = "{command} is there from {version[0]}.{version[1]} on"
FROM_PAGE_BUFFER = {"buffer_hits": "num_hit", "buffer_reads": "num_page_request", "data_reads": "num_pages_read"}
WRITTEN = f"{PAGE_BUFFER} leaves out the pages that go through the double write buffer, which is on by default"


class CubridCounters(EngineCounters):
    """`version`: its first two numbers."""

    checkpoint_nouns = ("log switch", "log switches")
    # The statement is executed, with its trace on.
    plan_sql = ("SET TRACE ON OUTPUT TEXT", "{sql}", "SHOW TRACE")

    def __init__(self, version: tuple[int, ...]) -> None:
        self.waiting = {"threads": THREADS} if version >= FIRST_WITH_THREADS else {}
        self._has_page_buffer = version >= FIRST_WITH_PAGE_BUFFER
        # Each SHOW PAGE BUFFER STATUS begins anew.
        self._pages: Counter[str] = Counter()
        shown = f"`{PAGE_BUFFER}`: since anybody asked last; NULL in servers that no longer count it"
        self.origins = {
            **(dict.fromkeys(FROM_PAGE_BUFFER, shown) if self._has_page_buffer else {}),
            "checkpoints": f"`{LOG_HEADER}`, `Next_archive_num`: log switches; of checkpoints only the last is shown",
            "log_bytes": f"`{LOG_HEADER}`, `Current_append`: headers of its pages included",
            "tables": "`SHOW HEAP CAPACITY`: every page is read",
            "indexes": "`SHOW ALL INDEXES CAPACITY`: every page is read",
            "plans": "`SHOW TRACE`: the statement is executed",
            **({"waits": "`SHOW THREADS` each second: what suspended threads wait for"} if self.waiting else {}),
        }
        missing = {
            **dict.fromkeys(COUNTERS, BY_TOOL),
            **dict.fromkeys(FROM_PAGE_BUFFER, LATER.format(command=PAGE_BUFFER, version=FIRST_WITH_PAGE_BUFFER)),
            "data_writes": WRITTEN if self._has_page_buffer else BY_TOOL,
            "waits": LATER.format(command="SHOW THREADS", version=FIRST_WITH_THREADS),
            **dict.fromkeys(EFFORT, "CUBRID tells it in the trace of the statement, which is shown as its plan"),
            "maintenance": "CUBRID shows the time of UPDATE STATISTICS to its tool csql (`;info stats`), not to SQL",
        }
        self.none = {part: reason for part, reason in missing.items() if part not in self.origins}

    def counter_queries(self) -> Mapping[str, str]:
        return {"log": LOG_HEADER, **({"pages": PAGE_BUFFER} if self._has_page_buffer else {})}

    def counters(self, rows: QueryRows) -> dict[str, float]:
        """Pages count from the first call on: SHOW PAGE BUFFER STATUS tells what was added since it was asked last."""
        values: dict[str, float] = {}
        for header in by_column(rows.get("log", [])):
            values["checkpoints"] = float(header["next_archive_num"])
            # A log address such as (102|5776): page and offset in it.
            if not (address := ADDRESS.fullmatch(str(header["current_append"]))):
                raise ValueError(f"{header['current_append']!r} is no log address")
            values["log_bytes"] = float(int(address[1]) * int(header["log_page_size"]) + int(address[2]))
        for added in by_column(rows.get("pages", [])):
            if all(added[column] is not None for column in FROM_PAGE_BUFFER.values()):
                self._pages.update({name: int(added[column]) for name, column in FROM_PAGE_BUFFER.items()})
                values |= {name: float(self._pages[name]) for name in FROM_PAGE_BUFFER}
                values["buffer_reads"] -= values["buffer_hits"]
        return values

    def waits(self, rows: QueryRows) -> dict[str, float]:
        """Threads that serve a client, by what they were suspended for."""
        suspended: Counter[str] = Counter()
        for thread in by_column(rows.get("threads", [])):
            state = str(thread["resume_status"])
            if thread["type"] == "WORKER" and state.endswith(SUSPENDED) and state != IDLE:
                suspended[state.removesuffix(SUSPENDED).lower()] += 1
        return {event: float(threads) for event, threads in suspended.items()}

    def schema_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        heaps = {f"heap {table}": f"SHOW HEAP CAPACITY OF {table}" for table in tables}
        indexes = {f"indexes {table}": f"SHOW ALL INDEXES CAPACITY OF {table}" for table in tables}
        return {"log": LOG_HEADER, **heaps, **indexes}

    def tables(self, rows: QueryRows) -> list[TableFacts]:
        page, tables = _page_bytes(rows), []
        for heap in _named("heap ", rows):
            pages, free = int(heap["num_pages"]), float(heap["avg_free_space_per_page"])
            tables.append(
                TableFacts(
                    table=_own_name(heap["table_name"]),
                    rows=int(heap["num_recs"]),
                    row_bytes=float(heap["avg_rec_len"]),
                    pages=pages,
                    size_bytes=pages * page if page else None,
                    fill_percent=round(100 * (1 - free / page), 1) if page else None,
                )
            )
        return tables

    def indexes(self, rows: QueryRows) -> list[IndexFacts]:
        page = _page_bytes(rows)
        return [
            IndexFacts(
                index=_own_name(tree["index_name"]),
                table=_own_name(tree["table_name"]),
                depth=int(tree["height"]),
                keys=int(tree["total_value"]),
                key_bytes=float(tree["avg_key_len"]),
                unique_keys=int(tree["num_distinct_key"]),
                size_bytes=int(tree["num_total_page"]) * page if page else None,
            )
            for tree in _named("indexes ", rows)
        ]


def _page_bytes(rows: QueryRows) -> int | None:
    return next((int(header["db_page_size"]) for header in by_column(rows.get("log", []))), None)


def _named(prefix: str, rows: QueryRows) -> list[dict[str, Any]]:
    return [row for name, listed in rows.items() if name.startswith(prefix) for row in by_column(listed)]


def _own_name(name: Any) -> str:
    """Without the schema, which is told from 11.2 on."""
    return str(name).rpartition(".")[2].lower()
