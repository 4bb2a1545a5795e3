"""Verdicts of a whole page: one family, a headline that says no more than they do, thresholds of metrics."""

from __future__ import annotations

import random
import re

import pytest
from django.http import QueryDict
from django.utils import timezone

from runs.answers.ask import answer_of
from runs.answers.words import headline
from runs.answers.words.gaps import lost_words, refusal_words
from runs.answers.words.matrix import matrix
from runs.answers.words.verdicts import against_words
from runs.answers.words.warnings import warnings_of
from runs.compare.compare import compare, compare_selection
from runs.compare.select import select
from runs.formatting import is_plural, mid_sentence, times
from runs.models import Run
from runs.models.accounts import User
from runs.stats import WINNERS, Kind, judge
from tests.runs.cells import all_runs, machine, make_repeats, make_run

pytestmark = pytest.mark.django_db


def cells(values: dict[str, list[float]], **more: object) -> None:
    for repeat in range(max(map(len, values.values()))):
        for system, repeats in values.items():
            if repeat < len(repeats):
                make_run(system, repeats[repeat], repeat=repeat + 1, durability="power_loss", **more)


def test_it_names_no_winner_without_a_verdict():
    """Seen: "Derby has the best median, 4,517; next comes SQLite with 4,483" of one repeat each."""
    cells({"Derby 10.16": [4517.0], "SQLite 3.50": [4483.0]})

    comparison = compare(all_runs())

    assert headline(comparison) == (
        "No winner by throughput is named, with fewer than 3 repeats a group: Derby 10.16 (4,517 TPS) and "
        "SQLite 3.50 (4,483 TPS)."
    )
    assert [group.against.verdict.kind for group in comparison.groups if group.against] == [Kind.TOO_FEW]


def test_it_names_none_when_the_second_is_not_told_apart_from_the_first():
    cells({"Derby 10.16": [400.0, 410.0, 405.0], "SQLite 3.50": [900.0, 700.0, 800.0], "H2 2.3": [880.0, 850.0, 720.0]})

    said = headline(compare(all_runs()))

    assert said.startswith(
        "No winner by throughput yet, repeats scatter too much: H2 2.3 (813.6 TPS) and SQLite 3.50 (795.8 TPS); "
        "undecided: "
    )
    assert "Derby" not in said


def test_it_says_that_nothing_that_matters_lies_between_equals():
    cells({"Derby 10.16": [1010.0, 1011.0, 1009.5], "SQLite 3.50": [1012.0, 1011.0, 1013.0]})

    assert headline(compare(all_runs())) == (
        "No winner by throughput: less than 3\u202f% lie between SQLite 3.50 (1,012 TPS) and Derby 10.16 (1,010 TPS)."
    )


@pytest.mark.parametrize("baseline", ["derby-10-16", "sqlite-3-50", "h2-2-3"])
def test_the_answer_is_that_of_the_table_whatever_the_baseline_is(baseline: str):
    """Was: another interval in the sentence than in the row of the same two. Who is faster is asked: 1.24, not 0.81."""
    cells(
        {"Derby 10.16": [800.0, 810.0, 805.0], "SQLite 3.50": [1000.0, 990.0, 995.0], "H2 2.3": [300.0, 310.0, 305.0]}
    )

    comparison = compare(all_runs(), QueryDict(f"baseline={baseline}"))

    answer = answer_of(comparison)
    second = answer.claims[1].ratio
    assert (second.value, second.low, second.high) == pytest.approx((1.24, 1.20, 1.27), abs=0.005)
    assert answer.sure and [(claim.label, claim.rank) for claim in answer.claims] == [
        ("SQLite 3.50", 1), ("Derby 10.16", 2), ("H2 2.3", 3)
    ]  # fmt: skip
    (row,) = (claim for claim in answer.claims if claim.label == comparison.baseline.label)
    of_table = next((group.against for group in comparison.groups if group.label == "SQLite 3.50"), None)
    if of_table is not None:
        assert row.ratio.value == pytest.approx(of_table.ratio.value)
        assert row.ratio.low == pytest.approx(of_table.ratio.interval.low)


