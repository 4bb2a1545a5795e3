"""Two series of a sweep at equal levels of all else: one table, one ratio or none; all pairs of more."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import product
from unittest.mock import patch
from uuid import UUID

import pytest
from django.http import QueryDict
from django.urls import reverse

from runs.answers.answer import LevelBest, Standing
from runs.answers.ask import answer_of
from runs.answers.words import headline, sentence
from runs.answers.words.gaps import difference_words, differing_words
from runs.answers.words.matrix import matrix
from runs.answers.words.verdicts import against_words, best_at_words, by_level_words, series_words
from runs.answers.words.warnings import warnings_of
from runs.charts.pivots import heat_maps, shade
from runs.compare import reports
from runs.compare.compare import compare
from runs.compare.guard import differences
from runs.models import Batch, Config, Metric, RunStorage, StorageDevice
from runs.stats import WINNERS, Kind
from tests.runs.cells import all_runs, batch, machine, make_run, make_runs, metric, workload

pytestmark = pytest.mark.django_db

SCALES, TERMINALS = (1, 10, 30), (1, 8)
NOISE = (1.0, 1.01, 0.99)
Level = tuple[int, int]


def sweep(
    factor: Mapping[str, float | Mapping[Level, float]], *, scales: Sequence[int] = SCALES,
    terminals: Sequence[int] = TERMINALS, repeats: int = 3, **more: object,
) -> None:  # fmt: skip
    """TPS of 1,000 at scale 1 and fewer at larger ones, times the factor of the engine, at that level."""
    make_runs(
        {
            "system": engine,
            "value": 1000
            / scale
            * clients
            * (times if isinstance(times, int | float) else times[scale, clients])
            * noise,
            "factors": {"scale_factor": scale, "terminals": clients},
            "repeat": repeat,
            "durability": "power_loss",
            **more,
        }
        for scale in scales
        for clients in terminals
        for engine, times in factor.items()
        for repeat, noise in enumerate(NOISE[:repeats], start=1)
    )


def asked(words: str = ""):
    return compare(all_runs(), QueryDict(words))


def standings(comparison) -> list[Standing]:
    return [claim for claim in answer_of(comparison).claims if isinstance(claim, Standing)]


def test_a_sweep_is_one_table_of_its_levels():
    """Seen: two engines, three scales, two terminal counts: twelve bars and eight lines "no ratio"."""
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5})

    comparison = asked()

    levels = comparison.levels
    assert (levels.compared_words, levels.base_label) == ("DBMS", "Derby 10.16")
    assert levels.held_words == "scale factor and terminals"
    (series,) = levels.series
    assert [[*row.words.values()] for row in series.rows] == [
        ["1", "1"], ["1", "8"], ["10", "1"], ["10", "8"], ["30", "1"], ["30", "8"]
    ]  # fmt: skip
    assert {row.kind for row in series.rows} == {Kind.BETTER}
    assert series.ratio.value == pytest.approx(1.5)
    assert levels.family == comparison.verdicts.family == 7
    assert not any("No ratio" in warning for warning in warnings_of(comparison))
    assert not any("no ratio" in against_words(group.against) for group in comparison.groups if group.against)
    assert headline(comparison).startswith("SQLite 3.50 has 1.50\u202f× (")
    assert headline(comparison).endswith(" the throughput of Derby 10.16 over 6 levels of scale factor and terminals.")


def test_the_best_of_two_configurations_is_named_with_its_own():
    """Seen: "PostgreSQL has 1.60 × …" of one of its two configurations, whose other has 1.34 ×."""
    for name, times in (("small", 1.0), ("large", 1.2)):
        config = Config.objects.create(slug=name, name=name)
        for scale, noise in product(SCALES, NOISE):
            make_run("PostgreSQL 17", 1000 * times * noise / scale, factors={"scale_factor": scale}, config=config)
    own = Config.objects.create(slug="own", name="own")
    for scale, noise in product(SCALES, NOISE):
        make_run("MariaDB 11", 750 * noise / scale, factors={"scale_factor": scale}, config=own)
    told = headline(asked())
    assert told.startswith("PostgreSQL 17 (large) has 1.60")
    assert "own" not in told.partition(" over ")[0]


def test_where_the_baseline_is_best_headline_and_levels_say_one_ratio():
    """Seen: "1.26 ×" in the headline, "0.796 ×" of the same two in the section beneath."""
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 0.8, "H2 2.5": 0.5})

    comparison = asked()

    sqlite, h2 = comparison.levels.series
    assert (sqlite.label, h2.label) == ("SQLite 3.50", "H2 2.5")
    assert headline(comparison).startswith("Derby 10.16 has 1.25\u202f× (")
    first, the_next, _ = standings(comparison)
    assert (first.label, the_next.label) == ("Derby 10.16", "SQLite 3.50")
    # One verdict: the table says it of SQLite, the answer of Derby.
    assert the_next.ratio.value == pytest.approx(1 / sqlite.ratio.value)
    assert the_next.ratio.low == pytest.approx(1 / sqlite.ratio.interval.high)
    sqlite_key = next(group.key for group in comparison.groups if group.label.startswith("SQLite"))
    against = asked(f"baseline={sqlite_key}")
    (derby,) = (one for one in against.levels.series if one.label == "Derby 10.16")
    assert standings(against)[1].ratio.value == pytest.approx(derby.ratio.value)


def test_each_group_is_set_against_the_one_of_its_level():
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5})

    comparison = asked()

    bases = {group.key for group in comparison.groups if group.is_baseline}
    for group in comparison.groups:
        if group.against:
            assert group.against.base.removeprefix("derby-10-16") == group.key.removeprefix("sqlite-3-50")
            assert group.against.base in bases
            assert group.against.ratio.value == pytest.approx(1.5)
        else:
            assert group.key in bases
    assert len(bases) == 6


def test_what_was_measured_again_in_the_same_second_leaves_its_level_in_the_ranking():
    """Seen: three sizes of seven were measured again by the next request, and "1.32 × over 3 levels" left them out."""
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": {(1, 8): 2.0, (10, 8): 1.5, (30, 8): 0.5}}, terminals=(8,))
    for number, scale in enumerate((1, 30), 1):
        sweep({"Derby 10.16": 1.0}, scales=(scale,), terminals=(8,), batch=batch(UUID(int=number)))
    Batch.objects.update(created_at=datetime(2026, 11, 20, 11, 5, tzinfo=UTC))

    (series,) = asked().levels.series

    assert [round(row.ratio, 2) for row in series.with_ratio] == [2.0, 1.5, 0.5]
    assert series.overall.kind == Kind.MIXED


def test_a_ratio_over_levels_names_those_that_it_leaves_out():
    """Seen: "1.32 × over 3 levels" of seven that were measured, and nothing said why."""
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5}, terminals=(8,))
    sweep({"Derby 10.16": 1.0}, scales=(100,), terminals=(8,))
    sweep({"SQLite 3.50": 1.5}, scales=(300,), terminals=(8,))
    told = headline(asked())
    assert " over 3 levels of scale factor. " in told
    left_out = "scale factor 100 (SQLite 3.50 was not measured); scale factor 300 (Derby 10.16 was not measured)"
    assert told.lower().endswith(f"left out: {left_out}.".lower())


def test_a_series_that_wins_here_and_loses_there_has_no_single_number():
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": {(1, 8): 1.2, (10, 8): 1.0, (30, 8): 0.7}}, terminals=(8,))

    comparison = asked()

    (series,) = comparison.levels.series
    assert series.overall.kind == Kind.MIXED
    assert series.ratio is None
    alike = "less than 3\u202f% apart at scale factor 10"
    turns = f"1.20\u202f× at scale factor 1, 0.700\u202f× at scale factor 30, {alike}"
    assert series_words(series) == f"{turns}: no single number"
    # The first of the answer against the other.
    turned = f"0.833\u202f× at scale factor 1, 1.43\u202f× at scale factor 30, {alike}"
    assert headline(comparison) == (
        f"No single number over 3 levels of scale factor: Derby 10.16 against SQLite 3.50 is {turned}."
    )


def test_the_fact_that_decides_which_side_is_better_is_named():
    """Seen: 32 levels, one engine ahead wherever 64 terminals were, and two levels of them all were said."""
    ahead = {(scale, clients): (1.2 + scale / 1000) if clients == 8 else (0.8 - scale / 1000)
             for scale in SCALES for clients in TERMINALS}  # fmt: skip
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": ahead})

    comparison = asked()

    turns = "0.770\u202f× to 0.799\u202f× at 1 terminal, 1.20\u202f× to 1.23\u202f× at 8 terminals"
    assert series_words(comparison.levels.series[0]) == f"{turns}: no single number"
    turned = "1.25\u202f× to 1.30\u202f× at 1 terminal, 0.813\u202f× to 0.833\u202f× at 8 terminals"
    assert headline(comparison).endswith(f"Derby 10.16 against SQLite 3.50 is {turned}.")


def test_the_fact_that_parts_the_ratios_of_one_side_is_named():
    """Seen: a disk at 0.9 × while the data fit into memory and at 0.55 × beyond; two levels of 32 were said."""
    beyond = {(scale, clients): (0.55 if scale == 30 else 0.9) + clients / 1000
              for scale in SCALES for clients in TERMINALS}  # fmt: skip
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": beyond})

    comparison = asked()

    parted = "0.901\u202f× to 0.908\u202f× at scale factor 1 and 10, 0.551\u202f× to 0.558\u202f× at scale factor 30"
    assert series_words(comparison.levels.series[0]) == f"worse; the levels differ, {parted}"
    assert by_level_words(answer_of(comparison).series) == (
        "1.10\u202f× to 1.11\u202f× at scale factor 1 and 10, 1.79\u202f× to 1.81\u202f× at scale factor 30"
    )


def test_where_no_level_is_sure_the_ends_say_so():
    """Seen: "2.85 × here, 0.624 × there: no single number" of five levels of which none was decided."""
    unsure = {(scale, 8): times for scale, times in {1: 0.8, 10: 1.0, 30: 1.25}.items()}
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": unsure}, terminals=(8,), repeats=2)
    comparison = asked()
    assert {row.kind for series in comparison.levels.series for row in series.rows}.isdisjoint(WINNERS)
    ends = "from 1.25\u202f× at scale factor 1 to 0.800\u202f× at scale factor 30"
    assert headline(comparison).endswith(f"{ends}, a range that so few repeats do not tell from noise.")
    assert headline(comparison).startswith("No winner by throughput over 3 levels of scale factor: ")


def test_a_series_without_any_ratio_says_why_once_and_has_no_map(client):
    """Seen: a map of six dashes, as a crash loses the last commits of the one."""
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5})
    sweep({"H2 2.5": 2.0}, durability="dbms_crash")
    comparison = asked()
    (refused,) = (series for series in comparison.levels.series if series.label == "H2 2.5")
    assert series_words(refused).startswith("no ratio: Durability")
    assert [ratios.series for ratios in heat_maps(comparison.levels)] == ["SQLite 3.50"]
    assert client.get("/compare/?dbms=derby&dbms=sqlite&dbms=h2").content.decode().count(series_words(refused)) > 6


def test_which_system_is_not_answered_with_the_terminals_where_only_one_is_ranked():
    """Seen: "Which system …?" answered by "2 terminals against 1 terminal is 1.48 ×"."""
    sweep({"Derby 10.16": 1.0}, scales=(1, 2, 4), terminals=(1, 2, 4))
    sweep({"H2 2.5": 2.0}, scales=(1, 2, 4), terminals=(1, 2, 4), durability="dbms_crash")
    told = answer_of(asked())
    assert (told.question.fact, told.claims, [*told.set_apart]) == ("dbms", [], ["H2 2.5"])
    assert [lacking.kind for lacking in told.lacking] == ["another_ranked"]
    assert sentence(told).endswith("Not ranked: H2 2.5 (survives a DBMS crash only).")
    of_terminals = answer_of(asked("compared=factor:terminals"))
    assert of_terminals.question.fact == "factor:terminals" and of_terminals.claims


def test_why_two_series_have_no_ratio_is_said_once():
    """Seen: "no ratio: no ratio: not measured here" in the table of all pairs."""
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5})
    sweep({"H2 2.5": 2.0}, scales=(30,), terminals=(8,))
    pairs = [pair for row in matrix(asked()).rows for pair in row.pairs if pair]
    assert [pair.words for pair in pairs if pair.kind == "refused"] == ["no ratio: not measured here"] * 4


def test_a_system_without_throughput_has_no_ratio_to_others():
    """Seen: "depends" for all pairs of a system that made 0 TPS."""
    for system, value in (("Derby 10.16", 100), ("SQLite 3.50", 50), ("MonetDB 11", 0)):
        for repeat, noise in enumerate(NOISE, start=1):
            make_run(system, value * noise, repeat=repeat, durability="power_loss")
    rows = matrix(asked()).rows
    (of_zero,) = [row for row in rows if row.label == "MonetDB 11"]
    assert [pair.ratio for pair in of_zero.pairs if pair] == ["no ratio", "no ratio"]


def test_systems_over_terminals_are_led_by_the_best_of_each():
    """Seen: "Derby at 256 terminals has 1.16 x the throughput of Derby at 128", and three other systems beside it."""
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 0.5}, scales=(1,), terminals=(1, 8, 9))
    first, the_next = standings(asked())
    assert (first.of, the_next.of) == ("Derby 10.16 · 9 terminals", "SQLite 3.50 · 9 terminals")
    assert (first.centre, the_next.ratio.value) == pytest.approx((9000, 2.0), rel=1e-3)


def test_the_best_of_each_are_set_against_each_other_where_they_are_at_different_terminals():
    """Seen: 2.36 ×, which was the ratio at 256 threads, said of 256 threads against 64."""
    peak = {(1, 1): 1.0, (1, 8): 0.8, (1, 9): 0.3}
    sweep({"Derby 10.16": peak, "SQLite 3.50": 1.0}, scales=(1,), terminals=(1, 8, 9))
    first, the_next = standings(asked())
    assert (first.of, the_next.of) == ("SQLite 3.50 · 9 terminals", "Derby 10.16 · 8 terminals")
    assert the_next.ratio.value == pytest.approx(9 / 6.4, rel=1e-3)


def test_systems_over_terminals_are_compared_at_equal_terminals():
    """Seen: eighteen groups of a sweep over threads, all set against the one with a single thread, and a matrix of 153
    pairs; and of latency the headline compared the two at a single thread.
    """
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 0.5}, scales=(1,), terminals=(1, 8, 9))

    comparison = asked()

    (series,) = comparison.levels.series
    assert [row.label for row in series.rows] == ["1 terminal", "8 terminals", "9 terminals"]
    assert series.ratio.value == pytest.approx(0.5, rel=1e-3)
    # All of the page is one family: three levels, the ratio over all, and the best of each against the other's.
    assert comparison.verdicts.family == 5
    assert asked("compared=none").levels is None


def test_a_level_of_a_single_repeat_takes_no_verdict_from_the_others():
    """Seen: an HDD at 0.70 and 0.57 of an SSD beyond memory, and "No winner: 0.769, undecided" over all."""
    beyond = {(scale, 8): times for scale, times in {1: 1.0, 2: 1.01, 4: 0.99, 8: 0.7, 16: 0.57}.items()}
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": beyond}, scales=(1, 2, 4, 8, 16), terminals=(8,))
    make_run("Derby 10.16", 31, factors={"scale_factor": 32, "terminals": 8}, durability="power_loss")
    make_run("SQLite 3.50", 10, factors={"scale_factor": 32, "terminals": 8}, durability="power_loss")

    (series,) = asked().levels.series

    assert series.overall.kind == Kind.WORSE
    assert [row.label for row in series.of_too_few] == ["Scale factor 32"]
    assert series_words(series) == (
        "worse; the levels differ, from 1.01\u202f× at scale factor 2 to 0.570\u202f× at scale factor 16; "
        "scale factor 32 left out, of fewer than 3 repeats"
    )


def test_values_at_which_some_levels_are_undecided_are_not_called_decided():
    """Seen: "1.53 × to 6.55 × at 32 GB, 64 GB": of one machine, whose memory was smaller, and not of the other."""
    beyond = {(8, 1): 0.7, (16, 1): 0.5, (4, 8): 0.65, (8, 8): 0.4, (16, 8): 0.3}
    within = {(scale, clients): 1.031 if scale == 2 else 0.99 for scale in (1, 2, 4) for clients in (1, 8)}
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": within | beyond}, scales=(1, 2, 4, 8, 16))
    assert by_level_words(asked().levels.series[0]) == (
        "0.300\u202f× to 0.700\u202f× at some levels of scale factor 4, 8 and 16; undecided at 5 of 10 levels"
    )


def test_ratios_that_fall_on_and_on_are_not_parted():
    """Seen: "0.485 to 1.00 at scale factor 100 to 6,400", of which three were 1.00 and the last 0.485."""
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": {(1, 8): 1.0, (10, 8): 0.485, (30, 8): 0.197}}, terminals=(8,))
    (series,) = asked().levels.series
    assert "levels differ, from 1.00\u202f× at scale factor 1 to 0.197\u202f× at" in series_words(series)


def test_one_ratio_at_every_level_is_said_once():
    """Seen: "1.15 × at 40 GB, 1.15 × at 160 GB", of three levels."""
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.15}, terminals=(8,), repeats=2)
    (series,) = asked().levels.series
    assert by_level_words(series) == "1.15\u202f× at each"


def test_where_no_single_fact_decides_the_ends_are_said():
    across = {(1, 1): 1.3, (1, 8): 0.7, (10, 1): 0.75, (10, 8): 1.25, (30, 1): 1.2, (30, 8): 0.8}
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": across})

    (series,) = asked().levels.series

    ends = "from 1.30\u202f× at scale factor 1 · 1 terminal to 0.700\u202f× at scale factor 1 · 8 terminals"
    assert series_words(series) == f"{ends}: no single number"


def test_the_baseline_and_what_is_compared_can_be_chosen():
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5})
    key = next(group.key for group in asked().groups if group.key.startswith("sqlite"))

    turned = asked(f"baseline={key}")
    by_terminals = asked("compared=factor:terminals")

    assert turned.levels.base_label == "SQLite 3.50"
    assert turned.levels.series[0].ratio.value == pytest.approx(1 / 1.5)
    assert by_terminals.levels.base_label == "1 terminal"
    assert by_terminals.levels.held_words == "scale factor and DBMS"
    assert by_terminals.levels.series[0].ratio.value == pytest.approx(8)


def test_what_is_not_held_equal_is_averaged_over_pairs_that_are_alike():
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": {(s, t): 1.2 if t == 1 else 1.8 for s in SCALES for t in TERMINALS}})

    levels = asked("held=factor:scale_factor").levels

    assert levels.averaged_words == "terminals"
    (series,) = levels.series
    assert [row.label for row in series.rows] == ["Scale factor 1", "Scale factor 10", "Scale factor 30"]
    assert [row.against.ratio.value for row in series.rows] == pytest.approx([(1.2 * 1.8) ** 0.5] * 3)
    assert {row.kind for row in series.rows} == {Kind.BETTER}


def test_one_baseline_for_all_can_be_asked_for():
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5})

    comparison = asked("compared=none")

    assert comparison.levels is None
    assert any(group.against.is_refused for group in comparison.groups if group.against)


def test_conditions_keep_the_one_baseline_until_levels_are_asked_for():
    """Every group may have a ratio with the baseline: nothing needs to be held equal, but for machines."""
    for engine, times in (("Derby 10.16", 1.0), ("SQLite 3.50", 2.0)):
        for state in ("warm", "cold"):
            for repeat in range(3):
                factors = {"cache_state": state}
                make_run(engine, 1000 * times * NOISE[repeat], factors=factors, repeat=repeat, durability="power_loss")

    assert asked().levels is None
    assert asked("compared=dbms").levels.held_words == "caches at the start"


def test_machines_are_held_equal_unasked():
    for engine, times in (("Derby 10.16", 1.0), ("SQLite 3.50", 2.0)):
        for name in ("Bench One", "Bench Two"):
            for repeat in range(3):
                make_run(engine, 1000 * times * NOISE[repeat], on=machine(name), repeat=repeat, durability="power_loss")

    assert asked().levels.held_words == "machine"
    assert asked("compared=none").levels is None


def test_a_question_is_never_compared():
    """Another scale asks another question: at equal terminals there is still no ratio between two of them."""
    sweep({"Derby 10.16": 1.0}, terminals=(8,))
    assert asked().levels is None
    assert asked("compared=factor:scale_factor").levels is None


def test_a_level_that_one_series_lacks_says_so_and_counts_for_nothing():
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5}, terminals=(8,))
    make_run("Derby 10.16", 5.0, factors={"scale_factor": 100, "terminals": 8}, durability="power_loss")

    (series,) = asked().levels.series

    assert [against_words(row.against) for row in series.rows][-1] == "no ratio: not measured here"
    assert series.ratio.value == pytest.approx(1.5)


def test_printed_numbers_of_single_repeats_are_judged_by_their_levels():
    """An article prints one number a cell: SATA against SSD over sizes."""
    for size, ratio in zip((9, 17, 30, 60), (1.9, 2.0, 2.1, 2.05), strict=True):
        for disk, times in (("SATA RAID1", 1.0), ("SSD", ratio)):
            make_run("Firebird 2.5", 900 / size * times, factors={"size_gb": size, "disk": disk})

    comparison = asked()

    levels = comparison.levels
    assert (levels.compared_words, levels.held_words) == ("Disk", "size")
    (series,) = levels.series
    assert {row.kind for row in series.rows} == {Kind.TOO_FEW}
    assert (series.overall.kind, series.verdicts.of_repeats) == (Kind.BETTER, False)
    ratio = series.ratio
    assert (ratio.value, ratio.interval.low, ratio.interval.high) == pytest.approx((2.01, 1.88, 2.15), abs=0.005)


def test_conditions_that_differ_at_every_level_are_named_once():
    for scale in SCALES:
        for engine, name in (("Derby 10.16", "Bench One"), ("SQLite 3.50", "Bench Two")):
            for repeat in range(3):
                make_run(
                    engine, 1000 / scale * NOISE[repeat], factors={"scale_factor": scale, "terminals": 8},
                    on=machine(name), repeat=repeat, durability="power_loss",
                )  # fmt: skip

    comparison = asked()

    (series,) = comparison.levels.series
    assert [*map(difference_words, series.notes)] == ["Machine: Bench Two against Bench One"]
    assert differing_words(answer_of(comparison).differing) == "Machine (Bench One against Bench Two)"


def test_demonstrations_have_no_headline():
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5}, demonstration=True)
    assert headline(asked()) == ""


def test_unlike_durability_has_no_ratio_at_any_level():
    sweep({"Derby 10.16": 1.0}, terminals=(8,))
    for run in all_runs():
        factors = {factor.name: factor.number for factor in run.factors.all()}
        make_run("H2 2.5", 1.0, factors=factors, repeat=run.repeat, durability="dbms_crash")
    assert asked().levels is None


def test_of_more_than_two_each_meets_each():
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5, "H2 2.5": 1.5001, "HSQLDB 2.7": 0.5})

    comparison = asked()
    pairs = matrix(comparison)

    assert [(row.label, row.letters) for row in pairs.rows] == [
        ("H2 2.5", "a"), ("SQLite 3.50", "a"), ("Derby 10.16", "b"), ("HSQLDB 2.7", "c")
    ]  # fmt: skip
    assert [pair.kind if pair else None for pair in pairs.rows[0].pairs] == [None, "equivalent", "better", "better"]
    assert [pair.ratio if pair else None for pair in pairs.rows[3].pairs][2] == "0.500\u202f×"
    assert pairs.held == "scale factor and terminals"
    assert len(pairs.levels) == 6
    assert [series.letters for series in pairs.levels[0].series] == ["a", "a", "b", "c"]
    assert not answer_of(comparison).sure


def test_groups_without_levels_have_a_matrix_too(article):
    pairs = matrix(asked())

    assert [(row.label, row.letters) for row in pairs.rows] == [
        ("DB2 9.7", "a"), ("Derby 10.3", "b"), ("Derby 10.6", "c"), ("Oracle 10R2", "d"), ("PostgreSQL 8.3", "e"),
        ("MySQL 5.0", "f"),
    ]  # fmt: skip
    assert pairs.family == 15


def test_two_groups_and_groups_that_cannot_be_compared_have_none():
    sweep({"Derby 10.16": 1.0}, terminals=(8,))
    assert matrix(asked()) is None


def test_page_api_and_csv_say_the_same(client):
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5, "H2 2.5": 0.8}, terminals=(8,))
    query = "?dbms=derby&dbms=sqlite&dbms=h2"

    page = client.get(reverse("compare") + query).content.decode()
    answer = client.get(reverse("compare") + query + "&format=json").json()
    rows = list(csv.DictReader(io.StringIO(client.get(reverse("compare-csv") + query).content.decode())))

    assert page.count('data-level="') == 6
    assert "no ratio" not in page
    assert 'id="matrix"' in page
    assert answer["levels"]["compared"] == ["dbms"]
    of_sqlite = next(series for series in answer["levels"]["series"] if series["label"] == "SQLite 3.50")
    assert of_sqlite["kind"] == "better"
    assert of_sqlite["words"] in page
    (row, *_) = [row for row in rows if row["group"].startswith("SQLite 3.50")]
    assert float(row["over_levels"]) == of_sqlite["ratio"]["value"]
    assert row["baseline"] == of_sqlite["levels"][0]["baselines"][0]
    assert [line["letters"] for line in answer["pairs"]["rows"]] == ["a", "b", "c"]


def test_the_pages_of_a_batch_and_of_a_report_tell_the_levels_too(client, contributor):
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5}, terminals=(8,))
    report = reports.create(title="R", note="", query="dbms=derby&dbms=sqlite", visibility="public", owner=contributor)

    said = {
        # The best comes first here, and is the baseline.
        f"/batches/{all_runs()[0].batch_id}/": "the throughput of Derby 10.16 over 3 levels of scale factor",
        report.get_absolute_url(): "the throughput of Derby 10.16 over 3 levels of scale factor.",
    }
    for url, words in said.items():
        page = client.get(url).content.decode()
        assert page.count('data-level="') == 3, url
        assert words in page, url


def test_a_question_is_found_out_by_its_first_pair():
    """A thousand runs over thirty scales: what may not be compared must not be asked for every two of them."""
    sweep({"Derby 10.16": 1.0}, scales=range(1, 13), terminals=(8, 16), repeats=1)
    with patch("runs.compare.levels.differences", wraps=differences) as asked_for:
        asked("compared=factor:scale_factor")
    assert asked_for.call_count < 40


def test_a_program_that_asks_for_levels_of_what_does_not_vary_is_refused(client):
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5}, terminals=(8,))
    answer = client.get("/api/v1/compare/?dbms=derby&dbms=sqlite&compared=config")
    assert (answer.status_code, list(answer.json())) == (400, ["compared"])


def test_the_form_beside_the_levels_leads_to_them(client):
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5})
    address = "/compare/?dbms=derby&dbms=sqlite"
    by_terminals = client.get(f"{address}&compared=factor:terminals&held=factor:scale_factor&held=dbms")
    html = by_terminals.content.decode()
    assert "Level by level against 1 terminal" in html
    # Choosing a metric keeps it.
    assert 'name="compared" value="factor:terminals"' in html.partition('class="controls"')[2].partition("</form>")[0]
    assert 'id="levels"' not in client.get(f"{address}&compared=none").content.decode()


def test_ratios_by_two_facts_are_a_map():
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": {(s, t): 2.5 if t == 1 else 0.9 for s in SCALES for t in TERMINALS}})
    comparison = asked()

    (map,) = heat_maps(comparison.levels)

    assert (map.down, map.across, map.columns) == ("Scale factor", "Terminals", ["1", "8"])
    assert [[shade(cell) for cell in cells.values()] for _, cells in map.rows] == [[3, -1]] * 3
    # Of a latency the one that is lower is better.
    Metric.objects.filter(name="tps").update(better="lower")
    assert [[shade(cell) for cell in cells.values()] for _, cells in heat_maps(asked().levels)[0].rows] == [[-3, 1]] * 3


def test_two_sweeps_that_cross_are_one_map_of_all_series_and_their_curves_come_first():
    """Seen: four maps of one row and one column each, and eight charts of which seven held single points."""
    systems = {"Derby 10.16": 1.0, "H2 2.5": 1.2, "SQLite 3.50": 1.5}
    sweep(systems, scales=(1, 10, 30, 100), terminals=(8,))
    sweep(systems, scales=(1,), terminals=(1, 2, 4))
    comparison = asked()

    (of_all,) = heat_maps(comparison.levels)

    assert (of_all.down, of_all.across) == ("Scale factor · Terminals", "DBMS")
    assert [line for line, _ in of_all.rows] == comparison.levels.labels
    assert len(of_all.columns) == 2 and all(cell.ratio for _, cells in of_all.rows for cell in cells.values())
    panels = asked("panels=factor:terminals").panels
    assert [panel.label for panel in panels] == ["8 terminals", "1 terminal", "2 terminals", "4 terminals"]


def test_levels_of_many_facts_are_counted_and_called_by_what_they_have():
    """Seen: "Firebird is best at scale factor not set · warehouses not set · 1 terminal · …", and a question of seven
    facts.
    """
    facts = dict.fromkeys(("scale_factor", "terminals", "batch_rows", "rate", "hot_rows"), (1, 10))
    make_runs(
        {
            "system": engine, "value": 1000 * (times if value == 1 else 1 / times) * noise, "repeat": repeat,
            "factors": {name: value}, "durability": "power_loss",
        }
        for engine, times in {"Derby 10.16": 1.0, "SQLite 3.50": 1.5}.items()
        for name, values in facts.items()
        for value in values
        for repeat, noise in enumerate(NOISE, start=1)
    )  # fmt: skip
    comparison = asked("ask=rank&fact=dbms")
    levels = comparison.levels
    assert levels.held_words.endswith(" and 2 more") and levels.held_words.count(",") == 2
    assert len(levels.labels) == 10 and not any("not set" in label for label in levels.labels)
    best = [LevelBest(row, "SQLite 3.50" if at else "Derby 10.16") for at, row in enumerate(levels.level_rows)]
    assert best_at_words(best) == "SQLite 3.50 is best at 9 of 10 levels, Derby 10.16 at scale factor 1"


def test_ratios_by_three_facts_are_a_map_of_all_their_levels(client):
    make_runs(
        {
            "system": engine, "value": times * 1000 / scale * clients + rows, "repeat": repeat,
            "factors": {"scale_factor": scale, "terminals": clients, "batch_rows": rows}, "durability": "power_loss",
        }
        for repeat, rows, scale, clients in product((1, 2, 3), (10, 20, 50), SCALES, TERMINALS)
        for engine, times in {"Derby 10.16": 1.0, "SQLite 3.50": 1.5}.items()
    )  # fmt: skip
    (map,) = heat_maps(asked().levels)

    assert (map.down, map.across, map.columns) == ("Scale factor · Terminals", "Batch rows", ["10", "20", "50"])
    assert [line for line, _ in map.rows][:3] == ["1 · 1", "1 · 8", "10 · 1"]
    html = client.get("/compare/?dbms=derby&dbms=sqlite").content.decode()
    assert (
        html.index('data-export="ratios-1"')
        < html.index("All 18 ratios in numbers")
        < html.index('data-export="levels"')
    )
    assert "ratios by scale factor, terminals and batch rows</caption>" in html


def test_a_map_of_ratios_has_them_exact_for_its_csv(client):
    """Was: "1.17 ×" in the CSV of the map, without interval and verdict."""
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5})
    html = client.get("/compare/?dbms=derby&dbms=sqlite").content.decode()

    exact = " ".join(rf'data-{name}="([\d.]+)"' for name in ("ratio", "low", "high"))
    cells = re.findall(rf'<td class="num" data-label="\d+"[^>]* {exact} data-judged="([^"]+)"', html)
    assert len(cells) == len(SCALES) * len(TERMINALS)
    for value, low, high, words in cells:
        assert float(low) < float(value) < float(high) and words.startswith(("better", "worse", "undecided"))
    assert 'data-metric="Throughput"' in html


def test_a_load_beside_the_transactions_is_no_level():
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5}, terminals=(8,))
    metric("load_mb_per_s", "MB/s")
    for scale in SCALES:
        make_run(
            "Derby 10.16", 5.0, factors={"scale_factor": scale, "terminals": 8}, number="load_mb_per_s",
            of=workload("Load"), durability="power_loss",
        )  # fmt: skip
    assert asked().levels.held_words == "scale factor"


def test_a_disk_and_the_name_of_its_storage_are_one_thing():
    """Seen: "Not alike: Data on storage (slow (emulated) against agent's own storage)" of two disks."""
    bench = machine()
    for name, times in (("vda", 1.0), ("slow", 0.1)):
        device = StorageDevice.objects.create(hardware=bench, slug=name, name=name, medium="ssd")
        for scale in (1, 3):
            factors = {"scale_factor": scale, "data_storage": "" if name == "vda" else name}
            for noise in NOISE:
                run = make_run("SQLite 3", 1000 * times * noise, factors=factors, on=bench, durability="power_loss")
                RunStorage.objects.create(run=run, role="data", device=device)
    comparison = asked()
    (series,) = comparison.levels.series
    assert [row.against.differences for row in series.rows] == [[], []]
    assert "Not alike" not in headline(comparison)


def test_the_disk_of_what_failed_is_the_one_that_it_was_asked_for(client):
    """Was: two columns, data on storage and data storage, and a level of their own for what failed, where the other
    system "was not measured".
    """
    bench = machine()
    for name, times in (("vda", 1.0), ("slow", 0.1)):
        device = StorageDevice.objects.create(hardware=bench, slug=name, name=name, medium="ssd")
        for system, load in product(("MySQL 5.5", "PostgreSQL 17"), ("select_narrow", "select_wide")):
            factors = {"load": load, "data_storage": "" if name == "vda" else name}
            if (system, load, name) == ("MySQL 5.5", "select_wide", "slow"):
                make_run(system, None, factors=factors, state="failed")
                continue
            for noise in NOISE:
                run = make_run(system, 1000 * times * noise, factors=factors, on=bench, durability="power_loss")
                RunStorage.objects.create(run=run, role="data", device=device)
    comparison = asked()
    assert comparison.said_twice == {"factor:data_storage"} and "Data on storage" not in comparison.varying_words
    assert [heading.label for heading in comparison.levels.headings] == ["Data on storage", "Load"]
    (series,) = comparison.levels.series
    assert [bool(row.against.lost) for row in series.rows] == [False, False, False, True]


def test_an_embedded_sweep_has_its_levels_and_pairs(client):
    sweep({"Derby 10.16": 1.0, "SQLite 3.50": 1.5, "H2 2.5": 0.5})
    html = client.get("/embed/compare/?dbms=derby&dbms=sqlite&dbms=h2").content.decode()
    assert 'data-export="levels"' in html and 'id="matrix"' in html
    assert "<form" not in html
