"""What is held equal where series are ranked level by level: a setting, a disk or a batch that others do not have."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from tests.runs.answers.test_answers import World, ask

pytestmark = pytest.mark.django_db

SYSTEMS = {"PostgreSQL": "17.2", "MySQL": "8.4.3", "MariaDB": "11.4.4", "Firebird": "5.0.1"}
MONTHS = ("2026-09-05", "2026-10-03", "2026-11-07")


def ratios(told: dict[str, Any]) -> dict[str, tuple[int, float | None]]:
    """The rank of each value, and its ratio from the first."""
    standings = [claim for claim in told["claims"] if claim["kind"] == "standing"]
    return {claim["label"]: (claim["rank"], claim["ratio"]["value"]) for claim in standings}


def configured(world: World, system: str, config: tuple[str, str], tps: float, **more: Any) -> None:
    version = more.pop("version", SYSTEMS[system])
    setting, value = config
    world.add(tps, 5, dbms={"name": system, "version": version}, config=[{"name": setting, "value": value}], **more)


@pytest.mark.parametrize("sizes", [(10, 40), (10, 40, 160)], ids=["two levels", "three levels"])
def test_a_system_of_two_configurations_stands_for_its_better_one(sizes: tuple[int, ...]):
    """Seen: "Not ranked: MySQL, MariaDB and Firebird (fewer than two levels in common with the others)", as the buffer
    pool of each was part of its levels as soon as one system was measured with two.
    """
    world = World(noise=0.01)
    for size in sizes:
        at = {"factors": {"size_gb": size, "terminals": 8}}
        scale = 10_000 / size
        configured(world, "PostgreSQL", ("shared_buffers", "4GB"), scale * 1.3, **at)
        configured(world, "PostgreSQL", ("shared_buffers", "16GB"), scale * 1.5, **at)
        configured(world, "PostgreSQL", ("shared_buffers", "4GB"), scale * 1.2, version="16.4", **at)
        configured(world, "MySQL", ("innodb_buffer_pool_size", "16G"), scale, **at)
        configured(world, "Firebird", ("DefaultDbCachePages", "65536"), scale / 2, **at)
    selects = world.store()

    for told in (ask(selects), ask(selects, "ask=best"), ask(selects, "ask=rank&fact=dbms")):
        assert told["over"] == f"{len(sizes)} levels of size"
        assert ratios(told) == {
            "PostgreSQL 17.2": (1, None), "PostgreSQL 16.4": (2, pytest.approx(1.25, rel=0.02)),
            "MySQL 8.4.3": (3, pytest.approx(1.5, rel=0.02)), "Firebird 5.0.1": (4, pytest.approx(3.0, rel=0.02)),
        }  # fmt: skip
        first, *_ = told["claims"]
        assert (first["of"], first["variants"]) == ("PostgreSQL 17.2 · shared_buffers=16GB", 2)
        assert told["words"].startswith("PostgreSQL 17.2 (shared_buffers=16GB) has 1.2")
        assert "Not ranked" not in told["words"]


def test_a_system_is_best_where_one_of_its_configurations_is():
    """Its other configuration is no rival at a level."""
    world = World(noise=0.01)
    for size, tps in ((10, 1.5), (40, 0.7)):
        at = {"factors": {"size_gb": size, "terminals": 8}}
        for buffers in ("4GB", "16GB"):
            configured(world, "PostgreSQL", ("shared_buffers", buffers), 1000 * tps, **at)
        configured(world, "MySQL", ("innodb_buffer_pool_size", "16G"), 1000, **at)

    assert ask(world.store())["best_at"] == {"PostgreSQL 17.2": ["10 GB"], "MySQL 8.4.3": ["40 GB"]}


def test_configurations_that_each_version_has_are_held_equal():
    world = World(noise=0.01)
    for version, factor in (("16.4", 1.0), ("17.2", 1.2)):
        for buffers, of_buffers in (("4GB", 1.0), ("16GB", 2.0)):
            config = ("shared_buffers", buffers)
            for size in (10, 40):
                at = {"factors": {"size_gb": size, "terminals": 8}}
                configured(world, "PostgreSQL", config, 10_000 / size * factor * of_buffers, version=version, **at)

    told = ask(world.store())

    assert told["over"] == "4 levels of size and configuration"
    assert ratios(told) == {"PostgreSQL 17.2": (1, None), "PostgreSQL 16.4": (2, pytest.approx(1.2, rel=0.02))}


def test_disks_are_set_against_those_of_their_own_machine():
    """Seen: "Left out: … (only nv1 was measured)" of levels at which hd1 was measured, and no ratio of the two."""
    world = World(noise=0.01)
    for machine, disks in {"aster": {"nv1": 1.0, "hd1": 0.5}, "birch": {"sd2": 1.25, "hd2": 0.55}}.items():
        storage = [{"name": name, "medium": "hdd" if name.startswith("hd") else "ssd"} for name in disks]
        hardware = {"name": machine, "cpu_model": "Example", "storage": storage}
        for disk, factor in disks.items():
            for at, (name, version) in enumerate(SYSTEMS.items(), 1):
                on = {"dbms": {"name": name, "version": version}, "storage": [{"role": "data", "device": disk}]}
                world.add(5000 / at * factor, 5, hardware=hardware, **on)

    told = ask(world.store(), "ask=rank&fact=storage:data")

    claims = {claim["label"].partition(" ")[0]: claim for claim in told["claims"]}
    ranked = {name: (claim["rank"], claim["than"].partition(" ")[0]) for name, claim in claims.items()}
    assert not told["sure"]
    leaders = {"nv1", "sd2"}
    assert {name: rank for name, (rank, _) in ranked.items()} == {"nv1": 1, "hd1": 2, "sd2": 1, "hd2": 2}
    assert {ranked["hd1"][1], ranked["hd2"][1]} == leaders
    assert claims["hd1"]["ratio"]["value"] == pytest.approx(2.0, rel=0.02)
    assert claims["hd2"]["ratio"]["value"] == pytest.approx(1.25 / 0.55, rel=0.02)
    assert "have no levels in common" in told["words"] and "was measured" not in told["words"]
    assert "over 4 levels of DBMS and machine" in told["words"]


@pytest.mark.parametrize("label", ["acceptance {day:.7}", "acceptance", ""], ids=["of a month", "of all", "none"])
def test_machines_that_send_batches_of_their_own_are_set_against_each_other_each_month(label: str):
    """Seen: each machine stood for its best month, as "hosting d1 · acceptance 2026-10 · … · stored … #6"."""
    world = World(noise=0.01)
    for at, day in enumerate(MONTHS):
        for machine, factor in {"alpha": 1.0, "beta": 1.25, "gamma": 0.8}.items():
            # Each has a good month.
            good = 1.2 if ("alpha", "beta", "gamma")[at] == machine else 1.0
            for system in ("PostgreSQL", "MariaDB"):
                world.add(
                    (1000 if system == "MariaDB" else 1300) * factor * good, 5, label=label.format(day=day),
                    dbms={"name": system, "version": SYSTEMS[system]}, measured_on=day, tags=["acceptance"],
                    hardware={"name": machine, "cpu_model": "Example"},
                )  # fmt: skip
            world.store()

    told = ask("tag=acceptance", "ask=rank&fact=hardware")
    pair = ask("tag=acceptance", "ask=a_b&fact=hardware&a=alpha&b=gamma")

    assert ratios(told) == {
        "beta": (1, None), "alpha": (2, pytest.approx(1.25, rel=0.02)), "gamma": (3, pytest.approx(1.56, rel=0.02)),
    }  # fmt: skip
    assert told["over"] == "6 levels of DBMS and batch"
    assert {claim["of"] for claim in told["claims"] if claim["kind"] == "standing"} == {"alpha", "beta", "gamma"}
    assert (pair["first"], pair["second"], pair["over"]) == ("alpha", "gamma", "6 levels of DBMS and batch")
    assert pair["claims"][0]["ratio"]["value"] == pytest.approx(1.25, rel=0.02)


def test_each_rank_counts_who_is_surely_better_among_many_machines():
    """Seen: rank 3 of ten machines alike, as of so many pairs those with the first and the baseline were judged."""
    world = World(noise=0.01)
    factors = {f"m{at:02}": 1.1 ** -(at // 2) for at in range(16)}
    for machine, factor in factors.items():
        for level, (name, version) in enumerate(SYSTEMS.items(), 1):
            for size in (10, 20):
                world.add(9000 / level / size * factor, 5, dbms={"name": name, "version": version},
                          factors={"size_gb": size}, hardware={"name": machine, "cpu_model": "Example"})  # fmt: skip

    told = ask(world.store(), "ask=rank&fact=hardware")

    assert {label: rank for label, (rank, _) in ratios(told).items()} == {
        machine: 1 + 2 * (at // 2) for at, machine in enumerate(factors)
    }


def test_of_a_level_without_a_ratio_it_is_told_who_was_not_measured_there():
    """Seen: "over 3 levels … at 2 of 4 levels. Left out: 100 GB · hd1 (only PostgreSQL 17.2 was measured)" though only
    MariaDB was not, and one of the others is the best at that level.
    """
    world = World(noise=0.01)
    rates = {"PostgreSQL": (1000, 1000, 1500, 900), "MySQL": (700, 700, 800, 500), "MariaDB": (500, 1300, 1000, None)}
    for name, of_sizes in rates.items():
        for size, tps in zip((10, 40, 80, 160), of_sizes, strict=True):
            if tps:
                world.add(tps, 5, dbms={"name": name, "version": SYSTEMS[name]}, factors={"size_gb": size})

    told = ask(world.store(), "ask=rank&fact=dbms")

    assert (told["over"], told["best_at"]) == (
        "3 levels of size", {"PostgreSQL 17.2": ["10 GB", "80 GB", "160 GB"], "MariaDB 11.4.4": ["40 GB"]},
    )  # fmt: skip
    assert told["absent_at"] == {"160 GB": ["MariaDB 11.4.4"]}
    assert told["words"].startswith(
        "No single winner by throughput over 4 levels of size: PostgreSQL 17.2 is best at 10 GB and 80 GB"
    )
    assert told["words"].endswith(" No ratio at 160 GB (MariaDB 11.4.4 was not measured).")


def test_the_name_of_a_level_says_a_commit_once():
    """Seen: "PostgreSQL 17.0 · nightly · a35e7ba0af · main · a35e7ba0af"."""
    world = World(noise=0.01)
    for day, commit in zip(MONTHS, ("a35e7ba0af", "b46f8cb1b0", "b46f8cb1b0"), strict=True):
        for machine, factor in {"alpha": 1.0, "beta": 1.25}.items():
            world.add(
                1000 * factor, 5, label="nightly", measured_on=day, tags=["nightly"],
                tested={"commit": commit, "branch": "main"}, hardware={"name": machine, "cpu_model": "Example"},
            )  # fmt: skip
        world.store()

    told = ask("tag=nightly", "ask=rank&fact=hardware")

    labels = [claim["label"] for claim in told["claims"] if claim["kind"] == "level"]
    assert len({*labels}) == 3
    assert [label.count("a35e7ba0af") + label.count("b46f8cb1b0") for label in labels] == [1, 1, 1], labels


def test_a_question_without_an_answer_is_not_offered_again():
    """Seen: "which system has the highest throughput, and is it sure?" offered the same "at equal machine", which led
    to the same page. Where the systems were measured was not told.
    """
    world = World(noise=0.01)
    for machine, systems in {"alpha": ("PostgreSQL", "Firebird"), "beta": ("PostgreSQL", "MySQL")}.items():
        for at, name in enumerate(systems, 1):
            dbms = {"name": name, "version": SYSTEMS[name]}
            world.add(1000 / at, 5, dbms=dbms, hardware={"name": machine, "cpu_model": "Example"})
    selects = world.store()

    for question in ("", "ask=best", "ask=best&fact=dbms"):
        told = ask(selects, question)
        first, *others = told["missing"]
        assert first == "No two series have two levels in common."
        assert {*others} == {
            "Firebird 5.0.1: measured at alpha.", "MySQL 8.4.3: measured at beta.",
            "PostgreSQL 17.2: measured at alpha and beta.",
        }  # fmt: skip
        assert told["words"] == " ".join(told["missing"])
        assert told["asked"] == "Which system has the highest throughput at equal machine, and is it sure?"
        assert told["asked"] not in [each["words"] for each in told["questions"]]


def test_repeats_are_asked_of_who_has_too_few_at_a_level():
    """Seen: "It takes at least 3 repeats of MySQL, MariaDB, PostgreSQL 17.2 and 16.4", of which MySQL alone had two."""
    world = World(noise=0.01)
    for name, tps in {"MySQL": 1000, "MariaDB": 980, "PostgreSQL": 700}.items():
        for size in (10, 40):
            repeats = 2 if (name, size) == ("MySQL", 40) else 3
            world.add(tps, repeats, dbms={"name": name, "version": SYSTEMS[name]}, factors={"size_gb": size})

    told = ask(world.store(), "ask=rank&fact=dbms")

    assert told["missing"] == ["It takes at least 3 repeats of MySQL 8.4.3."]


def on_two_machines(world: World, means: dict[str, float], days: dict[str, str] | None = None, **factors: Any) -> None:
    """Each system on both machines; `factors` has a value of each by the system's name."""
    for system, tps in means.items():
        own = {name: of[system] for name, of in factors.items() if system in of}
        for machine, share in (("alpha", 1.0), ("beta", 1.6)):
            world.add(
                tps * share, 3, dbms={"name": system, "version": SYSTEMS[system]}, factors={"terminals": 16} | own,
                hardware={"name": machine, "cpu_model": "Example"},
                **({"measured_on": days[system]} if days else {}),
            )  # fmt: skip


