"""Every run that a selection holds is drawn, without a number, or left out with its reason: in every view."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from runs.compare.axes import VIEWS
from runs.models import Run
from tests.runs.answers.test_answers import World, ask, page
from tests.runs.cells import make_runs
from tests.whole import whole

pytestmark = pytest.mark.django_db


def sizes_of_some() -> str:
    """Three engines on scales, of which one does not tell how large its databases came to be."""
    world = World()
    for scale in (1, 4, 16):
        for name, each in (("PostgreSQL", 17.0), ("Firebird", 9.8), ("MariaDB", 0.0)):
            world.add(1000 / scale, dbms={"name": name, "version": "1.0"}, factors={"scale_factor": scale})
            for repeat in world.documents[-1]["repeats"] if each else ():
                repeat["metrics"]["db_size_bytes"] = each * scale * 1_000_000
    return world.store()


def two_workloads() -> str:
    world = World()
    for scale in (1, 4, 16):
        world.add(1000 / scale, factors={"scale_factor": scale})
    for warehouses in (1, 2):
        world.add(50, factors={"warehouses": warehouses})
        world.documents[-1]["workload"] = "tpcc"
    return world.store()


def many_groups() -> str:
    world = World()
    for scale in range(1, 28):
        for name in ("A", "B", "C"):
            world.add(1000 / scale, repeats=1, dbms={"name": name, "version": "1"}, factors={"scale_factor": scale})
    return world.store()


def some_invalid() -> str:
    world = World()
    for scale in (1, 4, 16):
        world.add(1000 / scale, factors={"scale_factor": scale})
    selects = world.store()
    for run in Run.objects.order_by("repeat")[:2]:
        Run.objects.filter(pk=run.pk).update(invalid_at=timezone.now(), invalid_reason="somebody compiled")
    return selects


MORE = ("", "x_as=size", "x=none", "x=factor:scale_factor&series=none", "fix=factor:scale_factor=4")


@pytest.mark.parametrize(
    ("world", "with_all"),
    [(sizes_of_some, True), (many_groups, False), (some_invalid, False),
     *whole((many_groups, True), (some_invalid, True), (two_workloads, True))],
)  # fmt: skip
def test_no_run_is_missing_without_a_word(world: Any, with_all: bool):
    """Seen: 81 groups, 72 drawn, no MariaDB, and "left out: 0". Each view is asked with and without more."""
    selects = world()
    for at, view in enumerate(["", *VIEWS]):
        for more in MORE if with_all else ("", MORE[1 + at % 4]):
            question = f"view={view}&{more}"
            told = ask(selects, question)
            counts = told["counts"]
            assert counts["drawn"] + counts["unnumbered"] + counts["left_out"] == counts["selected"], question
            assert len(told["left_out"]) == counts["left_out"], question
            assert all(each["reason"] for each in told["left_out"]), question
            # The page says what the answer counts: each view is opened once without more, and once with a choice.
            if more in ("", MORE[1 + at % 4]):
                words = f"{counts['left_out']} of {counts['selected']} runs have a number and are not drawn"
                assert (words in page(selects, question)) == bool(counts["left_out"]), question


def test_each_engine_stands_at_the_size_of_its_own_databases():
    """Seen: 68.2 and 39.2 MB at scale 4 drawn and tabulated as one shared 53.7, which changed while runs arrived."""
    selects = sizes_of_some()
    told = Client().get(f"/api/v1/compare/?{selects}&view=curve&x_as=size").json()
    (panel,) = told["drawing"]["metrics"][0]["panels"]
    sizes = {curve["label"]: [point["x"] for point in curve["points"]] for curve in panel["curves"]}
    assert sizes == {"PostgreSQL 1.0": [17.0, 68.0, 272.0], "Firebird 1.0": [9.8, 39.2, 156.8]}
    (reason,) = {each["reason"] for each in ask(selects, "view=curve&x_as=size")["left_out"]}
    assert reason == "no size of the database is known of it"
    # Levels are those that were asked for: each engine is set against the others at its scale.
    assert {row["label"] for series in told["levels"]["series"] for row in series["levels"]} == {
        "Scale factor 1", "Scale factor 4", "Scale factor 16"
    }  # fmt: skip


def test_a_trade_off_of_three_metrics_draws_what_has_the_first_two():
    """Seen: what lacked the third one was said to lack the second, beside its own dot."""
    made = make_runs(
        {"system": name, "value": 100 + repeat, "beside": {"latency_p99_ms": 5.0, **more}, "repeat": repeat}
        for name, more in (("H2 2.4", {"latency_p50_ms": 1.0}), ("SQLite 3", {}))
        for repeat in (1, 2, 3)
    )
    selects = "&".join(f"run={run.pk}" for run in made)
    told = ask(selects, "view=tradeoff&metric=tps&metric=latency_p99_ms&metric=latency_p50_ms")
    assert told["counts"] == {"selected": 6, "drawn": 6, "unnumbered": 0, "left_out": 0}
