"""Rows of data dictionaries that have one shape in several engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchagent.dbms.statistics import Age, IndexStatistics, TableStatistics, oldest

Rows = Sequence[Sequence[Any]]


def table_rows(rows: Rows) -> list[TableStatistics]:
    """From (table, rows, bytes of a row, pages, bytes); negative numbers and NULL are not known."""
    return [
        TableStatistics(
            table=str(table).strip().lower(),
            rows=_whole(count),
            row_bytes=_whole(row_bytes),
            pages=_whole(pages),
            size_bytes=_whole(size),
        )
        for table, count, row_bytes, pages, size in rows
    ]


def index_rows(rows: Rows) -> list[IndexStatistics]:
    """From (index, table, depth, keys, different keys, bytes)."""
    return [
        IndexStatistics(
            index=str(index).strip().lower(),
            table=str(table).strip().lower(),
            depth=_whole(depth),
            keys=_whole(keys),
            unique_keys=_whole(unique),
            size_bytes=_whole(size),
        )
        for index, table, depth, keys, unique, size in rows
    ]


def statistics_age(rows: Rows) -> list[Age]:
    """From (table, seconds since its statistics were gathered), NULL where they never were."""
    return [oldest("statistics", rows, 1)] if rows else []


def _whole(value: Any) -> int | None:
    return None if value is None or float(value) < 0 else int(value)
