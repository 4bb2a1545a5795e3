"""Counts that are 0 as they should be, until a night: no ratio tells that."""

from __future__ import annotations

import random

import pytest

from runs.history.page import context_of
from runs.history.words import change_words, short_change
from runs.models import Alert, Benchmark, ChangePoint
from tests.runs.history.nights import file, night

pytestmark = pytest.mark.django_db
OF = 36
NONE, SOME, ANY = (0, 0, 0), (0, 1, 0), (5, 7, 6)


def counts(*nights, first=1, **changes):
    """Of deadlocks, so many nights in a row of each of these repeats."""
    document = {"workload": {"slug": "locks", "name": "Locks"}} | changes
    every = [repeats for repeats, count in nights for _ in range(count)]
    return [
        night(number, of=OF, repeats=[{"metrics": [metric(value)]} for value in repeats], **document)
        for number, repeats in enumerate(every, first)
    ]


def metric(value):
    return {"name": "deadlocks_seen", "value": value, "unit": "count", "better": "lower"}


def test_what_leaves_zero_is_an_alert_without_a_ratio_and_so_is_what_comes_back(contributor):
    file(counts((NONE, 20)), contributor, at_once=20)
    file(counts((ANY, 2), first=21), contributor)
    assert not ChangePoint.objects.exists()
    file(counts((ANY, 1), first=23), contributor)
    point = ChangePoint.objects.get()
    assert (point.kind, point.state, point.side, point.change, point.size) == ("zero", "confirmed", "worse", {}, 1.0)
    assert (point.batches_before, point.batches_after, point.alert.state) == (20, 3, "confirmed")
    assert change_words(point).startswith("Deadlocks seen above 0 in 3 batches since ")
    assert change_words(point).endswith(", 0 in each repeat of the 20 before: worse.")
    assert Benchmark.objects.get().moved == 1
    file(counts((ANY, 5), (NONE, 8), first=24), contributor)
    first, last = ChangePoint.objects.order_by("at__measured_at")
    assert (first.pk, first.batches_after) == (point.pk, 8)
    assert (last.side, last.batches_before, last.batches_after, short_change(last)) == ("better", 8, 8, "to 0")
    assert Alert.objects.filter(state="confirmed").count() == 2


def test_whatever_the_order_of_arrival_the_same_is_told(contributor):
    documents = counts((NONE, 15), (ANY, 12))
    random.Random(3).shuffle(documents)
    file(documents, contributor, at_once=7)
    point = ChangePoint.objects.get(state="confirmed")
    assert (point.at.commit, point.batches_before, point.batches_after) == (f"{16:040x}", 15, 12)


def test_what_is_zero_now_and_then_has_not_changed(contributor):
    file(counts(*[(NONE, 3), (ANY, 3), (SOME, 1)] * 4), contributor, at_once=OF)
    assert not ChangePoint.objects.filter(kind="zero").exists()


def test_page_and_list_draw_and_count_the_batches_at_zero(client, contributor):
    """Was: 5 of 25 batches in the chart, and "Newest 6.3" of what had been 0 since."""
    file(counts((ANY, 10), (SOME, 1), (NONE, 14)), contributor, at_once=OF)
    benchmark = Benchmark.objects.get()
    context = context_of(benchmark, [])
    own = context["figure"].spec["series"][0]
    assert benchmark.batches == context["drawn"] == len(own["points"]) == 25
    assert [y for _, y in own["points"]][10:] == [None, *[0.0] * 14]
    assert len(own["dots"]) == 75 and context["figure"].spec["y"]["zero"]
    assert [mark["label"] for mark in context["figure"].spec["marks"]] == ["to 0"]
    ((point, words),) = context["changes"]
    assert words == change_words(point) and "above 0 in the 11 before: better." in words
    assert "equivalent: zero in every repeat, as in the baseline" in context["answer"]
    (row,) = client.get("/benchmarks/?workload=locks").context["rows"]
    assert (row.newest, row.change.verdict, row.last_changes[0][1][:11]) == (0, "equivalent", "to 0 since ")
    (of_api,) = client.get("/api/v1/benchmarks/?workload=locks").json()["results"]
    last = of_api["last_change"]
    assert (of_api["newest"], last["kind"], last["zero"], last["change"]["value"]) == (0, "zero", "to", None)


@pytest.mark.parametrize(
    ("nights", "verdict"),
    [
        (((ANY, 10), (NONE, 1)), "better"), (((NONE, 10), (ANY, 1)), "worse"), (((NONE, 11),), "equivalent"),
        (((ANY, 9), (SOME, 1), (NONE, 1)), "undecided"), (((ANY, 2), (NONE, 1)), "too_few"),
        (((ANY, 10), (SOME, 1)), "refused"),
    ],
)  # fmt: skip
def test_a_newest_batch_of_zero_is_told_without_a_ratio(client, contributor, nights, verdict):
    """Was: "no ratio, a value is zero or negative", or an older batch as the newest."""
    file(counts(*nights), contributor, at_once=OF)
    asked = client.get("/api/v1/answers/?workload=locks&ask=newer&metric=deadlocks_seen").json()
    (claim,) = asked["claims"]
    assert (claim["ratio"]["value"], claim["ratio"]["verdict"]) == (None, verdict)
    assert claim["ratio"]["why"] in asked["words"]
    (row,) = client.get("/benchmarks/?workload=locks").context["rows"]
    assert (row.change.value, row.change.verdict) == (None, verdict)


def test_a_release_at_zero_is_shown_and_one_that_left_it_is_worse(client, contributor):
    """Was: a dash, as of what was never measured."""
    releases = [counts((values, 4), first=at, dbms={"name": "PostgreSQL", "version": version})
                for version, values, at in (("18.0", NONE, 1), ("18.1", ANY, 5), ("18.2", NONE, 9))]  # fmt: skip
    file([document for each in releases for document in each], contributor, at_once=OF)
    (shown,) = client.get("/benchmarks/?view=releases&workload=locks").context["maps"]
    ((_, cells),) = shown.rows
    assert [cell.mean for cell in cells] == [0, pytest.approx(5.94, abs=0.01), 0]
    assert [(cell.change_words, cell.shade) for cell in cells] == [("", 0), ("worse", -3), ("better", 3)]


def test_machines_at_zero_have_no_share_of_the_best_and_are_counted(client, contributor):
    by_machine = [counts((NONE, 4), hardware={"name": name}, storage=[]) for name in ("a", "b")]
    file([document for each in by_machine for document in each], contributor, at_once=OF)
    answer = client.get("/api/v1/benchmarks/machines/?workload=locks").json()
    assert (answer["results"], answer["alone"], answer["at_zero"]) == ([], 0, 2)
