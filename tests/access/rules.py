"""What docs/operate/access.md says, as a function: who gets which answer from a route."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from django.db import connection

from runs.models import SCOPES
from tests.conftest import REPOSITORY

# Name of an action in rows.py -> how its line of the table begins.
ACTIONS = {
    "read": "read what is public",
    "private": "see what is private",
    "contribute": "upload results",
    "correct": "correct, delete",
    "import": "look at an import",
    "schedule": "schedule, cancel",
    "script": "schedule the workload `script`",
    "connection": "schedule on a server",
    "agents": "approve and disable agents",
    "metrics": "look at `/metrics`",
    "account": "keep an account",
    "purge": "purge for good",
    "people": "add people",
}
ROLES = ("anyone", "viewer", "contributor", "operator", "administrator")

OK, LOGIN, UNAUTHENTICATED, FORBIDDEN, MISSING = "ok", "to the login", "401", "403", "404"


@dataclass(frozen=True)
class Rule:
    """Who may: role -> yes, no or own; `scopes` is what a token needs, all of them."""

    by_role: dict[str, str]
    scopes: frozenset[str]


@cache
def rules() -> dict[str, Rule]:
    """The first table of docs/operate/access.md."""
    lines = (REPOSITORY / "docs" / "operate" / "access.md").read_text().splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("| what |"))
    found = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        what, *answers, scope = (cell.strip() for cell in line.strip("|").split("|"))
        action = next(name for name, beginning in ACTIONS.items() if what.startswith(beginning))
        found[action] = Rule(dict(zip(ROLES, answers, strict=True)), frozenset(scope.split(" and ")))
    return found


@dataclass(frozen=True)
class Who:
    """Somebody who asks. `scopes` None is a login; `owner` says that the things asked about are theirs."""

    name: str
    role: str
    owner: bool = False
    scopes: tuple[str, ...] | None = None
    bad_token: bool = False


PEOPLE = (
    Who("anonymous", "anyone"),
    Who("viewer", "viewer"),
    Who("contributor", "contributor"),
    Who("owner", "contributor", owner=True),
    Who("operator", "operator"),
    Who("administrator", "administrator"),
    Who("owner's token, read", "contributor", owner=True, scopes=("read",)),
    Who("owner's token, upload", "contributor", owner=True, scopes=("upload",)),
    Who("contributor's token, upload", "contributor", scopes=("upload",)),
    Who("operator's token, upload", "operator", scopes=("upload",)),
    Who("operator's token, schedule", "operator", scopes=("schedule",)),
    Who("operator's token, schedule and script", "operator", scopes=("schedule", "script")),
    Who("operator's token, schedule and connection", "operator", scopes=("schedule", "connection")),
    Who("operator's token, all but schedule", "operator", scopes=("read", "upload", "script", "connection", "agent")),
    Who("operator's token, agent", "operator", scopes=("agent",)),
    # Made when the viewer had a higher role.
    Who("viewer's token, every scope", "viewer", scopes=SCOPES),
    Who("expired token", "administrator", scopes=SCOPES, bad_token=True),
    Who("revoked token", "administrator", scopes=SCOPES, bad_token=True),
)
# Who may what is decided before anything is looked up, so one of those whose queries are alike asks PostgreSQL.
ASKING_POSTGRESQL = ("anonymous", "contributor", "owner", "administrator", "owner's token, upload")
# A page that takes no tokens looks at none of them: one that other pages take, and one that may change most.
TOKENS_AT_PAGES = ("owner's token, read", "operator's token, schedule and script")

# What everybody may read, a token shows as its owner sees it or as a stranger does, so of the scopes that do not read
# one asks for each of those who may or may not see what is hidden.
READING_TOKENS = (
    "owner's token, read", "owner's token, upload", "operator's token, schedule", "viewer's token, every scope",
    "expired token", "revoked token",
)  # fmt: skip


def asking(people: Sequence[Who] = PEOPLE, *, tokens_count: bool = True, only_reads: bool = False) -> list[Who]:
    """Those of them who ask the database that the tests run on; `tokens_count` where the route takes tokens.

    `only_reads` where everybody may read what the route shows.
    """
    asks = [who for who in people if connection.vendor == "sqlite" or who.name in ASKING_POSTGRESQL]
    if not tokens_count:
        asks = [who for who in asks if who.scopes is None or who.name in TOKENS_AT_PAGES]
    return [who for who in asks if not only_reads or who.scopes is None or who.name in READING_TOKENS]


def expected(
    *, action: str, kind: str, writes: bool, who: Who, seen: str, public_read: bool, token_may_read: bool = False,
    reading_scopes: tuple[str, ...] = ("read",), is_open: bool = False,
) -> str:  # fmt: skip
    """`kind`: page, api, or agent (its own protocol, which knows none of these people).

    `seen`: public, unlisted or private, of the thing that the route is about.
    """
    if kind == "agent":
        return UNAUTHENTICATED
    api = kind == "api" or (token_may_read and who.scopes is not None)
    if who.scopes is not None and not api:
        who = PEOPLE[0]  # pages take no tokens
    if api and who.bad_token:
        return UNAUTHENTICATED
    if api and who.scopes is not None and not writes and not set(who.scopes) & set(reading_scopes):
        # A token that may not read is a stranger where strangers read, else it is told so.
        if not public_read:
            return FORBIDDEN
        who = PEOPLE[0]
    if who.role == "anyone" and not public_read and not is_open:
        return UNAUTHENTICATED if kind == "api" else LOGIN
    return _of_role(action, api, writes, who, seen)


def _of_role(action: str, api: bool, writes: bool, who: Who, seen: str) -> str:
    rule = rules()[action]
    may = rule.by_role[who.role]
    visible = seen != "private" or who.owner or who.role == "administrator"
    if action == "read":
        return OK if visible else MISSING
    if action == "import" and api and not writes:
        # Nobody learns of somebody else's import that it is there.
        return OK if who.owner or may == "yes" else MISSING
    if may == "no":
        return (UNAUTHENTICATED if api else LOGIN) if who.role == "anyone" else FORBIDDEN
    if writes and who.scopes is not None and not rule.scopes <= set(who.scopes):
        return FORBIDDEN
    if not visible or (action == "import" and may == "own" and not who.owner):
        return MISSING
    return FORBIDDEN if may == "own" and not who.owner else OK
