"""What the page of a benchmark, its alert and the answer to "since when" tell of one series is the same."""

from __future__ import annotations

import csv
import html
import math
import random
import re
from datetime import date, datetime, timedelta
from importlib import import_module
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.test import Client
from django.utils import timezone

from runs.formatting import percent_of
from runs.history import alerts, filing
from runs.history.page import context_of
from runs.history.watching import set_alert_state
from runs.history.words import change_words, short_change
from runs.models import Alert, Benchmark, ChangePoint, Metric, Run
from runs.models.choices import AlertState, ChangeState, RunState
from runs.stats import watch
from tests.runs.answers.test_answers import World, ask
from tests.runs.history.nights import file, night, with_latency
from tests.whole import whole, whole_but

pytestmark = pytest.mark.django_db
FIRST = date(2026, 9, 28)
FIRST_AT = timezone.now()


def posted(levels: list[float], seed: int = 1) -> Benchmark:
    """A night of three repeats each, all in one request, filed at once."""
    seeds, nights = random.Random(seed), []
    for at, level in enumerate(levels):
        world = World(seed=seeds.randrange(10**6), noise=0.008)
        world.add(10_000 * level, measured_on=str(FIRST + timedelta(days=at)))
        nights += [document | {"batch": str(uuid4())} for document in world.documents]
    file(nights, None, at_once=len(nights))
    return Benchmark.objects.get()


def test_a_commit_measured_afterwards_has_its_place_everywhere(contributor, client):
    """Was: answers called it the newest batch, and later batches of other branches were drawn at its place."""
    documents = [
        night(at, of=23, level=1.0 if at < 15 else 0.94, tested={"commit_number": str(10 * at)}) for at in range(1, 23)
    ]
    tested = {"commit": "f" * 40, "commit_number": "95"}
    afterwards = night(9, of=23, tested=tested)
    began = datetime.fromisoformat(documents[-1]["started_at"]) + timedelta(hours=3)
    afterwards["started_at"] = began.isoformat()
    numbers = range(1, 23, 7)
    branch = [night(at, of=23, level=1.1, tested={"branch": "wal", "commit_number": str(at)}) for at in numbers]
    file([*documents, *branch, afterwards], contributor, at_once=50)
    benchmark, wal = Benchmark.objects.order_by("branch")
    newest = documents[-1]["tested"]["commit"]
    assert [row.commit for row in benchmark.series.in_order()][9:11] == ["f" * 40, f"{10:040x}"]
    assert benchmark.newest_at == datetime.fromisoformat(documents[-1]["started_at"])
    drawn = context_of(benchmark, [wal])["figure"].spec["series"][-1]
    assert [x for x, _ in drawn["points"]] == [0, 7, 15, 22], "beside the nights of main"
    told = {claim["label"]: claim for claim in ask("workload=oltp", "ask=newer")["claims"]}
    own = next(claim for label, claim in told.items() if "wal" not in label)
    assert (newest[:10] in own["newest"], own["ratio"]["verdict"]) == (True, "equivalent")
    of_main = [claim for claim in ask("workload=oltp", "ask=since")["claims"] if claim["label"] == own["label"]]
    assert [(claim["day"], claim["is_suspected"]) for claim in of_main] == [(documents[14]["started_at"][:10], False)]
    written = client.get("/compare.csv?workload=oltp&ask=since&view=curve").content.decode().splitlines()
    (point,) = [row for row in csv.DictReader(written) if "fffff" in row["tested"]]
    assert (point["x_label"][:10], point["x_day"]) == (began.isoformat()[:10], documents[8]["started_at"][:10])
    assert (point["x_unit"], point["tested"]) == ("day", "ffffffffff")
    note = client.get("/compare/?workload=oltp&ask=since").content.decode()
    assert f"drawn at the place of its commit: {began.isoformat()[:10]} at {point['x_day']}." in note


