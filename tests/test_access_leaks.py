"""What somebody hides shows nowhere else: not in lists, counts, choices of filters, files, comparisons or frames."""

from __future__ import annotations

import json

import pytest
from django.db import transaction

from runs.access.rules import change_visibility
from runs.models import Experiment, Run, Upload
from tests.access.rows import TABLE, Row
from tests.access.rules import PEOPLE, Who, asking
from tests.access.world import MARKS, World
from tests.test_access_table import UNAWARE, ask, hidden_shown

pytestmark = pytest.mark.django_db

BY_NAME = {who.name: who for who in PEOPLE}
STRANGERS = [BY_NAME[name] for name in UNAWARE]
SEES_BOTH = [BY_NAME[name] for name in ("owner", "administrator", "owner's token, read")]
NAMES = ("hardware", "config", "workload", "dbms", "version")
# Each page as it is without more is asked by tests/test_access_table.py; here with filters, formats, search.
MORE = [
    Row("runs", "GET", "read", "/runs/?status=finished&ordering=-value"),
    Row("runs", "GET", "read", "/runs/?q=machine"),
    Row("compare", "GET", "read", "/compare/?status=finished", token_may_read=True),
    Row("compare", "GET", "read", "/compare/?status=finished&format=json", token_may_read=True),
    Row("compare-csv", "GET", "read", "/compare.csv?status=finished", token_may_read=True),
    Row("api-runs", "GET", "read", "/api/v1/runs/?status=finished&ordering=-value&page_size=500", kind="api"),
    Row("api-runs", "GET", "read", "/api/v1/runs/?format=csv", kind="api"),
    Row("api-compare", "GET", "read", "/api/v1/compare/?status=finished", kind="api"),
    Row("embed-compare", "GET", "read", "/embed/compare/?status=finished"),
    Row("hardware", "GET", "read", "/hardware/?q=machine"),
    Row("configs", "GET", "read", "/configs/?q=config"),
    Row("dbms", "GET", "read", "/dbms/?q=db"),
]


def body(world: World, row: Row, who: Who, seen: str = "public") -> str:
    return ask(world, row, who, seen).body.decode(errors="replace").lower()


@pytest.mark.parametrize("row", MORE, ids=lambda row: row.path)
def test_no_page_or_answer_names_what_is_hidden(world, row):
    for who in asking(STRANGERS, tokens_count=row.takes_tokens):
        assert hidden_shown(row, who, ask(world, row, who, "public")) == [], who.name


@pytest.mark.parametrize("row", MORE[:8], ids=lambda row: row.path)
def test_its_owner_and_administrators_see_it_there(world, row):
    for who in SEES_BOTH:
        if who.scopes is not None and not row.takes_tokens:
            continue
        found = body(world, row, who)
        for mark in MARKS.values():
            assert mark.lower() in found, f"{who.name} misses {mark} on {row.path}"


def test_counts_count_what_is_shown(world):
    def count(who: Who) -> int:
        return json.loads(body(world, Row("api-runs", "GET", "read", "/api/v1/runs/", kind="api"), who))["count"]

    public = Run.objects.filter(visibility="public").count()
    every = Run.objects.count()
    assert 0 < public < every
    assert {who.name: count(who) for who in STRANGERS} == {who.name: public for who in STRANGERS}
    assert {who.name: count(who) for who in SEES_BOTH} == {who.name: every for who in SEES_BOTH}
    runs = Row("runs", "GET", "read", "/runs/")
    assert f"{public} runs" in body(world, runs, BY_NAME["anonymous"])
    assert f"{every} runs" in body(world, runs, BY_NAME["owner"])


@pytest.mark.parametrize(
    ("name", "seen"),
    [
        *((name, seen) for seen in ("private", "unlisted") for name in NAMES),
        # An unlisted one is named by its address.
        ("experiment", "private"),
    ],
)
def test_a_filter_answers_a_hidden_name_as_one_that_does_not_exist(world, name, seen):
    parameter = "dbms" if name == "version" else name
    slug = world.things[seen][name]
    real = ask(world, Row("", "GET", "read", f"/api/v1/runs/?{parameter}={slug}", kind="api"), PEOPLE[0], "public")
    made_up = ask(world, Row("", "GET", "read", f"/api/v1/runs/?{parameter}=no-such", kind="api"), PEOPLE[0], "public")
    assert real.status_code == made_up.status_code == 400
    assert real.content.decode().replace(slug, "no-such") == made_up.content.decode()


