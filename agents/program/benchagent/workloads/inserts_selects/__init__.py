"""The loads of the 2011 article: INSERT into one of 40 tables, or three SELECTs by three indexes.

The range of the SELECTs' keys is narrow or wide against the buffer: narrow keeps all pages that are touched within a
share of it, a fifth by default; wide takes every row, which is meant to be more than the buffer holds. The range is
said in the result, with a warning where it is not what its name says, and so is the hit ratio that the engine measured.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import gcd
from typing import Any

from benchagent.catalog.space import ROW_BYTES
from benchagent.dbms import probes
from benchagent.dbms.base import JobError, first_value
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.probes import Step
from benchagent.workloads import steps
from benchagent.workloads.base import Bench, Factors, Workload, is_used, load_and_run

TABLES = tuple(f"tbl_{number}" for number in range(200, 240))
PRIMARY_KEY = ("id", "seq")
UNIQUE = ("id", "col3", "col4", "col5")
SECONDARY = ("id", "col9 DESC", "col14")
DEFAULT_TIME = "2010-07-30 16:25:44"

# Keys of loaded rows lie so far apart that new ones find room between them. varchar(20) holds prefix and digits.
KEY_PREFIX, KEY_WIDTH, KEY_STEP = "u", 17, 1_000_000
# The same in every row: a search by the unique index needs them, and the key's first column tells rows apart.
SEQ, COL3, COL4, COL5 = 1, "group-0000000001", "code1", "the unique index holds these fifty characters, too"
COL14 = "N"

COLUMNS = (
    "id", "seq", "col3", "col4", "col5", "col6", "col7", "col8", "col9", "col10", "col11", "col12", "col13", "col14",
    "col15",
)  # fmt: skip
# The others have defaults.
INSERTED = tuple(column for column in COLUMNS if column not in ("col10", "col15"))

INSERT, NARROW = "insert", "select_narrow"
SELECTS = "select"
BATCH_ROWS, COMMIT_ROWS = 500, 5_000
ROWS, ROWS_BEFORE, TAKEN = "rows", "rows_before", "taken"
BEYOND = "what that does not hold may come from the file system's cache: the disk's reads tell what came from the disk"
# Assumed where nothing tells how large the buffer is.
BUFFER_BYTES = 64 << 20


class InsertsSelects(Workload):
    slug = "inserts_selects"
    data_factors = ("rows_per_table", "preloaded")

    def perform(self, bench: Bench) -> None:
        if not _loaded_rows(bench.factors) and not _inserts(bench.factors):
            raise JobError("there is nothing to select from empty tables")
        of_each = [f"(SELECT COUNT(*) FROM {table})" for table in TABLES]  # noqa: S608
        counted = bench.instance.dialect.values(" + ".join(of_each))
        before = probes.steps("", {ROWS_BEFORE: counted}) if is_used(bench) else []

        def run() -> Sequence[Step]:
            return [self._run(bench), *probes.steps("", {ROWS: counted})]

        result = load_and_run(bench, self._prepare(bench), run, before=before)
        # The tables grew by what was committed, which for SELECTs is nothing.
        rows_before, rows = (int(first_value(result.rows.get(name)) or 0) for name in (ROWS_BEFORE, ROWS))
        grown = rows - (rows_before if before else len(TABLES) * _loaded_rows(bench.factors))
        inserted = int(result.summary["committed"]) if _inserts(bench.factors) and result.summary is not None else 0
        detail = f"the tables grew by {grown} rows, {inserted} inserts were committed"
        bench.check({"name": "rows_counted", "ok": grown == inserted, "detail": detail})

    def tables(self, factors: Factors) -> Sequence[str]:
        return TABLES

    def reading(self, factors: Factors) -> frozenset[str]:
        return frozenset() if _inserts(factors) else frozenset({SELECTS})

    def loaded(self, factors: Factors) -> dict[str, Any]:
        rows = _loaded_rows(factors)
        return {"rows": {"each of 40 tables": rows, "all": rows * len(TABLES)}}

    def disk_bytes(self, factors: Factors) -> int:
        return factors.needed_bytes(self.slug)

    def _prepare(self, bench: Bench) -> list[Step]:
        """The 40 tables: 15 columns, a primary key, a unique and a secondary index."""
        dialect, factors = bench.instance.dialect, bench.factors
        rows, threads = _loaded_rows(factors), factors.number("loader_threads")
        rules = {"col6": "", "col8": "", "col10": " DEFAULT 0 NOT NULL"}
        rules["col15"] = f" DEFAULT {dialect.timestamp_literal.format(text=DEFAULT_TIME)} NOT NULL"
        columns = [f"{name} {kind}{rules.get(name, ' NOT NULL')}" for name, kind in _types(dialect).items()]
        create = [dialect.table(table, columns, PRIMARY_KEY) for table in TABLES]
        tables = [_table(dialect, table, rows) for table in TABLES] if rows else []
        load = steps.load(tables, batch=BATCH_ROWS, commit_every=COMMIT_ROWS, threads=threads, seed=bench.seed)
        index = []
        for table in TABLES:  # all of one table together
            number = table.removeprefix("tbl_")
            index += [
                dialect.primary_key(table, PRIMARY_KEY),
                dialect.index(f"iuk_{number}", table, UNIQUE, unique=True),
                dialect.index(f"ink1_{number}", table, SECONDARY),
            ]
        return steps.prepare(dialect, TABLES, create=create, load=load, index=index)

    def _run(self, bench: Bench) -> Step:
        if _inserts(bench.factors):
            first, rows = self._free_round(bench), bench.factors.number("rows_per_table")
            transactions = [_insert(table, rows, first) for table in TABLES]
        else:
            reach = self._reach(bench)
            transactions = [_select(table, reach) for table in TABLES]
        return steps.run(bench.factors, bench.seed, transactions)

    def _free_round(self, bench: Bench) -> int:
        """The first round through the slots whose keys no run before this one has taken, in any table."""
        if not is_used(bench):
            return 0
        # Each round of inserts begins between the first two loaded rows, one key higher than the round before.
        low, high = (f"{KEY_PREFIX}{number:0{KEY_WIDTH}}" for number in (KEY_STEP, 2 * KEY_STEP))
        highest = {
            f"{TAKEN}:{table}": f"SELECT MAX(id) FROM {table} WHERE id > '{low}' AND id < '{high}'"  # noqa: S608
            for table in TABLES
        }
        answers = bench.session(probes.steps("", highest)).rows
        keys = [key.strip().removeprefix(KEY_PREFIX) for name in highest if (key := first_value(answers.get(name)))]
        # That key is of the round before the next. One more: the insert that begins a round may have failed while
        # others of that round did not.
        return max((int(key) - KEY_STEP + 1 for key in keys), default=0)

    def _reach(self, bench: Bench) -> int:
        """Rows of each table that the SELECTs choose from."""
        rows = bench.factors.number("rows_per_table")
        data = rows * len(TABLES) * ROW_BYTES
        buffer, words = _buffer(bench)
        share = bench.factors.number("working_set_percent") / 100
        narrow = max(1, int(share * buffer / (len(TABLES) * ROW_BYTES)))
        is_narrow = bench.factors.text("load") == NARROW
        reach = min(rows, narrow) if is_narrow else rows
        touched = reach * len(TABLES) * ROW_BYTES
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


def _types(dialect: Dialect) -> dict[str, str]:
    text, time, letter = dialect.varchar, dialect.timestamp, dialect.char(1)
    return {
        "id": text(20), "seq": dialect.integer, "col3": text(16), "col4": text(5), "col5": text(50), "col6": text(1000),
        "col7": text(300), "col8": text(150), "col9": time, "col10": dialect.smallint, "col11": time, "col12": text(15),
        "col13": letter, "col14": letter, "col15": time,
    }  # fmt: skip


# How each column but the key is filled, of loaded rows and of inserted ones. About 350 bytes a row.
CONTENTS: dict[str, Step] = {
    "seq": {"kind": "constant", "value": SEQ},
    "col3": {"kind": "constant", "value": COL3},
    "col4": {"kind": "constant", "value": COL4},
    "col5": {"kind": "constant", "value": COL5},
    "col6": {"kind": "text", "min_length": 50, "max_length": 150},
    "col7": {"kind": "text", "min_length": 50, "max_length": 100},
    "col8": {"kind": "text", "min_length": 20, "max_length": 60},
    "col12": {"kind": "text", "min_length": 15},
    "col13": {"kind": "choice", "values": ["Y", "N"]},
    "col14": {"kind": "constant", "value": COL14},
}


def _key(**more: int) -> Step:
    return {"prefix": KEY_PREFIX, "width": KEY_WIDTH, "step": KEY_STEP, **more}


# What is loaded, inserted and selected


def _table(dialect: Dialect, table: str, rows: int) -> Step:
    columns = {
        "id": {"kind": "numbered_text", **_key(start=KEY_STEP)},
        **CONTENTS,
        "col9": {"kind": "timestamp", "start": "2010-01-01 00:00:00", "step_s": 1},
        "col11": {"kind": "timestamp", "start": "2010-01-01 00:00:00", "step_s": 1},
    }
    types = _types(dialect)
    inserted = {name: types[name] for name in INSERTED}
    return steps.filled(dialect, table, inserted, rows=rows, columns=[columns[name] for name in inserted])


def _insert(table: str, rows: int, first_round: int) -> Step:
    """One row whose key falls between two loaded ones, in no order; a round gives each slot one key."""
    scattered = _key(slots=rows, multiplier=_multiplier(rows), start=first_round * rows)
    drawn = {
        "id": {"kind": "scattered_text", **scattered},
        **CONTENTS,
        "col9": {"kind": "timestamp"},
        "col11": {"kind": "timestamp"},
    }
    variables = [{"name": name, **drawn[name]} for name in INSERTED]
    statement = {"sql": steps.insert(table, INSERTED), "bind": list(INSERTED), "expect_rows": 1}
    return {"name": "insert", "weight": 1, "variables": variables, "statements": [statement]}


def _multiplier(slots: int) -> int:
    """About the golden section of the slots, and without a common divisor: keys in a row land far apart."""
    candidate = max(1, int(slots * 0.618))
    while gcd(candidate, slots) != 1:
        candidate += 1
    return candidate


def _select(table: str, reach: int) -> Step:
    """Select three rows, each drawn for itself: by primary key, by the unique index, by the secondary one."""
    names = ("by_primary", "by_unique", "by_secondary")
    variables = [{"name": name, "kind": "numbered_text", **_key(min=1, max=reach)} for name in names]
    variables += [{"name": name, **CONTENTS[name]} for name in ("seq", "col3", "col4", "col5", "col14")]
    columns = ", ".join(COLUMNS)
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
