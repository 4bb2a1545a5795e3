"""Releases that are measured beside each other for months: what is said of one is of its own batches."""

from __future__ import annotations

import random
from datetime import date, timedelta
from importlib import import_module
from typing import Any

import pytest
from django.apps import apps

from runs.formatting import release_line, version_order
from runs.history import filing, joining, releases
from runs.history.gate import gated
from runs.history.grids import machine_matrix
from runs.history.overview import listed_benchmarks, read_baseline, rows_of
from runs.history.watching import BenchmarkSeries, newest_against, set_alert_state
from runs.models import Alert, Benchmark, ChangePoint, Run
from runs.results import editing
from tests.runs.answers.test_answers import ask
from tests.runs.history.nights import file, measured, night
from tests.whole import whole

pytestmark = pytest.mark.django_db
MONTHS, MONTH = 12, 30
Documents = list[dict[str, Any]]


def month(number: int, version: str, level: float, *, chance: random.Random, days: int = 0) -> dict[str, Any]:
    """The batch of a month, so many days after its first; the newest of twelve is of this week. They scatter by 2 %."""
    document = night(
        (number - MONTHS) * MONTH + days, of=4, level=level * chance.gauss(1, 0.02), noise=0.004,
        dbms={"name": "PostgreSQL", "version": version},
    )  # fmt: skip
    del document["tested"]
    return document


def beside(seed: int = 3, *, days: int = 0, before: int = 0, step: float = 1.0) -> Documents:
    """PostgreSQL 16.4 for so many months, then 12 more beside 17.0, so many days before it, which is 6 % faster, and
    17.1 from the seventh of these on, which goes a step further.
    """
    chance = random.Random(seed)
    newer = [("17.0", 1.06) if number < 7 else ("17.1", 1.06 * step) for number in range(1, MONTHS + 1)]
    return [
        *(month(number, "16.4", 1.0, chance=chance) for number in range(1 - before, MONTHS + 1)),
        *(month(number, *each, chance=chance, days=days) for number, each in enumerate(newer, 1)),
    ]


def lines() -> dict[str, Benchmark]:
    return {each.branch: each for each in Benchmark.objects.all()}


def changes_of(benchmark: Benchmark) -> list[tuple[str, float]]:
    points = benchmark.changes.exclude(state="refuted").select_related("at")
    return sorted((f"{point.at.measured_at:%Y-%m-%d}", point.change["value"]) for point in points)


@pytest.mark.parametrize("seed", [3, 8])
@pytest.mark.parametrize(("days", "before"), [(0, 0), (3, 0), (0, MONTHS)], ids=["same day", "alternately", "later"])
def test_neither_has_changed_where_the_older_is_measured_on(client, contributor, seed, days, before):
    """Was: "+5.4 % since 2026-11-26", against 23 batches of the older release, with an alert; and "Suspected"."""
    file(beside(seed, days=days, before=before), contributor, at_once=100)
    newest, older = lines()[""], lines()["16"]
    # What was measured before the first of the newer release is what that came after.
    assert older.batches == MONTHS - (days > 0)
    assert {row.version.version for row in older.series.all()} == {"16.4"}
    first = newest.series.filter(version__version="17.0").earliest("measured_at").measured_at
    assert changes_of(older) == []
    assert all(date.fromisoformat(day) <= first.date() + timedelta(days=MONTH) for day, _ in changes_of(newest))
    assert not Alert.objects.exists()
    # Page, lists, API, gate and answer set the newest batch of each against the same batches.
    told = {claim["label"]: claim for claim in ask("workload=oltp", "ask=newer")["claims"]}
    assert len(told) == 2
    listed = client.get("/api/v1/benchmarks/").json()["results"]
    for each, label in ((newest, "17"), (older, "16")):
        claim = next(claim for name, claim in told.items() if name.startswith(f"PostgreSQL {label}"))
        amount = newest_against(BenchmarkSeries.of(each))
        (row,) = [row for row in listed if row["id"] == str(each.pk)]
        runs = each.series.newest_first()[0].runs
        (cell,) = gated(runs, read_baseline(""), contributor)
        assert (cell.batches, claim["batches"]) == (10, 10)
        values = (claim["ratio"]["value"], row["change"]["value"], cell.change.value)
        assert values == pytest.approx((amount.value,) * 3)
    for than, count in (("last:5", 5), ("days:70", 2)):
        assert [cell.batches for cell in gated(runs, read_baseline(than), contributor)] == [count]
    # What has a name is found in whichever line it is.
    runs, than = newest.series.newest_first()[0].runs, read_baseline("version:16.4")
    of_gate, of_list = gated(runs, than, contributor)[0].change, rows_of([newest], than)[0].change
    assert (of_gate.value, of_list.value) == pytest.approx((1.06, 1.06), abs=0.06)
    for row in rows_of([newest, older], read_baseline("days:95")):
        *_, first, second, third, last = (batch.centre for batch in row.benchmark.series.in_order())
        assert row.change.value == pytest.approx(last / (first * second * third) ** (1 / 3))


