"""Which SQL may go to a server of others: what works on the schema of the agent's own, nothing else.

Names without a schema mean the agent's own one first; what is not there may be a public synonym or alias, which leads
to tables of others. So a statement is harmless when it changes only what it names without a schema and what the same
run has made. Wherever a name could be that of something that is changed, none with a schema may stand: that is more
than has to be refused, and simple enough to be right.

Functions are known by name only, so `EFFECTS` is a list, and no list is complete: it has what the engines bring along.
What a function without parentheses does (Oracle lets them out), a view of others, an operator or a cast, nobody can
see.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from benchagent.dbms.base import JobError
from benchagent.dbms.external.server import MARKER
from benchagent.dbms.external.sql import NOTHING, Token, begin, locks, tables_read, text_at, token_at, tokens_of, until

# They count a sequence on or set it. The agent's schema has none but those of identity columns.
SEQUENCES = frozenset(("NEXTVAL", "NEXT_VALUE", "SERIAL_NEXT_VALUE", "SETVAL", "GEN_ID"))
# Functions of the engines whose effect stays when they return: on sessions, locks, settings, files, other servers, or
# by SQL in an argument. Whole families where the names have a common begin, harmless members with them.
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


def check_effects(tokens: Sequence[Token], sql: str) -> None:
    """Raises `JobError`."""
    index = tokens[0].text == "CREATE" and any(token.text == "INDEX" for token in tokens[:4])
    for at in range(len(tokens)):
        if reason := _counts(tokens, at) or _calls(tokens, at, index=index):
            raise JobError(f"{reason}: not sent to a server of others: {begin(sql)}")


def _counts(tokens: Sequence[Token], at: int) -> str:
    """How a sequence, or a counter of CUBRID, is counted on here; empty where none is."""
    token, before, after = tokens[at], token_at(tokens, at - 1), token_at(tokens, at + 1)
    if token.name.upper() in SEQUENCES and (before.text in (".", "@") or after.text in ("(", "FOR")):
        return f"{token.raw} counts a sequence"
    if token.text == "VALUE" and before.text == "NEXT" and after.text == "FOR":
        return "NEXT VALUE FOR counts a sequence"
    if token.text in ("INCREMENT", "DECREMENT") and before.text == "WITH" and after.text == "FOR":
        return f"WITH {token.text} FOR changes what it reads"
    return ""


def _calls(tokens: Sequence[Token], at: int, *, index: bool) -> str:
    """Why a function may not be called that is called here. `index`: in CREATE INDEX no function follows ON."""
    token, before = tokens[at], token_at(tokens, at - 1)
    if not token.name or text_at(tokens, at + 1) != "(" or before.text in BEFORE_COLUMNS:
        return ""
    linked = before.text == "@" and token_at(tokens, at - 2).name
    if before.text == "." or linked or "." in token.name:
        outer = [follows.text for follows in tokens[at + 1 : at + 4]] == OUTER_JOIN
        return "" if outer else f"{token.raw}() is a function of a schema, a package or an object"
    if index and before.text == "ON":
        return ""
    return f"{token.raw}() may change something" if EFFECTS.fullmatch(token.name) else ""


# Others, as CALL, SET or VACUUM, reach further than a table: they come from the adapter only.
ALLOWED = frozenset(
    ("SELECT", "WITH", "VALUES", "EXPLAIN", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "CREATE", "RECREATE",
     "ALTER", "DROP", "TRUNCATE")
)  # fmt: skip
CREATING, DEFINING = ("CREATE", "RECREATE"), ("CREATE", "RECREATE", "ALTER", "DROP")
OWN_KINDS = frozenset(("TABLE", "INDEX", "VIEW"))
NOTED_KINDS = frozenset(("TABLE", "VIEW"))
# Between CREATE and the kind. Not GLOBAL or TEMPORARY: what they make is nobody's or everybody's.
KIND_MODIFIERS = frozenset(
    ("OR", "REPLACE", "UNLOGGED", "CACHED", "MEMORY", "COLUMN", "UNIQUE", "BITMAP", "DESC", "DESCENDING", "ASC",
     "ASCENDING", "FULLTEXT")
)  # fmt: skip
NAME_MODIFIERS = frozenset(("IF", "NOT", "EXISTS", "CONCURRENTLY", "ONLY"))
INSERT_MODIFIERS = frozenset(("LOW_PRIORITY", "DELAYED", "HIGH_PRIORITY", "IGNORE"))
BEFORE_A_TARGET = INSERT_MODIFIERS | {"INTO", "TABLE", "ONLY", "QUICK", "(", "{", "OJ"}
# Tables of another server or file: engines of MySQL's kin, and what is said of a table elsewhere.
ELSEWHERE = ("EXTERNAL", "FEDERATED", "CONNECT", "SPIDER", "DIRECTORY")
# Words that make a statement reach further than the names in it, or its table another one than the noted.
REACHING: Mapping[str, frozenset[str]] = {
    "EXPLAIN": frozenset(("CREATE", "ALTER", "DROP", "EXECUTE", "CALL", "DECLARE", "REFRESH")),
    "CREATE": frozenset(ELSEWHERE),
    "RECREATE": frozenset(ELSEWHERE),
    "ALTER": frozenset(
        (*ELSEWHERE, "CASCADE", "REFERENCES", "RENAME", "SCHEMA", "OWNER", "TABLESPACE", "ATTACH", "DETACH", "EXCHANGE",
         "INHERIT")
    ),
    "DROP": frozenset(("CASCADE",)),
    "TRUNCATE": frozenset(("CASCADE",)),
}  # fmt: skip
# Before UPDATE or DELETE they make it a part of another statement, whose table is named elsewhere.
PART_OF_ANOTHER = frozenset(("FOR", "KEY", "ON", "KEEP", "THEN", "DO"))
END_OF_DELETE = ("WHERE", "RETURNING", "ORDER", "LIMIT")
PLAIN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
OF_THE_ENGINE = re.compile(r"pg_|_db_|\w+\$", re.IGNORECASE)


def check(sql: str, *, own: Collection[str] = (), may_create: bool = True, changes_lock: bool = False) -> None:
    """Raises `JobError` for a statement that could reach what is not the agent's own.

    `own`: tables and views that the run has made until then, in small letters. `may_create`: where the tables and
    views that it makes are noted, to be dropped. `changes_lock`: see `ExternalServer`.
    """
    if MARKER in sql.lower():
        raise JobError(f"{MARKER} is the agent's alone: not sent to a server of others: {begin(sql)}")
    tokens = tokens_of(sql)
    while tokens and tokens[-1].text == ";":
        tokens.pop()
    if any(token.text == ";" for token in tokens):
        raise JobError(f"several statements in one: not sent to a server of others: {begin(sql)}")
    if not tokens:
        return
    verb = next((token.text for token in tokens if token.text != "("), "")
    if verb not in ALLOWED:
        raise JobError(f"{verb} is not sent to a server of others: {begin(sql)}")
    for token in tokens:
        word = token.text.strip("'").upper()  # ENGINE = 'FEDERATED' is the same as without quotes
        if (word if verb in DEFINING else token.text) in REACHING.get(verb, ()):
            raise JobError(f"{verb} … {word} is not sent to a server of others: {begin(sql)}")
    if verb in DEFINING:
        _check_definition(tokens, sql, may_create=may_create)
    _check_into(tokens, sql)
    if any(_of_others(token) for zone, _ in _changed(tokens) for token in zone):
        raise JobError(f"a statement that names the schema of what it changes is not sent: {begin(sql)}")
    if changes_lock and any(_changed(tokens)) and any(text_at(tokens, at + 1) == "." for at in tables_read(tokens)):
        raise JobError(f"a change locks what it reads here, so it may read no other schema: not sent: {begin(sql)}")
    check_effects(tokens, sql)
    for token in _targets(tokens):
        if not _is_own(token, own):
            raise JobError(
                f"{token.raw} was not made by this run: what could change or lock it is not sent: {begin(sql)}"
            )


def follow(sql: str, own: set[str]) -> None:
    """Bring `own` up to date with what a statement makes and drops."""
    _, made = created(sql)
    if made:
        own.add(made.lower())
    tokens = tokens_of(sql)
    if tokens and tokens[0].text == "DROP" and _defined(tokens)[1] in NOTED_KINDS:
        own -= {token.name.lower() for token in tokens}


def _is_own(token: Token, own: Collection[str]) -> bool:
    """In double quotes some engines mean another table than the one that was made without them."""
    return not token.raw.startswith('"') and PLAIN.match(token.name) is not None and token.name.lower() in own


def _of_others(token: Token) -> bool:
    """What stands before or behind a schema, a query instead of a table, or a name of the engine's own."""
    return token.text in (".", "@", "SELECT") or OF_THE_ENGINE.match(token.name) is not None


