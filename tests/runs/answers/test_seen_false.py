"""What was once said and false, each kind by the fields that it was made of."""

from __future__ import annotations

import re
from datetime import date, timedelta
from typing import Any

import pytest
from django.test import Client

from runs.answers.places import memories
from runs.answers.words.matrix import matrix
from runs.compare.compare import compare
from runs.models import Run
from tests.runs.answers.test_answers import GIB, World, ask, page

pytestmark = pytest.mark.django_db


def nights(count: int, apart: int, step: float, metric: str = "latency_p99_ms") -> str:
    """Batches that lie so many days apart; from the middle one on `metric` is `step` times what it was."""
    world, first = World(noise=0.005), date(2025, 1, 1)
    for night in range(count):
        day = str(first + timedelta(days=night * apart))
        world.add(4000, measured_on=day, factors={"scale_factor": 10}, label="nightly")
        for at, repeat in enumerate(world.documents[-1]["repeats"]):
            repeat["metrics"][metric] = 10 * (step if 2 * night >= count else 1) * (1 + at / 1000)
        world.store()
    return "label=nightly"


@pytest.mark.parametrize("step", [1.064, 1.3])
def test_a_metric_is_judged_by_its_own_threshold_wherever_it_stands(step: float):
    """Was: "no lasting change" as the only metric, "+6.4 % worse" as the second of two."""
    selects = nights(12, 1, step)

    def said(metrics: str) -> Any:
        drawn = Client().get(f"/api/v1/compare/?{selects}&{metrics}").json()["drawing"]["metrics"]
        return next(each["said"] for each in drawn if each["metric"]["name"] == "latency_p99_ms")

    alone, second = said("metric=latency_p99_ms"), said("metric=tps&metric=latency_p99_ms")
    assert alone == second and alone
    assert bool(alone[0]["numbers"]["steps"]) == (step > 1.1)
    claim = ask(selects, "metric=latency_p99_ms")["claims"][0]
    assert bool(claim["day"]) == (step > 1.1)
    # What lies below it may have changed: the sentence says how much would have been told.
    assert claim["threshold"] > 0.064


def test_batches_are_no_days():
    """Was: "60 days" for 60 batches over 354 days."""
    claim = ask(nights(10, 6, 1.0), "ask=since")["claims"][0]
    assert (claim["batches"], claim["days"]) == (10, 9 * 6 + 1)


@pytest.mark.parametrize("count", [7, 9])
def test_no_change_is_denied_that_so_few_batches_would_not_show(count: int):
    """Was: "No lasting change of 3 % or more in 7 batches", of which the newest was 8 % faster."""
    world, first = World(noise=0.02), date(2025, 1, 1)
    for night in range(count):
        world.add(1080 if night >= 6 else 1000, measured_on=str(first + timedelta(days=night)), label="nightly")
        world.store()
    told = ask("label=nightly", "ask=since")
    claim = told["claims"][0]
    assert claim["day"] or claim["threshold"] > 0.03
    assert bool(claim["day"]) != bool(told["missing"])


@pytest.mark.parametrize(("ram_gib", "words"), [(64, "RAM 64 GiB"), (23.54, "RAM 23.54 GiB")])
def test_memory_is_said_in_the_unit_that_it_is_sold_in(ram_gib: float, words: str):
    """Was: "RAM 25 GB" for 23.54 GiB beside "RAM 64 GB" for 64 GiB."""
    world = World()
    world.add(1000, factors={"size_gb": 10})
    world.documents[-1]["hardware"]["ram_bytes"] = int(ram_gib * GIB)
    world.store()
    groups = compare(Run.objects.present().for_lists()).groups
    assert [name for name, _ in memories(groups)] == [words]


