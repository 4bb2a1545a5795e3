"""When a run was measured: one time from the best that is known, by which lists, filters and questions go."""

from __future__ import annotations

import json
import re
import uuid
from datetime import UTC, date, datetime
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps
from django.contrib.auth.models import AnonymousUser

from runs.answers.questions import questions
from runs.compare.grouping import day_of
from runs.imports.documents import document as as_document
from runs.models import Run
from runs.models.choices import Precision
from runs.run.standing import run_before
from tests.runs.builders import document, scheduled, store_upload
from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db
NOON = "2024-03-05T12:00:00+02:00"


def sent(**changes: Any) -> Run:
    """The first run of a document that says nothing of when but these."""
    body = document(id=str(uuid.uuid4()), **changes)
    if "measured_on" not in changes:
        del body["measured_on"]
    return Run.objects.get(pk=store_upload(document=body).runs[0].pk)


def listed(client, query: str) -> list[str]:
    return [run["id"] for run in client.get(f"/api/v1/runs/?{query}").json()["results"]]


@pytest.mark.parametrize(
    ("said", "at", "precision"),
    [
        ({"started_at": NOON}, datetime(2024, 3, 5, 10, tzinfo=UTC), Precision.TIME),
        ({"started_at": "2024-03-05T12:00:00"}, datetime(2024, 3, 5, 12, tzinfo=UTC), Precision.TIME),
        ({"started_at": "2024-03-05"}, datetime(2024, 3, 5, tzinfo=UTC), Precision.DAY),
        ({"measured_on": "2024-03-05"}, datetime(2024, 3, 5, tzinfo=UTC), Precision.DAY),
        ({"measured_on": "2024-03-05", "started_at": NOON}, datetime(2024, 3, 5, 10, tzinfo=UTC), Precision.TIME),
    ],
)
def test_the_best_that_is_known_tells_when(said, at, precision):
    run = sent(**said)
    assert (run.measured_at, run.measured_at_precision) == (at, precision)
    assert day_of(run) == date(2024, 3, 5)


def test_without_a_word_it_is_when_the_run_was_stored():
    run = sent()
    assert (run.measured_at, run.measured_at_precision) == (run.created_at, Precision.STORED)


def test_a_value_of_an_article_is_of_no_known_time(article):
    assert set(Run.objects.values_list("measured_at", flat=True)) == {None}


def test_each_repeat_has_its_own():
    first, second = document()["repeats"]
    days = [first | {"started_at": "2024-03-05"}, second | {"started_at": "2024-03-06T01:00:00Z"}]
    runs = [sent(repeats=days), Run.objects.get(repeat=2)]
    assert [run.measured_at_precision for run in runs] == [Precision.DAY, Precision.TIME]
    assert [day_of(run) for run in runs] == [date(2024, 3, 5), date(2024, 3, 6)]


def test_a_time_without_a_zone_is_told_to_be_utc():
    assert not sent(started_at=NOON).warnings
    (warning,) = sent(started_at="2024-03-05T12:00:00", finished_at=NOON.replace("05T12", "06T12")).warnings
    assert "started_at" in warning and "finished_at" not in warning and "UTC" in warning


@pytest.mark.parametrize(
    "said",
    [
        {"measured_on": "2024-03-03", "started_at": NOON},
        {"measured_on": "2024-03-07", "started_at": NOON},
        {"measured_on": "2024-03-04", "started_at": "2024-03-05"},
        {"measured_on": "2024-03-08", "started_at": NOON, "finished_at": NOON.replace("05T", "06T")},
    ],
)
def test_a_day_that_contradicts_the_start_is_refused(client, bearer, said):
    response = client.post(
        "/api/v1/results/", json.dumps(document(**said)), content_type="application/json", headers=bearer("upload")
    )
    assert (response.status_code, [*response.json()]) == (400, ["measured_on"])
    assert not Run.objects.exists()