@pytest.mark.parametrize("seen", ["private", "unlisted"])
def test_a_factor_that_only_hidden_runs_have_does_not_exist(world, seen):
    name = f"{MARKS[seen].lower()}_knob"
    real = ask(world, Row("", "GET", "read", f"/api/v1/runs/?factor.{name}=7", kind="api"), PEOPLE[0], "public")
    made_up = ask(world, Row("", "GET", "read", "/api/v1/runs/?factor.no_such=7", kind="api"), PEOPLE[0], "public")
    assert real.status_code == made_up.status_code == 400
    assert real.content.decode().replace(name, "no_such") == made_up.content.decode()


def runs_of(world: World, query: str, who: Who) -> list[str]:
    """Ids in the comparison as JSON."""
    row = Row("compare", "GET", "read", f"/compare/?{query}&format=json", token_may_read=True)
    response = ask(world, row, who, "public")
    groups = response.json().get("groups", []) if response.status_code == 200 else []
    return [run for group in groups for run in group["runs"]]


@pytest.mark.parametrize("who", STRANGERS, ids=lambda who: who.name)
def test_a_comparison_takes_unlisted_runs_by_their_address_and_private_ones_never(world, who):
    for seen, shown in (("public", True), ("unlisted", True), ("private", False)):
        run, cell = str(world.things[seen]["run"]), world.things[seen]["cell"]
        assert (runs_of(world, f"run={run}", who) == [run]) is shown
        assert (run in runs_of(world, f"cell={cell}", who)) is shown
        experiment = world.things[seen]["experiment"]
        assert (len(runs_of(world, f"experiment={experiment}", who)) == 2) is shown


def test_the_cell_of_a_public_run_does_not_lead_to_somebodys_unlisted_repeat(world):
    run, cell = world.things["public"]["run"], world.things["public"]["cell"]
    with transaction.atomic():
        Run.objects.filter(cell_key=cell).exclude(pk=run).update(visibility="unlisted")
        assert runs_of(world, f"cell={cell}", BY_NAME["anonymous"]) == [str(run)]
        assert len(runs_of(world, f"cell={cell}", BY_NAME["owner"])) == 2
        transaction.set_rollback(True)


def test_an_unlisted_experiment_is_listed_by_its_address_and_by_nothing_else(world):
    slug = world.things["unlisted"]["experiment"]
    named = Row("runs", "GET", "read", f"/runs/?experiment={slug}")
    assert "2 runs match" in body(world, named, BY_NAME["anonymous"])
    assert slug not in body(world, Row("runs", "GET", "read", "/runs/"), BY_NAME["anonymous"])


@pytest.mark.parametrize("kind", ["upload", "experiment"])
def test_one_click_hides_everything_and_shows_it_again(world, kind):
    stranger, thing = BY_NAME["anonymous"], world.things["public"][kind]
    page = Row("", "GET", "read", f"/{kind}s/{thing}/")
    with transaction.atomic():
        target = (Upload if kind == "upload" else Experiment).objects.get(
            **{"pk" if kind == "upload" else "slug": thing}
        )
        run = target.runs.first()
        before = Run.objects.listed_for(world.people["viewer"]).count()
        change_visibility(target=target, visibility="private", by=world.people["owner"])
        assert ask(world, page, stranger, "public").status_code == 404
        assert ask(world, Row("", "GET", "read", f"/runs/{run.pk}/"), stranger, "public").status_code == 404
        assert Run.objects.listed_for(world.people["viewer"]).count() == before - 2
        change_visibility(target=target, visibility="public", by=world.people["owner"])
        assert ask(world, page, stranger, "public").status_code == 200
        assert Run.objects.listed_for(world.people["viewer"]).count() == before
        transaction.set_rollback(True)


@pytest.mark.any_database  # refused before anything is looked up
@pytest.mark.parametrize("row", [row for row in TABLE if row.writes and row.kind != "agent"], ids=str)
def test_writing_with_a_login_needs_the_csrf_token(world, row):
    with transaction.atomic():
        client = world.client(BY_NAME["administrator"], enforce_csrf_checks=True)
        more = {"content_type": "application/json"} if row.kind == "api" else {}
        path = row.path.format(**world.things["public"])
        assert getattr(client, row.method.lower())(path, {}, **more).status_code == 403
        transaction.set_rollback(True)


def test_writing_with_a_token_does_not(world):
    client = world.client(BY_NAME["owner's token, upload"], enforce_csrf_checks=True)
    with transaction.atomic():
        response = client.delete(f"/api/v1/runs/{world.things['public']['run']}/")
        transaction.set_rollback(True)
    assert response.status_code == 204