def test_a_size_has_the_unit_of_its_value_however_wide_the_selection_is():
    """Was: 10 GB shown as 10,737 MB once the selection widened; 2,000 GB as 2 TB where it was given in MB."""
    world = World()
    for size_gb in (0.05, 10, 2000):
        world.add(1000 / size_gb, factors={"size_gb": size_gb})
        for repeat in world.documents[-1]["repeats"]:
            repeat["metrics"]["db_size_bytes"] = size_gb * GIB
    selects, asked = world.store(), "ask=loss&x=factor:size_gb&x_as=size"
    assert "53.7 MB to 2,147 GB" in ask(selects, asked)["words"]
    assert "10,737" not in page(selects, asked)


def test_labels_say_a_size_in_the_unit_of_its_value():
    """Was: "10,737 MB" in legends and rows, beside an axis in GB; the keys of groups stay as they were."""
    world = World()
    for size_mb in (500, 10_737):
        world.add(1000, factors={"target_size_mb": size_mb})
    selects = world.store()
    groups = Client().get(f"/api/v1/compare/?{selects}").json()["groups"]
    assert {group["key"]: group["label"].removeprefix("target size ") for group in groups} == {
        "500-mb": "500 MB", "10737-mb": "10.737 GB",
    }  # fmt: skip
    assert "10.737 GB" in page(selects)


def test_repeats_that_do_not_vary_do_not_scatter():
    """Was: "No winner yet, repeats scatter too much … the repeats do not vary at all"."""
    world = World(noise=0.0)
    for name in ("PostgreSQL", "MySQL"):
        world.add(1000, dbms={"name": name, "version": "1"})
    told = ask(world.store())
    assert told["claims"][1]["ratio"]["verdict"] == "equivalent"
    assert "scatter" not in told["words"]


def test_a_curve_without_a_known_value_is_not_told_to_have_one_level(published: None):
    """Was: "SSD: one level only, measure a second" of eleven values that are lost with a picture."""
    of = "publication=firebird-terabyte-2015&workload=wl-firebird-oltp"
    (missing,) = ask(of, "ask=loss&x=factor%3Asize_gb")["missing"]
    assert "SSD" in missing and "known" in missing and "one level" not in missing


def in_metric(world: World, name: str, **more: Any) -> None:
    """What was added last is told by this metric instead."""
    for repeat in world.documents[-1]["repeats"]:
        value = repeat["metrics"].pop("tps")
        repeat["metrics"] = [{"name": name, "value": value, **more}]


def test_levels_are_told_in_the_direction_of_the_ratio_over_all():
    """Was: "SATA, the next, has 1.23 × of it: 0.527 × at 512 GB", of a latency: the levels the other way round."""
    world = World(noise=0.003)
    for size, factor in ((8, 1.0), (32, 1.05), (512, 1.9)):
        for disk, of in (("SATA", factor), ("NVMe", 1.0)):
            world.add(10 * of, factors={"size_gb": size, "disk": disk})
            in_metric(world, "latency_p95_ms")
    words = ask(world.store(), "ask=rank&fact=factor:disk")["words"]
    assert words.startswith("NVMe has the lowest")
    levels = [*map(float, re.findall(r"([\d.]+)\u202f×", words))]
    assert max(levels) > 1.85 and min(levels) > 0.99


def test_what_grows_does_not_fall_off():
    """Was: "falls off smoothly, without a knee", of a rate that grows to the last level."""
    world = World(noise=0.003)
    for terminals in (1, 2, 4, 8, 16, 32, 64, 128):
        world.add(300 * terminals / (1 + 0.03 * (terminals - 1)), factors={"terminals": terminals})
    (claim,) = ask(world.store(), "ask=falls_off&x=factor:terminals")["claims"]
    assert claim["shape"] == "none"


def test_a_step_of_another_machine_on_the_same_day_is_not_one_before():
    """Was: "alpha … since 2026-10-30 …: worse. 1 more step before.", which was beta's of that day."""
    world = World(noise=0.003)
    for night in range(16):
        for machine in ("alpha", "beta"):
            world.add(1000 * (0.9 if night >= 8 else 1.0), measured_on=str(date(2026, 10, 1) + timedelta(days=night)))
            world.documents[-1]["hardware"] = {"name": machine}
        world.store()
    told = ask("workload=tpcb", "ask=since")
    assert {claim["day"] for claim in told["claims"]} == {"2026-10-09"}
    assert "before." not in told["words"] and "On the same day: beta" in told["words"]


