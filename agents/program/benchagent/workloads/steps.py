"""Steps of the load generator, as workloads ask for them (docs/extend/load-generator.md)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from benchagent.dbms.dialect import Dialect
from benchagent.dbms.probes import Step
from benchagent.workloads.base import Factors

# Asked for in one statement; how many fit is the dialect's to say.
MOST_ROWS = 64


def run(factors: Factors, seed: int, transactions: Sequence[Step]) -> Step:
    """The measured run of these transactions: a closed loop, unless a fixed rate was asked for."""
    timing: Step = {name: factors.number(name) for name in ("terminals", "warm_up_s", "duration_s")}
    if rate_per_s := factors.decimal("rate_per_s"):
        timing |= {"rate_per_s": rate_per_s, "arrivals": factors.text("arrivals")}
    return {"op": "run", "phase": "run", "seed": seed, **timing, "transactions": list(transactions)}


def load(tables: Sequence[Step], *, batch: int = 1_000, commit_every: int = 10_000, **more: Any) -> Step:
    return {"op": "load", "phase": "load", "batch": batch, "commit_every": commit_every, **more, "tables": list(tables)}


def execute(phase: str, statements: Sequence[str]) -> list[Step]:
    """No step where there is no statement."""
    return [{"op": "execute", "phase": phase, "statements": list(statements)}] if statements else []


def prepare(
    dialect: Dialect, tables: Sequence[str], *, create: Sequence[str], load: Step, index: Sequence[str] = ()
) -> list[Step]:
    """Create, load, build indexes, and do what an engine wants done then, as gathering its statistics.

    A `load` without tables is left out, and so are the empty texts in `index` of keys that had to be given at once.
    """
    return [
        *execute("create", create),
        *([load] if load["tables"] else []),
        *execute("index", [sql for sql in index if sql]),
        *settle(dialect, tables),
    ]


def settle(dialect: Dialect, tables: Sequence[str]) -> list[Step]:
    each = [sql.format(table=table) for table in tables for sql in dialect.after_load_each]
    return execute("settle", [*each, *dialect.after_load])


def insert(table: str, columns: Collection[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608


def filled(dialect: Dialect, table: str, types: Mapping[str, str], **more: Any) -> Step:
    """A table of a ``load`` step. `types`: of the columns that are inserted, by name and in their order.

    Several rows go into one statement where the dialect wants that.
    """
    step = {"name": table, "insert": insert(table, types), **more}
    for rows in range(MOST_ROWS, 1, -1):
        if sql := dialect.insert_many(table, list(types), list(types.values()), rows):
            return {**step, "many": {"insert": sql, "rows": rows}}
    return step