@pytest.mark.parametrize(("baseline", "said"), [("derby-10-16", "better"), ("sqlite-3-50", "worse")])
def test_what_is_undecided_is_said_of_one_against_the_other(baseline: str, said: str):
    """Was: "better, but undecided whether by 3%" in the headline, of nobody, above a row that says worse."""
    cells({"Derby 10.16": [1000.0, 1001.0, 1002.0], "SQLite 3.50": [1020.0, 1026.0, 1033.0]})

    comparison = compare(all_runs(), QueryDict(f"baseline={baseline}"))

    (row,) = (group for group in comparison.groups if group.against)
    assert against_words(row.against).startswith(f"{said}, but undecided whether by 3\u202f%: ")
    # Each side's bound is that of its own ratio: 4 % less is 5 % more, both rounded up.
    needs, _, bound = against_words(row.against).partition(":")[2].partition("; ")
    assert bound == f"the difference is below {5 if said == 'better' else 4}\u202f%"
    assert headline(comparison).endswith(
        f"; SQLite 3.50 against Derby 10.16 is better, but undecided whether by 3\u202f%:{needs};"
        " the difference is below 5\u202f%."
    )


def test_each_half_of_the_matrix_says_its_own_side():
    """Was: "better, but undecided whether by 3%" of both, each against the other."""
    cells(
        {
            "Derby 10.16": [1000.0, 1001.0, 1002.0],
            "SQLite 3.50": [1020.0, 1026.0, 1033.0],
            "H2 2.3": [300.0, 300.3, 300.6],
        }
    )

    comparison = compare(all_runs(), QueryDict("baseline=derby-10-16"))

    told = {row.label: row.pairs for row in matrix(comparison).rows}
    labels = list(told)
    pair = {(of, labels[at]): each for of, pairs in told.items() for at, each in enumerate(pairs) if each}
    one, other = pair["SQLite 3.50", "Derby 10.16"], pair["Derby 10.16", "SQLite 3.50"]
    assert (one.words.partition(",")[0], other.words.partition(",")[0]) == ("better", "worse")
    assert one.words.partition(",")[2] == other.words.partition(",")[2] != ""
    for group in comparison.groups:
        if group.against:
            assert pair[group.label, "Derby 10.16"].ratio == times(group.against.ratio.value)


def test_the_lowest_latency_wins():
    for repeat in range(3):
        make_run("Derby 10.16", 10.0 + repeat / 10, number="latency_p99_ms", durability="power_loss")
        make_run("SQLite 3.50", 5.0 + repeat / 10, number="latency_p99_ms", durability="power_loss")

    said = headline(compare(all_runs(), QueryDict("metric=latency_p99_ms")))

    assert said.startswith("SQLite 3.50 has the lowest latency_p99_ms, 5.099 ms; Derby 10.16 has 1.98\u202f× (")


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("Jain's fairness index of the terminals", "Jain's fairness index of the terminals"),
        ("CPU of the DBMS", "CPU of the DBMS"),
        ("Load generator's share of the machine", "load generator's share of the machine"),
        ("Throughput", "throughput"),
        ("p99 latency", "p99 latency"),
        ("A commit", "a commit"),
        ("A 1", "A 1"),
    ],
)
def test_a_label_in_a_sentence_keeps_the_capital_of_a_name(label: str, said: str):
    """Seen: "has the highest jain's index"."""
    assert mid_sentence(label) == said


@pytest.mark.parametrize(
    ("label", "are_many"),
    [
        ("queries per hour", True), ("failed transactions in the window", True), ("misses", True), ("TPS", False),
        ("packet loss", False), ("bytes sent", False), ("p99 latency", False), ("Jain's index", False), ("", False),
    ],
)  # fmt: skip
def test_a_question_about_many_things_has_its_verb(label, are_many):
    """Was: "How does queries per hour change?"."""
    assert is_plural(label) == are_many


