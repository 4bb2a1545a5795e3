"""The loads of the 2011 article: INSERT into one of 40 tables, or three SELECTs by three indexes.

The range of the SELECTs' keys is narrow or wide against the buffer: narrow keeps all pages that are touched within a
share of it, a fifth by default; wide takes every row, which is meant to be more than the buffer holds. The range is
said in the result, with a warning where it is not what its name says, and so is the hit ratio that the engine measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any

from benchagent.dbms.base import JobError, first_value
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.questions import Step, query_steps
from benchagent.protocol import Check
from benchagent.workloads.base import (
    Bench,
    Factors,
    SessionResult,
    Workload,
    filled,
    insert,
    is_used,
    load_and_run,
    load_step,
    prepare,
    run_step,
)
from benchagent.workloads.inserts_selects import schema

# Row with its three index entries, roughly, as row stores keep them: for the check of free space and the narrow range.
ROW_BYTES = 800
BYTES_MINIMUM = 1_000_000_000
INSERT, NARROW = "insert", "select_narrow"
SELECTS = "select"
BATCH_ROWS, COMMIT_ROWS = 500, 5_000
ROWS, ROWS_BEFORE, TAKEN = "rows", "rows_before", "taken"
COUNT_ALL = " + ".join(f"(SELECT COUNT(*) FROM {table})" for table in schema.TABLES)  # noqa: S608
BEYOND = "what that does not hold may come from the file system's cache: the disk's reads tell what came from the disk"
# Assumed where nothing tells how large the buffer is.
BUFFER_BYTES = 64 << 20


class InsertsSelects(Workload):
    slug = "inserts_selects"
    data_factors = ("rows_per_table", "preloaded")

    def perform(self, bench: Bench) -> None:
        if not _loaded_rows(bench.factors) and not _inserts(bench.factors):
            raise JobError("there is nothing to select from empty tables")
        counted = bench.instance.dialect.values(COUNT_ALL)
        before = query_steps("", {ROWS_BEFORE: counted}) if is_used(bench) else []

        def run() -> Sequence[Step]:
            return [self._run(bench), *query_steps("", {ROWS: counted})]

        result = load_and_run(bench, self._prepare(bench), run, before=before)
        bench.check(_row_count(result, bench.factors))

    def tables(self, factors: Factors) -> Sequence[str]:
        return schema.TABLES

    def reading(self, factors: Factors) -> frozenset[str]:
        return frozenset() if _inserts(factors) else frozenset({SELECTS})

    def loaded(self, factors: Factors) -> dict[str, Any]:
        rows = _loaded_rows(factors)
        return {"rows": {"each of 40 tables": rows, "all": rows * len(schema.TABLES)}}

    def disk_bytes(self, factors: Factors) -> int:
        return BYTES_MINIMUM + len(schema.TABLES) * _loaded_rows(factors) * ROW_BYTES * 2

    def _prepare(self, bench: Bench) -> list[Step]:
        dialect, factors = bench.instance.dialect, bench.factors
        rows, threads = _loaded_rows(factors), factors.number("loader_threads")
        tables = [_table(dialect, table, rows) for table in schema.TABLES] if rows else []
        load = load_step(tables, batch=BATCH_ROWS, commit_every=COMMIT_ROWS, threads=threads, seed=bench.seed)
        create, index = schema.create(dialect), schema.indexes(dialect)
        return prepare(dialect, schema.TABLES, create=create, load=load, index=index)

    def _run(self, bench: Bench) -> Step:
        if _inserts(bench.factors):
            first, rows = self._free_round(bench), bench.factors.number("rows_per_table")
            transactions = [_insert(table, rows, first) for table in schema.TABLES]
        else:
            reach = self._reach(bench)
            transactions = [_select(table, reach) for table in schema.TABLES]
        return run_step(bench.factors, bench.seed, transactions)

    def _free_round(self, bench: Bench) -> int:
        """The first round through the slots whose keys no run before this one has taken, in any table."""
        if not is_used(bench):
            return 0
        asked = {f"{TAKEN}:{table}": schema.highest_of_first_slot(table) for table in schema.TABLES}
        answers = bench.session(query_steps("", asked)).rows
        keys = [key for name in asked if (key := first_value(answers.get(name)))]
        # One more: the insert that begins a round may have failed while others of that round did not.
        return max((schema.round_of(str(key)) + 2 for key in keys), default=0)

    def _reach(self, bench: Bench) -> int:
        """Rows of each table that the SELECTs choose from."""
        rows = bench.factors.number("rows_per_table")
        data = rows * len(schema.TABLES) * ROW_BYTES
        buffer, words = _buffer(bench)
        share = bench.factors.number("working_set_percent") / 100
        narrow = max(1, int(share * buffer / (len(schema.TABLES) * ROW_BYTES)))
        is_narrow = bench.factors.text("load") == NARROW
        reach = min(rows, narrow) if is_narrow else rows
        touched = reach * len(schema.TABLES) * ROW_BYTES
        if is_narrow and narrow >= rows:
            bench.warn(
                f"The narrow range holds every row, about {data / 1e6:.0f} MB: the wide one is the same ({words})."
            )
        if not is_narrow and data <= buffer:
            bench.warn(
                f"The wide range, about {data / 1e6:.0f} MB, does not exceed the buffer: no I/O-bound load ({words})."
            )
        range_words = f"about {touched / 1e6:.0f} of {data / 1e6:.0f} MB, {words}"
        if touched > buffer and not bench.instance.in_memory:
            range_words += f"; {BEYOND}"
        bench.condition("key_range", f"{reach:,} of {rows:,} rows of each table: {range_words}")
        return reach


WORKLOAD = InsertsSelects()


def _buffer(bench: Bench) -> tuple[int, str]:
    """Its bytes, and words on it. Engines that tell it with their settings only have to be asked for those first."""
    buffer = bench.instance.buffer_bytes()
    if buffer is None and not bench.data_missing and not is_used(bench):
        bench.session([])
        buffer = bench.instance.buffer_bytes()
    if buffer:
        return buffer, f"buffer {buffer / 1e6:.0f} MB"
    reason = "a database in memory has no buffer" if bench.instance.in_memory else "buffer not known"
    return BUFFER_BYTES, f"{reason}, taken as {BUFFER_BYTES / 1e6:.0f} MB"


def _inserts(factors: Factors) -> bool:
    return factors.text("load") == INSERT


def _loaded_rows(factors: Factors) -> int:
    return 0 if factors.text("preloaded") == "empty" else factors.number("rows_per_table")


def _table(dialect: Dialect, table: str, rows: int) -> Step:
    columns = {
        "id": {"kind": "numbered_text", **schema.key(start=schema.KEY_STEP)},
        **schema.values(),
        "col9": {"kind": "timestamp", "start": "2010-01-01 00:00:00", "step_s": 1},
        "col11": {"kind": "timestamp", "start": "2010-01-01 00:00:00", "step_s": 1},
    }
    types = schema.types(dialect)
    inserted = {name: types[name] for name in schema.INSERTED}
    return filled(dialect, table, inserted, rows=rows, columns=[columns[name] for name in inserted])


def _insert(table: str, rows: int, first_round: int) -> Step:
    """One row whose key falls between two loaded ones, in no order; a round gives each slot one key."""
    scattered = schema.key(slots=rows, multiplier=_multiplier(rows), start=first_round * rows)
    drawn = {
        "id": {"kind": "scattered_text", **scattered},
        **schema.values(),
        "col9": {"kind": "timestamp"},
        "col11": {"kind": "timestamp"},
    }
    variables = [{"name": name, **drawn[name]} for name in schema.INSERTED]
    statement = {"sql": insert(table, schema.INSERTED), "bind": list(schema.INSERTED), "expect_rows": 1}
    return {"name": "insert", "weight": 1, "variables": variables, "statements": [statement]}


def _multiplier(slots: int) -> int:
    """About the golden section of the slots, and without a common divisor: keys in a row land far apart."""
    candidate = max(1, int(slots * 0.618))
    while gcd(candidate, slots) != 1:
        candidate += 1
    return candidate


def _select(table: str, reach: int) -> Step:
    """By primary key, by the unique index, by the secondary one: three rows, each drawn for itself."""
    names = ("by_primary", "by_unique", "by_secondary")
    variables = [{"name": name, "kind": "numbered_text", **schema.key(min=1, max=reach)} for name in names]
    fixed = {"seq": schema.SEQ, "col3": schema.COL3, "col4": schema.COL4, "col5": schema.COL5, "col14": schema.COL14}
    variables += [{"name": name, "kind": "constant", "value": value} for name, value in fixed.items()]
    columns = ", ".join(schema.COLUMNS)
    conditions = {
        "by_primary": ("id = ? AND seq = ?", ["seq"]),
        "by_unique": ("id = ? AND col3 = ? AND col4 = ? AND col5 = ?", ["col3", "col4", "col5"]),
        "by_secondary": ("id = ? AND col14 = ? ORDER BY col9 DESC", ["col14"]),
    }
    statements = [
        {
            "sql": f"SELECT {columns} FROM {table} WHERE {where}",  # noqa: S608
            "bind": [name, *more],
            "fetch": True,
            "expect_rows": 1,
        }
        for name, (where, more) in conditions.items()
    ]
    return {"name": SELECTS, "weight": 1, "variables": variables, "statements": statements}


def _row_count(result: SessionResult, factors: Factors) -> Check:
    """The tables grew by what was committed, which for SELECTs is nothing."""
    loaded = len(schema.TABLES) * _loaded_rows(factors)
    before, after = (int(first_value(result.rows.get(name)) or 0) for name in (ROWS_BEFORE, ROWS))
    grown = after - (before if ROWS_BEFORE in result.rows else loaded)
    expected = int(result.summary["committed"]) if _inserts(factors) and result.summary is not None else 0
    detail = f"the tables grew by {grown} rows, {expected} inserts were committed"
    return {"name": "rows_counted", "ok": grown == expected, "detail": detail}