@pytest.mark.parametrize("days", [0, 3])
def test_a_step_of_the_newer_release_is_told_of_it_alone(client, contributor, days):
    """Was: "Suspected: −7.8 %" at another month, of all 21 batches before; and three answers that knew of no step."""
    file(beside(days=days, step=0.92), contributor, at_once=100)
    newest, older = lines()[""], lines()["16"]
    first = newest.series.filter(version__version="17.1").earliest("measured_at")
    ((day, change),) = changes_of(newest)
    assert (day, changes_of(older)) == (f"{first.measured_at:%Y-%m-%d}", [])
    assert change == pytest.approx(-0.08, abs=0.03)
    of_home = next(each.query for each in client.get("/").context["questions"] if "ask=since" in each.query)
    for selected in ("workload=oltp", of_home.removesuffix("&ask=since")):
        told = {claim["label"]: claim for claim in ask(selected, "ask=since")["claims"]}
        assert told.keys() == {"PostgreSQL 16", "PostgreSQL 17"}
        assert (told["PostgreSQL 17"]["day"], told["PostgreSQL 16"]["day"]) == (day, "")
        assert told["PostgreSQL 17"]["change"]["value"] == pytest.approx(change)
    words = client.get(newest.get_absolute_url()).text
    assert f'older releases, each a benchmark of its own: <a href="{older.get_absolute_url()}">16</a>' in words
    shown = client.get(older.get_absolute_url())
    assert "of release 16 alone" in shown.text and newest.get_absolute_url() in shown.text
    drawn = [
        {each["label"] for each in client.get(page.get_absolute_url()).context["figure"].spec["series"]}
        for page in (newest, older)
    ]
    assert ("Release 16" in drawn[0], "The main branch" in drawn[1]) == (True, True)


def test_a_release_that_comes_back_for_a_day_stays_where_it_is(contributor):
    """As an experiment or a rollback. Was: an answer for each release, and none knew more than one batch."""
    chance = random.Random(3)
    documents = [month(number, f"16.{number}", 1.0, chance=chance) for number in range(1, MONTHS + 1)]
    file([*documents, month(9, "16.7", 1.0, chance=chance, days=5)], contributor, at_once=100)
    benchmark = Benchmark.objects.get()
    assert (benchmark.batches, changes_of(benchmark)) == (MONTHS + 1, [])
    (claim,) = ask("workload=oltp", "ask=since")["claims"]
    assert (claim["label"], claim["batches"], claim["day"]) == ("", MONTHS + 1, "")


@pytest.mark.parametrize("at_once", [100, 3])
def test_a_version_that_is_taken_back_stands_behind_the_newer_one(contributor, at_once):
    """Seen: of an upgrade that was taken back after five nights "the newest batch" was the last of the newer version,
    and the nights since then stood among those before it.
    """
    versions = ["16.4"] * 12 + ["17.2"] * 5 + ["16.4"] * 4
    documents = [
        night(at, of=len(versions), level=1.08 if version == "17.2" else 1.0, noise=0.004,
              dbms={"name": "PostgreSQL", "version": version}, tested={})
        for at, version in enumerate(versions, 1)
    ]  # fmt: skip
    random.Random(at_once).shuffle(documents)
    file(documents, contributor, at_once=at_once)
    benchmark = Benchmark.objects.get()
    rows = [*benchmark.series.in_order().select_related("version")]
    assert [row.version.version for row in rows] == versions
    assert [round(change, 2) for _, change in changes_of(benchmark)] == [0.08, -0.07]
    claims = ask("workload=oltp", "ask=since")["claims"]
    assert [(claim["day"], round(claim["change"]["value"], 2)) for claim in claims] == [
        (f"{rows[12].measured_at:%Y-%m-%d}", 0.08), (f"{rows[17].measured_at:%Y-%m-%d}", -0.07),
    ]  # fmt: skip


def test_each_release_once_is_one_history(contributor):
    chance = random.Random(3)
    file([month(n, f"16.{n}", 1.0, chance=chance) for n in range(1, MONTHS + 1)], contributor, at_once=5)
    assert Benchmark.objects.get().batches == MONTHS
    (claim,) = ask("workload=oltp", "ask=since")["claims"]
    assert (claim["label"], claim["batches"]) == ("", MONTHS)


