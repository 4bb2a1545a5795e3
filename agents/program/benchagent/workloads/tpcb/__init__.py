"""TPC-B profile with the tables, statements and uniform random variables of pgbench's built-in script.

Afterwards the balances must add up: accounts, tellers, branches and the deltas in the history give the same sum,
and the history holds one row per transaction that was reported as committed.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from benchagent.catalog import WORKLOADS
from benchagent.dbms.base import Dialect, QueryRows, first_value
from benchagent.protocol import Check
from benchagent.workloads.base import Factors, Step, Steps, Workload

TELLERS, ACCOUNTS = 10, 100_000  # per branch (scale factor 1)
MAX_DELTA = 5_000
BYTES_PER_BRANCH = 60_000_000  # PostgreSQL takes 15 MB; engines that log the load take several times that
BYTES_MINIMUM = 600_000_000  # transaction logs grow whatever the scale is
KEYS = {"branches": "bid", "tellers": "tid", "accounts": "aid"}
BATCH_ROWS, COMMIT_ROWS = 1_000, 10_000

BALANCES = {
    "accounts": "SELECT SUM(CAST(abalance AS BIGINT)) FROM accounts",
    "tellers": "SELECT SUM(CAST(tbalance AS BIGINT)) FROM tellers",
    "branches": "SELECT SUM(CAST(bbalance AS BIGINT)) FROM branches",
    "history": "SELECT SUM(CAST(delta AS BIGINT)) FROM history",
}
HISTORY_ROWS = "history_rows"


class Tpcb(Workload):
    slug = "tpcb"

    def steps(self, dialect: Dialect, factors: Factors, seed: int) -> Steps:
        scale = factors["scale_factor"]
        prepare: list[Step] = [
            {"op": "execute", "phase": "create", "statements": _create(dialect)},
            {
                "op": "load",
                "phase": "load",
                "batch": BATCH_ROWS,
                "commit_every": COMMIT_ROWS,
                "tables": [_branches(scale), _tellers(scale), _accounts(scale)],
            },
        ]
        if dialect.primary_key_afterwards:
            statements = [
                f"ALTER TABLE {table} ADD CONSTRAINT {table}_pk PRIMARY KEY ({key})" for table, key in KEYS.items()
            ]
            prepare.append({"op": "execute", "phase": "index", "statements": statements})
        settle = [sql.format(table=table) for table in (*KEYS, "history") for sql in dialect.after_load_each] + list(
            dialect.after_load
        )
        if settle:
            prepare.append({"op": "execute", "phase": "settle", "statements": settle})
        queries = {**BALANCES, HISTORY_ROWS: "SELECT COUNT(*) FROM history"}
        return Steps(prepare, _run(factors, seed), queries)

    def dataset(self, factors: Factors, seed: int) -> dict[str, Any]:
        scale = factors["scale_factor"]
        rows = {"branches": scale, "tellers": scale * TELLERS, "accounts": scale * ACCOUNTS, "history": 0}
        return {
            "generator": "tpcb",
            "generator_version": WORKLOADS["tpcb"].version,
            "scale_factor": scale,
            "seed": seed,
            "rows": rows,
        }

    def disk_bytes(self, factors: Factors) -> int:
        return BYTES_MINIMUM + factors["scale_factor"] * BYTES_PER_BRANCH

    def checks(self, summary: Mapping[str, Any], rows: QueryRows) -> list[Check]:
        return [_balances(rows), _history(summary, rows)]


WORKLOAD = Tpcb()


def _create(dialect: Dialect) -> list[str]:
    i, key = dialect.integer, "" if dialect.primary_key_afterwards else " PRIMARY KEY"
    columns = {
        "branches": f"bid {i} NOT NULL{key}, bbalance {i}, filler {dialect.char(88)}",
        "tellers": f"tid {i} NOT NULL{key}, bid {i}, tbalance {i}, filler {dialect.char(84)}",
        "accounts": f"aid {i} NOT NULL{key}, bid {i}, abalance {i}, filler {dialect.char(84)}",
        "history": f"tid {i}, bid {i}, aid {i}, delta {i}, mtime {dialect.timestamp}, filler {dialect.char(22)}",
    }
    return [
        f"{dialect.create_table} {table} ({listed}) {dialect.table_options}".rstrip()
        for table, listed in columns.items()
    ]


def _sequence() -> Step:
    return {"kind": "sequence", "start": 1, "step": 1}


def _group(size: int) -> Step:
    return {"kind": "group", "size": size, "start": 1}


def _zero() -> Step:
    return {"kind": "constant", "value": 0}


def _filler(length: int) -> Step:
    """Blanks in full length: SQLite does not pad, and rows should be as long everywhere."""
    return {"kind": "text", "length": length, "fill": " "}


def _branches(scale: int) -> Step:
    insert = "INSERT INTO branches (bid, bbalance, filler) VALUES (?, ?, ?)"
    return {"name": "branches", "insert": insert, "rows": scale, "columns": [_sequence(), _zero(), _filler(88)]}


def _tellers(scale: int) -> Step:
    insert = "INSERT INTO tellers (tid, bid, tbalance, filler) VALUES (?, ?, ?, ?)"
    columns = [_sequence(), _group(TELLERS), _zero(), _filler(84)]
    return {"name": "tellers", "insert": insert, "rows": scale * TELLERS, "columns": columns}


def _accounts(scale: int) -> Step:
    insert = "INSERT INTO accounts (aid, bid, abalance, filler) VALUES (?, ?, ?, ?)"
    columns = [_sequence(), _group(ACCOUNTS), _zero(), _filler(84)]
    return {"name": "accounts", "insert": insert, "rows": scale * ACCOUNTS, "columns": columns}


def _run(factors: Factors, seed: int) -> Step:
    scale = factors["scale_factor"]

    def uniform(name: str, low: int, high: int) -> Step:
        return {"name": name, "kind": "uniform", "min": low, "max": high}

    variables = [
        uniform("aid", 1, scale * ACCOUNTS),
        uniform("bid", 1, scale),
        uniform("tid", 1, scale * TELLERS),
        uniform("delta", -MAX_DELTA, MAX_DELTA),
    ]
    statements = [
        _update("UPDATE accounts SET abalance = abalance + ? WHERE aid = ?", "aid"),
        {"sql": "SELECT abalance FROM accounts WHERE aid = ?", "bind": ["aid"], "fetch": True, "expect_rows": 1},
        _update("UPDATE tellers SET tbalance = tbalance + ? WHERE tid = ?", "tid"),
        _update("UPDATE branches SET bbalance = bbalance + ? WHERE bid = ?", "bid"),
        {
            "sql": "INSERT INTO history (tid, bid, aid, delta, mtime) VALUES (?, ?, ?, ?, CURRENT_TIMESTAMP)",
            "bind": ["tid", "bid", "aid", "delta"],
            "expect_rows": 1,
        },
    ]
    return {
        "op": "run",
        "phase": "run",
        "terminals": factors["terminals"],
        "warm_up_s": factors["warm_up_s"],
        "duration_s": factors["duration_s"],
        "seed": seed,
        "transactions": [{"name": "tpcb", "weight": 1, "variables": variables, "statements": statements}],
    }


def _update(sql: str, key: str) -> Step:
    return {"sql": sql, "bind": ["delta", key], "expect_rows": 1}


def _number(rows: QueryRows, name: str) -> int:
    value = first_value(rows.get(name))
    return 0 if value is None else int(Decimal(value))  # SUM over no rows is NULL


def _balances(rows: QueryRows) -> Check:
    sums = {name: _number(rows, name) for name in BALANCES}
    listed = ", ".join(f"{name} {value}" for name, value in sums.items())
    ok = len(set(sums.values())) == 1
    return {"name": "balances", "ok": ok, "detail": f"balances {'add' if ok else 'do not add'} up: {listed}"}


def _history(summary: Mapping[str, Any], rows: QueryRows) -> Check:
    parts = [int(summary[name]) for name in ("warm_up_transactions", "transactions", "tail_transactions")]
    found = _number(rows, HISTORY_ROWS)
    words = f"history holds {found} rows, the load generator committed {sum(parts)} transactions"
    detail = f"{words} (warm-up {parts[0]}, measured {parts[1]}, tail {parts[2]})"
    return {"name": "history_rows", "ok": found == sum(parts), "detail": detail}