@pytest.mark.parametrize(
    "said",
    [
        # As their people had it, east and west of Greenwich, and over midnight.
        {"measured_on": "2024-03-06", "started_at": "2024-03-05T23:00:00+00:00"},
        {"measured_on": "2024-03-04", "started_at": "2024-03-05T03:00:00+00:00"},
        {"measured_on": "2024-03-06", "started_at": NOON, "finished_at": NOON.replace("05T", "06T")},
    ],
)
def test_a_day_elsewhere_is_no_contradiction(said):
    assert sent(**said).measured_at_precision == Precision.TIME


def test_the_day_of_a_run_is_changed_on_its_page(contributor, client):
    run = sent()
    Run.objects.filter(pk=run.pk).update(owner=contributor)
    client.force_login(contributor)
    address = f"/runs/{run.pk}/describe/"
    shown = client.get(address).content.decode()
    assert 'name="measured_on"' in shown
    remembered = dict(re.findall(r'name="(initial-[^"]+)" value="([^"]*)"', shown))

    assert client.post(address, {**remembered, "measured_on": "2024-03-05"}).status_code == 302
    run.refresh_from_db()
    assert (str(run.measured_on), run.measured_at_precision) == ("2024-03-05", Precision.DAY)


def test_the_list_of_runs_has_fields_for_the_days(client):
    """Seen: a span of time that could be chosen in the address alone."""
    shown = client.get("/runs/?measured_from=2024-03-05&measured_to=2024-04-01").content.decode()
    fields = dict(re.findall(r'<input type="date" [^>]*name="(\w+)" value="([^"]+)"', shown))
    assert fields == {"measured_from": "2024-03-05", "measured_to": "2024-04-01"}


def test_an_end_needs_a_time(client, bearer):
    body = document(started_at="2024-03-05", finished_at="2024-03-05")
    response = client.post(
        "/api/v1/results/", json.dumps(body), content_type="application/json", headers=bearer("upload")
    )
    assert (response.status_code, [*response.json()]) == (400, ["finished_at"])


def test_filters_find_a_run_by_its_start(client):
    of_march, of_april, stored = sent(started_at=NOON), sent(measured_on="2024-04-01"), sent()
    assert listed(client, "measured_from=2024-03-05&measured_to=2024-03-05&label=") == [str(of_march.pk), *_second()]
    assert {str(of_march.pk), str(of_april.pk)} <= {*listed(client, "measured_to=2024-04-01")}
    assert str(of_march.pk) not in listed(client, "measured_to=2024-03-04")
    # Seen: "Measured at is less than 2024-04-01", of a day that belongs to it.
    assert "Measured to 2024-04-01" in client.get("/compare/?measured_to=2024-04-01").content.decode()
    assert str(of_march.pk) not in listed(client, "measured_from=2024-03-06")
    assert str(stored.pk) in listed(client, "measured_from=2026-01-01")
    assert listed(client, "measured_from=9999-12-31&measured_to=9999-12-31") == []


def _second() -> list[str]:
    """The other repeat of the same document."""
    day = Run.objects.filter(measured_at__year=2024, measured_at__month=3, repeat=2)
    return [str(pk) for pk in day.values_list("pk", flat=True)]


def test_lists_are_sorted_by_it(client, article):
    runs = [sent(), sent(started_at=NOON), sent(measured_on="2024-04-01")]
    order = [*dict.fromkeys(listed(client, "ordering=measured_at&page_size=100"))]
    at = [order.index(str(run.pk)) for run in runs]
    assert at[1] < at[2] < at[0] < len(order) - 30, "those of the article last"
    falling = [*dict.fromkeys(listed(client, "ordering=-measured_at&page_size=100"))]
    assert falling.index(str(runs[0].pk)) < falling.index(str(runs[2].pk)) < falling.index(str(runs[1].pk))