def test_page_and_answer_tell_a_change_from_where_on_it_matters_of_its_metric():
    """Was: of a size 1 % matters in answers and on charts, and 3 % on the page of its benchmark and in the gate."""
    documents = []
    for at in range(24):
        document = night(at, of=24, level=1.0 if at < 15 else 0.98, noise=0.001)
        for repeat in document["repeats"]:
            repeat["metrics"] = {"backup_bytes": repeat["metrics"]["tps"]}
        documents.append(document)
    file(documents, None, at_once=len(documents))
    (point,), (claim,) = Benchmark.objects.get().changes.all(), ask("workload=oltp", "ask=since")["claims"]
    assert (str(point.at.measured_at.date()), point.side) == (claim["day"], claim["change"]["verdict"])
    assert (point.side, point.is_unsure) == ("different", False)


def test_a_step_that_is_smaller_than_what_matters_is_said_to_be_there():
    """Was: "no lasting change of p99 latency by 33.6 % or more … the batches differ too much", of two clear levels."""
    levels = [(1.0 if at < 10 else 1.08) * (1 + 0.005 * math.sin(3 * at)) for at in range(1, 14)]
    file([with_latency(night(at, of=14), level) for at, level in enumerate(levels, 1)], None, at_once=13)
    told = ask("workload=oltp&metric=latency_p99_ms", "ask=since")
    none, small = told["claims"]
    assert (none["day"], none["threshold"], told["sure"], told["missing"]) == ("", 0.1, False, [])
    assert (small["change"]["verdict"], small["batches"], small["batches_before"]) == ("too_small", 4, 9)
    words = "Surely there, below the 10\u202f% that matter: p99 latency +8"
    assert f"No lasting change of p99 latency by 10\u202f% or more in 13 batches over 13 days. {words}" in told["words"]
    chart = Client().get("/compare/?workload=oltp&metric=latency_p99_ms&ask=since")
    assert '"label": "too small +8' in html.unescape(chart.text)
    benchmark = Benchmark.objects.get(metric__name="latency_p99_ms")
    assert words in html.unescape(Client().get(benchmark.get_absolute_url()).text)
    assert context_of(benchmark, [])["least_seen"] == percent_of(0.1)


def told_by_both(benchmark: Benchmark) -> tuple[list[dict[str, Any]], list[ChangePoint]]:
    points = benchmark.changes.filter(state=ChangeState.CONFIRMED, kind__in=("step", "drift")).select_related("at")
    told = ask("workload=tpcb", "ask=since")["claims"]
    claims = [
        claim for claim in told
        if claim["day"] and not claim["is_suspected"] and claim["change"]["verdict"] != "undecided"
    ]  # fmt: skip
    return claims, sorted(points, key=lambda point: point.at.place)


def alert_of(point: ChangePoint) -> Alert:
    """One of it alone: what is so long past has none by itself."""
    at = point.at.measured_at
    point.alert = Alert.objects.create(after=at - timedelta(days=1), since=at, latest=at)
    point.save()
    return point.alert


WORLDS = {
    "a drift": [0.997**at for at in range(62)],
    "a drift and a step": [0.997**at * (0.92 if at >= 56 else 1) for at in range(62)],
    "a bad night and a step": [0.6 if at == 45 else 0.95 if at >= 55 else 1.0 for at in range(62)],
    "three bad nights and a step": [0.8 if at in (20, 33, 47) else 0.94 if at >= 50 else 1.0 for at in range(62)],
    "a drift that ended": [0.997 ** min(at, 31) for at in range(62)],
    "a drift that turned": [1.003 ** min(at, 60 - at) for at in range(62)],
    "two steps": [1.0 if at < 20 else 1.1 if at < 45 else 0.99 for at in range(62)],
}


HELD = ("a drift and a step", "three bad nights and a step", "a drift that turned", "two steps")


