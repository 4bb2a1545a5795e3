"""A grid with a hole: a cell that was measured once, or not at all, among cells of three repeats."""

from __future__ import annotations

from itertools import product

import pytest

from runs.compare.compare import compare
from runs.models import Run
from runs.stats import geometric_mean
from tests.runs.answers.test_answers import World, ask, page
from tests.runs.answers.test_equal_levels import ratios

pytestmark = pytest.mark.django_db

SYSTEMS = {"PostgreSQL": "17.2", "MariaDB": "11.4.4", "Firebird": "5.0.1"}
TERMINALS = (1, 4, 16, 64)


def grid(*, maria: float, once: tuple[str, int] | None = None, never: tuple[str, int] | None = None) -> str:
    """Throughput rises with the terminals; Firebird has half of PostgreSQL's, 0.3 of it at 64. Each named cell has one
    repeat, or none.
    """
    world = World(seed=3, noise=0.015)
    for terminals in TERMINALS:
        tps = 900 * terminals / (1 + 0.02 * (terminals - 1))
        of_systems = {"PostgreSQL": 1.0, "MariaDB": maria, "Firebird": 0.3 if terminals == 64 else 0.5}
        for name, factor in of_systems.items():
            if (name, terminals) != never:
                dbms = {"name": name, "version": SYSTEMS[name]}
                repeats = 1 if (name, terminals) == once else 3
                world.add(tps * factor, repeats, dbms=dbms, factors={"terminals": terminals})
    return world.store()


def test_what_is_behind_at_every_level_stays_behind_where_one_was_measured_once():
    """Seen: Firebird with half the throughput "rank 1" as one of its cells had one repeat, "which is better depends on
    the level", and "PostgreSQL 17.2 against MariaDB 11.4.4 is ." beside it.
    """
    selects = grid(maria=1.0, once=("Firebird", 16))

    told = ask(selects, "ask=rank&fact=dbms")
    pair = ask(selects, "ask=a_b&fact=dbms&a=mariadb&b=firebird")

    ranks = ratios(told)
    assert [ranks[f"{name} {version}"][0] for name, version in SYSTEMS.items()] == [1, 1, 3]
    assert ranks["Firebird 5.0.1"][1] == pytest.approx((2 * 2 / 0.3) ** (1 / 3), rel=0.05)
    assert told["words"].startswith(
        "No winner by throughput over 4 levels of terminals: less than 3 % lie between".replace(" %", "\u202f%")
    )
    overall, *_ = pair["claims"]
    assert (overall["ratio"]["verdict"], pair["over"]) == ("better", "3 levels of terminals")
    assert overall["ratio"]["value"] == pytest.approx(ranks["Firebird 5.0.1"][1], rel=0.05)
    assert "Left out: 16 terminals (fewer than 3 repeats of Firebird 5.0.1)." in pair["words"]
    shown = page(selects)
    assert "depends" not in shown
    assert "over 3 of 4 levels" in shown and "16 terminals left out, of fewer than 3 repeats" in shown


def test_levels_of_too_few_repeats_are_some_of_as_many_as_those_that_count():
    """Seen: "over 22 of 28 levels" and "5 of 27 levels left out" in one sentence."""
    world = World(noise=0.005)
    for at in range(8):
        for size in (10, 100):
            for name, factor in (("PostgreSQL", 1.3), ("MariaDB", 1.0)):
                if (name, at, size) != ("MariaDB", 7, 100):
                    is_once = name == "MariaDB" and at < 2
                    factors = {"terminals": 2**at, "scale_factor": size}
                    world.add(9000 * factor, 1 if is_once else 3, factors=factors, dbms={"name": name, "version": "17"})

    shown = page(world.store(), "compared=dbms")

    assert "over 11 of 16 levels" in shown and "4 of 16 levels left out, of fewer than 3 repeats" in shown


def test_one_question_has_one_interval_however_it_is_asked():
    """Seen: "1.18 × (1.13–1.24)" without `ask=` and "(1.14–1.22)" with `ask=best`: the best of two systems, of which
    the page also asks at their level, was judged as its last comparison or as the one before it.
    """
    selects = grid(maria=1.2)

    told = [[claim["ratio"] for claim in ask(selects, question)["claims"]] for question in ("", "ask=best")]

    assert told[0] == told[1]


