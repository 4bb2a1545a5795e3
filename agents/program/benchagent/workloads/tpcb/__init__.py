"""TPC-B profile with the tables, statements and uniform random variables of pgbench's built-in script.

Afterwards the balances must add up: accounts, tellers, branches and the deltas in the history give the same sum,
and the history holds one row per transaction that was reported as committed.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from benchagent.dbms import probes
from benchagent.dbms.base import first_value
from benchagent.dbms.counters import QueryRows
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.probes import Step
from benchagent.workloads import steps
from benchagent.workloads.base import Bench, Factors, Workload, is_used, load_and_run

TELLERS, ACCOUNTS = 10, 100_000  # per branch (scale factor 1)
MAX_DELTA = 5_000
KEYS = {"branches": "bid", "tellers": "tid", "accounts": "aid"}

BALANCES = {
    "accounts": "SELECT SUM(CAST(abalance AS DECIMAL(18))) FROM accounts",
    "tellers": "SELECT SUM(CAST(tbalance AS DECIMAL(18))) FROM tellers",
    "branches": "SELECT SUM(CAST(bbalance AS DECIMAL(18))) FROM branches",
    "history": "SELECT SUM(CAST(delta AS DECIMAL(18))) FROM history",
}
HISTORY_ROWS = "history_rows"
HISTORY = {HISTORY_ROWS: "SELECT COUNT(*) FROM history"}
BEFORE = "before:"


class Tpcb(Workload):
    slug = "tpcb"

    data_factors = ("scale_factor",)

    def perform(self, bench: Bench) -> None:
        scale = bench.factors.number("scale_factor")
        # Data that were used before hold the history of earlier runs.
        before = probes.steps(BEFORE, HISTORY) if is_used(bench) else []
        run = [run_step(bench.factors, bench.seed), *probes.steps("", {**BALANCES, **HISTORY})]
        result = load_and_run(bench, _prepare(bench.instance.dialect, scale), run, before=before)
        sums = {name: _number(result.rows, name) for name in BALANCES}
        listed = ", ".join(f"{name} {value}" for name, value in sums.items())
        ok = len(set(sums.values())) == 1
        detail = f"balances {'add' if ok else 'do not add'} up: {listed}"
        bench.check({"name": "balances", "ok": ok, "detail": detail})
        if result.summary is not None:
            grown = _number(result.rows, HISTORY_ROWS) - _number(result.rows, BEFORE + HISTORY_ROWS)
            ended = ("warm_up_transactions", "transactions", "tail_transactions")
            warm_up, measured, tail = (int(result.summary[name]) for name in ended)
            committed = warm_up + measured + tail
            words = f"history grew by {grown} rows, the load generator committed {committed} transactions"
            detail = f"{words} (warm-up {warm_up}, measured {measured}, tail {tail})"
            bench.check({"name": "history_rows", "ok": grown == committed, "detail": detail})

    def tables(self, factors: Factors) -> Sequence[str]:
        return (*KEYS, "history")

    def loaded(self, factors: Factors) -> dict[str, Any]:
        scale = factors.number("scale_factor")
        rows = {table: scale * per_branch for table, (per_branch, _) in _filled().items()}
        return {"scale_factor": scale, "rows": {**rows, "history": 0}}

    def disk_bytes(self, factors: Factors) -> int:
        return factors.needed_bytes(self.slug)


WORKLOAD = Tpcb()


def _of_branches(size: int) -> Step:
    return {"kind": "group", "size": size, "start": 1}


def _filler(length: int) -> Step:
    """Blanks in full length: SQLite does not pad, and rows should be as long everywhere."""
    return {"kind": "text", "length": length, "fill": " "}


def _filled() -> dict[str, tuple[int, dict[str, Step]]]:
    """The tables that are filled: rows of a branch, and what goes into each column."""
    number: Step = {"kind": "sequence", "start": 1, "step": 1}
    zero: Step = {"kind": "constant", "value": 0}
    return {
        "branches": (1, {"bid": number, "bbalance": zero, "filler": _filler(88)}),
        "tellers": (TELLERS, {"tid": number, "bid": _of_branches(TELLERS), "tbalance": zero, "filler": _filler(84)}),
        "accounts": (ACCOUNTS, {"aid": number, "bid": _of_branches(ACCOUNTS), "abalance": zero, "filler": _filler(84)}),
    }


def _prepare(dialect: Dialect, scale: int) -> list[Step]:
    integer, char = dialect.integer, dialect.char
    types = {
        table: {name: char(step["length"]) if "length" in step else integer for name, step in columns.items()}
        for table, (_, columns) in _filled().items()
    }
    history = dict.fromkeys(("tid", "bid", "aid", "delta"), integer) | {"mtime": dialect.timestamp, "filler": char(22)}
    create = []
    for table, columns in {**types, "history": history}.items():
        key = [KEYS[table]] if table in KEYS else []
        written = [f"{name} {kind}{' NOT NULL' if name in key else ''}" for name, kind in columns.items()]
        create.append(dialect.table(table, written, key))
    tables = [
        steps.filled(dialect, table, types[table], rows=scale * per_branch, columns=list(columns.values()))
        for table, (per_branch, columns) in _filled().items()
    ]
    keys = [dialect.primary_key(table, [key]) for table, key in KEYS.items()]
    return steps.prepare(dialect, (*KEYS, "history"), create=create, load=steps.load(tables), index=keys)


def run_step(factors: Factors, seed: int) -> Step:
    scale = factors.number("scale_factor")

    def uniform(name: str, low: int, high: int) -> Step:
        return {"name": name, "kind": "uniform", "min": low, "max": high}

    def update(sql: str, key: str) -> Step:
        return {"sql": sql, "bind": ["delta", key], "expect_rows": 1}

    variables = [
        uniform("aid", 1, scale * ACCOUNTS),
        uniform("bid", 1, scale),
        uniform("tid", 1, scale * TELLERS),
        uniform("delta", -MAX_DELTA, MAX_DELTA),
    ]
    statements = [
        update("UPDATE accounts SET abalance = abalance + ? WHERE aid = ?", "aid"),
        {"sql": "SELECT abalance FROM accounts WHERE aid = ?", "bind": ["aid"], "fetch": True, "expect_rows": 1},
        update("UPDATE tellers SET tbalance = tbalance + ? WHERE tid = ?", "tid"),
        update("UPDATE branches SET bbalance = bbalance + ? WHERE bid = ?", "bid"),
        {
            "sql": "INSERT INTO history (tid, bid, aid, delta, mtime) VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP)",
            "bind": ["tid", "bid", "aid", "delta"],
            "expect_rows": 1,
        },
    ]
    return steps.run(factors, seed, [{"name": "tpcb", "weight": 1, "variables": variables, "statements": statements}])


def _number(rows: QueryRows, name: str) -> int:
    value = first_value(rows.get(name))
    return 0 if value is None else int(Decimal(value))  # SUM over no rows is NULL