def _check_definition(tokens: Sequence[Token], sql: str, *, may_create: bool) -> None:
    verb, kind, name = _defined(tokens)
    if kind not in OWN_KINDS:
        raise JobError(f"{verb} {kind} is not sent to a server of others: {begin(sql)}")
    if kind not in NOTED_KINDS or verb == "ALTER":
        return
    if not may_create:
        words = "dropped after the run" if verb == "DROP" else "made before the load"
        raise JobError(f"a {kind.lower()} is {words}: not sent with a transaction: {begin(sql)}")
    if verb == "DROP":
        return
    if not PLAIN.match(name.raw):
        raise JobError(f"a {kind.lower()} needs a plain name without quotes: not sent: {begin(sql)}")
    if kind == "VIEW" and any(_of_others(token) for at in tables_read(tokens) for token in tokens[at : at + 2]):
        raise JobError(f"a view on tables of others is not sent, since they could be changed by it: {begin(sql)}")


def _defined(tokens: Sequence[Token]) -> tuple[str, str, Token]:
    """Verb, kind and first name of a statement that begins with CREATE or its like."""
    rest = iter(tokens[1:])
    kind = next((token.text for token in rest if token.text not in KIND_MODIFIERS), "")
    return tokens[0].text, kind, next((token for token in rest if token.text not in NAME_MODIFIERS), NOTHING)