def test_a_level_that_one_was_not_measured_at_makes_nobody_the_best():
    """Seen: "PostgreSQL 17.2 (64 terminals) has the highest throughput at its best: 2.49 × that of MariaDB (16
    terminals)", which was not measured at 64 and is 1.43 × behind at each level of both.
    """
    selects = grid(maria=0.7, never=("MariaDB", 64))

    for told in (ask(selects), ask(selects, "ask=best"), ask(selects, "ask=rank&fact=dbms")):
        assert (told["ranked_at"], told["sure"]) == ("equal_levels", True)
        assert ratios(told)["MariaDB 11.4.4"] == (2, pytest.approx(1 / 0.7, rel=0.03))
        _, maria, firebird = (claim for claim in told["claims"] if claim["kind"] == "standing")
        assert (maria["levels_left_out"], firebird["levels_left_out"]) == (["64 terminals"], [])
        assert "over 3 levels of terminals. Left out: 64 terminals (MariaDB 11.4.4 was not measured)" in told["words"]
        assert told["missing"] == ["MariaDB 11.4.4 was not measured at 64 terminals."]
        assert not [each["words"] for each in told["questions"] if "at its best" in each["words"]]


def test_what_turned_before_a_level_that_it_was_not_measured_at_is_ranked_at_its_best():
    world = World(noise=0.01)
    for name, tps in {"A": {1: 100, 4: 350, 16: 900, 64: 2000}, "B": {1: 120, 4: 400, 16: 300}}.items():
        for terminals, mean in tps.items():
            world.add(mean, dbms={"name": name, "version": "1"}, factors={"terminals": terminals})

    told = ask(world.store(), "ask=best")

    assert (told["ranked_at"], told["sure"], told["missing"]) == ("best", True, [])


def test_of_systems_without_common_levels_it_is_told_which_may_have_more():
    world = World(noise=0.01)
    for name, tps in {"A": {8: 700, 64: 2000}, "B": {1: 100, 4: 350, 16: 900}}.items():
        for terminals, mean in tps.items():
            world.add(mean, dbms={"name": name, "version": "1"}, factors={"terminals": terminals})

    told = ask(world.store(), "ask=best")

    hole = "B 1 was not measured at 64 terminals, where it may have more."
    assert (told["sure"], told["missing"]) == (False, [hole])
    assert hole in told["words"]


def test_a_standing_names_the_levels_that_its_ratio_leaves_out():
    """Seen: MariaDB "rank 1" over two of three sizes, and no field said that it was not measured at the third."""
    world = World(noise=0.01)
    for size, of_maria in {10: 1.2, 100: 1.1, 500: None}.items():
        for name, factor in {"PostgreSQL": 1.0, "MariaDB": of_maria}.items():
            if factor:
                world.add(9000 / size * factor, dbms={"name": name, "version": "1"}, factors={"size_gb": size})

    told = ask(world.store(), "ask=rank&fact=dbms")

    first, second, *_ = told["claims"]
    assert (first["label"], second["levels_left_out"]) == ("MariaDB 1", ["500 GB"])
    assert told["missing"] == ["MariaDB 1 was not measured at 500 GB."]


def test_who_was_not_measured_at_a_level_is_named_where_another_is_the_best_there():
    """Seen: "PostgreSQL 17.2 is best at 500 GB", where MariaDB was not measured, beside "No ratio at 500 GB"."""
    world = World(noise=0.005)
    for size, of_maria in {10: 1.2, 100: 0.8, 500: None}.items():
        for name, factor in {"PostgreSQL": 1.0, "MariaDB": of_maria, "Firebird": 0.5}.items():
            if factor:
                dbms = {"name": name, "version": SYSTEMS[name]}
                world.add(9000 / size * factor, dbms=dbms, factors={"size_gb": size})

    told = ask(world.store(), "ask=best")

    assert told["best_at"] == {"MariaDB 11.4.4": ["10 GB"], "PostgreSQL 17.2": ["100 GB", "500 GB"]}
    assert told["absent_at"] == {"500 GB": ["MariaDB 11.4.4"]}
    assert "PostgreSQL 17.2 at 100 GB and at 500 GB (where MariaDB 11.4.4 has no value)" in told["words"], told["words"]


