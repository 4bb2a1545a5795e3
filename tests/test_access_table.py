"""Every route × everybody: docs/operate/access.md says what is answered. The rows are in tests/access/rows.py.

What is answered to those who may not know of what is hidden names nothing of it: more of that in test_access_leaks.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection, transaction
from django.http import HttpResponse
from django.test import override_settings
from django.urls import URLPattern, URLResolver, get_resolver

from tests.access.rows import TABLE, Row
from tests.access.rules import FORBIDDEN, LOGIN, MISSING, OK, UNAUTHENTICATED, Who, asking, expected
from tests.access.world import MARKS, World

pytestmark = pytest.mark.django_db

# They ask also where the answer is the same as before: for what is public or unlisted, and of a closed server.
STRANGERS = ("anonymous", "contributor")
SURE_OF_CLOSED = ("anonymous", "viewer", "owner's token, read")
# Nothing that is private or unlisted is shown to these unless they ask for it by its address.
UNAWARE = ("anonymous", "contributor", "operator", "owner's token, upload", "operator's token, schedule")

CHANGES = re.compile(r"\s*(INSERT|UPDATE|DELETE|COPY)\b", re.IGNORECASE)
# Sessions, and when a token was used last.
CHANGED_BY_READING = ("django_session", "runs_apitoken")


def routes() -> Iterator[tuple[str, object]]:
    """(name, view) of everything that the site answers."""

    def walk(patterns: list[URLPattern | URLResolver]) -> Iterator[tuple[str, object]]:
        for pattern in patterns:
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns)
            elif pattern.name != "api-nothing":  # whatever is no route: 404 to everybody
                yield str(pattern.name or pattern.pattern), pattern.callback

    return walk(get_resolver().url_patterns)


def methods_of(view: object) -> list[str]:
    """What a class-based view answers; a function does not tell."""
    cls = getattr(view, "cls", None) or getattr(view, "view_class", None)
    known = ("get", "post", "put", "patch", "delete")
    return [name.upper() for name in known if cls is not None and hasattr(cls, name)]


def test_every_route_and_method_has_a_row():
    rows = {(row.route, row.method) for row in TABLE}
    wanted = set()
    for name, view in routes():
        methods = methods_of(view) or [method for route, method in rows if route == name] or ["GET or POST"]
        wanted |= {(name, method) for method in methods}
    # Django's own: a PUT of the login is a POST, a GET of the logout is refused.
    wanted -= {("login", "PUT"), ("logout", "GET")}
    missing = sorted(wanted - rows)
    advice = [f'add to tests/access/rows.py: a row for route "{name}", method {method}' for name, method in missing]
    assert not missing, "\n".join(advice)
    gone = sorted(rows - wanted)
    assert not gone, f"rows without a route: {gone}"


def cases(row: Row) -> Iterator[tuple[Who, str, bool]]:
    """(who, visibility of the thing, PUBLIC_READ).

    Everybody asks for what is private, or for what has no visibility; then those whose answer is another where it is
    public or the server closed. PostgreSQL is asked for what is public by strangers: who sees both, or finds the server
    closed, has the same queries or none.
    """
    on_sqlite = connection.vendor == "sqlite"
    people = asking(tokens_count=row.takes_tokens, only_reads=row.only_reads)
    first = "private" if row.is_hideable else "public"
    for who in people:
        yield who, first, True
        private, public, closed = (
            answer_wanted(row, who, *case) for case in ((first, True), ("public", True), ("public", False))
        )
        if row.is_hideable and (who.name in STRANGERS or (on_sqlite and public != private)):
            yield who, "public", True
        # An unlisted thing answers its address like a public one.
        if row.is_hideable and on_sqlite and who.name in STRANGERS:
            yield who, "unlisted", True
        if on_sqlite and (who.name in SURE_OF_CLOSED or closed != public):
            yield who, "public", False


@pytest.mark.parametrize("row", TABLE, ids=str)
def test_a_route_answers_everybody_as_the_table_says(world, row):
    wrong = []
    for who, seen, public_read in cases(row):
        with override_settings(PUBLIC_READ=public_read):
            answer = ask(world, row, who, seen)
        got = outcome(answer, row)
        wanted = answer_wanted(row, who, seen, public_read)
        if got != wanted:
            closed = "" if public_read else ", PUBLIC_READ off"
            wrong.append(f"{who.name}, {seen} thing{closed}: {got} instead of {wanted}")
        if row.method == "GET" and seen == "public" and who.name in UNAWARE:
            wrong += [f"{who.name} sees what is {hidden}" for hidden in hidden_shown(row, who, answer)]
    assert not wrong, f"{row.method} {row.path} ({row.action})\n" + "\n".join(wrong)


def answer_wanted(row: Row, who: Who, seen: str, public_read: bool) -> str:
    if row.kind == "agent" and row.ok != 200:
        return OK  # the version of the protocol is looked at before the token
    if row.as_stranger and seen == "private":
        return MISSING
    return expected(
        action=row.action, kind=row.kind, writes=row.writes, who=who, seen=seen, public_read=public_read,
        token_may_read=row.token_may_read, reading_scopes=row.reading_scopes, is_open=row.is_open,
    )  # fmt: skip


def ask(world: World, row: Row, who: Who, seen: str) -> HttpResponse:
    things = world.things[seen]
    data = filled(row.data or {}, things)
    more = {"content_type": "application/json"} if row.kind != "page" and row.writes else {}
    send, changes = getattr(world.client(who), row.method.lower()), []

    def note(execute: Any, sql: str, *given: Any) -> Any:
        if CHANGES.match(sql) and not any(table in sql for table in CHANGED_BY_READING):
            changes.append(sql)
        return execute(sql, *given)

    with transaction.atomic(), connection.execute_wrapper(note):
        response = send(row.path.format(**things), data, **more)
        # Read while what the request wrote is still there; a stream is read once.
        response.body = b"".join(response) if response.streaming else response.content
        transaction.set_rollback(True)
    # So that a link, a picture of another site or a page that is read once more (ReadAgain) changes nothing either.
    assert row.writes or not changes, f"a {row.method} by {who.name} changes something: {changes}"
    return response


def hidden_shown(row: Row, who: Who, answer: HttpResponse) -> list[str]:
    """private, unlisted: whose names stand in the answer, though `who` may not know of them."""
    if who.owner and who.scopes and set(who.scopes) & set(row.reading_scopes):
        return []  # shown their own
    shown = answer.body.decode(errors="replace").lower()
    return [hidden for hidden in ("private", "unlisted") if MARKS[hidden].lower() in shown]


def filled(value: Any, things: dict[str, Any]) -> Any:
    """The row's data with the things that it names in braces."""
    if isinstance(value, dict):
        return {name: filled(inner, things) for name, inner in value.items()}
    if isinstance(value, list):
        return [filled(inner, things) for inner in value]
    return value.format(**things) if isinstance(value, str) else value


def outcome(response: HttpResponse, row: Row) -> str:
    status = response.status_code
    if status in (301, 302) and response["Location"].startswith("/login/?next="):
        return LOGIN
    if status in (row.ok if isinstance(row.ok, tuple) else (row.ok,)):
        return OK
    return {401: UNAUTHENTICATED, 403: FORBIDDEN, 404: MISSING}.get(status, f"status {status}")
