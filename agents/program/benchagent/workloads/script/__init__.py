"""A mix of transactions of one's own: schema, data, transactions and checks out of a text (docs/use/script.md)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation
from typing import Any

from benchagent.dbms import probes
from benchagent.dbms.base import first_value
from benchagent.dbms.dialect import Dialect
from benchagent.dbms.probes import Step
from benchagent.protocol import Check
from benchagent.workloads import steps
from benchagent.workloads.base import Bench, Factors, SessionResult, Workload, load_and_run
from benchagent.workloads.script.model import Drawn, Question, Script, Transaction
from benchagent.workloads.script.parse import parse
from benchagent.workloads.script.sql import RETURNS_ROWS

BEFORE, AFTER = "before:", "after:"
BYTES_MINIMUM = 600_000_000  # transaction logs grow whatever the script does
# So many times the bytes of the loaded values may be needed: for indexes, row headers and the log of the load.
SPACE_FACTOR = 5
NUMBER_BYTES = 8


class SqlScript(Workload):
    slug = "script"
    data_factors = ("script_text",)
    foreign_sql = True

    def factors(self, given: Mapping[str, int | float | str], dbms: str = "") -> Factors:
        """Raises `JobError` also for a script that cannot be read, so that nothing is started for it."""
        factors = super().factors(given, dbms)
        parse(factors.text("script_text"))
        return factors

    def perform(self, bench: Bench) -> None:
        script = parse(bench.factors.text("script_text"))
        growing = [question for question in script.questions if question.expected.value is None]
        used = [statement.sql for transaction in script.transactions for statement in transaction.statements]
        run = [
            {"op": "prepare_all", "phase": "prepare", "statements": used},
            steps.run(bench.factors, bench.seed, [program_of(transaction) for transaction in script.transactions]),
            *_questions(AFTER, script.questions),
        ]
        dialect, each = bench.instance.dialect, bench.instance.guest_settles
        of_guest = replace(dialect, after_load_each=dialect.after_load_each if each else (), after_load=())
        of_agent = replace(dialect, after_load_each=() if each else dialect.after_load_each)
        load = as_guest(prepare_steps(script, of_guest, bench.seed))
        load += steps.settle(of_agent, [load.table for load in script.loads])
        result = load_and_run(bench, load, as_guest(run), before=as_guest(_questions(BEFORE, growing)))
        for question in script.questions:
            bench.check(judged(question, result))

    def tables(self, factors: Factors) -> Sequence[str]:
        return [load.table for load in parse(factors.text("script_text")).loads]

    def foreign_text(self, factors: Factors) -> str:
        return factors.text("script_text")

    def reading(self, factors: Factors) -> frozenset[str]:
        transactions = parse(factors.text("script_text")).transactions
        return frozenset(
            transaction.name
            for transaction in transactions
            if {statement.verb for statement in transaction.statements} <= RETURNS_ROWS
        )

    def loaded(self, factors: Factors) -> dict[str, Any]:
        text = factors.text("script_text")
        rows = {load.table: load.rows for load in parse(text).loads}
        return {"script_sha256": hashlib.sha256(text.encode()).hexdigest(), "rows": rows}

    def disk_bytes(self, factors: Factors) -> int:
        """What the script's own statements insert is not known."""
        loads = parse(factors.text("script_text")).loads
        return BYTES_MINIMUM + SPACE_FACTOR * sum(load.rows * sum(map(_bytes, load.columns.values())) for load in loads)


WORKLOAD = SqlScript()


def _bytes(column: Drawn) -> int:
    """The bytes of one value, at most."""
    if column["kind"] == "text":
        return int(column.get("length", column.get("max_length", 0)))
    if column["kind"] == "numbered_text":
        return len(column["prefix"]) + max(int(column["width"]), NUMBER_BYTES)
    if column["kind"] == "choice":
        return max(len(str(value)) for value in column["values"])
    return len(str(column["value"])) if column["kind"] == "constant" else NUMBER_BYTES


def as_guest(steps: Sequence[Step]) -> list[Step]:
    return [{**step, "guest": True} for step in steps]


def prepare_steps(script: Script, dialect: Dialect, seed: int) -> list[Step]:
    tables: list[Step] = [
        {
            "name": load.table,
            "insert": steps.insert(load.table, load.columns),
            "rows": load.rows,
            "columns": list(load.columns.values()),
        }
        for load in script.loads
    ]
    names = [load.table for load in script.loads]
    return steps.prepare(dialect, names, create=script.setup, load=steps.load(tables, seed=seed), index=script.index)


def _questions(prefix: str, questions: Sequence[Question]) -> list[Step]:
    return probes.steps(prefix, {question.name: question.sql for question in questions})


def program_of(transaction: Transaction) -> Step:
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


def judged(question: Question, result: SessionResult) -> Check:
    """Compares numbers as numbers, everything else as text."""
    answer, expected = first_value(result.rows.get(AFTER + question.name)), question.expected
    name = f"script_{question.name}"
    if expected.value is not None:
        same = str(answer) == expected.value or _number(answer) == _number(expected.value)
        if answer is None:
            same = expected.value.lower() == "null"
        return {"name": name, "ok": same, "detail": f"{question.name}: {answer}, expected {expected.value}"}
    before = _number(first_value(result.rows.get(BEFORE + question.name)))
    after, growth = _number(answer), expected.growth
    if expected.committed is not None and result.summary is not None:  # in warm-up, measured window and tail
        counts = result.summary["per_type"].get(expected.committed, {}) if expected.committed else result.summary
        growth += int(counts.get("committed", 0))
    words = f"{question.name}: {before} before the run, {after} after it, expected to grow by {growth}"
    return {"name": name, "ok": after - before == growth, "detail": words}


def _number(value: Any) -> Decimal:
    """No rows and NULL, as the sum over no rows, are 0; what is no finite number is NaN, which equals nothing."""
    try:
        number = Decimal(str(0 if value is None else value))
    except InvalidOperation:
        return Decimal("NaN")
    return number if number.is_finite() else Decimal("NaN")
