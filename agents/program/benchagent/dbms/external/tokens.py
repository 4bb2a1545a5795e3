"""SQL taken apart as every engine takes it apart: what one of them could read in another way is refused.

So a backslash (an escape to some), ``#`` and ``$$`` (comments and quotes to some), comments inside of comments or with
a ``!`` (code to some), ``--`` without a blank (an expression to some) and quotes with a prefix of their own end no
statement early and hide nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from benchagent.dbms.base import JobError

TOKEN = re.compile(
    r"""
    (?P<blank>(?:[ \t\n\f]|\r\n)+ | --(?=[ \t\r\n]|\Z)[^\r\n]* | /\*(?!M?!)(?:(?!/\*|\*/).)*\*/)
    | (?P<string>'[^'\\]*')
    | (?P<quoted>"[^"\\]+" | `[^`'"\\]+`)
    | (?P<number>\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)
    | (?P<word>(?!(?i:n?q)'|(?i:u)&['"])[^\W\d][\w$]*)
    | (?P<mark>[(),.;=<>!|&%^~?+*@:\[\]{}] | -(?!-) | /(?!\*))
    """,
    re.VERBOSE | re.DOTALL,
)
SHOWN = 80


@dataclass(frozen=True)
class Token:
    """`kind`: string, quoted, number, word or mark. `text`: as it stands, a word in capitals."""

    kind: str
    text: str
    raw: str

    @property
    def name(self) -> str:
        """As a table may be named; empty for what is no name."""
        return self.raw.strip('`"') if self.kind in ("word", "quoted") else ""


NOTHING = Token("mark", "", "")


def tokens(sql: str) -> list[Token]:
    """Without blanks and comments. Raises `JobError` for what engines read in different ways."""
    found, position = [], 0
    while position < len(sql):
        match = TOKEN.match(sql, position)
        if match is None:
            words = f"engines differ in how they read {sql[position : position + 2]!r}"
            raise JobError(f"not sent to a server of others, since {words}: {begin(sql)}")
        position, kind, raw = match.end(), str(match.lastgroup), match[0]
        if kind != "blank":
            found.append(Token(kind, raw.upper() if kind == "word" else raw, raw))
    return found


def begin(sql: str) -> str:
    """The begin of a statement, for messages."""
    words = " ".join(sql.split())
    return words if len(words) <= SHOWN else f"{words[:SHOWN]}…"