def test_each_machine_is_told_with_its_own_last_step():
    """Was: "alpha … since 2026-10-21 …: worse. 2 more steps before.", one of which was beta's only one."""
    levels = {
        "alpha": [1.0 if at < 8 else 0.9 if at < 20 else 0.8 for at in range(30)],
        "beta": [1.0 if at < 12 else 1.2 for at in range(30)], "gamma": [1.0] * 30,
    }  # fmt: skip
    world = World(noise=0.003)
    for night in range(30):
        for machine, of_machine in levels.items():
            world.add(1000 * of_machine[night], measured_on=str(date(2026, 10, 1) + timedelta(days=night)))
            world.documents[-1]["hardware"] = {"name": machine}
        world.store()
    told = ask("workload=tpcb", "ask=since")["words"]
    alpha, rest = told.split(" beta: ")
    beta, gamma = rest.split(" gamma: ")
    assert alpha.startswith("alpha: ") and "since 2026-10-21" in alpha and "1 more step before." in alpha
    assert "since 2026-10-13" in beta and "before." not in beta
    assert gamma.startswith("no lasting change")


def test_pairs_that_nobody_judged_are_no_pairs_without_a_ratio():
    """Was, where effects are asked: a matrix of "no ratio: not measured here" of configurations that were measured."""
    world = World(noise=0.003)
    for buffers, tps in (("1GB", 1000), ("4GB", 1100), ("16GB", 1200)):
        world.add(tps, config=[{"name": "shared_buffers", "value": buffers}])
    selects = world.store()
    comparison = compare(Run.objects.present().for_lists())
    assert matrix(comparison)
    assert "no ratio" not in page(selects, "ask=effects")


def test_without_a_ratio_the_sentence_says_why_and_compares_nothing():
    """Was: "MySQL 8.4 has  the stalled of MariaDB 11.4: no ratio"."""
    world = World(noise=0.003)
    for name, seconds in (("MySQL", 3.0), ("MariaDB", 0.0)):
        world.add(seconds, dbms={"name": name, "version": "1"})
        in_metric(world, "stalled_s", unit="s", better="lower")
    words = ask(world.store(), "ask=a_b")["words"]
    assert "against" in words and " has " not in words


def test_numbers_of_a_million_have_their_digits_and_facts_their_names():
    """Was: "1e+06 MB", "Which size mb", "Size tb", "What is lost over ?"."""
    world = World(noise=0.003)
    for size in (1_000_000, 2_000_000):
        world.add(1000, factors={"size_mb": size})
    selects = world.store()
    assert "e+06" not in page(selects)
    assert "1,000 GB" in page(selects)
    assert ask(selects, "ask=best")["asked"] == "How do they differ in throughput?"
    world.add(1000)
    assert ask(world.store(), "ask=loss")["asked"] == "What is lost?"


def test_what_is_said_of_all_curves_is_said_once():
    """Was: six times that four levels are too few to find a knee."""
    world = World(noise=0.003)
    for size in (8, 32, 128, 512):
        for disk in ("SATA", "SSD", "NVMe"):
            world.add(1000, factors={"size_gb": size, "disk": disk})
    words = ask(world.store(), "ask=falls_off&x=factor:size_gb")["words"]
    assert words.count("too few levels") == 1 and "NVMe" in words


def test_of_a_latency_the_largest_rise_is_the_largest_loss():
    """Was: what lost least stood first, and a rise of 2.85 × beside one of +186 %."""
    world = World(noise=0.003)
    for disk, rise in (("NVMe", 1.5), ("SATA", 2.9), ("SSD", 2.2)):
        for size, factor in ((8, 1.0), (512, rise)):
            world.add(10 * factor, factors={"size_gb": size, "disk": disk})
            in_metric(world, "latency_p95_ms")
    told = ask(world.store(), "ask=loss&x=factor:size_gb")
    assert [claim["label"] for claim in told["claims"]] == ["SATA", "SSD", "NVMe"]
    assert "×" not in told["words"]


