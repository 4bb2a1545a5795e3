"""Ranks, and over which levels the ratio of each is."""

from __future__ import annotations

import pytest
from django.contrib.auth.models import AnonymousUser

from runs.answers import questions
from tests.runs.answers.test_answers import World, ask, eight_configurations, page, two_disks
from tests.runs.answers.test_unlike import on

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize("question", ["", "ask=best", "ask=rank&fact=config"])
def test_of_many_none_has_a_rank_that_reads_as_a_place(question):
    """Seen of 36 configurations: 5,777 TPS with "rank 31", as it was the baseline, and "rank 2" of the 5,763 TPS below
    it; with `ask=best` 4,998 TPS, the last of all, with "rank 3".
    """
    world = World(noise=0.005)
    for at in (9, *range(9), *range(10, 24)):
        setting = {"name": "shared_buffers", "value": f"{at + 1}GB"}
        world.add(5000 * (1 if at < 2 else 0.95**at), config=[setting])

    told = ask(world.store(), question)

    ranks = [claim["rank"] for claim in told["claims"]]
    assert ranks[:2] == [1, 1] and ranks[-1] is None
    known = [rank for rank in ranks if rank is not None]
    assert known == sorted(known) and 1 not in ranks[2:]
    # A rank stands where it is the place.
    assert all(rank in (None, 1, at + 1) for at, rank in enumerate(ranks)), ranks


def test_a_question_has_the_intervals_of_the_page_that_asks_it_by_rule():
    """Seen: 1.001 (0.973–1.029) "equivalent" without a question and (0.970–1.032) "undecided" with `ask=best`, as that
    took the best for the baseline.
    """
    world = World(noise=0.01)
    for at in range(24):
        world.add(5000 + 40 * (at * 7 % 24), config=[{"name": "shared_buffers", "value": f"{at + 1}GB"}])
    selects = world.store()

    by_rule, asked = ask(selects), ask(selects, "ask=best")

    assert by_rule["words"] == asked["words"] and by_rule["family"] == asked["family"]
    assert [claim["ratio"] for claim in by_rule["claims"]] == [claim["ratio"] for claim in asked["claims"]]


def test_beneath_curves_it_is_said_that_an_interval_is_of_one_comparison_alone():
    """Seen: −71.5 % (−72.8 to −70.1) beneath the curve and (−74.3 to −68.3) of `ask=loss`, and no word why."""
    selects = two_disks()
    assert "Each interval is of one comparison alone." in page(selects)
    assert "Each interval is of one comparison alone, but for what the question asks." in page(selects, "ask=loss")


def of_disks(of_systems: dict[str, tuple[float, float]], *, levels: int = 8) -> str:
    """Of each system at each of the levels how many times the throughput of the HDD the SSD has, and the noise."""
    world = World(seed=5)
    for name, (factor, noise) in of_systems.items():
        world.noise = noise
        for at in range(levels):
            for disk, times in (("HDD", 1.0), ("SSD", factor)):
                factors: dict[str, float | str] = {"terminals": 2**at, "disk": disk}
                world.add(1000 + 100 * at, 1, dbms={"name": name, "version": "1"}, factors=factors)
                world.documents[-1]["repeats"] = [
                    {"metrics": {"tps": (1000 + 100 * at) * times * off}}
                    for off in (1 - noise * (1 + at % 2), 1.0, 1 + noise * (1 + at % 3))
                ]
    return world.store()


def test_levels_of_a_verdict_are_told_apart_from_those_without_by_the_fact_that_parts_them():
    """Seen: "nvme0 has 0.990 × to 1.69 × the throughput of sata0 at 24 of 27 levels", where it had 1.64 × and more at
    18, and six of a third system were undecided.
    """
    selects = of_disks({"MariaDB": (1.6, 0.002), "PostgreSQL": (1.6, 0.002), "Firebird": (1.0, 0.006)})

    words = ask(selects, "ask=rank&fact=factor:disk")["words"].replace("\u202f", " ")

    assert words.startswith("SSD has 1.60 × the throughput of HDD at DBMS MariaDB 1 and PostgreSQL 1; 1.00 × at "), (
        words
    )
    assert "at DBMS Firebird 1, less than 3 % apart" in words


