"""SQL taken apart as every engine takes it apart: what one of them could read in another way is refused.

So a backslash (an escape to some), ``#`` and ``$$`` (comments and quotes to some), comments inside of comments or with
a ``!`` (code to some), ``--`` without a blank (an expression to some) and quotes with a prefix of their own end no
statement early and hide nothing.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
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


def tokens_of(sql: str) -> list[Token]:
    """Without blanks and comments. Raises `JobError` for what engines read in different ways."""
    tokens, position = [], 0
    while position < len(sql):
        match = TOKEN.match(sql, position)
        if match is None:
            words = f"engines differ in how they read {sql[position : position + 2]!r}"
            raise JobError(f"not sent to a server of others, since {words}: {begin(sql)}")
        position, kind, raw = match.end(), str(match.lastgroup), match[0]
        if kind != "blank":
            tokens.append(Token(kind, raw.upper() if kind == "word" else raw, raw))
    return tokens


def begin(sql: str) -> str:
    """The begin of a statement, for messages."""
    words = " ".join(sql.split())
    return words if len(words) <= SHOWN else f"{words[:SHOWN]}…"


# In a query no tables come after these; but in MySQL `FOR ORDER BY` is a hint amid them.
NO_TABLES = ("SELECT", "WHERE", "GROUP", "HAVING", "ORDER", "UNION")
# What may stand between FROM and a table.
BEFORE_A_TABLE = ("(", "{", "OJ", "ONLY", "LATERAL")
# What makes a query keep others from the rows that it reads.
LOCKING = ("FOR UPDATE", "FOR SHARE", "FOR NO", "FOR KEY", "WITH LOCK", "LOCK IN", "AND KEEP")
# In Db2 and Derby: until the transaction ends.
HELD = ("WITH RR", "WITH RS")


def locks(tokens: Sequence[Token]) -> bool:
    """Whether a query in it keeps others from changing what it reads, by words for that."""
    for at, token in enumerate(tokens):
        words = f"{token.text} {text_at(tokens, at + 1)}"
        if words in LOCKING or (words in HELD and text_at(tokens, at + 2) not in ("AS", "(")):
            return True
    return False


def tables_read(tokens: Sequence[Token]) -> Iterator[int]:
    """Where a query names its tables; an argument in a FROM is taken for one. Not where it names one of its WITH."""
    named = _named(tokens)
    listing = [False]  # for each open parenthesis: whether a comma is followed by a table
    before = ""
    for at, token in enumerate(tokens):
        if token.text == "(":
            listing.append(listing[-1])
        elif token.text == ")" and len(listing) > 1:
            listing.pop()
        elif token.text in NO_TABLES and before != "FOR":
            listing[-1] = False
        elif token.text == "FROM":
            listing[-1] = True
        follows = before in ("FROM", "TABLE", "APPLY") or before.endswith("JOIN") or (before == "," and listing[-1])
        of_with = text_at(tokens, at + 1) not in (".", "@") and at >= named.get(token.raw, len(tokens))
        if follows and token.name and token.text not in NO_TABLES and not of_with:
            yield at
        if token.text not in BEFORE_A_TABLE:
            before = token.text


def _named(tokens: Sequence[Token]) -> dict[str, int]:
    """From where on each name of a WITH means its query: before that it is a table's. None in parentheses."""
    start = len(until(tokens, 0, ("WITH",))) + 1
    recursive = text_at(tokens, start) == "RECURSIVE" and text_at(tokens, start + 1) not in ("AS", "(")
    start += recursive
    names: dict[str, int] = {}
    while end := _end_of_named(tokens, start):
        names.setdefault(tokens[start].raw, start if recursive else end)
        if text_at(tokens, end) != ",":
            break
        start = end + 1
    return names


def _end_of_named(tokens: Sequence[Token], at: int) -> int:
    """Where the named query that begins here ends; 0 where none begins."""
    begin = _behind_parentheses(tokens, at + 1)  # names of its columns
    if text_at(tokens, begin) != "AS" or tokens[at].kind != "word":
        return 0
    while text_at(tokens, begin) in ("AS", "NOT", "MATERIALIZED"):
        begin += 1
    end = _behind_parentheses(tokens, begin)
    return end if end > begin else 0


def _behind_parentheses(tokens: Sequence[Token], at: int) -> int:
    """The same index where none begin."""
    return at + len(until(tokens, at + 1, ())) + 2 if text_at(tokens, at) == "(" else at


def until(tokens: Sequence[Token], at: int, ends: Sequence[str]) -> Sequence[Token]:
    """From an index to one of these words, or to the end of the parentheses around it."""
    depth = 0
    for end in range(at, len(tokens)):
        text = tokens[end].text
        depth += {"(": 1, ")": -1}.get(text, 0)
        if depth < 0 or (not depth and text in ends):
            return tokens[at:end]
    return tokens[at:]


def token_at(tokens: Sequence[Token], at: int) -> Token:
    return tokens[at] if 0 <= at < len(tokens) else NOTHING


def text_at(tokens: Sequence[Token], at: int) -> str:
    return token_at(tokens, at).text
