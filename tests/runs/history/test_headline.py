"""What is said first of a benchmark: on its page, in the list, over REST, by the title of its alert."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from runs.answers.history import suspicion
from runs.history import alerts
from runs.history.page import answer_words, context_of
from runs.history.watching import BenchmarkSeries
from runs.history.words import change_words
from runs.models import Alert, Benchmark, ChangePoint
from tests.runs.history.nights import file, night, nights

pytestmark = pytest.mark.django_db


def headline() -> str:
    return answer_words(BenchmarkSeries.of(Benchmark.objects.get()))


def test_after_a_confirmed_change_the_newest_is_set_against_batches_of_its_level(contributor, client):
    """Was: "undecided" beside a confirmed 12 %, as 6 of the 10 batches before it are of the level before."""
    file([*nights(range(1, 13), of=17), *nights(range(13, 18), of=17, level=0.88)], contributor, at_once=17)
    point = ChangePoint.objects.get(state="confirmed")
    assert headline().startswith(f"Throughput −1{headline()[13:].partition(' ')[0]} ")
    against = "the throughput of the 4 batches before it: equivalent"
    assert headline().index(f"since {point.at.measured_at:%Y-%m-%d}") < headline().index(against)
    assert ".." not in headline()
    (row,) = client.get("/api/v1/benchmarks/").json()["results"]
    assert (row["last_change"]["state"], row["change"]["verdict"]) == ("confirmed", "equivalent")
    assert row["last_change"]["change"]["value"] == pytest.approx(-0.12, abs=0.01)
    heads = client.get("/benchmarks/").content.decode().partition("<thead>")[2].partition("</thead>")[0]
    assert heads.index("Last change") < heads.index("Against")
    alerts.move(Alert.objects.get(state="confirmed"), "noise", by=contributor)
    assert headline().startswith("The batch of ") and "of the 10 batches before it: undecided" in headline()
    (row,) = client.get("/api/v1/benchmarks/").json()["results"]
    assert row["last_change"] is None


def test_a_release_is_set_against_the_one_before_it_as_the_answer_does(contributor, client):
    """Was: 1.27 × (0.72–2.2) all five before it, "undecided"; the answer had 0.998 × the one before, "equivalent"."""
    levels = {"12.20": 0.5, "13.16": 0.6, "14.13": 0.7, "15.8": 0.8, "16.4": 1.0, "17.0": 1.0}
    releases = [
        night(number, level=level, tested={"commit": ""}, dbms={"name": "PostgreSQL", "version": version})
        for number, (version, level) in enumerate(levels.items(), 1)
    ]
    file(releases, contributor, at_once=6)
    assert "the throughput of the batch before it: equivalent" in headline()
    told = client.get("/api/v1/answers/?workload=oltp&ask=since").json()["words"]
    assert told.partition(" has ")[2].partition(" the ")[0] == headline().partition(" has ")[2].partition(" the ")[0]
    file([night(7, dbms={"name": "PostgreSQL", "version": "17.0"})], contributor)
    assert "the 6 batches before it" in headline()


def test_a_release_set_against_the_one_before_it_leaves_none_out(contributor):
    releases = [
        night(number, level=0.6 if number == 8 else 1, tested={"commit": ""},
              dbms={"name": "PostgreSQL", "version": f"17.{number}"}) for number in range(1, 13)
    ]  # fmt: skip
    file(releases, contributor, at_once=12)
    assert "the throughput of the batch before it: equivalent" in headline()
    assert "left out" not in headline()


def test_the_list_tells_a_suspicion_that_is_not_confirmed_as_one(contributor, client):
    """Was: "none" under its last change, beside its open alert."""
    file([*nights(range(1, 14), of=14), night(14, of=14, level=0.9)], contributor, at_once=14)
    (row,) = client.get("/benchmarks/").context["rows"]
    ((point, words),) = row.last_changes
    assert (row.step, point.state) == (None, "suspected")
    assert words.startswith("suspected −") and words.endswith(f"since {point.at.measured_at:%Y-%m-%d}")
    (row,) = client.get("/api/v1/benchmarks/").json()["results"]
    assert row["last_change"] is None


def with_setting(number: int, synchronous_commit: str, **changes: Any) -> dict[str, Any]:
    settings = {"synchronous_commit": synchronous_commit, "fsync": "on", "full_page_writes": "on"}
    config = [{"name": name, "value": value} for name, value in settings.items()]
    promised = {"on": "power_loss", "off": "bounded_loss"}[synchronous_commit]
    return night(number, of=14, config=config, durability=promised, **changes)


def test_what_is_set_otherwise_is_named_with_its_regression_and_where_no_ratio_would_be_given(contributor):
    """Was: "worse", and not a word of what a commit survives now."""
    file([with_setting(number, "off") for number in range(1, 14)], contributor, at_once=13)
    assert "Recorded differently" not in headline()
    file([with_setting(14, "on", level=0.3)], contributor)
    assert "the batch before: synchronous_commit off → on and A commit a crash may lose" in headline()
    assert "A comparison gives no ratio of these two" in headline()
    assert alerts.title(Alert.objects.get()).endswith(", with synchronous_commit off → on: suspected worse")


def test_batches_of_one_day_are_told_apart_by_their_times(contributor, client):
    noon = (timezone.now() - timedelta(days=1)).replace(hour=12, minute=0, second=0, microsecond=0)
    levels = {number: 0.7 if number == 13 else 1.0 for number in range(1, 14)}
    documents = [
        night(number, level=level) | {"started_at": (noon + timedelta(minutes=number)).isoformat()}
        for number, level in levels.items()
    ]
    file(documents, contributor, at_once=13)
    spec = context_of(Benchmark.objects.get(), [])["figure"].spec
    assert [words for _, words in spec["x"]["ticks"]][:2] == [f"{noon:%Y-%m-%d} 12:01", f"{noon:%Y-%m-%d} 12:02"]
    assert headline().startswith(f"The batch of {noon:%Y-%m-%d} 12:13")
    alert = Alert.objects.get()
    assert f"since {noon:%Y-%m-%d} 12:13" in alerts.title(alert)
    assert f"since {noon:%Y-%m-%d} 12:13" in change_words(ChangePoint.objects.get())
    assert f"{noon:%Y-%m-%d}T12:13:00Z" in client.get("/alerts/").content.decode()


def test_what_surely_matters_to_nobody_is_no_suspicion(contributor):
    """Was: an alert of −0.6 %, "worse", where a comparison says that it is too small to matter."""
    file(nights(range(1, 14), of=14, noise=0.001), contributor, at_once=13)
    file([night(14, of=14, noise=0.001, level=0.992)], contributor)
    assert not ChangePoint.objects.exists()
    assert not Alert.objects.exists()


def test_a_batch_that_lies_hardly_off_its_drift_is_no_suspicion():
    """It was suspected with −1.8 %: off the level before it lay far, for the drift's sake."""
    logs = [math.log(1 - 0.0015 * number) + (0.004 if number % 2 else -0.004) for number in range(59)]
    for off, change in ((0.018, None), (0.068, -0.066)):
        newest = math.log(1 - 0.0015 * 59) - off
        found = suspicion([*logs, newest], 59, [], [range(60)], better="higher", threshold=0.03)
        assert (found and found.change.value - 1) == (change and pytest.approx(change, abs=0.01))


def test_a_loss_is_not_hidden_by_the_return_from_a_disturbed_week(client, contributor):
    """Was: "+7.8 % better" alone, of a benchmark that had lost 6 % before that week and never regained it."""
    levels = [1.0] * 14 + [0.94] * 12 + [0.86] * 7 + [0.94] * 6
    file([night(at, of=len(levels), level=level) for at, level in enumerate(levels, 1)], contributor, at_once=39)
    benchmark = Benchmark.objects.get()
    lost, _, back = [point for point in benchmark.changes.order_by("at__measured_at") if point.state == "confirmed"]
    told = client.get(benchmark.get_absolute_url()).context["answer"]
    assert told.startswith(f"{change_words(lost)} {change_words(back)}")
    (row,) = client.get("/benchmarks/").context["rows"]
    assert [point for point, _ in row.last_changes] == [lost, back]