@pytest.mark.parametrize("name", whole_but(HELD, WORLDS))
def test_page_and_answer_tell_the_same_changes_of_the_same_series(name):
    """Was: a drift began where the newest 50 batches do, or was three steps; a bad night hid a step from both."""
    benchmark = posted(WORLDS[name])
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


def test_page_alert_and_answer_say_between_which_days_a_step_may_have_begun(client):
    """Was: the page placed it at one night, the answer beside it named three."""
    step = {at: 1.0 if at < 40 else 0.975 if at == 40 else 0.95 for at in range(62)}
    benchmark = posted([level * (1 + (at != 40) * 0.02 * math.sin(2.4 * at)) for at, level in step.items()])
    (claim,), (point,) = told_by_both(benchmark)
    assert claim["days_near"][0] < claim["days_near"][1]
    words = f"It may have begun on any day from {' to '.join(claim['days_near'])}."
    alert = alert_of(point)
    for path in ("/compare/?workload=tpcb&ask=since", benchmark.get_absolute_url(), alert.get_absolute_url()):
        assert words in client.get(path).text, path
    (told,) = client.get(f"/api/v1/benchmarks/{benchmark.pk}/").json()["changes"]
    assert words in told["words"]


@pytest.mark.parametrize("upgraded_at", [40, 41])
def test_what_changed_on_a_day_that_a_step_may_have_begun_with_is_told(client, upgraded_at):
    """Seen: "It may have begun on any day from 2025-03-20 to 2025-03-21. Nothing that was recorded changed.", of an
    upgrade on the 20th.
    """
    for at in range(62):
        world = World(seed=at, noise=0.0008)
        level = 1.0 if at < 40 else 0.975 if at == 40 else 0.95
        version = "18.1" if at >= upgraded_at else "18.0"
        world.add(
            10_000 * level * (1 + (at != 40) * 0.02 * math.sin(2.4 * at)), 3,
            measured_on=str(FIRST + timedelta(days=at)), dbms={"name": "PostgreSQL", "version": version},
        )  # fmt: skip
        world.store()
    while filing.keep_up():
        pass

    (claim, *_) = (told := ask("workload=tpcb", "ask=since"))["claims"]

    first, last = claim["days_near"]
    assert first <= str(FIRST + timedelta(days=40)) < str(FIRST + timedelta(days=41)) <= last
    day = str(FIRST + timedelta(days=upgraded_at))
    of_day = "" if day == claim["day"] else f" on {day}"
    assert f"Changed there: DBMS PostgreSQL 18.0 → PostgreSQL 18.1{of_day}." in told["words"]
    alert = alert_of(ChangePoint.objects.get(state=ChangeState.CONFIRMED))
    assert "PostgreSQL 18.0 → PostgreSQL 18.1" in html.unescape(client.get(alert.get_absolute_url()).text)


def test_a_stored_step_is_measured_anew_after_an_update():
    """Was: none of what was stored before said so until the next night came."""
    benchmark = posted([1.0 if at < 40 else 0.97 for at in range(62)])
    point = benchmark.changes.get(state=ChangeState.CONFIRMED)
    before = point.earliest, point.latest
    ChangePoint.objects.update(earliest=None, latest=None)
    import_module("runs.migrations.0051_places_of_steps").measure_anew(apps, None)
    while filing.keep_up():
        pass
    point.refresh_from_db()
    assert (point.earliest, point.latest) == before and None not in before


@pytest.mark.parametrize("seed", [24, *whole(1, 3)])
def test_a_page_takes_back_what_all_batches_no_longer_show_as_the_answer_does(seed):
    """Was: a step, or three, of nights that are alike and nothing else, which the answer told as none."""
    rng, off, levels = random.Random(seed), 0.0, []
    for _ in range(62):
        off = 0.7 * off + rng.gauss(0, 0.02)
        levels.append(math.exp(off))
    benchmark = posted(levels)
    assert told_by_both(benchmark) == ([], [])
    assert benchmark.changes.filter(state=ChangeState.REFUTED).exists()