@pytest.mark.parametrize("seed", [0, *whole(1, 2)])
def test_whatever_their_order_of_arrival_releases_are_parted_alike(contributor, seed):
    def told(slug: str) -> dict[str, object]:
        of_line = {each.branch: each for each in Benchmark.objects.filter(workload__slug=slug)}
        return {
            line: (changes_of(each), measured(each), each.verdict, round(each.moved, 9))
            for line, each in of_line.items()
        }

    in_order, shuffled = (
        [each | {"workload": {"slug": slug, "name": slug, "version": "1", "kind": ""}} for each in beside(step=0.92)]
        for slug in ("ordered", "shuffled")
    )
    chance = random.Random(seed)
    chance.shuffle(shuffled)
    file(in_order, contributor, at_once=100)
    file(shuffled, contributor, at_once=chance.choice([4, 7]))
    assert told("shuffled") == told("ordered")
    assert told("ordered").keys() == {"", "16"}


def test_what_was_filed_before_is_parted_and_keeps_its_address(contributor, monkeypatch):
    """Was: an alert of a step that was none, and one address that stays that of the newest release."""
    with monkeypatch.context() as before:
        before.setattr(releases, "part", lambda benchmark: {})
        file(beside(8, before=MONTHS), contributor, at_once=100)
    benchmark, alert = Benchmark.objects.get(), Alert.objects.get()
    import_module("runs.migrations.0052_releases_beside_newer_ones").look_for_releases(apps, None)
    while filing.keep_up():
        pass
    assert lines()[""].pk == benchmark.pk
    assert (lines()[""].batches, lines()["16"].batches) == (2 * MONTHS, MONTHS)
    alert.refresh_from_db()
    assert alert.state == "noise", "it closes as every alert does that further batches do not confirm"


def test_what_people_have_said_goes_with_the_batch_that_they_said_it_of(contributor, operator, monkeypatch):
    with monkeypatch.context() as before:
        before.setattr(releases, "part", lambda benchmark: {})
        file(beside(8, before=MONTHS), contributor, at_once=100)
    point = ChangePoint.objects.get(state="confirmed")
    set_alert_state(point.alert, "expected", by=operator)
    file([month(MONTHS, "17.1", 1.06, chance=random.Random(1), days=2)], contributor)
    again = ChangePoint.objects.get(pk=point.pk)
    assert (again.benchmark, again.alert.state) == (lines()["16"], "expected")


def test_a_batch_that_is_filed_again_stays_in_its_line_and_one_left_alone_goes_back(contributor):
    documents = beside()
    file(documents, contributor, at_once=100)
    older = lines()["16"]
    for run in Run.objects.filter(batch__series__benchmark=older).order_by("measured_at")[:3]:
        run.batch.tags = ["seen"]
        run.batch.is_filed = False
        run.batch.save()
    ids = {*older.series.values_list("pk", flat=True)}
    while filing.keep_up():
        pass
    assert {*older.series.values_list("pk", flat=True)} == ids
    kept = older.series.earliest("measured_at").batch_id
    for run in Run.objects.filter(dbms_version__version="16.4").exclude(batch=kept):
        editing.delete(run, by=contributor)
    while filing.keep_up():
        pass
    assert (lines().keys(), lines()[""].batches) == ({""}, MONTHS + 1)


def test_commits_that_tell_their_place_stand_there(contributor):
    """An old commit may be measured once more whenever people ask."""
    documents = [
        night(at, dbms={"name": "PostgreSQL", "version": "18.0" if number < 100 else "19.0"},
              tested={"commit": f"{number:040x}", "commit_number": str(number)})
        for at, number in enumerate([10, 20, 110, 11, 120, 12, 130, 13], 1)
    ]  # fmt: skip
    file(documents, contributor, at_once=8)
    assert Benchmark.objects.get().batches == 8


def test_a_stated_branch_parts_by_itself(contributor):
    documents = beside()
    for each in documents:
        each["tested"] = {"branch": "feature"}
    file(documents, contributor, at_once=100)
    assert [(each.branch, each.release_of) for each in Benchmark.objects.all()] == [("feature", None)]


def test_the_releases_of_a_joined_benchmark_go_on(contributor):
    documents = beside()
    newer = {"name": "alpha", "storage": [{"name": "nvme0", "medium": "nvme", "model": "new"}]}
    for each in documents[MONTHS - 4 : MONTHS] + documents[-4:]:
        each["hardware"] = newer
    file(documents, contributor, at_once=100)
    old, new = Benchmark.objects.filter(branch="").order_by("newest_at")
    joining.join(new, old, by=contributor)
    assert {each.branch: each.batches for each in (old, *old.releases.all())} == {"": MONTHS, "16": MONTHS}
    joining.part(new, by=contributor)
    while filing.keep_up():
        pass
    assert sorted((each.branch, each.batches) for each in Benchmark.objects.all()) == [
        ("", 4), ("", 8), ("16", 4), ("16", 8),
    ]  # fmt: skip