def _check_into(tokens: Sequence[Token], sql: str) -> None:
    """SELECT INTO makes a table that nobody notes, or writes a file of the server."""
    for at, token in enumerate(tokens):
        before = next((other.text for other in reversed(tokens[:at]) if other.text not in INSERT_MODIFIERS), "")
        if token.text == "INTO" and before not in ("INSERT", "REPLACE", "MERGE"):
            raise JobError(f"INTO outside of INSERT and MERGE is not sent to a server of others: {begin(sql)}")


def _changed(tokens: Sequence[Token]) -> Iterator[tuple[Sequence[Token], Iterable[Token]]]:
    """The parts of a statement that name what it changes, each with what stands there where tables are named."""
    if tokens[0].text in DEFINING:
        # Up to the query that a table or view is made of, which may name anything.
        zone = until(tokens, 0, ("AS", "SELECT") if tokens[0].text in CREATING else ())
        yield zone, _targets_of_definition(tokens)
    for at, token in enumerate(tokens):
        before, after = text_at(tokens, at - 1), text_at(tokens, at + 1)
        match token.text:
            case "INSERT" | "REPLACE" if not (at and after == "(") and (before, token.text) != ("OR", "REPLACE"):
                zone = _target_of_insert(tokens, at)
                yield zone, zone[:1]
            case "MERGE":
                zone = until(tokens, at, ("USING",))
                yield zone, list(_listed(zone))[:1]
            case "UPDATE" if before not in PART_OF_ANOTHER and after != "OR":
                zone = until(tokens, at, ("SET",))
                yield zone, _listed(zone)
            case "DELETE" if before not in PART_OF_ANOTHER:
                zone = until(tokens, at, END_OF_DELETE)
                yield zone, _listed(zone)
            case "TRUNCATE" if not (at and after == "("):
                yield tokens[at:], _listed(tokens[at:])