THREE = {"PostgreSQL": 1650.0, "MySQL": 1190.0, "MariaDB": 1310.0}
DRIVERS = {"PostgreSQL": "pgsql", "MySQL": "mysql", "MariaDB": "mysql"}


@pytest.mark.parametrize("question", ["ask=best", "ask=rank&fact=dbms", ""])
def test_the_driver_that_two_of_three_systems_share_keeps_none_out(question: str):
    """Seen: "MariaDB has 1.10 × … Not ranked: PostgreSQL", which was the best by 26 %."""
    world = World(noise=0.006)
    on_two_machines(world, THREE, db_driver=DRIVERS)

    told = ask(world.store(), question)

    assert (told["over"], told["sure"]) == ("2 levels of machine", True)
    assert ratios(told) == {
        "PostgreSQL 17.2": (1, None), "MariaDB 11.4.4": (2, pytest.approx(1.26, rel=0.02)),
        "MySQL 8.4.3": (3, pytest.approx(1.387, rel=0.02)),
    }  # fmt: skip
    assert "Db driver (pgsql against mysql)" in told["words"] and "Not ranked" not in told["words"]


@pytest.mark.parametrize(
    "factors",
    [
        {"host": {"PostgreSQL": "a", "MySQL": "b", "MariaDB": "b"}},
        {"partitions": {"PostgreSQL": 1, "MySQL": 8, "MariaDB": 8}},
    ],
    ids=["a place", "an amount"],
)  # fmt: skip
def test_a_place_and_an_amount_are_held_equal_also_where_each_system_has_one(factors: dict[str, dict[str, Any]]):
    world = World(noise=0.006)
    on_two_machines(world, THREE, **factors)

    told = ask(world.store(), "ask=rank&fact=dbms")

    assert told["unranked"] == ["PostgreSQL 17.2"]