def test_grids_show_the_older_releases_with_the_newest(client, contributor):
    documents = beside()
    other = [
        {**each, "id": f"{at:032x}", "hardware": {"name": "beta"}, "storage": []} for at, each in enumerate(documents)
    ]
    for each in documents:
        each |= {"storage": [], "hardware": {"name": "alpha"}}
    # Beta has the older release alone.
    file([*documents, *other[:MONTHS]], contributor, at_once=100)
    (map_,) = client.get("/benchmarks/?view=releases&hardware=alpha").context["maps"]
    ((_, cells),) = map_.rows
    assert (map_.releases, [cell.batches for cell in cells]) == (["16.4", "17.0", "17.1"], [12, 6, 6])
    ((_, release, row),) = machine_matrix(list(listed_benchmarks(contributor))).rows
    assert (release, [cell.share_words for cell in row if cell]) == ("16.4", ["100.0\u202f%"] * 2)


DAYS = [date(2026, 1, 1) + timedelta(days=at) for at in range(40)]


@pytest.mark.parametrize(
    ("versions", "parted"),
    [
        (["16.3", "16.4", "16.3", "16.4"], {}),
        (["16.3", "16.4", "16.3", "16.4", "16.3", "16.4"], {"16.3": [2, 4]}),
        (["16.4", "17.0", "16.4", "17.0", "16.5", "17.1", "16.5", "17.1"], {"16": [4, 6]}),
        (["17.0", "16.1", "16.1", "16.2", "16.2", "17.1"], {}),
        (["10.6.16", "10.11.6", "11.4.2"] * 4, {"10.6": [3, 6, 9], "10.11": [4, 7, 10]}),
        (["8.0.36", "8.4.0"] * 2 + ["8.0.37", "8.4.1"] * 2 + ["8.0.37"], {"8.0": [4, 6, 8]}),
        (["18devel-1-a", "18devel-2-b"] * 4, {}),
        (["18beta1", "18.0"] * 3, {"18": [2, 4]}),
    ],
)
def test_what_comes_back_twice_is_measured_beside(versions, parted):
    told = releases.lines_of([*zip(DAYS, versions, strict=False)])
    assert {line: [at for at, own in enumerate(told) if own == line] for line in {*told} - {""}} == parted


def test_a_release_that_is_kept_as_a_reference_is_a_line_of_its_own():
    both = [(day, version) for day in DAYS[:9] for version in ("16.4", f"16.{5 + day.day // 4}")]
    told = releases.lines_of([*both, *((day, version) for day in DAYS[9:20] for version in ("16.4", "16.7", "17.0"))])
    found = {(version, line) for (_, version), line in zip(both, told, strict=False)}
    assert found == {("16.4", "16.4"), ("16.5", ""), ("16.6", ""), ("16.7", "")}
    assert {*told[len(both) :]} == {"16.4", "16", ""}


@pytest.mark.parametrize(
    ("versions", "orders"),
    [
        ("aaabbb", "aaabbb"), ("aaabbba", "aaabbba"), ("aaabbbaaa", "aaabbbbbb"), ("aaabbbaabb", "aaabbbaabb"),
        ("aaabbbaaabbb", "aaabbbbbbbbb"), ("bbbaaa", "bbbaaa"), ("aabcccbbb", "aabcccccc"),
    ],
)  # fmt: skip
def test_of_what_comes_back_that_stands_behind_the_newer_which_stays(versions, orders):
    named = {"a": "16.4", "b": "17.2", "c": "18.0"}
    told = releases.orders_of([*zip(DAYS, (named[each] for each in versions), strict=False)])
    assert told == [version_order(named[each]) for each in orders]


@pytest.mark.parametrize(
    ("version", "others", "line"),
    [("16.4", ["17.0"], "16"), ("16.4", ["16.6"], "16.4"), ("8.0.36-28", ["8.4.0"], "8.0"), ("9.6.24", ["10.0"], "9.6"),
     ("19.3.0.0.0", ["21c"], "19.3"), ("trunk", ["17.0"], "trunk"), ("11.4.2-MariaDB", ["11.4.5"], "11.4.2")],
)  # fmt: skip
def test_a_line_is_called_as_people_do(version, others, line):
    assert release_line(version, others) == line
