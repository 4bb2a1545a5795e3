"""What Derby tells: sizes from SYSCS_DIAG.SPACE_TABLE, waits from its lock table, plans of executed statements."""

# ruff: noqa: S608 - constants only, and names of tables of our own
from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from benchagent.dbms.counters import (
    COUNTERS,
    EFFORT,
    Age,
    EngineCounters,
    IndexFacts,
    QueryRows,
    TableFacts,
    quoted_names,
    with_index_bytes,
)

NO_COUNTERS = "Derby counts nothing of the kind where SQL could ask for it"
# In which a database's tables are made unless another one is named.
OWN_SCHEMA = "APP"
IN_SCHEMA = "(SELECT SCHEMAID FROM SYS.SYSSCHEMAS WHERE SCHEMANAME = '{schema}')"
# Conglomerates behind tables: the heap has the table's own name in `ISINDEX` = 0.
SPACE_OF = (
    "SELECT T.TABLENAME, S.CONGLOMERATENAME, S.ISINDEX, S.NUMALLOCATEDPAGES, S.NUMFREEPAGES, S.PAGESIZE "
    "FROM SYS.SYSTABLES T, TABLE (SYSCS_DIAG.SPACE_TABLE('{schema}', T.TABLENAME)) AS S "
    f"WHERE T.TABLETYPE = 'T' AND T.SCHEMAID = {IN_SCHEMA}"
)
# These two end before the id of a schema. Kept for indexes only, and from 10.9 on not for a unique one of one column.
CARDINALITY = (
    "SELECT T.TABLENAME, C.CONGLOMERATENAME, S.STATISTICS, S.COLCOUNT, "
    "{fn TIMESTAMPDIFF(SQL_TSI_SECOND, S.CREATIONTIMESTAMP, CURRENT_TIMESTAMP)} "
    "FROM SYS.SYSSTATISTICS S JOIN SYS.SYSTABLES T ON T.TABLEID = S.TABLEID "
    "JOIN SYS.SYSCONGLOMERATES C ON C.CONGLOMERATEID = S.REFERENCEID "
    "WHERE T.TABLETYPE = 'T' AND T.SCHEMAID = "
)
CONSTRAINTS = (
    "SELECT C.CONGLOMERATENAME, N.CONSTRAINTNAME FROM SYS.SYSCONSTRAINTS N "
    "JOIN SYS.SYSKEYS K ON K.CONSTRAINTID = N.CONSTRAINTID "
    "JOIN SYS.SYSCONGLOMERATES C ON C.CONGLOMERATEID = K.CONGLOMERATEID WHERE N.SCHEMAID = "
)
WAITING = "SELECT TYPE, COUNT(*) FROM SYSCS_DIAG.LOCK_TABLE WHERE STATE = 'WAIT' GROUP BY TYPE"
ROWS = re.compile(r"numunique=\s*(\d+)\s+numrows=\s*(\d+)")
PLAN_MARK = "Statement Execution Plan Text:"