def test_which_loads_fastest_is_asked_of_a_speed_of_loading():
    """Was: "No run has a speed of loading" where the address named the throughput, though each run had one."""
    world = World(noise=0.003)
    for name, rate in (("MySQL", 80), ("MariaDB", 100)):
        world.add(1000, dbms={"name": name, "version": "1"})
        for repeat in world.documents[-1]["repeats"]:
            repeat["metrics"]["load_mb_per_s"] = rate * repeat["metrics"]["tps"] / 1000
    told = ask(world.store(), "ask=load&metric=tps")
    assert told["metric"] == "load_mb_per_s" and told["claims"][0]["label"] == "MariaDB 1"


def test_an_upload_that_tells_the_processors_of_others_is_disturbed():
    """Was: no word of it, as the processors of its machine were not looked up."""
    world = World(noise=0.003)
    for busy in (35, 80):
        world.add(1000, factors={"terminals": busy})
        world.documents[-1]["hardware"] |= {"cpu_threads": 32}
        for repeat in world.documents[-1]["repeats"]:
            repeat["metrics"] |= {"machine_cpu_percent": busy, "server_cpu_cores": 8, "driver_cpu_cores": 2}
    world.store()
    checks = {run.factor("terminals"): {each["name"]: each["ok"] for each in run.checks} for run in Run.objects.all()}
    assert (checks[35]["machine_alone"], checks[80]["machine_alone"]) == (True, False)


@pytest.mark.parametrize("question", ["falls_off&x=factor:scale_factor", "scales&x=factor:terminals", "a_b", "effects"])
def test_what_cannot_be_told_of_so_little_says_what_is_missing(question: str):
    """Was: three levels, of which nobody can tell where they fall off, with nothing missing and a claim."""
    world = World()
    for size, terminals, system in ((10, 1, "17.2"), (20, 1, "17.2"), (40, 1, "17.2"), (10, 1, "18.0")):
        world.add(
            1000, repeats=1, factors={"scale_factor": size, "terminals": terminals},
            dbms={"name": "PostgreSQL", "version": system}, config=[{"name": "work_mem", "value": system}],
        )  # fmt: skip
    told = ask(world.store(), f"ask={question}")
    assert not told["sure"] and told["missing"]
    if question.startswith("falls_off"):
        assert told["claims"] == [] and all(words in told["words"] for words in told["missing"])


@pytest.mark.parametrize(("kernels", "besides"), [(("6.1.0-18", "6.1.0-25"), 1), (("6.1.0-18", "6.1.0-18"), 0)])
def test_a_step_tells_what_else_changed_there(kernels: tuple[str, str], besides: int):
    """Was: the commit, and no word of the kernel that came the same night."""
    world, first = World(noise=0.005), date(2025, 1, 1)
    for night in range(16):
        is_after = night >= 8
        world.add(
            900 if is_after else 1000, measured_on=str(first + timedelta(days=night)), label="nightly",
            tested={"commit": f"{night:02d}" * 20},
        )  # fmt: skip
        world.documents[-1]["hardware"]["kernel"] = kernels[is_after]
        world.store()
    told = ask("label=nightly", "ask=since")
    (claim,) = told["claims"]
    assert claim["day"] == "2025-01-09" and len(claim["besides"]) == besides
    assert all(kernel in words for words in claim["besides"] for kernel in kernels)
    assert all(words in told["words"] for words in claim["besides"])
    assert ("Nothing else" in told["words"]) == (not besides)
    assert told["words"] in page("label=nightly", "ask=since").replace("&#x27;", "'")


MEMORY = (("PostgreSQL", 3000), ("MySQL", 2000), ("H2", 1000))


