"""Finds the statements in a section of SQL, and the variables in a statement, past quotes and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator

from benchagent.workloads.script.model import ScriptError, Statement

# A quote that is doubled inside is two quotes side by side. What has no end is only its begin.
TOKEN = re.compile(
    r"""
    (?P<passed> '[^']*' | "[^"]*" | `[^`]*` | /\*.*?\*/ | (?P<tag>(?<![\w$])\$(?:[A-Za-z_]\w*)?\$).*?(?P=tag) | :: )
    | (?P<left_open> ['"`] | /\* | (?<![\w$])\$(?:[A-Za-z_]\w*)?\$ )
    | (?P<comment> --[^\n]* )
    | (?P<end> ; )
    | (?P<mark> \? )
    | (?<!\w):(?P<variable> [A-Za-z_]\w* )
    """,
    re.DOTALL | re.VERBOSE,
)
WORD = re.compile(r"[A-Za-z_]\w*|[()]")
RETURNS_ROWS = frozenset({"SELECT", "VALUES", "SHOW", "EXPLAIN", "TABLE", "PRAGMA", "DESCRIBE"})
CHANGES_ROWS = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE"})
# Would begin or end a transaction.
CONTROL = frozenset({"BEGIN", "START", "COMMIT", "ROLLBACK", "END", "ABORT", "SAVEPOINT", "RELEASE"})


def statements(text: str, first_line: int, *, variables: bool) -> Iterator[Statement]:
    """Each ends with a semicolon. `first_line`: the line of the script with which `text` begins.

    `variables`: ``:name`` is one; otherwise it is SQL like any other. Raises `ScriptError` for a quote that is not
    closed, a ``?`` beside variables, and a last statement without its semicolon.
    """
    parts: list[str] = []
    words: list[str] = []
    binds: list[str] = []
    done = start = 0
    for token in TOKEN.finditer(text):
        between, done = text[done : token.start()], token.end()
        parts.append(between)
        words += WORD.findall(between)
        match token.lastgroup:
            case "end":
                sql, line = "".join(parts).strip(), _line_of(text, start, token.start(), first_line)
                if not sql:
                    raise ScriptError(line, "a semicolon without a statement before it")
                yield _statement(sql, words, binds, line)
                parts, words, binds, start = [], [], [], done
            case "left_open":
                raise ScriptError(_at(text, token.start(), first_line), f"{token[0]} is not closed")
            case "mark" if variables:
                raise ScriptError(_at(text, token.start(), first_line), "a variable is written :name, not ?")
            case "variable" if variables:
                parts.append("?")
                binds.append(token["variable"])
            case "passed" | "mark" | "variable":
                parts.append(token[0])
    if sql := "".join([*parts, text[done:]]).strip():
        line = _line_of(text, start, len(text), first_line)
        raise ScriptError(line, f"the statement has no semicolon at its end: {shortened(sql)}")


def _statement(sql: str, words: list[str], binds: list[str], line: int) -> Statement:
    """`words`: those outside of quotes and comments, and parentheses."""
    verb = next((word.upper() for word in words if word not in "()"), "")
    if not verb:
        raise ScriptError(line, f"not a statement: {shortened(sql)}")
    outer = list(_outer(words))
    does = verb if verb != "WITH" else next((word for word in outer if word in RETURNS_ROWS | CHANGES_ROWS), "")
    return Statement(sql, tuple(binds), does in RETURNS_ROWS or "RETURNING" in outer, verb, line)


def _at(text: str, position: int, first_line: int) -> int:
    return first_line + text.count("\n", 0, position)


def _line_of(text: str, start: int, end: int, first_line: int) -> int:
    """The line of the first character from `start` that is not blank."""
    blanks = end - start - len(text[start:end].lstrip())
    return _at(text, start + blanks, first_line)


def shortened(sql: str) -> str:
    line = " ".join(sql.split())
    return line if len(line) <= 60 else line[:59] + "…"


def _outer(words: list[str]) -> Iterator[str]:
    """The words outside of parentheses, in capitals."""
    depth = 0
    for word in words:
        if word == "(":
            depth += 1
        elif word == ")":
            depth -= 1
        elif depth <= 0:
            yield word.upper()