def test_a_range_of_a_verdict_is_of_its_levels_alone():
    """Seen: "0.959 × to 1.45 × the p99 latency at 31 of 40 levels", of which 21 are worse and 10 undecided."""
    world = World(seed=4)
    for at in range(9):
        for disk, times in (("HDD", 1.0), ("SSD", 1.5 if at < 4 else 1.0 if at < 7 else 1.028)):
            world.add(1000, 1, factors={"terminals": 2**at, "disk": disk})
            repeats = [1000 * times * off for off in (0.997, 1.0, 1.003)]
            world.documents[-1]["repeats"] = [{"metrics": {"tps": tps}} for tps in repeats]
    selects = world.store()

    told = ask(selects, "ask=a_b&fact=factor:disk&a=SSD&b=HDD")

    words = told["words"].replace("\u202f", " ")
    assert words.startswith(
        "SSD has 1.50 × the throughput of HDD (better) at 1, 2, 4 and 8 terminals; less than 3 %"
    ), words
    assert "undecided at 2 of 9 levels" in words, words


def test_what_is_better_nowhere_does_not_make_it_depend_on_the_level_which_is_better():
    """Seen: "which is better depends on the level" of lz4 and zstd, which is better nowhere; and "at 1GB", a value of
    max_wal_size and of shared_buffers, of which it is true of the first alone.
    """
    world = World()
    for size in (1, 4):
        for buffers in (1, 4, 8, 16):
            for name, less in (("MySQL", 1.0), ("MariaDB", 0.945 if size == 1 else 1.0), ("Firebird", 0.5)):
                factors = {"size_gb": size, "buffer_gb": buffers}
                world.add(5000 * less, 1, dbms={"name": name, "version": "1"}, factors=factors)
                repeats = [5000 * less * off for off in (0.99, 1.0, 1.01)]
                world.documents[-1]["repeats"] = [{"metrics": {"tps": tps}} for tps in repeats]
    selects = world.store()

    html, told = page(selects), ask(selects, "ask=a_b&fact=dbms&a=mysql&b=mariadb")

    of_all = html.partition('id="matrix"')[2]
    assert "some are better at a part of the levels only" in of_all and "depends" not in of_all
    assert "better at 4 of 8" in of_all and "worse at 4 of 8" in of_all
    assert "at size 1 GB" in told["by_level"] and "\u202f× at 1 GB" not in told["by_level"], told["by_level"]


def test_ratios_are_counted_that_are_there_and_each_says_of_how_many_levels_it_is():
    """Seen: "All 30 ratios", of which three have none; and two ratios over other levels in one column."""
    world = World(noise=0.005)
    for size in range(1, 16):
        for disk, times in (("NVMe", 2.0), ("HDD", 1.0)):
            for name, factor in (("PostgreSQL", 1.5), ("MariaDB", 1.0)):
                if (disk, name) != ("HDD", "MariaDB") or size <= 12:
                    factors = {"size_gb": size, "disk": disk}
                    world.add(9000 / size * times * factor, dbms={"name": name, "version": "1"}, factors=factors)
    selects = world.store()

    html = page(selects, "rows=all")
    told = ask(selects, "ask=rank&fact=factor:disk")

    over = {claim["label"]: claim["over"] for claim in told["claims"] if claim["kind"] == "standing"}
    assert over == {"NVMe": "", "HDD": "27 of 30 levels"}
    assert "over 27 of 30 levels" in html
    assert "All 27 ratios" in html and "All 30" not in html


def test_what_is_the_best_at_each_level_is_told_though_no_single_number_is():
    """Seen: "No winner over 3 levels of machine: DB2 9.7 against PostgreSQL 8.3 3.73 × (0.367–37.8), undecided", where
    DB2 is surely the best on each machine, by 1.98 × and more.
    """
    for day, times in enumerate((8.0, 6.0, 1.35), 4):
        world = World(seed=day, noise=0.005)
        for name, factor in {"Derby": times, "PostgreSQL": 1.0, "MySQL": 0.5}.items():
            world.add(1000 * factor, dbms={"name": name, "version": "1"}, measured_on=f"2026-05-0{day}")
        world.store()

    told = ask("workload=tpcb", "ask=rank&fact=dbms")

    words = told["words"].replace("\u202f", " ")
    assert "has the highest throughput at each of 3 batches, at least 1.3" in words, words
    assert "There is no single number over the levels: " in words and "undecided" in words