@pytest.mark.parametrize("odd", [name for name, _ in MEMORY])
def test_what_is_not_alike_says_of_which_third_it_is_not(odd: str):
    """Was: "Not alike: Buffer pool (16 GiB against 128 MiB)" of a third, while the two that are named share one."""
    world = World(noise=0.002)
    for name, tps in MEMORY:
        limit = {"memory_limit_mb": 160 if name == odd else 320}
        world.add(tps, dbms={"name": name, "version": "1"}, factors={"scale_factor": 10, **limit})
    told = ask(world.store(), "ask=best&fact=dbms")
    assert told["sure"] and told["not_alike"] in told["words"]
    # The first is unlike each of the others, which the sentence claims of both.
    values = "160 MB against 320 MB" if odd == "PostgreSQL" else f"320 MB against 160 MB of {odd} 1"
    assert told["not_alike"] == f"Memory limit ({values})"


@pytest.mark.parametrize("base", ["PostgreSQL", "MySQL"])
def test_what_is_not_alike_has_the_order_of_the_claim(base: str):
    """Was: in the order of the table, whichever side is the baseline."""
    world = World(noise=0.002)
    for terminals in (1, 8, 64):
        for name, tps in MEMORY[:2]:
            factors = {"terminals": terminals, "memory_limit_mb": 160 if name == "MySQL" else 320}
            world.add(tps * terminals, dbms={"name": name, "version": "1"}, factors=factors)
    selects = world.store()
    groups = Client().get(f"/api/v1/compare/?{selects}").json()["groups"]
    key = next(group["key"] for group in groups if base in group["label"])
    told = ask(selects, f"ask=rank&fact=dbms&baseline={key}")
    assert (told["first"], told["not_alike"]) == ("PostgreSQL 1", "Memory limit (320 MB against 160 MB)")


@pytest.mark.parametrize("systems", [("PostgreSQL",), ("PostgreSQL", "MySQL")])
def test_what_a_configuration_makes_of_its_buffers_is_told_with_it(systems: tuple[str, ...]):
    """Was: "Not alike: Buffer pool (16 GiB against 128 MiB)" beside shared_buffers=16GB and shared_buffers=128MB."""
    world = World(noise=0.002)
    for name, buffers, tps in (("PostgreSQL", "16GB", 2000), (systems[-1], "128MB", 1000)):
        setting = "shared_buffers" if name == "PostgreSQL" else "innodb_buffer_pool_size"
        config = [{"name": setting, "value": buffers if name == "PostgreSQL" else "134217728"}]
        world.add(tps, dbms={"name": name, "version": "1"}, config=config, factors={"scale_factor": 10})
    told = ask(world.store())
    assert told["sure"]
    assert told["not_alike"] == ("" if len(systems) == 1 else "Buffer pool (16 GiB against 128 MiB)")


@pytest.mark.parametrize(("noise", "of_last"), [(0.35, 1.0), (0.01, 0.1)])
def test_why_there_is_no_scaling_law_has_one_reason(noise: float, of_last: float):
    """Was: "levels lie 14% off" in the claim, "the repeats scatter too much to tell" beneath the curve."""
    world = World(seed=4, noise=noise)
    for terminals in (1, 2, 4, 8, 16, 32):
        world.add(1000 * terminals**0.5 * (of_last if terminals == 8 else 1), factors={"terminals": terminals})
    selects = world.store()
    (claim,) = ask(selects, "ask=scales&x=factor:terminals")["claims"]
    (said,) = Client().get(f"/api/v1/compare/?{selects}&view=curve").json()["drawing"]["metrics"][0]["said"]
    assert claim["why_no_law"]
    assert claim["why_no_law"] == said["numbers"]["scaling"]["why_not"]
    assert any(claim["why_no_law"] in sentence for sentence in said["sentences"])


