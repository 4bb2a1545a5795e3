"""What SQL tells of indexes, in Firebird and in InterBase: how selective one was when that was last computed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchagent.dbms.counters import IndexFacts, quoted_names

SELECTIVITY = (
    "`RDB$INDICES`, `RDB$STATISTICS`: different keys as of the last SET STATISTICS; depth and bytes only gstat tells"
)
INDEXES = "SELECT RDB$INDEX_NAME, RDB$RELATION_NAME, RDB$STATISTICS FROM RDB$INDICES"
USERS_OWN = "(RDB$SYSTEM_FLAG = 0 OR RDB$SYSTEM_FLAG IS NULL)"


def index_query(tables: Sequence[str]) -> str:
    """Of all the users' own where none are named."""
    listed = quoted_names(tables, str.upper)
    return f"{INDEXES} WHERE {f'RDB$RELATION_NAME IN ({listed})' if tables else USERS_OWN}"


def index_statistics(rows: Sequence[Sequence[Any]]) -> list[IndexFacts]:
    """A selectivity is 1 by the number of different keys; 0 or NULL while none was computed, or the table was empty."""
    return [
        IndexFacts(
            str(index).strip(), str(table).strip(), unique_keys=round(1 / float(selectivity)) if selectivity else None
        )
        for index, table, selectivity in rows
    ]
