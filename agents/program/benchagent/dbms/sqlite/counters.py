"""What SQLite tells: the pages of each B-tree from its table `dbstat`, estimates of ANALYZE, plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchagent.dbms.counters import (
    COUNTERS,
    EFFORT,
    EngineCounters,
    IndexFacts,
    QueryRows,
    TableFacts,
    with_index_bytes,
)

NO_COUNTERS = "SQLite has counters in its C interface only, none that SQL could ask for"
# One row for each B-tree; a path ends with one slash for each page on the way.
TREES = (
    "SELECT m.type, m.name, m.tbl_name, SUM(d.pgsize), COUNT(*), "
    "SUM(CASE WHEN d.pagetype = 'leaf' THEN d.ncell ELSE 0 END), "
    "SUM(CASE WHEN d.pagetype = 'leaf' OR m.type = 'index' THEN d.payload ELSE 0 END), SUM(d.unused), "
    "MAX(LENGTH(d.path) - LENGTH(REPLACE(d.path, '/', ''))), SUM(d.ncell) "
    "FROM sqlite_master m JOIN dbstat d ON d.name = m.name WHERE m.tbl_name IN ({tables}) GROUP BY m.name"
)


class SqliteCounters(EngineCounters):
    # It reads every page of the database.
    schema_sql = {"trees": TREES}
    told = {
        "tables": "`dbstat`, which reads the whole database; rows are cells of leaves",
        "indexes": "`dbstat`; the tree of a table by rowid is listed as an index",
        "plans": "`EXPLAIN QUERY PLAN`",
    }
    none = {
        **dict.fromkeys((*COUNTERS, *EFFORT), NO_COUNTERS),
        "waits": "there is one lock for writing, waited for inside the connection where nobody sees it",
        "maintenance": "SQLite notes no time of its last ANALYZE or VACUUM",
    }

    def tables(self, rows: QueryRows) -> list[TableFacts]:
        tables = [
            TableFacts(
                table=table,
                rows=int(cells),
                row_bytes=_mean(payload, cells),
                pages=int(pages),
                size_bytes=int(size),
                fill_percent=round(100 * (1 - float(unused) / float(size)), 1) if size else None,
            )
            for kind, _, table, size, pages, cells, payload, unused, *_ in rows.get("trees", [])
            if kind == "table"
        ]
        return with_index_bytes(tables, self.indexes(rows))

    def indexes(self, rows: QueryRows) -> list[IndexFacts]:
        """Inner pages of an index hold keys that no leaf repeats. The tree of a table is its index by rowid as well,
        whose bytes are the table's."""
        return [
            IndexFacts(f"{name} (rowid)", table, depth=int(depth), keys=int(leaf_cells))
            if kind == "table"
            else IndexFacts(
                name, table, depth=int(depth), keys=int(cells), key_bytes=_mean(payload, cells), size_bytes=int(size)
            )
            for kind, name, table, size, _pages, leaf_cells, payload, _unused, depth, cells in rows.get("trees", [])
        ]

    def plan_queries(self, sql: str) -> Sequence[str]:
        return (f"EXPLAIN QUERY PLAN {sql}",)

    def plan(self, rows: Sequence[Sequence[Any]]) -> str:
        """Rows are (id, parent, unused, detail); children are indented below their parents."""
        depths: dict[int, int] = {}
        lines = []
        for number, parent, _, detail in rows:
            depths[int(number)] = depths.get(int(parent), -1) + 1
            lines.append("  " * depths[int(number)] + str(detail))
        return "\n".join(lines)


def _mean(total: Any, number: Any) -> float | None:
    return round(float(total) / float(number), 1) if number else None