def ten_equal_cells() -> dict[str, list[float]]:
    """Repeats of one and the same, with 5 % noise, of which a test of each pair calls one better."""
    noise = random.Random(3)
    return {f"Engine {cell}.0": [noise.lognormvariate(6.9, 0.05) for _ in range(3)] for cell in range(10)}


def test_ten_equal_cells_are_judged_as_one_family():
    """Seen: of pages with ten identical cells 21 % named a false winner; this is one of them."""
    values = ten_equal_cells()
    base, *others = values.values()
    assert any(judge(other, base, better="higher").kind in WINNERS for other in others)
    cells(values)

    comparison = compare(all_runs(), QueryDict("baseline=engine-0-0"))

    kinds = {group.against.verdict.kind for group in comparison.groups if group.against and group.against.verdict}
    assert not kinds & WINNERS
    assert comparison.verdicts.family == 45
    assert not answer_of(comparison).sure
    assert re.search(r" and 9 others; Engine .* against Engine .*: undecided: needs ", headline(comparison))


def test_of_too_many_groups_the_best_and_the_baseline_are_judged_against_all():
    cells({f"engine-{number}": [100 + number, 101 + number, 102 + number] for number in range(22)})

    verdicts = compare(all_runs(), QueryDict("baseline=engine-5")).verdicts

    best, base = "engine-21", "engine-5"
    others = {f"engine-{number}" for number in range(22)} - {best, base}
    assert set(verdicts.by_pair) == {
        (best, base),
        *((best, other) for other in others),
        *((other, base) for other in others),
    }


def test_of_too_many_settings_the_best_that_is_ranked_is_judged_against_all_of_its_class():
    """Seen: of a sweep of 36, half of which did not wait for the disk, "17 others may not all be set against" it."""
    for number in range(22):
        lasting = {"durability": "power_loss"} if number < 11 else {"durability": "bounded_loss"}
        make_repeats("SQLite 3.50", [100 + 9 * number + more for more in range(3)], on=machine(f"m{number}"), **lasting)

    comparison = compare(all_runs(), QueryDict("baseline=m3"))

    best, *others = [f"m{number}" for number in reversed(range(11))]
    assert {(best, other) for other in others} <= set(comparison.verdicts.by_pair)
    assert (answer_of(comparison).sure, answer_of(comparison).claims[0].label) == (True, "m10")


def test_systems_without_levels_in_common_are_said_to_have_none():
    """Seen: "Not judged." was all that stood above four sizes on two disks of one system and one size of another."""
    for scale in (1, 4, 16, 64):
        for disk, value in (("nvme", 2000), ("sata", 1000)):
            make_repeats("PostgreSQL 17", [value / scale + more for more in range(3)], on=machine(disk),
                         factors={"scale_factor": scale}, durability="power_loss")  # fmt: skip
    make_repeats("MariaDB 11", [2400.0], on=machine("nvme"), factors={"scale_factor": 1}, durability="power_loss")

    selection = select(QueryDict("workload=tpc-b-profile-1&ask=best&fact=dbms"), User())

    told = headline(compare_selection(selection))
    assert told.startswith("No two series have two levels in common. ")
    assert " MariaDB 11: measured at nvme · scale factor 1. PostgreSQL 17: measured at nvme · scale factor 1" in told


def test_the_threshold_is_that_of_the_metric():
    """3 % suits a rate, not a 99th percentile: that is 10 %."""
    for repeat, (slow, fast) in enumerate([(10.6, 10.0), (10.61, 10.01), (10.59, 9.99)]):
        for system, value in (("Derby 10.16", slow), ("SQLite 3.50", fast)):
            make_run(system, value, number="latency_p99_ms", repeat=repeat + 1, durability="power_loss")

    p99 = compare(all_runs(), QueryDict("metric=latency_p99_ms"))
    of_rate = compare(all_runs(), QueryDict("metric=latency_p99_ms"), threshold=0.03)

    assert (p99.threshold, of_rate.threshold) == (0.10, 0.03)
    assert [kind(p99), kind(of_rate)] == [Kind.TOO_SMALL, Kind.BETTER]


