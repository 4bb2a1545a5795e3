"""Reads a script. The format is described in docs/use/script.md."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from itertools import islice

from benchagent.workloads.script.model import (
    Drawn,
    Expectation,
    Load,
    Question,
    Script,
    ScriptError,
    Statement,
    Transaction,
)
from benchagent.workloads.script.sql import CONTROL, shortened, statements
from benchagent.workloads.script.values import ValueProblem, column, variable

NAME = r"[A-Za-z_]\w{0,62}"
SECTIONS = {
    "setup": re.compile(r"setup"),
    "load": re.compile(rf"load\s+(?P<table>{NAME}(?:\.{NAME})?)\s+(?P<rows>\d{{1,13}})"),
    "index": re.compile(r"index"),
    "transaction": re.compile(rf"transaction\s+(?P<name>{NAME})(?:\s+weight\s+(?P<weight>\d{{1,7}}))?"),
    "check": re.compile(rf"check\s+(?P<name>{NAME})"),
}
FORMS = "[setup], [load TABLE ROWS], [index], [transaction NAME], [transaction NAME weight N] or [check NAME]"
SET = re.compile(rf"\\set\s+({NAME})\s+(\S.*)")
ROWS = re.compile(r"\\rows\s+(\d{1,9})")
COLUMN = re.compile(rf"({NAME})\s*=\s*(\S.*)")
COMMITTED = re.compile(rf"committed(?:\(\s*({NAME})\s*\))?")
MOST_ROWS = 10**12
MOST_WEIGHT = 1_000_000
MOST_SECTIONS = 200
MOST_STATEMENTS = 1_000


@dataclass(frozen=True)
class _Section:
    kind: str
    parts: dict[str, str | None]
    line: int
    lines: list[tuple[int, str]] = field(default_factory=list)


def parse(text: str) -> Script:
    """Raises `ScriptError`, which names the line."""
    if not text.strip():
        raise ScriptError(1, f"the script is empty; a section begins with {FORMS}")
    if "\0" in text:
        raise ScriptError(text.count("\n", 0, text.index("\0")) + 1, "a NUL is no part of any text")
    sections = _sections(text)
    transactions = [_transaction(section) for section in sections if section.kind == "transaction"]
    names = [transaction.name for transaction in transactions]
    script = Script(
        setup=[sql for section in sections if section.kind == "setup" for sql in _plain(section)],
        loads=[_load(section) for section in sections if section.kind == "load"],
        index=[sql for section in sections if section.kind == "index" for sql in _plain(section)],
        transactions=transactions,
        questions=[_question(section, names) for section in sections if section.kind == "check"],
    )
    if not sum(transaction.weight for transaction in transactions):
        raise ScriptError(text.count("\n") + 1, "there is no [transaction NAME] with a weight above 0")
    return script


def _sections(text: str) -> list[_Section]:
    sections: list[_Section] = []
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), start=1):
        if line.startswith("["):
            sections.append(_section(line.strip(), number))
        elif sections:
            sections[-1].lines.append((number, line.rstrip("\r")))
        elif line.strip() and not line.lstrip().startswith("--"):
            raise ScriptError(number, f"nothing may stand before the first section, which begins with {FORMS}")
    if len(sections) > MOST_SECTIONS:
        raise ScriptError(sections[MOST_SECTIONS].line, f"there are more than {MOST_SECTIONS} sections")
    names: set[tuple[str, str]] = set()
    for section in sections:
        name = section.parts.get("name") or section.parts.get("table")
        if name is not None and (section.kind, name.lower()) in names:
            raise ScriptError(section.line, f"there are two sections [{section.kind} {name}]")
        names.add((section.kind, (name or "").lower()))
    return sections


def _section(line: str, number: int) -> _Section:
    for kind, pattern in SECTIONS.items():
        match = pattern.fullmatch(line[1:-1].strip()) if line.endswith("]") else None
        if match:
            return _Section(kind, match.groupdict(), number)
    raise ScriptError(number, f"not a section: {line[:60]}; a line that begins with [ is {FORMS}")


def _plain(section: _Section) -> list[str]:
    """Statements that are run as they are."""
    text = "\n".join(line for _, line in section.lines)
    return [statement.sql for statement in statements(text, section.line + 1, variables=False)]


def _drawn(line: int, read: Callable[[str], Drawn], text: str) -> Drawn:
    try:
        return read(text)
    except ValueProblem as problem:
        raise ScriptError(line, str(problem)) from None


def _load(section: _Section) -> Load:
    columns: dict[str, Drawn] = {}
    for number, line in ((number, line.strip()) for number, line in section.lines):
        if not line or line.startswith("--"):
            continue
        match = COLUMN.fullmatch(line)
        if match is None:
            raise ScriptError(number, f"not of the form column = kind(value, …): {line[:60]}")
        if match[1].lower() in (name.lower() for name in columns):
            raise ScriptError(number, f"there are two columns {match[1]}")
        columns[match[1]] = _drawn(number, column, match[2])
    table, rows = section.parts["table"] or "", int(section.parts["rows"] or 0)
    if not columns:
        raise ScriptError(section.line, f"table {table} has no columns")
    if rows > MOST_ROWS:
        raise ScriptError(section.line, f"more than {MOST_ROWS:,} rows")
    return Load(table, rows, columns)


def _transaction(section: _Section) -> Transaction:
    name, weight = section.parts["name"] or "", int(section.parts["weight"] or 1)
    if weight > MOST_WEIGHT:
        raise ScriptError(section.line, f"a weight is {MOST_WEIGHT:,} at most")
    variables: dict[str, Drawn] = {}
    body: list[Statement] = []
    for first, block, command in _blocks(section):
        # No further than it takes to refuse it: the line of each is counted from the first on.
        body += islice(statements(block, first, variables=True), MOST_STATEMENTS + 1)
        if command is not None:
            _command(*command, variables, body)
    if not body:
        raise ScriptError(section.line, f"transaction {name} has no statements")
    if len(body) > MOST_STATEMENTS:
        line, reason = body[MOST_STATEMENTS].line, f"transaction {name} has more than {MOST_STATEMENTS:,} statements"
        raise ScriptError(line, reason)
    for statement in body:
        if unset := [bound for bound in statement.binds if bound not in variables]:
            raise ScriptError(statement.line, f"variable :{unset[0]} is not set in this transaction")
        if statement.verb in CONTROL:
            reason = "begin, commit and rollback are the load generator's part: each section is one transaction"
            raise ScriptError(statement.line, f"{reason}: {shortened(statement.sql)}")
    return Transaction(name, weight, variables, body)


def _blocks(section: _Section) -> Iterator[tuple[int, str, tuple[int, str] | None]]:
    """SQL between the lines that begin with a backslash: its first line, the SQL, and the line that ended it."""
    first, lines = section.line + 1, list[str]()
    for number, line in section.lines:
        if line.lstrip().startswith("\\"):
            yield first, "\n".join(lines), (number, line.strip())
            first, lines = number + 1, []
        else:
            lines.append(line)
    yield first, "\n".join(lines), None


def _command(number: int, line: str, variables: dict[str, Drawn], body: list[Statement]) -> None:
    if match := SET.fullmatch(line):
        if match[1] in variables:
            raise ScriptError(number, f"variable {match[1]} is set twice; each is drawn once for a transaction")
        variables[match[1]] = _drawn(number, variable, match[2])
    elif match := ROWS.fullmatch(line):
        if not body:
            raise ScriptError(number, "\\rows follows the statement that it is about")
        body[-1] = replace(body[-1], rows=int(match[1]))
    else:
        raise ScriptError(number, f"neither \\set NAME kind(value, …) nor \\rows N: {line[:60]}")


def _question(section: _Section, transactions: Sequence[str]) -> Question:
    expected = [(number, line) for number, line in section.lines if line.startswith(("=", "+"))]
    text = "\n".join("" if line.startswith(("=", "+")) else line for _, line in section.lines)
    queries = list(statements(text, section.line + 1, variables=False))
    name = section.parts["name"] or ""
    if len(queries) != 1 or not queries[0].fetch:
        raise ScriptError(section.line, f"check {name} has to be one query")
    if len(expected) != 1:
        raise ScriptError(section.line, f"check {name} needs one line that begins with = or +: what is expected")
    return Question(name, queries[0].sql, _expectation(*expected[0], transactions))


def _expectation(number: int, line: str, transactions: Sequence[str]) -> Expectation:
    text = line[1:].strip()
    if not text:
        raise ScriptError(number, "what is expected is missing")
    if line.startswith("="):
        return Expectation(value=text.replace("''", "'")[1:-1] if re.fullmatch(r"'.*'", text) else text)
    if match := COMMITTED.fullmatch(text):
        if match[1] and match[1] not in transactions:
            raise ScriptError(number, f"there is no transaction {match[1]}")
        return Expectation(committed=match[1] or "")
    try:
        growth = Decimal(text)
    except InvalidOperation:
        growth = Decimal("NaN")
    if not growth.is_finite():
        raise ScriptError(number, f"neither a number nor committed(TRANSACTION): {text[:60]}")
    return Expectation(growth=growth)