def test_which_disk_is_best_is_asked_once():
    """Seen: "Which disk has the highest throughput at equal levels" twice, by the factor and by the device."""
    world = World(noise=0.01)
    for disk, of_disk in (("SSD", on("nvme0")), ("HDD", on("sda"))):
        for name in ("PostgreSQL", "MariaDB"):
            for clients in (1, 4, 16):
                factors = {"terminals": clients, "disk": disk}
                world.add(1000 * clients, dbms={"name": name, "version": "1"}, factors=factors, **of_disk)
    words = [each["words"] for each in ask(world.store(), "ask=rank&fact=dbms")["questions"]]
    assert len([each for each in words if each.startswith("Which disk has the highest throughput")]) == 1


def test_two_branches_that_were_measured_on_the_same_days_are_asked_about():
    """Seen: no question sets a branch against main, beside which it was measured for 40 days."""
    world = World(noise=0.01)
    for day in range(1, 9):
        for branch in ("main", "group-commit"):
            if (branch, day) != ("group-commit", 1):
                tested = {"commit": f"{day:040x}", "branch": branch}
                world.add(1000 + day, tested=tested, measured_on=f"2026-05-{day:02}")
    words = {each["query"]: each["words"] for each in ask(world.store())["questions"]}
    asked = "ask=a_b&fact=tested%3Abranch&a=group-commit&b=main"
    assert words[asked] == "How does group-commit compare with main?"


def test_nights_that_came_last_do_not_hide_a_sweep(monkeypatch):
    """Seen: no question about 36 configurations, as 330 runs of 165 nights were stored after them; and what is lost
    "from 1,024 to 2,048 GB" of sizes from 1 GB on, of which only the last came in time.
    """
    monkeypatch.setattr(questions, "LOOKED_THROUGH", 60)
    eight_configurations()
    two_disks()
    for day in range(1, 21):
        world = World(noise=0.01)
        for terminals in (1, 8):
            world.add(
                1000 * terminals, workload="tpcc", factors={"terminals": terminals}, measured_on=f"2026-05-{day:02}"
            )
        world.store()

    words = {question.words for question in questions.questions(AnonymousUser())}

    assert any("which configuration is best" in each.lower() for each in words), words
    assert any("from 10 to 500 GB" in each for each in words), words


def test_machines_are_ranked_per_price_by_a_metric_of_ones_own():
    world = World(noise=0.005)
    for name, tps, keur in (("Fast", 10_000, 20), ("Cheap", 6_000, 6)):
        world.add(tps, hardware={"name": name})
        for repeat in world.documents[-1]["repeats"]:
            per_price = repeat["metrics"]["tps"] / keur
            repeat["metrics"]["tps_per_keur"] = {"value": per_price, "unit": "TPS/kEUR", "better": "higher"}
    selects = world.store()

    assert ask(selects, "ask=rank&fact=hardware")["claims"][0]["label"] == "Fast"
    told = ask(selects, "ask=rank&fact=hardware&metric=tps_per_keur")
    assert (told["claims"][0]["label"], told["sure"]) == ("Cheap", True)
    assert told["words"].startswith("Cheap has the highest TPS per kEUR")


def test_what_promises_less_on_both_sides_of_a_ratio_is_ranked():
    """Seen: "8.02 × … over 2 levels of configuration. Not ranked: … synchronous_commit=off", one of the two."""
    world = World(noise=0.01)
    for machine, share in (("alpha", 1.0), ("beta", 1.5)):
        for value, tps, kept in (("on", 1000, "power_loss"), ("off", 4000, "dbms_crash")):
            hardware, config = {"name": machine, "cpu_model": "Example"}, [{"name": "fsync_commit", "value": value}]
            world.add(tps * share, 4, hardware=hardware, config=config, durability=kept)

    told = ask(world.store(), "ask=rank&fact=hardware")

    assert told["over"] == "2 levels of configuration" and told["claims"][1]["ratio"]["value"] == pytest.approx(
        1.5, rel=0.02
    )
    assert "Not ranked" not in told["words"]