def test_the_page_and_the_list_show_it(client):
    run, day, stored = sent(started_at=NOON), sent(measured_on="2024-04-01"), sent()
    for page in ("/runs/", run.get_absolute_url()):
        assert 'datetime="2024-03-05T10:00:00Z"' in client.get(page).content.decode()
    for page in ("/runs/", day.get_absolute_url()):
        assert 'datetime="2024-04-01"' in client.get(page).content.decode()
    assert "not stated" in client.get(stored.get_absolute_url()).content.decode()
    assert "not stated" not in client.get(run.get_absolute_url()).content.decode().partition('id="state"')[2][:800]


def test_home_asks_since_the_day_of_the_measurement():
    for day in range(1, 7):
        repeat = {"metrics": {"tps": 1000 + day}}
        sent(started_at=f"2024-03-0{day}T12:00:00Z", repeats=[repeat])
    assert any("2024-03-01" in question.of for question in questions(AnonymousUser()))


def test_the_run_before_is_the_one_measured_before():
    """It was the one that was stored before, where one of the two says its day only."""
    late, early = sent(started_at=NOON), sent(measured_on="2024-03-01")
    assert run_before(late, AnonymousUser()) in early.batch.runs.all()
    assert run_before(early, AnonymousUser()) is None


def test_an_agent_s_run_is_of_its_start():
    from runs.results.live import record_state

    run, at = scheduled(), datetime(2026, 11, 2, 12, tzinfo=UTC)
    assert run.measured_at == run.created_at
    for state in ("assigned", "preparing"):
        assert record_state(run_id=run.pk, state=state, at=at)
    run.refresh_from_db()
    assert (run.measured_at, run.measured_at_precision) == (at, Precision.TIME)


def test_an_edited_day_is_when(client, bearer, operator):
    def patch(run: Run, body: dict[str, Any]) -> int:
        address, headers = f"/api/v1/runs/{run.pk}/", bearer("upload")
        return client.patch(address, json.dumps(body), content_type="application/json", headers=headers).status_code

    of_day = store_upload(document=document(), owner=operator).runs[0]
    assert patch(of_day, {"measured_on": "2026-05-03"}) == 200
    assert Run.objects.get(pk=of_day.pk).measured_at == datetime(2026, 5, 3, tzinfo=UTC)
    assert patch(of_day, {"measured_on": None}) == 200
    stored = Run.objects.get(pk=of_day.pk)
    assert stored.measured_at == stored.created_at
    Run.objects.filter(pk=of_day.pk).update(started_at=datetime(2026, 5, 3, 12, tzinfo=UTC))
    assert patch(of_day, {"measured_on": "2026-05-01"}) == 400
    assert Run.objects.get(pk=of_day.pk).measured_on is None


def test_the_day_that_a_person_says_counts_where_no_file_tells_its_time(db):
    from benchagent.importers import Report, Status, Subject

    report = Report("pgbench", status=Status.COMPLETE, subject=Subject(), started_at="2024-03-05T12:00:00")
    made = as_document([("a.txt", report)], {"measured_on": "2024-03-05"}, upload_id=uuid.uuid4())
    assert (made["started_at"], "measured_on" in made) == ("2024-03-05T12:00:00", False)
    assert made["repeats"][0]["started_at"] == "2024-03-05T12:00:00"


def test_stored_runs_get_it(article):
    runs = [make_run("SQLite 3", 1, **said) for said in (
        {"started_at": datetime(2024, 3, 5, 10, tzinfo=UTC), "measured_on": date(2024, 3, 5)},
        {"measured_on": date(2024, 4, 1)}, {},
    )]  # fmt: skip
    before = [run.measured_at for run in runs]
    Run.objects.update(measured_at=None)
    import_module("runs.migrations.0023_when_a_run_was_measured").tell(apps, None)
    assert [Run.objects.get(pk=run.pk).measured_at for run in runs] == before
    assert Run.objects.filter(measured_at=None).count() == Run.objects.exclude(publication=None).count()
