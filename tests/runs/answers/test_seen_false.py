"""What was once said and false, each kind by the fields that it was made of."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pytest
from django.test import Client

from runs.answers.places import memories
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