class DerbyCounters(EngineCounters):
    told = {
        "tables": "`SYSCS_DIAG.SPACE_TABLE`; rows from `SYS.SYSSTATISTICS`, where an index of the table is there",
        "indexes": "`SYSCS_DIAG.SPACE_TABLE`, keys from `SYS.SYSSTATISTICS` (from 10.9 not of unique ones); no depth",
        "plans": "`SYSCS_GET_RUNTIMESTATISTICS`: the statement is executed",
        "waits": "`SYSCS_DIAG.LOCK_TABLE` each second: locks waited for, by type",
        "maintenance": "`SYS.SYSSTATISTICS`, time of creation",
    }
    none = dict.fromkeys((*COUNTERS, *EFFORT), NO_COUNTERS)

    def __init__(self, schema: str = OWN_SCHEMA) -> None:
        own = schema.upper()
        in_schema = IN_SCHEMA.format(schema=own)
        self.space = SPACE_OF.format(schema=own)
        self._cardinality, self._constraints = CARDINALITY + in_schema, CONSTRAINTS + in_schema

    def wait_queries(self) -> Mapping[str, str]:
        return {"locks": WAITING}

    def waits(self, rows: QueryRows) -> dict[str, float]:
        return {f"{str(kind).strip().lower()} lock": float(count) for kind, count in rows.get("locks", [])}

    def schema_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        listed = quoted_names(tables, str.upper)
        only = f" AND T.TABLENAME IN ({listed})"
        return {
            "space": self.space + only,
            "cardinality": self._cardinality + only,
            "constraints": self._constraints,
        }

    def tables(self, rows: QueryRows) -> list[TableFacts]:
        known = {table: numbers[1] for table, _, numbers, _ in _cardinality(rows)}
        tables = [
            TableFacts(table.lower(), rows=known.get(table), pages=pages, size_bytes=pages * page_size)
            for table, _, is_index, pages, page_size in _space(rows)
            if not is_index
        ]
        return with_index_bytes(tables, self.indexes(rows))

    def indexes(self, rows: QueryRows) -> list[IndexFacts]:
        # The statistics of all columns together come last.
        known = {index: numbers for _, index, numbers, _ in _cardinality(rows)}
        names = {str(row[0]): str(row[1]) for row in rows.get("constraints", [])}
        listed = []
        for table, index, is_index, pages, page_size in _space(rows):
            if is_index:
                unique, keys = known.get(index, (None, None))
                name, size_bytes = names.get(index, index).lower(), pages * page_size
                listed.append(IndexFacts(name, table.lower(), keys=keys, unique_keys=unique, size_bytes=size_bytes))
        return listed

    def maintenance_queries(self, tables: Sequence[str]) -> Mapping[str, str]:
        listed = quoted_names(tables, str.upper)
        return {"cardinality": f"{self._cardinality} AND T.TABLENAME IN ({listed})"}

    def maintenance(self, rows: QueryRows) -> list[Age]:
        ages = [float(row[4]) for row in rows.get("cardinality", [])]
        if not ages:
            return [Age("statistics", None, "no index has any; a unique index of one column needs none")]
        return [Age("statistics", max(ages), f"of the {len(ages)} that indexes have, the oldest")]

    def plan_queries(self, sql: str) -> Sequence[str]:
        """The statement is executed: Derby explains what it did."""
        on, off = (f"CALL SYSCS_UTIL.SYSCS_SET_RUNTIMESTATISTICS({value})" for value in (1, 0))
        return (on, sql, "VALUES SYSCS_UTIL.SYSCS_GET_RUNTIMESTATISTICS()", off)

    def plan(self, rows: Sequence[Sequence[Any]]) -> str:
        texts = [str(row[0]) for row in rows if row and PLAN_MARK in str(row[0])]
        return texts[-1].partition(PLAN_MARK)[2].strip() if texts else ""


def smallest_page(rows: QueryRows) -> int | None:
    """Bytes: the page size that tables are made with, from the rows of `DerbyCounters.space`; None without tables.

    Tables with long columns have larger pages of their own.
    """
    return min((page_size for _, _, is_index, _, page_size in _space(rows) if not is_index), default=None)


def _space(rows: QueryRows) -> list[tuple[str, str, bool, int, int]]:
    """Table, heap or index of it, whether it is an index, pages, bytes of a page."""
    return [
        (str(table), str(name), bool(int(is_index)), int(pages) + int(free), int(page_size))
        for table, name, is_index, pages, free, page_size in rows.get("space", [])
    ]


def _cardinality(rows: QueryRows) -> list[tuple[str, str, tuple[int, int], int]]:
    """Table, index, (unique keys, rows), number of leading columns; in the order of the latter."""
    listed = []
    for table, index, text, columns, _ in rows.get("cardinality", []):
        match = ROWS.search(str(text))
        if match:
            listed.append((str(table), str(index), (int(match[1]), int(match[2])), int(columns)))
    return sorted(listed, key=lambda entry: entry[3])