def _targets(tokens: Sequence[Token]) -> Iterator[Token]:
    """What stands where tables are named that are changed or locked, or that could be changed by a view."""
    if locks(tokens):
        yield from (_whole_name(tokens, at) for at in tables_read(tokens))
    yield from chain.from_iterable(targets for _, targets in _changed(tokens))


def _whole_name(tokens: Sequence[Token], at: int) -> Token:
    """The whole name of a table. With a schema it is no plain name, even if one of the run's tables is called like the
    schema.
    """
    if text_at(tokens, at + 1) not in (".", "@"):
        return tokens[at]
    return replace(tokens[at], kind="mark", raw="".join(token.raw for token in tokens[at : at + 3]))


def _targets_of_definition(tokens: Sequence[Token]) -> Iterator[Token]:
    verb, kind, name = _defined(tokens)
    if kind == "INDEX":
        yield from _behind("ON", tokens)[:1]
    elif verb == "DROP":
        yield from _listed([token for token in tokens[1:] if token.text not in NAME_MODIFIERS])
    elif verb == "ALTER":
        yield name
    elif kind == "VIEW":
        yield from (tokens[at] for at in tables_read(tokens))
    else:  # of itself, or of nothing that is named
        parents = _behind("REFERENCES", tokens)
        yield from (token for token in parents if token.text != "(" and not _is_own(token, {name.name.lower()}))


def _behind(word: str, tokens: Sequence[Token]) -> list[Token]:
    """What follows this word, each time."""
    begins = (at + 1 for at, token in enumerate(tokens) if token.text == word)
    return [next((token for token in tokens[at:] if token.text != "ONLY"), NOTHING) for at in begins]


def _listed(zone: Sequence[Token]) -> Iterator[Token]:
    """Behind the first word of a part, what stands where a table may be named."""
    follows = True
    for token in zone[1:]:
        if token.text in (",", "FROM", "USING") or token.text.endswith("JOIN"):
            follows = True
        elif follows and token.text not in BEFORE_A_TARGET:
            yield token
            follows = False


def _target_of_insert(tokens: Sequence[Token], at: int) -> Sequence[Token]:
    """The name and what is behind it, unless that is the query."""
    skipped = (*INSERT_MODIFIERS, "INTO")
    target = next((index for index in range(at + 1, len(tokens)) if tokens[index].text not in skipped), at)
    if not tokens[target].name:
        return tokens[at:]  # a query instead of a table
    return tokens[target : target + 2] if text_at(tokens, target + 1) in (".", "@") else tokens[target : target + 1]


def created(sql: str) -> tuple[str, str]:
    """TABLE or VIEW, and the name of what a statement makes as it stands there; empty where it makes neither."""
    try:
        tokens = tokens_of(sql)
    except JobError:  # a query of the adapter's own: of others `check` lets none through
        return "", ""
    verb, kind, name = _defined(tokens) if tokens else ("", "", NOTHING)
    return (kind, name.name) if verb in CREATING and kind in NOTED_KINDS else ("", "")


def statements(step: Mapping[str, Any]) -> Iterator[str]:
    """All SQL of a step of the load generator."""
    match step["op"]:
        case "execute" | "prepare_all":
            yield from step["statements"]
        case "query":
            yield step["sql"]
        case "load":
            for table in step["tables"]:
                yield from (given["insert"] for given in (table, table.get("many")) if given)
        case "run":
            for transaction in step["transactions"]:
                yield from (statement["sql"] for statement in transaction.get("statements", ()))
                yield from transaction.get("sql", {}).values()
    for watched in ("snapshots", "sampled"):
        yield from step.get(watched, {}).values()
