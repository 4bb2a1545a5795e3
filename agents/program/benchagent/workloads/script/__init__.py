"""A mix of transactions of one's own: schema, data, transactions and checks out of a text (docs/use/script.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any

from benchagent.catalog import WORKLOADS
from benchagent.dbms.base import first_value
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.questions import Step, query_steps
from benchagent.protocol import Check
from benchagent.workloads.base import Bench, Factors, SessionResult, Workload, load_and_run, rate
from benchagent.workloads.script.model import Drawn, Load, Question, Script, Transaction
from benchagent.workloads.script.parse import parse
from benchagent.workloads.script.sql import RETURNS_ROWS

BATCH_ROWS, COMMIT_ROWS = 1_000, 10_000
BEFORE, AFTER = "before:", "after:"
BYTES_MINIMUM = 600_000_000  # transaction logs grow whatever the script does
# Of the values that are loaded: what indexes, row headers and the log of the load may take beside them.
SPACE_FACTOR = 5
NUMBER_BYTES = 8


class SqlScript(Workload):
    slug = "script"
    data_factors = ("script_text",)

    def factors(self, given: Mapping[str, int | float | str], dbms: str = "") -> Factors:
        """Raises `JobError` also for a script that cannot be read, so that nothing is started for it."""
        found = super().factors(given, dbms)
        parse(found.text("script_text"))
        return found

    def perform(self, bench: Bench) -> None:
        script = parse(bench.factors.text("script_text"))
        growing = [question for question in script.questions if question.expected.value is None]
        run = [
            {"op": "prepare_all", "phase": "prepare", "statements": _all_sql(script)},
            _run(script, bench.factors, bench.seed),
            *_questions(AFTER, script.questions),
        ]
        prepare = _prepare(script, bench.instance.dialect, bench.seed)
        found = load_and_run(bench, prepare, run, before=_questions(BEFORE, growing))
        for question in script.questions:
            bench.check(judged(question, found))

    def tables(self, factors: Factors) -> Sequence[str]:
        return [load.table for load in parse(factors.text("script_text")).loads]

    def reading(self, factors: Factors) -> frozenset[str]:
        transactions = parse(factors.text("script_text")).transactions
        return frozenset(one.name for one in transactions if {each.verb for each in one.statements} <= RETURNS_ROWS)

    def dataset(self, factors: Factors, seed: int) -> dict[str, Any]:
        text = factors.text("script_text")
        return {
            "generator": "script",
            "generator_version": WORKLOADS[self.slug].version,
            "script_sha256": hashlib.sha256(text.encode()).hexdigest(),
            "seed": seed,
            "rows": {load.table: load.rows for load in parse(text).loads},
        }

    def disk_bytes(self, factors: Factors) -> int:
        """What the script's own statements insert is not known."""
        loads = parse(factors.text("script_text")).loads
        return BYTES_MINIMUM + SPACE_FACTOR * sum(load.rows * _row_bytes(load) for load in loads)


WORKLOAD = SqlScript()


def _row_bytes(load: Load) -> int:
    return sum(_bytes(column) for column in load.columns.values())


def _bytes(column: Drawn) -> int:
    """Of one value, at most."""
    if column["kind"] == "text":
        return int(column.get("length", column.get("max_length", 0)))
    if column["kind"] == "numbered_text":
        return len(column["prefix"]) + max(int(column["width"]), NUMBER_BYTES)
    if column["kind"] == "choice":
        return max(len(str(value)) for value in column["values"])
    return len(str(column["value"])) if column["kind"] == "constant" else NUMBER_BYTES


def _prepare(script: Script, dialect: Dialect, seed: int) -> list[Step]:
    tables = [load.table for load in script.loads]
    settle = [sql.format(table=table) for table in tables for sql in dialect.after_load_each]
    found: list[Step] = []
    if script.setup:
        found.append({"op": "execute", "phase": "create", "statements": script.setup})
    if script.loads:
        load = {"op": "load", "phase": "load", "batch": BATCH_ROWS, "commit_every": COMMIT_ROWS, "seed": seed}
        found.append({**load, "tables": [_table(load) for load in script.loads]})
    if script.index:
        found.append({"op": "execute", "phase": "index", "statements": script.index})
    if settle or dialect.after_load:
        found.append({"op": "execute", "phase": "settle", "statements": [*settle, *dialect.after_load]})
    return found


def _table(load: Load) -> Step:
    names = ", ".join(load.columns)
    insert = f"INSERT INTO {load.table} ({names}) VALUES ({', '.join('?' * len(load.columns))})"  # noqa: S608
    return {"name": load.table, "insert": insert, "rows": load.rows, "columns": list(load.columns.values())}


def _all_sql(script: Script) -> list[str]:
    return [statement.sql for transaction in script.transactions for statement in transaction.statements]


def _questions(prefix: str, questions: Sequence[Question]) -> list[Step]:
    return query_steps(prefix, {question.name: question.sql for question in questions})


def _run(script: Script, factors: Factors, seed: int) -> Step:
    return {
        "op": "run",
        "phase": "run",
        "terminals": factors.number("terminals"),
        "warm_up_s": factors.number("warm_up_s"),
        "duration_s": factors.number("duration_s"),
        "seed": seed,
        **rate(factors),
        "transactions": [_program(transaction) for transaction in script.transactions],
    }


def _program(transaction: Transaction) -> Step:
    return {
        "name": transaction.name,
        "weight": transaction.weight,
        "variables": [{"name": name, **drawn} for name, drawn in transaction.variables.items()],
        "statements": [
            {
                "sql": statement.sql,
                "bind": list(statement.binds),
                "fetch": statement.fetch,
                **({} if statement.rows is None else {"expect_rows": statement.rows}),
            }
            for statement in transaction.statements
        ],
    }


def judged(question: Question, found: SessionResult) -> Check:
    """Compares numbers as numbers, everything else as text."""
    answer, expected = first_value(found.rows.get(AFTER + question.name)), question.expected
    name = f"script_{question.name}"
    if expected.value is not None:
        same = _same(answer, expected.value)
        return {"name": name, "ok": same, "detail": f"{question.name}: {answer}, expected {expected.value}"}
    before = _number(first_value(found.rows.get(BEFORE + question.name)))
    after, growth = _number(answer), expected.growth + _commits(expected.committed, found)
    words = f"{question.name}: {before} before the run, {after} after it, expected to grow by {growth}"
    return {"name": name, "ok": after - before == growth, "detail": words}


def _commits(transaction: str | None, found: SessionResult) -> int:
    """Of the whole run: warm-up, measured window and tail."""
    if transaction is None or found.summary is None:
        return 0
    if transaction:
        return int(found.summary["per_type"].get(transaction, {}).get("committed", 0))
    return int(found.summary["committed"])


def _number(value: Any) -> Decimal:
    """No rows and NULL, as the sum over no rows, are 0; what is no finite number is NaN, which equals nothing."""
    try:
        number = Decimal(str(0 if value is None else value))
    except InvalidOperation:
        return Decimal("NaN")
    return number if number.is_finite() else Decimal("NaN")


def _same(answer: Any, expected: str) -> bool:
    if answer is None:
        return expected.lower() == "null"
    number = _number(expected)
    return str(answer) == expected or _number(answer) == number