@pytest.mark.parametrize(("seed", "count"), [(3, 40), *whole((1, 40), (63, 50))])
def test_page_answer_and_lists_say_of_a_step_that_it_is_not_yet_sure(seed, count):
    """Was: "−5.1 % (−13.1 to +3.7) since 2026-10-14: worse" beside an answer of no lasting change; then an answer that
    did not name it, and a list that did as if it were sure.
    """
    rng, off, levels = random.Random(seed), 0.0, []
    for _ in range(count):
        off = 0.7 * off + rng.gauss(0, 0.02)
        levels.append(math.exp(off))
    claims, (point,) = told_by_both(posted(levels))
    assert claims == []
    _, not_sure = (told := ask("workload=tpcb", "ask=since"))["claims"]
    assert change_words(point).startswith("Not yet sure: throughput ")
    assert not change_words(point).endswith((": worse.", ": better."))
    words = change_words(point).split(", against")[0]
    assert words in told["words"] and told["words"].startswith("No lasting change") and not told["sure"]
    assert (not_sure["day"], not_sure["batches"]) == (f"{point.at.measured_at:%Y-%m-%d}", point.batches_after)
    of_api = Client().get(f"/api/v1/benchmarks/{point.benchmark_id}/").json()["changes"]
    assert {each["change"]["verdict"] for each in of_api if each["state"] == "confirmed"} == {"undecided"}
    assert alerts.title(alert_of(point)).endswith(": not yet sure")
    for path in ("/compare/?workload=tpcb&ask=since", point.benchmark.get_absolute_url()):
        assert '"label": "not yet sure ' in html.unescape(Client().get(path).text), "as a mark of the chart"
    assert f"not yet sure {short_change(point).removeprefix('not yet sure ')}" in Client().get("/benchmarks/").text


def test_a_step_that_is_by_now_smaller_than_what_matters_is_not_yet_sure_either():
    """Was: "−2.8 % (−3.4 to −2.2): worse" on the page, and no lasting change of 3 % in the answer."""
    rng = random.Random(6)
    logs = [0.008 * rng.gauss(0, 1) - (0.031 if at >= 28 else 0) for at in range(40)]
    told = watch.watched(logs, 0.03)
    (step,) = told.unsure
    assert (step.at, step.change.interval.high < 1, told.confirmed) == (28, True, ())
    change = {
        "value": step.change.value - 1,
        "low": step.change.interval.low - 1,
        "high": step.change.interval.high - 1,
    }
    benchmark = Benchmark(metric=Metric(name="tps", unit="TPS"))
    assert ChangePoint(benchmark=benchmark, state="confirmed", kind="step", change=change).is_unsure


def test_a_step_beside_a_drift_has_its_own_size_and_the_drift_is_named_as_one():
    """Was: −9.8 % and "3 more steps before" of −8 % on a drift."""
    posted(WORLDS["a drift and a step"])
    told = ask("workload=tpcb", "ask=since")
    assert "Before it −15." in told["words"] and "more step" not in told["words"]
    low, high = (told["claims"][1]["change"][end] for end in ("low", "high"))
    assert low < -0.08 < high


def test_a_step_that_is_not_sure_hides_none_beside_it():
    """Was: "no lasting change by 26 % or more", as both steps of −12 % fell with one of +4 % between them."""
    bad_week = [0.98, 0.99, 1.02, 0.92, 0.94, 0.88, 0.97, 0.9, 0.95]
    benchmark = posted([*[1.0] * 33, *[0.88] * 10, *bad_week, *[0.99] * 6, *[0.87] * 4])
    claims, points = told_by_both(benchmark)
    told = [(claim["day"], round(claim["change"]["value"], 2)) for claim in claims]
    assert [told[0], told[-1]] == [("2026-10-31", -0.12), ("2026-11-25", -0.12)]
    of_page = [(f"{each.at.measured_at:%Y-%m-%d}", round(each.change["value"], 2)) for each in points]
    assert set(told) <= set(of_page)