def test_what_a_system_was_measured_with_in_two_ways_is_held_equal():
    """Of the drivers of one system one may be the faster."""
    world = World(noise=0.006)
    on_two_machines(world, THREE, ps_mode={"PostgreSQL": "auto", "MySQL": "auto", "MariaDB": "auto"})
    on_two_machines(world, {"MySQL": 1800.0}, ps_mode={"MySQL": "disable"})

    told = ask(world.store(), "ask=rank&fact=dbms")

    # At "disable" nothing but MySQL was measured.
    assert [label for label, _ in ratios(told).items()] == ["PostgreSQL 17.2", "MariaDB 11.4.4", "MySQL 8.4.3"]
    assert told["over"] == "2 levels of machine"


def test_systems_that_have_batches_and_days_of_their_own_are_ranked_at_equal_machines():
    """Seen: "No two series have two levels in common", as each import is one system on both machines: what shares the
    batches are the machines.
    """
    days = {"PostgreSQL": "2026-09-05", "MySQL": "2026-09-06", "MariaDB": "2026-09-07"}
    world, batches = World(noise=0.006), []
    for system, tps in THREE.items():
        on_two_machines(world, {system: tps}, days, db_driver=DRIVERS)
        batches.append(world.store())

    told = ask("&".join(batches))

    assert told["over"] == "2 levels of machine"
    assert [rank for rank, _ in ratios(told).values()] == [1, 2, 3]