def kind(comparison) -> Kind:
    return next(group.against.verdict.kind for group in comparison.groups if group.against)


def test_a_reader_sets_the_threshold_in_the_address():
    cells({"Derby 10.16": [1000.0, 1001.0, 999.0], "SQLite 3.50": [1020.0, 1021.0, 1019.0]})

    def asked(words: str) -> object:
        params = QueryDict(f"dbms=derby&dbms=sqlite&baseline=derby-10-16&threshold={words}")
        selection = select(params, User(role="viewer"))
        return selection.problems or kind(compare_selection(selection))

    assert [asked(""), asked("1"), asked("1,5%25"), asked("5")] == [
        Kind.TOO_SMALL, Kind.BETTER, Kind.BETTER, Kind.TOO_SMALL,
    ]  # fmt: skip
    for wrong in ("-1", "101", "many", "nan"):
        assert asked(wrong) == {"threshold": [f"“{wrong}” is not a number of per cent from 0 to 100"]}


@pytest.mark.parametrize(("metric", "lost", "ranked"), [
    ("latency_p99_ms", 4, False), ("latency_p99_ms", 1, True), ("tps", 4, True),
])  # fmt: skip
def test_survivors_are_not_ranked_by_latency(metric: str, lost: int, ranked: bool):
    """Was: 4 of 7 repeats crashed, and the other three had "the lowest p99"."""
    make_repeats("H2 2.3", [5.0, 5.1, 5.2], number=metric, durability="power_loss")
    make_repeats("H2 2.3", [None] * lost, durability="power_loss", state="failed", message="the client crashed")
    make_repeats("Derby 10.16", [9.0, 9.1, 9.2], number=metric, durability="power_loss")

    comparison = compare(all_runs(), QueryDict(f"metric={metric}"))

    h2, derby = comparison.groups if comparison.groups[0].label == "H2 2.3" else reversed(comparison.groups)
    assert (h2.ranked, derby.ranked) == (ranked, True)
    against = next(group.against for group in comparison.groups if group.against)
    assert (against.verdict is not None, bool(against.survivors)) == (ranked, not ranked)
    assert refusal_words(against).startswith("survivors only: ") == (not ranked)
    assert ("H2 2.3 has the lowest" in headline(comparison)) == (ranked and metric != "tps")
    assert f"{lost} of {lost + 3} repeats" in lost_words(h2)
    # Was: "There is one only", and no word of the other.
    assert (f"({lost_words(h2)})" in headline(comparison).replace("survivors only: ", "")) == (not ranked)
    assert any(lost_words(h2) in words for words in warnings_of(comparison)) == (not ranked)


def test_copies_are_no_lost_repeats():
    """Was: whoever sent the results of a system again took it out of the ranking by latency, as survivors only."""
    first = make_repeats("H2 2.3", [5.0, 5.1, 5.2], number="latency_p99_ms", durability="power_loss")
    again = make_repeats("H2 2.3", [5.0, 5.1, 5.2], number="latency_p99_ms", durability="power_loss")
    for run, original in zip(again, first, strict=True):
        Run.objects.filter(pk=run.pk).update(copy_of=original, invalid_at=timezone.now(), invalid_reason="a copy")
    make_repeats("Derby 10.16", [9.0, 9.1, 9.2], number="latency_p99_ms", durability="power_loss")

    comparison = compare(all_runs(), QueryDict("metric=latency_p99_ms"))

    assert [(group.ranked, group.n, lost_words(group)) for group in comparison.groups] == [(True, 3, "")] * 2
