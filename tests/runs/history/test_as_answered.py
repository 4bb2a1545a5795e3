"""What the page of a benchmark, its alert and the answer to "since when" tell of one series is the same."""

from __future__ import annotations

import math
import random
from datetime import date, timedelta
from typing import Any

import pytest

from runs.formatting import percent_of
from runs.history import alerts, filing
from runs.history.page import context_of
from runs.models import Alert, Benchmark, ChangePoint
from runs.models.choices import ChangeState
from tests.runs.answers.test_answers import World, ask

pytestmark = pytest.mark.django_db
FIRST = date(2026, 9, 28)


def posted(levels: list[float], seed: int = 1) -> Benchmark:
    """A night of three repeats each, all in one request, filed at once."""
    nights = random.Random(seed)
    for at, level in enumerate(levels):
        world = World(seed=nights.randrange(10**6), noise=0.008)
        world.add(10_000 * level, measured_on=str(FIRST + timedelta(days=at)))
        world.store()
    while filing.keep_up():
        pass
    return Benchmark.objects.get()


def told_by_both(benchmark: Benchmark) -> tuple[list[dict[str, Any]], list[ChangePoint]]:
    points = benchmark.changes.filter(state=ChangeState.CONFIRMED, kind__in=("step", "drift")).select_related("at")
    claims = [claim for claim in ask("workload=tpcb", "ask=since")["claims"] if claim["day"]]
    return claims, sorted(points, key=lambda point: point.at.place)


WORLDS = {
    "a drift": [0.997**at for at in range(62)],
    "a drift and a step": [0.997**at * (0.92 if at >= 56 else 1) for at in range(62)],
    "a bad night and a step": [0.6 if at == 45 else 0.95 if at >= 55 else 1.0 for at in range(62)],
    "three bad nights and a step": [0.8 if at in (20, 33, 47) else 0.94 if at >= 50 else 1.0 for at in range(62)],
    "a drift that ended": [0.997 ** min(at, 31) for at in range(62)],
    "two steps": [1.0 if at < 20 else 1.1 if at < 45 else 0.99 for at in range(62)],
}


@pytest.mark.parametrize("levels", WORLDS.values(), ids=WORLDS)
def test_page_and_answer_tell_the_same_changes_of_the_same_series(levels):
    """Was: a drift began where the newest 50 batches do, or was three steps; a bad night hid a step from both."""
    benchmark = posted(levels)
    claims, points = told_by_both(benchmark)
    of_answer = [
        (claim["day"], claim["is_drift"], claim["batches"], round(claim["change"]["value"], 9)) for claim in claims
    ]
    of_page = [
        (f"{each.at.measured_at:%Y-%m-%d}", each.kind == "drift", each.batches_after, round(each.change["value"], 9))
        for each in points
    ]
    assert of_answer == of_page != []
    assert context_of(benchmark, [])["least_seen"] == percent_of(claims[0]["threshold"])


def test_a_step_beside_a_drift_has_its_own_size_and_the_drift_is_named_as_one():
    """Was: −9.8 % and "3 more steps before" of −8 % on a drift."""
    posted(WORLDS["a drift and a step"])
    told = ask("workload=tpcb", "ask=since")
    assert "Before it −15." in told["words"] and "more step" not in told["words"]
    low, high = (told["claims"][1]["change"][end] for end in ("low", "high"))
    assert low < -0.08 < high


def test_a_bad_night_hides_no_step_and_is_not_all_that_would_be_seen():
    """Was: "No lasting change of 15.7 % or more" beside a page that could see 5 %."""
    benchmark = posted([0.6 if at == 45 else 1.0 for at in range(62)])
    (claim,) = ask("workload=tpcb", "ask=since")["claims"]
    assert (claim["day"], claim["threshold"]) == ("", 0.03)
    assert context_of(benchmark, [])["least_seen"] == percent_of(0.03)


@pytest.mark.parametrize("seed", range(1, 5))
def test_the_title_of_an_alert_names_the_day_of_its_change(seed):
    """Was: "since 2026-11-20" over a change of 2026-11-23, as its likeliest place was sought again on a drift."""
    drawn = random.Random(seed)
    levels = [0.997**at * (0.92 if at >= 56 else 1) * math.exp(drawn.gauss(0, 0.006)) for at in range(62)]
    posted(levels, seed)
    for alert in Alert.objects.all():
        days = {f"{point.at.measured_at:%Y-%m-%d}" for point in alert.standing()}
        assert any(day in alerts.title(alert) for day in days), (days, alerts.title(alert))
