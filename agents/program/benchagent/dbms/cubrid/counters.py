"""What CUBRID tells to SQL: SHOW commands, most of them for members of DBA only, whose columns are read by their names.

Its counters as a whole are shown by its tool `cubrid statdump` on the server's machine; SHOW EXEC STATISTICS has those
of the session that asks.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from benchagent.dbms.counters import COUNTERS, EFFORT, EngineCounters, IndexFacts, QueryRows, TableFacts, by_column

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

    def __init__(self, version: tuple[int, ...]) -> None:
        self._has_threads = version >= FIRST_WITH_THREADS
        self._has_page_buffer = version >= FIRST_WITH_PAGE_BUFFER
        # Each SHOW PAGE BUFFER STATUS begins anew.
        self._pages: Counter[str] = Counter()
        self.told = self._told()
        self.none = {part: reason for part, reason in self._untold().items() if part not in self.told}

    def _told(self) -> dict[str, str]:
        shown = f"`{PAGE_BUFFER}`: since anybody asked last; NULL in servers that no longer count it"
        return {
            **(dict.fromkeys(FROM_PAGE_BUFFER, shown) if self._has_page_buffer else {}),
            "checkpoints": f"`{LOG_HEADER}`, `Next_archive_num`: log switches; of checkpoints only the last is shown",
            "log_bytes": f"`{LOG_HEADER}`, `Current_append`: headers of its pages included",
            "tables": "`SHOW HEAP CAPACITY`: every page is read",
            "indexes": "`SHOW ALL INDEXES CAPACITY`: every page is read",
            "plans": "`SHOW TRACE`: the statement is executed",
            **({"waits": "`SHOW THREADS` each second: what suspended threads wait for"} if self._has_threads else {}),
        }

    def _untold(self) -> dict[str, str]:
        return {
            **dict.fromkeys(COUNTERS, BY_TOOL),
            **dict.fromkeys(FROM_PAGE_BUFFER, LATER.format(command=PAGE_BUFFER, version=FIRST_WITH_PAGE_BUFFER)),
            "data_writes": WRITTEN if self._has_page_buffer else BY_TOOL,
            "waits": LATER.format(command="SHOW THREADS", version=FIRST_WITH_THREADS),
            **dict.fromkeys(EFFORT, "CUBRID tells it in the trace of the statement, which is shown as its plan"),
            "maintenance": "CUBRID shows the time of UPDATE STATISTICS to its tool csql (`;info stats`), not to SQL",
        }

    def counter_queries(self) -> Mapping[str, str]:
        return {"log": LOG_HEADER, **({"pages": PAGE_BUFFER} if self._has_page_buffer else {})}

    def counters(self, rows: QueryRows) -> dict[str, float]:
        """Pages count from the first call on: SHOW PAGE BUFFER STATUS tells what was added since it was asked last."""
        values: dict[str, float] = {}
        for header in by_column(rows.get("log", [])):
            values["checkpoints"] = float(header["next_archive_num"])
            values["log_bytes"] = _position(str(header["current_append"]), int(header["log_page_size"]))
        for added in by_column(rows.get("pages", [])):
            if all(added[column] is not None for column in FROM_PAGE_BUFFER.values()):
                self._pages.update({name: int(added[column]) for name, column in FROM_PAGE_BUFFER.items()})
                values |= {name: float(self._pages[name]) for name in FROM_PAGE_BUFFER}
                values["buffer_reads"] -= values["buffer_hits"]
        return values

    def wait_queries(self) -> Mapping[str, str]:
        return {"threads": THREADS} if self._has_threads else {}

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
        page = _page_bytes(rows)
        return [_table(heap, page) for heap in _named("heap ", rows)]

    def indexes(self, rows: QueryRows) -> list[IndexFacts]:
        page = _page_bytes(rows)
        return [_index(tree, page) for tree in _named("indexes ", rows)]

    def plan_queries(self, sql: str) -> Sequence[str]:
        """The statement is executed, with its trace on."""
        return ("SET TRACE ON OUTPUT TEXT", sql, "SHOW TRACE")


def _position(address: str, page_bytes: int) -> float:
    """Of a log address such as (102|5776), page and offset in it."""
    match = ADDRESS.fullmatch(address)
    if not match:
        raise ValueError(f"{address!r} is no log address")
    return float(int(match[1]) * page_bytes + int(match[2]))


def _page_bytes(rows: QueryRows) -> int | None:
    return next((int(header["db_page_size"]) for header in by_column(rows.get("log", []))), None)


def _named(prefix: str, rows: QueryRows) -> list[dict[str, Any]]:
    return [row for name, listed in rows.items() if name.startswith(prefix) for row in by_column(listed)]


def _table(heap: Mapping[str, Any], page: int | None) -> TableFacts:
    pages = int(heap["num_pages"])
    free = float(heap["avg_free_space_per_page"])
    return TableFacts(
        table=_own_name(heap["table_name"]),
        rows=int(heap["num_recs"]),
        row_bytes=float(heap["avg_rec_len"]),
        pages=pages,
        size_bytes=pages * page if page else None,
        fill_percent=round(100 * (1 - free / page), 1) if page else None,
    )


def _index(tree: Mapping[str, Any], page: int | None) -> IndexFacts:
    return IndexFacts(
        index=_own_name(tree["index_name"]),
        table=_own_name(tree["table_name"]),
        depth=int(tree["height"]),
        keys=int(tree["total_value"]),
        key_bytes=float(tree["avg_key_len"]),
        unique_keys=int(tree["num_distinct_key"]),
        size_bytes=int(tree["num_total_page"]) * page if page else None,
    )


def _own_name(name: Any) -> str:
    """Without the schema, which is told from 11.2 on."""
    return str(name).rpartition(".")[2].lower()
