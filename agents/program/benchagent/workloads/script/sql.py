"""Finds the statements in a section of SQL, and the variables in a statement, past quotes and comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from benchagent.workloads.script.model import ScriptError, Statement

# Begins of quotes and comments, by what ends them. A quote that is doubled inside is two quotes side by side.
CLOSED_BY = {"'": "'", '"': '"', "`": "`", "/*": "*/"}
TOKEN = re.compile(r"""['"`;?]|/\*|--[^\n]*|(?<![\w$])\$(?:[A-Za-z_]\w*)?\$|::|(?<!\w):[A-Za-z_]\w*""")
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
    draft = _Draft()
    done = start = 0
    for token in _tokens(text, first_line):
        draft.plain(text[done : token.begin])
        done = token.end
        if token.kind == ";":
            line = _line_of(text, start, token.begin, first_line)
            if not draft.sql:
                raise ScriptError(line, "a semicolon without a statement before it")
            yield draft.statement(line)
            draft, start = _Draft(), done
        elif token.kind == "?" and variables:
            raise ScriptError(_at(text, token.begin, first_line), "a variable is written :name, not ?")
        elif token.kind == ":" and variables:
            draft.variable(text[token.begin + 1 : token.end])
        elif token.kind != "--":
            draft.parts.append(text[token.begin : token.end])
    draft.plain(text[done:])
    if draft.sql:
        line = _line_of(text, start, len(text), first_line)
        raise ScriptError(line, f"the statement has no semicolon at its end: {shortened(draft.sql)}")


class _Draft:
    """The statement that is being read."""

    def __init__(self) -> None:
        self.parts: list[str] = []
        self._words: list[str] = []
        self._binds: list[str] = []

    @property
    def sql(self) -> str:
        return "".join(self.parts).strip()

    def plain(self, text: str) -> None:
        self.parts.append(text)
        self._words += WORD.findall(text)

    def variable(self, name: str) -> None:
        self.parts.append("?")
        self._binds.append(name)

    def statement(self, line: int) -> Statement:
        verb = next((word.upper() for word in self._words if word not in "()"), "")
        if not verb:
            raise ScriptError(line, f"not a statement: {shortened(self.sql)}")
        return Statement(self.sql, tuple(self._binds), _returns_rows(verb, list(_outer(self._words))), verb, line)


@dataclass(frozen=True)
class _Token:
    """What is not plain text. `kind`: ``;``, ``?``, ``:``, ``--``, or how a quote or comment begins."""

    kind: str
    begin: int
    end: int


def _tokens(text: str, first_line: int) -> Iterator[_Token]:
    position = 0
    while match := TOKEN.search(text, position):
        token, begin, position = match[0], match.start(), match.end()
        closing = token if token.startswith("$") else CLOSED_BY.get(token)
        if closing is not None:
            last = text.find(closing, position)
            if last < 0:
                raise ScriptError(_at(text, begin, first_line), f"{token} is not closed")
            position = last + len(closing)
            yield _Token(token, begin, position)
        elif token == "::":
            yield _Token(token, begin, position)
        else:
            yield _Token("--" if token.startswith("--") else token[0], begin, position)


def _at(text: str, position: int, first_line: int) -> int:
    return first_line + text.count("\n", 0, position)


def _line_of(text: str, start: int, end: int, first_line: int) -> int:
    """The line of the first character from `start` that is not blank."""
    blanks = end - start - len(text[start:end].lstrip())
    return _at(text, start + blanks, first_line)


def shortened(sql: str) -> str:
    line = " ".join(sql.split())
    return line if len(line) <= 60 else line[:59] + "…"


def _returns_rows(verb: str, outer: list[str]) -> bool:
    if "RETURNING" in outer:
        return True
    if verb == "WITH":
        verb = next((word for word in outer if word in RETURNS_ROWS | CHANGES_ROWS), "")
    return verb in RETURNS_ROWS


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
