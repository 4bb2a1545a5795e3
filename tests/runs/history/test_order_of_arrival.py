"""A series says the same whenever its nights came."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest

from runs.access.rules import change_visibility
from runs.history import alerts, filing
from runs.models import Alert, Benchmark, Change, ChangePoint, Run, Upload
from runs.results import editing
from tests.runs.history.nights import file, night
from tests.whole import whole

pytestmark = pytest.mark.django_db
NIGHTS, STEP = 30, 20


def with_step(level: float = 0.9, **changes: Any) -> list[dict[str, Any]]:
    """30 nights, slower from the 20th on."""
    of_level = (level if number >= STEP else 1.0 for number in range(1, NIGHTS + 1))
    return [night(number, of=NIGHTS, level=each, **changes) for number, each in enumerate(of_level, 1)]


def named(slug: str) -> dict[str, str]:
    return {"slug": slug, "name": slug, "version": "1", "kind": ""}


def told(benchmark: Benchmark) -> list[tuple[str, str, float]]:
    points = ChangePoint.objects.filter(benchmark=benchmark, state="confirmed").select_related("at")
    return sorted((point.kind, point.at.commit, round(point.change["value"], 6)) for point in points)


@pytest.mark.parametrize("seed", [0, *whole(*range(1, 6))])
@pytest.mark.parametrize("shape", ["step", "drift", *whole("there and back", "bad night")])
def test_whatever_their_order_of_arrival_the_same_nights_tell_the_same(contributor, seed, shape):
    levels = {
        "step": [0.92 if number >= STEP else 1.0 for number in range(1, NIGHTS + 1)],
        "there and back": [0.9 if 12 <= number < STEP else 1.0 for number in range(1, NIGHTS + 1)],
        "drift": [1 - 0.004 * max(0, number - 10) for number in range(1, 51)],
        "bad night": [0.75 if number == 9 else 0.9 if number >= STEP else 1.0 for number in range(1, NIGHTS + 1)],
    }[shape]
    in_order, shuffled = (
        [night(at, of=len(levels), level=level, workload=named(slug)) for at, level in enumerate(levels, 1)]
        for slug in ("ordered", "shuffled")
    )
    chance = random.Random(seed)
    chance.shuffle(shuffled)
    file(in_order, contributor)
    file(shuffled, contributor, at_once=chance.choice([1, 4, 7]))
    ordered, other = (Benchmark.objects.get(workload__slug=slug) for slug in ("ordered", "shuffled"))
    assert told(other) == told(ordered) != []
    assert (other.moved, other.verdict) == (ordered.moved, ordered.verdict)


@pytest.mark.parametrize("late", [STEP, STEP - 1, STEP + 1])
def test_a_night_that_comes_late_moves_the_step_to_its_first_night_and_its_alert_with_it(contributor, late):
    """Was: the step stayed at the second night for good, and a wrong commit was blamed."""
    documents = with_step()
    file([*documents[: late - 1], *documents[late : STEP + 5]], contributor)
    point = ChangePoint.objects.get(state="confirmed")
    alert = point.alert
    file([documents[late - 1], *documents[STEP + 5 :]], contributor)
    again = ChangePoint.objects.get(state="confirmed")
    assert (again.pk, again.at.commit, again.alert) == (point.pk, f"{STEP:040x}", alert)
    alert.refresh_from_db()
    assert (alert.state, alert.since) == ("confirmed", again.at.measured_at)
    moved = Change.objects.filter(target_id=str(alert.pk), field="since")
    assert [change.reason for change in moved] == ([alerts.CAME_LATE] if late == STEP else [])


def test_what_people_have_judged_stays_where_it_was_judged(contributor):
    documents = with_step()
    file([*documents[: STEP - 1], *documents[STEP : STEP + 5]], contributor)
    alerts.move(ChangePoint.objects.get(state="confirmed").alert, "expected", by=contributor)
    file([documents[STEP - 1], *documents[STEP + 5 :]], contributor)
    point = ChangePoint.objects.get(state="confirmed")
    assert (point.at.commit, point.alert.state) == (f"{STEP + 1:040x}", "expected")


def test_a_step_outlives_its_first_night(contributor):
    """Was: whoever deleted that night took the step out, and none of the next nights told it again."""
    documents = with_step()
    file(documents[: STEP + 5], contributor)
    for run in Run.objects.filter(batch__series__commit=f"{STEP:040x}"):
        editing.delete(run, by=contributor)
    assert told(Benchmark.objects.get()) == []
    filing.keep_up()
    ((kind, commit, _),) = told(Benchmark.objects.get())
    assert (kind, commit) == ("step", f"{STEP + 1:040x}")
    assert Alert.objects.filter(state="confirmed").count() == 1


@pytest.mark.parametrize("way", ["delete", "invalidate", "visibility"])
def test_nights_that_are_taken_out_and_come_back_are_judged_before_the_next_comes(contributor, way):
    """Was: the step stood without two of its three nights, and was not told once they were there again."""
    file(with_step()[: STEP + 2], contributor, at_once=STEP + 2)
    benchmark = Benchmark.objects.get()
    ((kind, commit, _),) = before = told(benchmark)
    assert (kind, commit) == ("step", f"{STEP:040x}")
    uploads = Upload.objects.filter(runs__batch__series__commit__in=[f"{at:040x}" for at in (STEP + 1, STEP + 2)])
    taken = list(uploads.distinct())

    def do(*ways: Callable[[Run], object], visibility: str) -> None:
        if way == "visibility":
            for upload in taken:
                change_visibility(target=upload, visibility=visibility, by=contributor)
        else:
            for run in Run.objects.filter(upload__in=taken):
                ways[way == "invalidate"](run)
        while filing.keep_up():
            pass

    do(
        lambda run: editing.delete(run, by=contributor),
        lambda run: editing.invalidate(run, reason="disturbed", by=contributor), visibility="private",
    )  # fmt: skip
    assert told(benchmark) == []
    do(
        lambda run: editing.restore(run, by=contributor), lambda run: editing.validate(run, by=contributor),
        visibility="public",
    )  # fmt: skip
    assert [each[:2] for each in told(benchmark)] == [each[:2] for each in before]


def with_repeats(values: list[float], batch: str, **changes: Any) -> dict[str, Any]:
    repeats = [{"metrics": {"tps": each}} for each in values]
    return night(STEP, of=STEP, **changes) | {"batch": batch, "repeats": repeats}


@pytest.mark.parametrize(
    ("values", "state", "alert"),
    [([1000, 700, 700], "suspected", "new"), ([930, 1035, 1035], None, None), ([1000, 1001, 999], None, None)],
)
def test_a_batch_that_comes_in_parts_is_judged_as_one_that_comes_whole(contributor, values, state, alert):
    """Was: by its first repeat alone, for good, whatever the others said."""
    for slug in ("whole", "parts"):
        file([night(at, of=STEP, workload=named(slug)) for at in range(1, STEP)], contributor, at_once=STEP)
    deliveries = {"whole": [values], "parts": [values[:1], values[1:]]}
    for slug, parts in deliveries.items():
        batch = str(uuid4())
        file([with_repeats(each, batch, workload=named(slug)) for each in parts], contributor)
    points = {slug: ChangePoint.objects.filter(benchmark__workload__slug=slug) for slug in deliveries}
    whole, parts = ([point.change for point in each.exclude(state="refuted")] for each in points.values())
    assert len(whole) == (state is not None)
    assert parts == whole
    open_alerts = Alert.objects.exclude(state="noise").filter(changes__benchmark__workload__slug="parts")
    assert [each.state for each in open_alerts] == ([alert] if alert else [])


def test_a_suspicion_comes_and_goes_with_the_repeats_that_show_it(contributor):
    file([night(at, of=STEP) for at in range(1, STEP)], contributor, at_once=STEP)
    batch = str(uuid4())
    file([with_repeats([800], batch)], contributor)
    point = ChangePoint.objects.get()
    change = point.change["value"]
    file([with_repeats([1120, 1121], batch)], contributor)
    point.refresh_from_db()
    assert (point.state, point.alert.state) == ("refuted", "noise")
    closed = Change.objects.filter(target_id=str(point.alert_id), field="state").order_by("pk").last()
    assert closed and closed.reason == alerts.NO_LONGER_SHOWN
    for run in Run.objects.filter(measurements__value__gt=1100):
        editing.invalidate(run, reason="disturbed", by=contributor)
    while filing.keep_up():
        pass
    point = ChangePoint.objects.get()
    assert (point.state, point.alert.state, point.change["value"]) == ("suspected", "new", pytest.approx(change))
    file([with_repeats([700], batch)], contributor)
    point.refresh_from_db()
    assert (point.state, point.change["value"]) == ("suspected", pytest.approx(change - 0.05, abs=0.01))


def test_an_alert_that_closed_itself_hides_no_change_of_the_past(contributor):
    documents = [night(at, of=90, level=0.9 if at >= STEP else 1.0) for at in range(1, NIGHTS + 1)]
    file(documents[1:], contributor, at_once=29)
    point = ChangePoint.objects.get(state="confirmed")
    alerts.attach(point, list(point.benchmark.series.in_order()))
    alerts.move(point.alert, "noise")
    ChangePoint.objects.update(state="refuted")
    file(documents[:1], contributor)
    point.refresh_from_db()
    assert (point.state, point.alert) == ("confirmed", None)


def test_an_alert_of_several_benchmarks_moves_with_them(contributor):
    documents = [document for slug in ("one", "other") for document in with_step(workload=named(slug))]
    late = [document for document in documents if document["tested"]["commit"] == f"{STEP:040x}"]
    file([document for document in documents if document not in late], contributor, at_once=10)
    alert = Alert.objects.get(state="confirmed")
    file(late, contributor)
    moved = Alert.objects.get(state="confirmed")
    assert (moved, f"{moved.since:%d}", moved.changes.count()) == (alert, late[0]["started_at"][8:10], 2)