def test_a_bad_night_hides_no_step_and_is_not_all_that_would_be_seen():
    """Was: "No lasting change of 15.7 % or more" beside a page that could see 5 %."""
    benchmark = posted([0.6 if at == 45 else 1.0 for at in range(62)])
    (claim,) = ask("workload=tpcb", "ask=since")["claims"]
    assert (claim["day"], claim["threshold"]) == ("", 0.03)
    assert context_of(benchmark, [])["least_seen"] == percent_of(0.03)


def test_a_night_that_stands_apart_is_named_once_by_page_and_answer():
    """Was: one batch of 40 at −31 %, back the next night, of which not a word told."""
    benchmark = posted([0.69 if at == 15 else 1.0 for at in range(40)])
    told = ask("workload=tpcb", "ask=since")
    page = context_of(benchmark, [])["standing_apart"]
    assert page.startswith("Batches that stand apart from their neighbours: 1 (2026-10-13 −3")
    assert told["words"].count(page) == 1
    assert page in Client().get(benchmark.get_absolute_url()).content.decode()


def test_a_night_that_stands_apart_is_no_baseline_of_the_newest():
    """Was: "0.968 × (0.76–1.23), undecided" of a night that lost 12 %, for ten nights after one that lost 35 %."""
    benchmark = posted([0.65 if at == 25 else 0.88 if at == 29 else 1.0 for at in range(30)])
    told = ask("workload=tpcb", "ask=newer&than=last:10")
    (claim,) = told["claims"]
    assert (claim["batches"], claim["ratio"]["verdict"]) == (9, "worse")
    assert claim["ratio"]["value"] == pytest.approx(0.88, abs=0.02)
    apart = "Batches that stand apart from the others of the baseline and are left out of it: 1 (2026-10-23 −3"
    assert apart in told["words"]
    answer = context_of(benchmark, [])["answer"]
    assert apart in answer
    assert "0.88" in answer


def test_what_comes_again_is_no_accident_of_the_baseline():
    """Was: "better" of a night in the faster of two modes, as the two before it in that mode were left out."""
    posted([1.07 if at in (22, 26, 29) else 1.0 for at in range(30)])
    (claim,) = ask("workload=tpcb", "ask=newer&than=last:10")["claims"]
    assert (claim["batches"], claim["ratio"]["verdict"]) == (10, "undecided")


@pytest.mark.parametrize("seed", [1, *whole(2, 3, 4)])
def test_the_title_of_an_alert_names_the_day_of_its_change(seed):
    """Was: "since 2026-11-20" over a change of 2026-11-23, as its likeliest place was sought again on a drift."""
    drawn = random.Random(seed)
    levels = [0.997**at * (0.92 if at >= 56 else 1) * math.exp(drawn.gauss(0, 0.006)) for at in range(62)]
    posted(levels, seed)
    for alert in Alert.objects.all():
        days = {f"{point.at.measured_at:%Y-%m-%d}" for point in alert.standing()}
        assert any(day in alerts.title(alert) for day in days), (days, alerts.title(alert))


def test_what_people_expect_is_said_and_what_was_before_a_change_is_no_baseline(contributor):
    """Was: "0.956 × (0.877 to 1.04)" of nights before a step."""
    benchmark = posted([1.0 if at < 40 else 0.92 for at in range(62)])
    point = benchmark.changes.get(state=ChangeState.CONFIRMED)
    if point.alert is None:
        point.alert = Alert.objects.create(after=FIRST_AT, since=FIRST_AT, latest=FIRST_AT)
        point.save()
    set_alert_state(point.alert, AlertState.EXPECTED, by=contributor)

    told = ask("workload=tpcb", "ask=since")
    assert told["claims"][0]["is_expected"] and "It was said to be expected." in told["words"]
    for than, before_change in (("days:40", 19), ("last:29", 8)):
        told = ask("workload=tpcb", f"ask=newer&than={than}")
        (claim,) = told["claims"]
        assert (claim["batches"], claim["ratio"]["verdict"]) == (21, "equivalent")
        assert (claim["before_change"], claim["since"]) == (before_change, str(FIRST + timedelta(days=40)))
        assert f"since the change of {claim['since']}, without {before_change} from before that: " in told["words"]


