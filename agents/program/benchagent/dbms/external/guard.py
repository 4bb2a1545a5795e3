"""Which SQL may go to a server of others: what works on the schema of the agent's own, nothing else.

Names without a schema mean the agent's own one, which holds nothing but what the agent has made (see `target`). So a
statement is harmless when it changes only what it names without a schema.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from benchagent.dbms.base import JobError

# Others, as CALL, SET or VACUUM, reach further than a table: they come from the adapter only.
ALLOWED = frozenset(
    ("SELECT", "WITH", "VALUES", "EXPLAIN", "INSERT", "UPDATE", "DELETE", "MERGE", "REPLACE", "CREATE", "RECREATE",
     "ALTER", "DROP", "TRUNCATE")
)  # fmt: skip
QUOTED = re.compile(r"'(?:[^']|'')*'|--[^\n]*|/\*.*?\*/", re.DOTALL)
NAME = r"(?:\"[^\"]+\"|`[^`]+`|\[[^\]]+\]|[\w$#]+)"
CHANGED = re.compile(
    rf"\b(?:INTO|UPDATE(?:\s+ONLY)?|DELETE\s+FROM(?:\s+ONLY)?|TRUNCATE(?:\s+TABLE)?|(?:ALTER|DROP|CREATE)\s+(?:[A-Z]+\s+)*?"
    rf"(?:TABLE|INDEX|VIEW)(?:\s+IF\s+(?:NOT\s+)?EXISTS)?|INDEX\s+{NAME}\s+ON)\s+{NAME}\s*(\.)",
    re.IGNORECASE,
)
MADE = re.compile(
    r"^\s*(CREATE|ALTER|DROP|RECREATE)\s+(?:(?:OR|REPLACE|GLOBAL|LOCAL|TEMPORARY|TEMP|UNLOGGED|CACHED|MEMORY|COLUMN|UNIQUE|"
    r"BITMAP|DESC|DESCENDING|ASC|ASCENDING|FULLTEXT|CONCURRENTLY)\s+)*(\w+)",
    re.IGNORECASE,
)
CREATED_TABLE = re.compile(
    r"^\s*(?:RE)?CREATE\s+(?:(?:GLOBAL|LOCAL|UNLOGGED|CACHED|MEMORY|COLUMN)\s+)*TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?"
    r"[\"`]?(\w+)",
    re.IGNORECASE,
)
OWN_KINDS = frozenset(("TABLE", "INDEX", "VIEW"))


def check(sql: str) -> None:
    """Raises `JobError` for a statement that could reach what is not the agent's own."""
    text = QUOTED.sub(" ", sql)
    words = text.split(None, 1)
    if not words:
        return
    verb = words[0].upper().lstrip("(")
    if ";" in text.strip().rstrip(";"):
        raise JobError(f"several statements in one: not sent to a server of others: {_begin(sql)}")
    if verb not in ALLOWED:
        raise JobError(f"{verb} is not sent to a server of others: {_begin(sql)}")
    made = MADE.match(text)
    if made and made[2].upper() not in OWN_KINDS:
        raise JobError(f"{made[1].upper()} {made[2].upper()} is not sent to a server of others: {_begin(sql)}")
    if CHANGED.search(text):
        raise JobError(f"a statement that names the schema of what it changes is not sent: {_begin(sql)}")


def created_table(sql: str) -> str | None:
    found = CREATED_TABLE.match(sql)
    return found[1] if found else None


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


def _begin(sql: str) -> str:
    words = " ".join(sql.split())
    return words if len(words) <= 80 else f"{words[:80]}…"