def test_names_that_hold_commas_are_told_apart_in_a_list():
    """Was: "between jit=off, work_mem=4MB, jit=on, work_mem=8MB and …": four names or two."""
    world = World(noise=0.002)
    for jit, memory in (("off", "4MB"), ("on", "8MB"), ("off", "16MB")):
        config = [{"name": "jit", "value": jit}, {"name": "work_mem", "value": memory}]
        world.add(1000, config=config, factors={"scale_factor": 10})
    selects = world.store()
    words = ask(selects, "ask=best")["words"]
    labels = [group["label"] for group in Client().get(f"/api/v1/compare/?{selects}").json()["groups"]]
    assert any(", " in label for label in labels)
    # Each in a part of its own.
    parts = words.partition(" Where a name does not")[0].split(";")
    assert [sum(label in part for part in parts) for label in labels] == [1, 1, 1]
    assert all(sum(label in part for label in labels) < 2 for part in parts)


@pytest.mark.parametrize("batches", [5, 12])
def test_a_newest_batch_that_decides_nothing_says_what_would(batches: int):
    """Was: "Undecided." and no more."""
    world = World(seed=3, noise=0.02)
    for night in range(batches):
        world.add(1000, measured_on=str(date(2025, 1, 1) + timedelta(days=night)), label="nightly")
        world.store()
    told = ask("label=nightly", "ask=newer")
    assert told["claims"][0]["ratio"]["verdict"] == "undecided"
    (missing,) = told["missing"]
    counts = [int(number) for number in re.findall(r"(\d+) more batches", missing)]
    assert counts and counts[0] > 1
    assert missing in told["words"] and missing in page("label=nightly", "ask=newer")


def test_the_newest_batches_of_several_series_are_one_family():
    """Was: each by itself at 95 %, so that of two that had not changed one was worse on a page of ten."""
    world = World(noise=0.02)
    for night in range(8):
        for name in ("PostgreSQL", "MySQL"):
            day = str(date(2025, 1, 1) + timedelta(days=night))
            world.add(1000, measured_on=day, label="nightly", dbms={"name": name, "version": "1"})
        world.store()
    (alone,) = ask("label=nightly&dbms=mysql", "ask=newer")["claims"]
    beside = next(each for each in ask("label=nightly", "ask=newer")["claims"] if "MySQL" in each["label"])
    assert beside["ratio"]["value"] == pytest.approx(alone["ratio"]["value"])
    assert beside["ratio"]["low"] < alone["ratio"]["low"] < alone["ratio"]["high"] < beside["ratio"]["high"]


@pytest.mark.parametrize("question", ["", "ask=best", "ask=scales", "ask=a_b", "ask=rank&fact=storage:data"])
def test_an_article_whose_numbers_are_all_lost_says_so(published: None, question: str):
    """Was: "No run has a number of this", "there is one only: add another", or nothing at all."""
    told = ask("publication=cubrid-mysql-ssd-2011", question)
    assert told["claims"] == [] and any("picture" in words for words in told["missing"])


def test_a_level_that_was_measured_again_is_no_curve_that_lacks_levels():
    """Was: "… #2 · SSD: one level only, measure a second", once for each batch in which one size was repeated."""
    world = World(noise=0.003)
    sizes = (8, 16, 32, 64, 128)
    batches = [(disk, sizes) for disk in ("SATA", "NVMe")] + [("SATA", (64,)), ("NVMe", (16,)), ("SATA", (128,))]
    for disk, of_batch in batches:
        for size in of_batch:
            world.add(10_000 / size, factors={"size_gb": size, "disk": disk})
        world.store()
    for question in ("loss", "falls_off"):
        told = ask("workload=tpcb", f"ask={question}&x=factor:size_gb")
        assert len(told["claims"]) == 2
        (missing,) = told["missing"]
        assert all(words in missing for words in ("64 GB · SATA", "16 GB · NVMe", "128 GB · SATA")), missing
        assert missing in told["words"]