def test_a_latency_beside_the_throughput_of_nights_is_asked_for_too():
    """Was: a p99 latency that rose by 60 % beside a throughput that had not changed was in no question."""
    for at in range(20):
        world = World(seed=at, noise=0.008)
        world.add(10_000, measured_on=str(FIRST + timedelta(days=at)))
        for each, repeat in enumerate(world.documents[0]["repeats"]):
            repeat["metrics"]["latency_p99_ms"] = (5.0 if at < 12 else 8.0) * (1 + each / 100)
        world.store()
    told = ask("workload=tpcb")
    assert told["words"].startswith("No lasting change of throughput by 3")
    (of_latency,) = (each for each in told["questions"] if "p99" in each["words"] and each["kind"] == "since")
    assert ask("workload=tpcb", of_latency["query"])["claims"][0]["change"]["value"] == pytest.approx(0.6, abs=0.05)


def test_private_nights_among_public_ones_are_counted(contributor):
    """Was: one sure step of both, a number that was true of neither."""
    nights = [
        night(number, of=22, **({"visibility": "private"} if number % 2 else {"visibility": "public"}))
        for number in range(22)
    ]
    file(nights, contributor)
    client = Client()
    client.force_login(contributor)
    told = client.get("/api/v1/answers/?workload=oltp&ask=since").json()
    assert "11 of its 22 batches are private" in str(told["missing"]) and "keeps apart" in told["words"], told


def test_an_own_metric_whose_unit_was_changed_is_told_in_the_unit_of_today():
    """Was: of the nights before, and of the newer ones that they had no number."""
    for at in range(40):
        world = World(seed=at, noise=0.008)
        world.add(10_000, measured_on=str(FIRST + timedelta(days=at)))
        for repeat in world.documents[0]["repeats"]:
            own = {"name": "throughput_own", "value": repeat["metrics"]["tps"], "unit": "ops/s", "better": "higher"}
            repeat["metrics"] = [own | {"value": own["value"] / 1000, "unit": "kops/s"} if at < 25 else own]
        world.store()
    told = ask("workload=tpcb")
    assert (told["unit"], told["claims"][0]["batches"]) == ("ops/s", 15)
    assert "no throughput own in this run" not in told["words"]
    newest = ask("workload=tpcb", "ask=newer")["claims"][0]["newest"]
    assert newest.startswith(str(FIRST + timedelta(days=39)))


def test_nights_that_failed_before_a_step_and_repeats_that_did_are_counted_by_answer_and_page():
    """Was: "since 2026-10-28" and nothing of the seven nights before it that had failed."""
    for at in range(40):
        world = World(seed=at, noise=0.008)
        world.add(10_000 * (0.9 if at >= 30 else 1), measured_on=str(FIRST + timedelta(days=at)))
        world.store()
    days = [FIRST + timedelta(days=at) for at in range(23, 30)]
    failed = Run.objects.filter(measured_at__date__in=days)
    partly = Run.objects.filter(measured_at__date=FIRST + timedelta(days=12), repeat=2)
    for runs in (failed, partly):
        runs.update(state=RunState.FAILED, message="disk full")
    while filing.keep_up():
        pass
    told = ask("workload=tpcb", "ask=since")
    assert "Batches without a value before the last: 7 (7 from 2026-10-21 to 2026-10-27): " in told["words"]
    assert "Repeats without a number: 1 (1 of 3 on 2026-10-10): " in told["words"]
    context = context_of(Benchmark.objects.get(), [])
    assert [(f"{row.batch.measured_at:%Y-%m-%d}", row.lost) for row in context["rows"] if row.lost] == [
        ("2026-10-10", 1)
    ]
    assert len(context["failed"]) + context["more_failed"] == 7


