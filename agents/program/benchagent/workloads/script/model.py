"""What a script says, once it has been read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from benchagent.dbms.base import JobError

Drawn = Mapping[str, Any]


class ScriptError(JobError):
    """What is wrong with a script, and in which of its lines (from 1)."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"script, line {line}: {reason}")
        self.line = line


@dataclass(frozen=True)
class Statement:
    """SQL with ``?`` for each of `binds`, in order. `fetch`: it returns rows. `verb`: its first word, in capitals.

    `rows`: how many it must touch or return, None: any number.
    """

    sql: str
    binds: Sequence[str]
    fetch: bool
    verb: str
    line: int
    rows: int | None = None


@dataclass(frozen=True)
class Transaction:
    """`variables`: the load generator's definitions by name."""

    name: str
    weight: int
    variables: Mapping[str, Drawn]
    statements: Sequence[Statement]


@dataclass(frozen=True)
class Load:
    """`columns`: the load generator's definitions by the column's name."""

    table: str
    rows: int
    columns: Mapping[str, Drawn]


@dataclass(frozen=True)
class Expectation:
    """`value`: the first value of the answer. Otherwise it has to grow in the run by `growth` plus the commits.

    `committed`: of this transaction; empty: of all; None: no commits are added.
    """

    value: str | None = None
    growth: Decimal = Decimal(0)
    committed: str | None = None


@dataclass(frozen=True)
class Question:
    """A query after the run whose answer has to be as expected."""

    name: str
    sql: str
    expected: Expectation


@dataclass(frozen=True)
class Script:
    setup: Sequence[str]
    loads: Sequence[Load]
    index: Sequence[str]
    transactions: Sequence[Transaction]
    questions: Sequence[Question]