def test_versions_that_have_one_day_each_are_ranked_as_groups():
    """Seen of three systems of five years, on one day each year: "No two series have two levels in common", and 105
    times "no ratio: not measured here".
    """
    world = World(noise=0.006)
    releases = {"PostgreSQL": ("12.8", "13.5", "14.6"), "MySQL": ("8.0.26", "8.0.30", "8.0.35")}
    batches = []
    for at, day in enumerate(MONTHS):
        for system, versions in releases.items():
            tps = THREE[system] * (1 + 0.1 * at)
            world.add(tps, 3, dbms={"name": system, "version": versions[at]}, measured_on=day)
            batches.append(world.store())

    told = ask("&".join(batches))

    assert told["sure"] and not told["ranked_at"]
    first, second, *_ = told["claims"]
    assert (first["label"], second["label"], second["ratio"]["verdict"]) == (
        "PostgreSQL 14.6", "PostgreSQL 13.5", "better",
    )  # fmt: skip


def test_a_driver_that_another_workload_does_not_name_is_no_level_either():
    """Seen: "No winner is named: PostgreSQL and MariaDB may not all be set against each other" of two workloads."""
    world = World(noise=0.006)
    on_two_machines(world, THREE, db_driver=DRIVERS)
    for system, tps in THREE.items():
        world.add(tps, dbms={"name": system, "version": SYSTEMS[system]}, workload="tpcc", factors={"terminals": 16})

    told = ask(world.store(), "ask=best")

    assert "db driver" not in told["over"]
    assert {name: rank for name, (rank, _) in ratios(told).items()} == {
        "PostgreSQL 17.2": 1, "MariaDB 11.4.4": 2, "MySQL 8.4.3": 3,
    }  # fmt: skip