@pytest.mark.parametrize(
    ("absent", "words"),
    [({12, 13}, "Days without a batch: 2 (2 from 2026-10-10 to 2026-10-11), where 38 have one."),
     ({at for at in range(40) if at % 7 > 4}, "")],
)  # fmt: skip
def test_nights_that_are_absent_are_named_where_each_day_has_one(absent, words):
    """Was: "58 batches over 60 days" and no word of which; a week of five nights has none."""
    for at in sorted({*range(40)} - absent):
        world = World(seed=at, noise=0.008)
        world.add(10_000, measured_on=str(FIRST + timedelta(days=at)))
        world.store()
    told = ask("workload=tpcb", "ask=since")["words"]
    assert words in told and ("Days without" in told) == bool(words)


def test_nights_that_came_twice_are_named_by_answer_and_page(contributor):
    """Was: ten batches over ten days, and not a word of three that were sent again under another label."""
    nights = [night(number, of=11) for number in range(1, 11)]
    file(nights, contributor, at_once=10)
    file([each | {"id": str(uuid4()), "label": "again"} for each in nights[2:5]], contributor, at_once=3)
    days = [each["started_at"][:10] for each in nights[2:5]]
    told = ask("workload=oltp", "ask=since")["words"]
    assert f"Batches of copies, which count nowhere: 3 ({days[0]}, {days[1]} and {days[2]})." in told
    context = context_of(Benchmark.objects.get(), [])
    assert [f"{run.measured_at:%Y-%m-%d}" for run in context["failed"]] == days[::-1]
    assert not any(row.lost for row in context["rows"])


def nights_of_two(**changed: dict[str, Any]) -> str:
    """36 nights, of which the 12 in the midst are 8 % slower and have what changed; the answer since when."""
    for at in range(36):
        world = World(seed=at, noise=0.008)
        is_new = 12 <= at < 24
        more = {key: value[is_new] for key, value in changed.items()}
        world.add(10_000 * (0.92 if is_new else 1), measured_on=str(FIRST + timedelta(days=at)), **more)
        world.store()
    return ask("workload=tpcb", "ask=since")["words"]


def test_what_follows_another_series_is_told_since_when_and_by_how_much_its_numbers_differ():
    """Was: a machine swapped on a day was series that had not changed."""
    words = nights_of_two(hardware=[{"name": name, "cpu_model": "E"} for name in ("alpha", "beta")])
    assert "Since 2026-10-10 beta follows alpha, another series: −" in words, words
    assert "Since 2026-10-22 alpha follows beta, another series: +" in words, words


def test_a_version_that_is_taken_back_changes_its_series_twice_as_the_benchmark_tells_it():
    """Was: two series, of which neither had changed."""
    words = nights_of_two(dbms=[{"name": "PostgreSQL", "version": version} for version in ("18.0", "18.1")])
    assert re.match(r"Throughput \+[\d.]+\s% \([^)]+\) since 2026-10-22, ", words), words
    assert "Changed there: DBMS PostgreSQL 18.1 → PostgreSQL 18.0." in words


def test_each_machine_is_upgraded_on_a_day_of_its_own():
    """Seen: of three machines that went from 16 to 17 one after the other "no lasting change" in six series, three of
    them of a version that nobody measures any more.
    """
    for at in range(24):
        world = World(seed=at, noise=0.008)
        for machine, day in (("alpha", 8), ("beta", 15)):
            is_new = at >= day
            world.add(
                10_000 * (1.08 if is_new else 1), measured_on=str(FIRST + timedelta(days=at)),
                dbms={"name": "PostgreSQL", "version": "17.2" if is_new else "16.4"},
                hardware={"name": machine, "cpu_model": "E"},
            )  # fmt: skip
        world.store()
    told = ask("workload=tpcb", "ask=since")
    since = {claim["label"]: claim["day"] for claim in told["claims"]}
    assert since == {"alpha": str(FIRST + timedelta(days=8)), "beta": str(FIRST + timedelta(days=15))}


