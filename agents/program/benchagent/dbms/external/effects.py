"""What a statement does beside its tables: sequences of others, and functions that change something.

Functions are known by name only, so this is a list, and no list is complete: it has what the engines bring along. What
a function without parentheses does (Oracle lets them out), a view of others, an operator or a cast, nobody can see.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from benchagent.dbms.base import JobError
from benchagent.dbms.external.tokens import NOTHING, Token, begin

# They count a sequence on or set it. The agent's schema has none but those of identity columns.
SEQUENCES = frozenset(("NEXTVAL", "NEXT_VALUE", "SERIAL_NEXT_VALUE", "SETVAL", "GEN_ID"))
# Of the engines, with an effect that stays when they return: on sessions, locks, settings, files, other servers, or by
# SQL in an argument. Whole families where the names have a common begin, harmless members with them.
EFFECTS = re.compile(
    "|".join(
        (
            # PostgreSQL and what is delivered with it
            r"PG_\w+|LO_\w+|LOREAD|LOWRITE|SET_CONFIG|DBLINK\w*|\w+_TO_XML\w*|TS_STAT|TS_REWRITE|XPATH_TABLE",
            r"CROSSTAB\w*|CONNECTBY|BRIN_\w+|GIN_\w+|BINARY_UPGRADE_\w+|POSTGRES_FDW_\w+",
            # MySQL and MariaDB
            r"GET_LOCK|RELEASE_LOCK|RELEASE_ALL_LOCKS|LOAD_FILE|\w+_(?:POS|GTID)_WAIT|WAIT_\w+_GTIDS?\w*",
            r"(?:SERVICE|VERSION_TOKENS|GROUP_REPLICATION|ASYNCHRONOUS_CONNECTION|AUDIT_(?:LOG|API)|KEYRING)_\w+",
            r"(?:MASKING|MYSQL|SPIDER|MROONGA|MEMC)_\w+|\w*FIREWALL\w*|SYS_(?:EXEC|EVAL|SET)",
            # H2
            r"FILE_\w+|CSVREAD|CSVWRITE|LINK_SCHEMA|CANCEL_SESSION|ABORT_SESSION|FTL?_\w+",
            # Db2
            r"(?:ADMIN|MON|WLM|ENV|AUDIT|SYSTS|EXPLAIN)_\w+|MQ\w+|HTTP\w+|SOAPHTTP\w+",
            # CUBRID, whose counters change rows of the table that is read
            r"INCR|DECR",
            # An engine's own, as RDB$SET_CONTEXT
            r"\w+\$\w*",
        )
    ),
    re.IGNORECASE,
)
# Behind them a parenthesis holds columns, not arguments.
BEFORE_COLUMNS = frozenset(("INTO", "TABLE", "VIEW", "EXISTS", "REFERENCES", "KEY", "INDEX"))
OUTER_JOIN = ["(", "+", ")"]  # in Oracle


def check_effects(found: Sequence[Token], sql: str) -> None:
    """Raises `JobError`."""
    index = found[0].text == "CREATE" and any(token.text == "INDEX" for token in found[:4])
    for at in range(len(found)):
        if reason := _counts(found, at) or _calls(found, at, index=index):
            raise JobError(f"{reason}: not sent to a server of others: {begin(sql)}")


def _counts(found: Sequence[Token], at: int) -> str:
    """How a sequence, or a counter of CUBRID, is counted on here; empty where none is."""
    token, before, after = found[at], _at(found, at - 1), _at(found, at + 1)
    if token.name.upper() in SEQUENCES and (before.text in (".", "@") or after.text in ("(", "FOR")):
        return f"{token.raw} counts a sequence"
    if token.text == "VALUE" and before.text == "NEXT" and after.text == "FOR":
        return "NEXT VALUE FOR counts a sequence"
    if token.text in ("INCREMENT", "DECREMENT") and before.text == "WITH" and after.text == "FOR":
        return f"WITH {token.text} FOR changes what it reads"
    return ""


def _calls(found: Sequence[Token], at: int, *, index: bool) -> str:
    """Why a function may not be called that is called here. `index`: in CREATE INDEX no function follows ON."""
    token, before = found[at], _at(found, at - 1)
    if not token.name or _at(found, at + 1).text != "(" or before.text in BEFORE_COLUMNS:
        return ""
    linked = before.text == "@" and _at(found, at - 2).name
    if before.text == "." or linked or "." in token.name:
        outer = [one.text for one in found[at + 1 : at + 4]] == OUTER_JOIN
        return "" if outer else f"{token.raw}() is a function of a schema, a package or an object"
    if index and before.text == "ON":
        return ""
    return f"{token.raw}() may change something" if EFFECTS.fullmatch(token.name) else ""


def _at(found: Sequence[Token], at: int) -> Token:
    return found[at] if 0 <= at < len(found) else NOTHING