def test_what_may_be_ranked_is_asked_where_a_single_cell_is_of_another_version():
    """Seen: "Which version of PostgreSQL …? No two series have two levels in common", beside disks at equal sizes."""
    world = World(noise=0.005)
    for size in (10, 64, 512):
        for disk, tps in (("ssd", 5000), ("hdd", 3000)):
            world.add(tps, 4, factors={"size_gb": size, "disk": disk})
    world.add(5500, 4, factors={"size_gb": 512, "disk": "ssd"}, dbms={"name": "PostgreSQL", "version": "18.9"})

    told = ask(world.store())

    assert told["question"]["fact"] == "factor:disk"
    assert [claim["rank"] for claim in told["claims"] if claim["kind"] == "standing"] == [1, 2]


def test_of_many_levels_that_are_left_out_a_sentence_names_one_for_each_reason():
    """Seen: a headline of ten lines."""
    world = World(noise=0.005)
    for size in range(1, 11):
        for system, tps in (("PostgreSQL", 2000), ("MySQL", 1000)):
            few = size > 6 if system == "MySQL" else size in (3, 4, 5, 6)
            dbms = {"name": system, "version": SYSTEMS[system]}
            world.add(tps, 2 if few else 4, factors={"size_gb": size}, dbms=dbms)

    words = ask(world.store(), "ask=best")["words"]

    assert "Left out: 3 GB and 3 more (fewer than 3 repeats of PostgreSQL 17.2); 7 GB and 3 more (fewer" in words


def test_a_machine_of_another_window_is_not_ranked_for_that():
    """Seen: "fewer than two levels in common with the others", of which no reader could tell what to measure."""
    world = World(noise=0.01)
    for machine, share, windows in (("alpha", 1, (120, 300)), ("beta", 0.8, (300,)), ("gamma", 0.62, (180,))):
        for window, terminals in product(windows, (8, 64)):
            factors = {"terminals": terminals, "duration_s": window}
            world.add(9000 * share * terminals, 4, hardware={"name": machine, "cpu_model": "E"}, factors=factors)
    words = ask(world.store(), "ask=rank&fact=hardware")["words"]
    assert words.startswith("alpha has 1.2")
    assert "Not ranked: gamma (no levels in common, as each has its own measured window)." in words