def test_page_and_answer_name_the_same_suspicion_and_it_is_no_scatter_of_the_batches_before():
    """Was: "No lasting change by 8.9 % or more", of a night 15 % slower, beside "Suspected: −15.8 %"."""
    benchmark = posted([1.0] * 14 + [0.85])
    (point,) = benchmark.changes.select_related("at", "benchmark__metric")
    told = ask("workload=tpcb", "ask=since")
    unchanged, suspected = told["claims"]
    assert (point.state, suspected["is_suspected"], told["sure"]) == (ChangeState.SUSPECTED, True, False)
    assert suspected["day"] == str(point.at.measured_at.date())
    assert suspected["change"]["value"] == pytest.approx(point.change["value"])
    assert (unchanged["day"], unchanged["threshold"]) == ("", 0.03)
    assert told["words"].endswith(change_words(point))
    assert alerts.title(alert_of(point)).endswith(": suspected worse")


def test_what_left_zero_or_came_to_it_is_told_first_and_its_days_once():
    """Was: "−15.2 % since 2026-11-25: better" of deadlocks that had not been before 2026-11-10, told before that."""
    for at in range(30):
        world = World(seed=at, noise=0.02)
        has_any = 8 <= at < 22
        level = 6.0 if at < 15 else 9.0
        world.add(level if has_any else 0.0, metric="deadlocks", measured_on=str(FIRST + timedelta(days=at)))
        world.store()
    told = ask("workload=tpcb", "ask=since&metric=deadlocks")
    since, more, back = (str(FIRST + timedelta(days=at)) for at in (8, 15, 22))
    claims = [(each["zero"], each["day"], each["batches_before"], each["batches"]) for each in told["claims"]]
    assert claims == [("from", since, 8, 14), ("to", back, 14, 8), ("", more, 7, 7)]
    assert [each["is_last"] for each in told["claims"]] == [False, True, False]
    assert [each["change"]["value"] for each in told["claims"]][:2] == [None, None]
    words = told["words"]
    places = [
        words.index(each)
        for each in (f" 0 in each repeat of 8 batches since {back}", f"14 batches from {since}", f"from {more}")
    ]
    assert places == sorted(places) and told["sure"] is True
    assert told["missing"] == [] and "No lasting change" not in words


def test_what_was_never_above_zero_is_said_to_be_zero():
    """Was: "None of its values is known." """
    for at in range(6):
        world = World(seed=at)
        world.add(0.0, metric="deadlocks", measured_on=str(FIRST + timedelta(days=at)))
        world.store()
    assert ask("workload=tpcb", "ask=since&metric=deadlocks")["words"] == "Zero in every repeat of all 6 batches."


def test_a_series_that_became_noisier_is_said_to_have():
    """Was: "No lasting change of throughput" beside an alert of the spread; then +400 % here, and 5.00 × there."""
    for at in range(40):
        world = World(seed=at, noise=0.005 if at < 20 else 0.03)
        world.add(10_000, repeats=5, measured_on=str(FIRST + timedelta(days=at)))
        world.store()
    while filing.keep_up():
        pass
    noise = Benchmark.objects.get().changes.get(kind="noise", state=ChangeState.CONFIRMED)
    told = ask("workload=tpcb", "ask=since")["words"]
    *_, said = told.partition(f"The spread of the repeats has changed since {noise.at.measured_at:%Y-%m-%d}: ")
    assert re.match(r"[\d.]+\u202f× \([\d.]+ to [\d.]+\), in 20 batches", said), told
