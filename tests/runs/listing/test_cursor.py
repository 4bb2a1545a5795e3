"""Pages by the last row seen: whole, without doubles, steady while rows come."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from runs.listing import cursor as keyset
from runs.listing.filters import ORDERINGS, columns_of
from runs.models import HardwareProfile, Run
from runs.run.number import refresh_primary
from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db
URL = "/api/v1/runs/"
NOW = timezone.now()


@pytest.fixture(scope="module")
def runs(kept) -> Iterator[list[Run]]:
    with kept():
        yield some_runs()


def some_runs() -> list[Run]:
    """13 runs with equal values, gaps in every column that has some, and equal times."""
    machine = HardwareProfile.objects.create(slug="m", name="Machine")
    made = []
    for number in range(13):
        run = make_run(f"SQLite 3.{number % 3}", None if number % 4 == 0 else number % 5, repeat=number % 2 + 1)
        Run.objects.filter(id=run.id).update(
            created_at=NOW - timedelta(seconds=number // 6),
            started_at=None if number % 3 else NOW - timedelta(hours=number // 2),
            finished_at=None if number % 2 else NOW,
            order_index=None if number % 5 else number,
            hardware=machine if number % 2 else None,
        )
        made.append(run)
    refresh_primary(Run.objects.all())
    return made


def walk(rows, ordering: str, size: int) -> tuple[list[Run], list[Run]]:
    """All rows forwards by `next`, then all of them backwards by `previous`."""
    columns = columns_of(ordering)
    page = keyset.page(rows, columns=columns, name=ordering, size=size)
    forwards = list(page.rows)
    while page.next:
        page = keyset.page(rows, columns=columns, name=ordering, cursor=page.next, size=size)
        forwards += page.rows
    backwards = list(page.rows)
    while page.previous:
        page = keyset.page(rows, columns=columns, name=ordering, cursor=page.previous, size=size)
        backwards = page.rows + backwards
    return forwards, backwards


# A page of one row goes on after every row; where the last page ends is the same in every ordering.
@pytest.mark.parametrize(
    ("ordering", "size"),
    [*((sign + name, 1) for name in ORDERINGS for sign in ("", "-")), *(("-value", size) for size in (4, 12, 13, 14))],
)
def test_it_shows_every_row_once_in_the_list_s_order_both_ways(runs, ordering, size):
    rows = Run.objects.all()
    whole = list(rows.order_by(*(column.ordering(backward=False) for column in columns_of(ordering))))
    forwards, backwards = walk(rows, ordering, size)
    assert [run.id for run in forwards] == [run.id for run in whole]
    assert [run.id for run in backwards] == [run.id for run in whole]


def test_gaps_come_last_whichever_way_it_is_sorted(runs):
    rows = Run.objects.all()
    for ordering in ("value", "-value"):
        values = [run.primary_value for run in walk(rows, ordering, 7)[0]]
        assert None not in values[:9]
        assert values[9:] == [None] * 4


def test_a_row_that_comes_meanwhile_moves_no_other(client, runs):
    first = client.get(URL, {"page_size": 10}).json()
    new = make_run("SQLite 3.9", 1)
    second = client.get(first["next"]).json()
    assert not {run["id"] for run in first["results"]} & {run["id"] for run in second["results"]}
    assert str(new.id) not in {run["id"] for run in second["results"]}
    back = client.get(second["previous"]).json()
    assert [run["id"] for run in back["results"]] == [run["id"] for run in first["results"]]
    newest = client.get(back["previous"]).json()
    assert [run["id"] for run in newest["results"]] == [str(new.id)]


def test_links_keep_the_filter(client, runs):
    body = client.get(URL, {"dbms": "sqlite", "page_size": 5, "ordering": "-value"}).json()
    assert "dbms=sqlite" in body["next"]
    assert "ordering=-value" in body["next"]
    assert len(client.get(body["next"]).json()["results"]) == 5


def test_counting_stops(client, runs, monkeypatch):
    assert [client.get(URL).json()[name] for name in ("count", "count_is_exact")] == [13, True]
    monkeypatch.setattr(keyset, "COUNT_LIMIT", 10)
    assert [client.get(URL).json()[name] for name in ("count", "count_is_exact")] == [10, False]
    assert "more than 10 runs" in client.get("/runs/").content.decode()


def cursor(value: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


@pytest.mark.parametrize(
    "text",
    [
        "x", "é", "\x00", "=", "A" * 3000, cursor([]), cursor({}), cursor(["", 0, []]), cursor(["", 2, [1, 2, 3, 4]]),
        cursor(["", 0, ["yesterday", None, 1, "x"]]), cursor(["", 0, [None, None, None, None]]),
        cursor(["", 0, [NOW.isoformat(), 1, 10**30, "7b6f0c1e-52a3-4d4c-9f0a-0d9f6f1c2a11"]]),
        cursor(["", 0, ["2026-01-01", 1, 1, "7b6f0c1e-52a3-4d4c-9f0a-0d9f6f1c2a11"]]),
        cursor(["-value", 0, [1, NOW.isoformat(), 1, 1, "7b6f0c1e-52a3-4d4c-9f0a-0d9f6f1c2a11"]]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("url", [URL, "/runs/"])
def test_it_refuses_a_cursor_that_is_not_one(client, runs, url, text):
    assert client.get(url, {"cursor": text}).status_code == 400


def test_it_refuses_a_cursor_that_was_changed(client, runs):
    link = client.get(URL, {"page_size": 5}).json()["next"]
    assert client.get(f"{link[:-3]}{'abc' if link[-3:] != 'abc' else 'abd'}").status_code == 400


def test_a_cursor_belongs_to_its_ordering(client, runs):
    link = client.get(URL, {"page_size": 5}).json()["next"]
    response = client.get(f"{link}&ordering=-value")
    assert response.json() == {"cursor": ["It belongs to another ordering."]}


def test_a_cursor_of_a_list_that_had_fewer_columns_is_refused_in_words(client, runs):
    old = keyset.cursor_at(runs[0], columns_of("")[1:], "")
    assert "earlier version" in client.get(URL, {"cursor": old}).json()["cursor"][0]


def test_page_and_cursor_are_two_ways(client, runs):
    link = client.get(URL, {"page_size": 5, "page": 2}).json()["next"]
    assert "page=" not in link.replace("page_size=", "")
    assert client.get(f"{link}&page=1").status_code == 400
    assert client.get(URL, {"page": 1000, "page_size": 500}).json() == {"page": ["Beyond row 10,000 follow `next`."]}


def test_the_page_goes_on_without_numbers_where_there_are_many(client, runs, monkeypatch):
    monkeypatch.setattr("runs.views.runs.PER_PAGE", 5)
    monkeypatch.setattr("runs.views.runs.NUMBERED_PAGES", 2)
    first = client.get("/runs/?provenance=measured").content.decode()
    assert "Older" in first
    assert "Newer" not in first
    link = first.split('rel="next" href="')[1].split('"')[0].replace("&amp;", "&")
    second = client.get(link).content.decode()
    assert "Newer" in second
    assert "provenance=measured" in link
    assert second.count('name="run"') == 5