@pytest.mark.parametrize(("at_second", "rank"), [(0.4, 3), (1.5, 1)])
def test_of_two_levels_one_may_have_the_repeats(at_second, rank):
    """Seen: Firebird with half the throughput "rank 1", as it had one repeat at the other of two levels; so it keeps
    where that repeat says the contrary.
    """
    world = World(seed=3, noise=0.01)
    for size, of_firebird in ((10, 0.5), (100, at_second)):
        for name, factor in {"PostgreSQL": 1.0, "MariaDB": 0.8, "Firebird": of_firebird}.items():
            repeats = 1 if (name, size) == ("Firebird", 100) else 3
            dbms = {"name": name, "version": SYSTEMS[name]}
            world.add(9000 / size * factor, repeats, dbms=dbms, factors={"size_gb": size})

    told = ask(world.store(), "ask=rank&fact=dbms")

    firebird = next(claim for claim in told["claims"] if claim["label"] == "Firebird 5.0.1")
    assert (firebird["rank"], told["sure"]) == (rank, rank == 3)
    if rank == 3:
        assert firebird["ratio"]["value"] == pytest.approx(2, rel=0.03)
        assert firebird["levels_left_out"] == ["100 GB"]


@pytest.mark.parametrize("baseline", ["", "A", "B", "C"])
def test_one_answer_has_one_direction(baseline):
    """Seen: below "MariaDB rank 1" and "first ÷ this" the levels of PostgreSQL ÷ MariaDB, and with `ask=best` the same
    levels the other way round, as the ratios were those of the page's baseline.
    """
    world = World(noise=0.005)
    of_systems = {"A": (1.2, 1.1, 0.5, 0.4), "B": (1.0, 1.0, 1.0, 1.0), "C": (0.3, 0.3, 0.9, 0.9)}
    for at, terminals in enumerate(TERMINALS):
        for name, factors in of_systems.items():
            dbms = {"name": name, "version": "1"}
            world.add(900 * terminals * factors[at], dbms=dbms, factors={"terminals": terminals})
    selects = world.store()
    chosen = {group.label[0]: group.key for group in compare(Run.objects.present().for_lists()).groups} | {"": ""}

    told = ask(selects, f"ask=rank&fact=dbms&baseline={chosen[baseline]}")

    first, *others = [claim for claim in told["claims"] if claim["kind"] == "standing"]
    levels = [claim for claim in told["claims"] if claim["kind"] == "level"]
    (second,) = [claim for claim in others if claim["label"] == told["second"]]
    assert (told["first"], first["label"]) == ("B 1", "B 1")
    assert {(level["first"], level["second"]) for level in levels} == {("B 1", second["label"])}
    assert len(levels) == 4
    assert geometric_mean([level["ratio"]["value"] for level in levels]) == pytest.approx(second["ratio"]["value"])


def test_where_nothing_but_zeros_stands_in_the_way_that_is_said():
    """Seen: "No two series have two levels in common", of six systems that have all four in common."""
    world = World()
    for system, size in product("ABC", (1, 10, 100)):
        errors = 5 if (system, size) == ("C", 100) else 0
        system_of = {"dbms": {"name": system, "version": "1"}, "factors": {"size_gb": size, "terminals": 8}}
        world.add(errors, metric="deadlocks", **system_of)

    answer = ask(f"{world.store()}&metric=deadlocks", "ask=best")

    assert "in common" not in answer["words"] and not answer["claims"], answer["words"]
    assert "There is no ratio to zero, which is all that was measured of A 1 and B 1." in answer["words"]
    assert "C 1: above zero at 100 GB" in answer["words"]


def test_what_has_no_errors_at_all_is_not_left_out_of_who_has_the_least():
    """Seen: "MySQL 8.4.3 has the lowest …; Not ranked: PostgreSQL 17.2 (fewer than two levels in common)", which had
    none."""
    world = World()
    for (system, deadlocks), size in product((("A", 0), ("B", 50), ("C", 80)), (1, 10, 100)):
        factors = {"size_gb": size, "terminals": 8}
        world.add(deadlocks, metric="deadlocks", dbms={"name": system, "version": "1"}, factors=factors)

    answer = ask(f"{world.store()}&metric=deadlocks", "ask=best")

    assert not answer["sure"] and "lowest" not in answer["words"], answer["words"]
    assert "There is no ratio to zero, which is all that was measured of A 1." in answer["words"]
    assert "above zero at 1 GB, 10 GB and 100 GB" in answer["words"]