def test_two_that_share_one_level_have_its_ratio():
    """Was: "C against A: no two series have two levels in common", of two that have one, where others have two."""
    world = World(noise=0.003)
    for machine, sizes in (("A", (10, 40)), ("B", (10, 40, 160)), ("C", (40, 160))):
        for size in sizes:
            world.add(1000 / size * (1.2 if machine == "C" else 1.0), factors={"size_gb": size})
            world.documents[-1]["hardware"] |= {"name": machine}
    told = ask(world.store(), "ask=a_b&fact=hardware&a=C&b=A")
    over_all, only = told["claims"]
    assert (over_all["ratio"]["value"], told["over"]) == (None, "1 level of size")
    assert only["label"] == "40 GB" and only["ratio"]["value"] == pytest.approx(1.2, rel=0.02)
    assert "at 40 GB, the only level" in told["words"]
    assert "Left out: 10 GB (C was not measured); 160 GB (A was not measured)." in told["words"]


def test_the_loss_that_nobody_asked_for_is_that_which_is_asked_for():
    """Was: of two sizes a loss without a verdict and with an interval of its own, until `ask=loss` was asked."""
    world = World(noise=0.02)
    for size in (8, 16):
        world.add(1000 * 8 / size, factors={"size_gb": size})
    selects = world.store()
    by_rule, by_question = (ask(selects, question) for question in ("", "ask=loss&x=factor:size_gb"))
    assert by_rule["claims"] == by_question["claims"]
    assert by_rule["claims"][0]["change"]["verdict"] == "worse"
    assert (by_rule["sure"], by_rule["words"]) == (True, by_question["words"])


def test_the_newest_of_releases_that_all_differ_is_set_against_the_one_before_it():
    """Was: "A change of 100 % would not show" as the whole answer, of a last release 15 % slower."""
    for number, level in enumerate((5.0, 5.0, 5.0, 4.0, 4.0, 4.6), 1):
        world = World(seed=number)
        world.add(
            level, repeats=5, metric="latency_p99_ms", measured_on=f"2026-{number:02d}-10",
            dbms={"name": "PostgreSQL", "version": f"{12 + number}.1"},
        )  # fmt: skip
        world.store()
    told = ask("workload=tpcb", "ask=since&metric=latency_p99_ms")
    (newest,) = told["claims"]
    assert (newest["kind"], newest["of"], newest["ratio"]["verdict"]) == ("newer", "last:1", "worse")
    assert newest["ratio"]["low"] < 1.15 < newest["ratio"]["high"]
    assert "100" not in told["words"]


def test_single_runs_that_differ_from_level_to_level_may_be_noise():
    """Was: "1.20 × …, from 1.27 × at scale factor 1 to 1.13 × at …", of one run each."""
    world = World(noise=0.03)
    for name, factor in (("PostgreSQL", 1.2), ("MariaDB", 1.0)):
        for scale in (1, 10, 100, 1000, 10000):
            world.add(
                1000 * factor, repeats=1, factors={"scale_factor": scale}, dbms={"name": name, "version": "1"}
            )  # fmt: skip
    told = ask(world.store())
    assert told["sure"] and told["words"].endswith(", a range that so few repeats do not tell from noise.")


def test_what_has_no_order_is_no_lack_of_levels():
    """Was: "No two series have two levels in common", of systems that share all of them."""
    world = World()
    for name in ("PostgreSQL", "MariaDB"):
        for scale in (1, 10, 100):
            for terminals in (1, 8):
                world.add(
                    1000 / scale * terminals, factors={"scale_factor": scale, "terminals": terminals},
                    dbms={"name": name, "version": "1"},
                )  # fmt: skip
    (lacking,) = ask(world.store(), "ask=rank&fact=factor:scale_factor")["missing"]
    assert lacking.startswith("Groups that differ in this have no order: Scale factor")


def test_a_level_that_was_not_measured_is_named_with_its_unit():
    world = World()
    for size in (1, 10, 30):
        world.add(1000 / size, factors={"size_gb": {"value": size, "unit": "GB"}})
    told = ask(world.store(), "ask=loss&x=factor:size_gb&from=1&to=100")
    assert told["words"].endswith("ot measured at 100 GB.")
