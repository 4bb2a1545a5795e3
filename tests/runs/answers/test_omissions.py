"""Every run that a selection holds is drawn, without a number, or left out with its reason: in every view."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import QueryDict
from django.test import Client
from django.utils import timezone

from runs.answers.words import gaps
from runs.compare import select
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
    [(sizes_of_some, False), (many_groups, False), (some_invalid, False),
     *whole((sizes_of_some, True), (many_groups, True), (some_invalid, True), (two_workloads, True))],
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
            assert sum(each["count"] for each in told["left_out"]) == counts["left_out"], question
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


SYSTEMS = [{"name": "PostgreSQL", "version": "18.0"}, {"name": "MariaDB", "version": "11.4"}]
H2 = {"name": "H2", "version": "2.4"}
OUT_OF_MEMORY = {"outcome": "failed", "message": "out of memory", "repeats": [{"metrics": {}}] * 3}


def test_a_setting_that_was_refused_is_the_reason_and_once():
    """Seen: "(failed; failed: not started: repeat 1 had shown that its settings are not taken)", the cause nowhere."""
    log = '2026-12-01 03:44:19.660 UTC [17] LOG:  invalid value for parameter "synchronous_commit": "maybe"'
    world = World()
    world.add(900, dbms=SYSTEMS[1])
    for message in (
        f"PostgreSQL 18.0 did not start: {log}\n{log}",
        "not started: synchronous_commit=maybe was refused",
    ):
        world.add(1000, dbms=SYSTEMS[0])
        world.documents[-1] |= OUT_OF_MEMORY | {"message": message}

    told = ask(world.store())

    assert told["apart"] == {"failed: synchronous_commit=maybe was refused": ["PostgreSQL 18.0"]}


def one_failed(*others: float, metric: str = "tps") -> str:
    """PostgreSQL failed, beside MariaDB and others that did not."""
    world = World(noise=0.005)
    for value, dbms in zip((900, *others), (SYSTEMS[1], H2), strict=False):
        world.add(value, metric=metric, dbms=dbms)
    world.add(1000, metric=metric, dbms=SYSTEMS[0])
    world.documents[-1] |= OUT_OF_MEMORY
    return world.store()


@pytest.mark.parametrize(
    ("metric", "question"),
    [("tps", ""), ("tps", "ask=best"), ("tps", "ask=rank&fact=dbms"),
     ("tps", "ask=a_b&fact=dbms&a=PostgreSQL 18.0&b=MariaDB 11.4"),
     ("latency_p99_ms", "ask=best&metric=latency_p99_ms"), ("load_mb_per_s", "ask=load")],
)  # fmt: skip
@pytest.mark.parametrize("others", [(), (500,)])
def test_who_failed_in_all_runs_is_named_with_the_reason(metric: str, question: str, others: tuple[float, ...]):
    """Seen: "There is one only: add another to set it against", and the failure nowhere in the sentence."""
    told = ask(one_failed(*others, metric=metric), question)
    assert told["apart"] == {"failed: out of memory": ["PostgreSQL 18.0"]}
    named = "No value of PostgreSQL 18.0 is known: failed: out of memory."
    assert told["words"].endswith(
        named if "a_b" in question else "Not ranked: PostgreSQL 18.0 (failed: out of memory)."
    )
    assert "there is one only" not in told["words"].lower()


@pytest.mark.parametrize(
    "question", ["", "ask=best", "ask=rank&fact=dbms", "ask=a_b", "ask=loss&x=factor:scale_factor"]
)
@pytest.mark.parametrize("scales_of_h2", [(), (1, 4), (1,)])
def test_who_failed_at_each_size_is_named_with_the_reason(question: str, scales_of_h2: tuple[int, ...]):
    world = World(noise=0.005)
    for dbms, scales in ((SYSTEMS[1], (1, 4)), (H2, scales_of_h2), (SYSTEMS[0], (1, 4))):
        for scale in scales:
            world.add(1000 / scale, dbms=dbms, factors={"scale_factor": scale})
            if dbms is SYSTEMS[0]:
                world.documents[-1] |= OUT_OF_MEMORY
    told = ask(world.store(), question)
    assert "PostgreSQL 18.0" in told["words"] and "out of memory" in told["words"]


def test_a_series_of_which_all_failed_is_told_once():
    """Was: "none of its values is known", without why, and then "no value at" its newest day."""
    words = ask(nights(3, {("MariaDB", night) for night in range(3)}), "ask=since")["words"]
    assert words.count("MariaDB 11.4: none of its values is known: failed: out of memory.") == 1
    assert words.count("MariaDB 11.4") == 1


@pytest.mark.parametrize("asked", ["", "ask=best&metric=latency_p99_ms"])
def test_who_has_no_number_of_the_metric_is_named(asked: str):
    """Seen: "There is one only" of two systems, one of which states no p99, and of two whose metrics differ."""
    world = World()
    world.add(900, dbms=SYSTEMS[1])
    world.add(5, metric="latency_p99_ms", dbms=SYSTEMS[0])
    told = ask(world.store(), asked)
    ((reason, [label]),) = told["apart"].items()
    assert label == ("PostgreSQL 18.0" if told["metric"] == "tps" else "MariaDB 11.4")
    assert reason.startswith("no ") and f"Not ranked: {label} ({reason})." in told["words"]


def nights(count: int, failed: set[tuple[str, int]]) -> str:
    """Two systems on so many nights, each the same all the while; those (system, night) failed."""
    for night in range(count):
        world = World(seed=night, noise=0.01)
        for dbms in SYSTEMS:
            world.add(1000, dbms=dbms, measured_on=f"2026-11-{night + 1:02d}", label="nightly")
            if (dbms["name"], night) in failed:
                world.documents[-1] |= OUT_OF_MEMORY
        world.store()
    return "label=nightly"


NO_VALUE = "MariaDB 11.4: no value at 2026-11-12: failed: out of memory."


def test_of_a_newest_night_that_failed_it_is_said_first():
    """Seen: "MariaDB: the batch of the day before is equivalent", and the failure nowhere."""
    told = ask(nights(12, {("MariaDB", 11)}), "ask=newer")
    assert told["words"].startswith(f"{NO_VALUE} ") and NO_VALUE in told["missing"]
    assert [claim["newest"] for claim in told["claims"]] == ["2026-11-11", "2026-11-12"]


def test_of_every_series_whose_newest_nights_failed_it_is_said_first():
    told = ask(nights(14, {(name, night) for name in ("PostgreSQL", "MariaDB") for night in range(9, 14)}), "ask=newer")
    days = "2026-11-10, 2026-11-11, 2026-11-12 and 2 more"
    assert told["words"].startswith(f"MariaDB 11.4 and PostgreSQL 18.0: no value at {days}: failed: out of memory. ")


def test_of_a_series_that_failed_every_night_the_reason_is_told():
    told = ask(nights(4, {("MariaDB", night) for night in range(4)}), "ask=newer")
    assert "MariaDB 11.4: none of its values is known: failed: out of memory." in told["words"]


def test_of_a_few_nights_the_newest_that_failed_is_named_without_a_question():
    told = ask(nights(4, {("PostgreSQL", 3), ("MariaDB", 3)}) + "&dbms=mariadb")
    assert told["words"].startswith("nightly · 2026-11-03 has ")
    assert told["words"].endswith("Not ranked: nightly · 2026-11-04 (failed: out of memory).")


@pytest.mark.parametrize("newest_first", [True, False])
def test_of_too_many_runs_the_last_measured_are_compared_whatever_came_in_last(monkeypatch, newest_first: bool):
    """Seen: an import of 60 nights, newest first, left out the 20 newest: "no lasting change", and not a word of it."""
    monkeypatch.setattr(select, "MAX_RUNS", 60)
    monkeypatch.setattr(gaps, "MAX_RUNS", 60)
    days = sorted((date(2026, 3, 1) + timedelta(days=night) for night in range(30)), reverse=newest_first)
    for at, day in enumerate(days):
        world = World(seed=at, noise=0.005)
        world.add(900 if day >= date(2026, 3, 21) else 1000, measured_on=str(day), label="nightly")
        world.store()
    told = ask("label=nightly", "ask=since")
    assert [claim["day"] for claim in told["claims"]] == ["2026-03-21"]
    assert (told["beyond"], told["counts"]["left_out"], told["counts"]["selected"]) == (30, 30, 90)
    words = "Only about the newest 60 runs are compared, each with all repeats of its cell: 30 others match."
    # Was: 30 in the counts, and none of them in the list.
    assert told["left_out"] == [{"run": None, "reason": words.partition(":")[0].lower(), "count": 30}]
    assert told["words"].endswith(words) and words in page("label=nightly", "ask=since")


@pytest.mark.parametrize(("most", "beyond"), [(24, 0), (12, 0), (10, 15)], ids=["all", "whole batch", "whole cells"])
def test_of_too_many_runs_no_cell_is_compared_without_a_part_of_its_repeats(monkeypatch, most: int, beyond: int):
    """Seen: of 1,166 query times, three repeats each, "fewer than 3 repeats of DuckDB" at 21 of 66 levels."""
    world = World(noise=0.01)
    for query in ("q1", "q2", "q3", "q4"):
        for version, tps in (("16.4", 100), ("17.2", 130)):
            world.add(tps, dbms={"name": "PostgreSQL", "version": version}, factors={"query": query, "scale_factor": 1})
    for document in world.documents:
        # Every cell once, then every cell again.
        for repeat, of_repeat in enumerate(document["repeats"]):
            of_repeat["started_at"] = f"2026-11-20T0{repeat}:00:00Z"
    selects = world.store()
    monkeypatch.setattr(select, "MAX_RUNS", most)
    chosen = select.select(QueryDict(selects), AnonymousUser())
    assert chosen.left_out == beyond
    assert {*Counter(run.cell_key for run in chosen.runs).values()} == {3}
    assert "fewer than" not in ask(selects, "ask=best")["words"]


NO_ORDER = (
    "Groups that differ in this have no order: Mix: read-only against read-write; "
    "sent with the role “condition”, mix would have one."
)


def mixes(*names: str) -> str:
    world = World(noise=0.0)
    for name in names:
        for mix, tps in (("read-only", 20_000), ("read-write", 4_000)):
            world.add(tps, dbms={"name": name, "version": "1"}, factors={"mix": mix, "scale_factor": 10})
    return world.store()


def test_of_groups_without_an_order_the_numbers_are_told():
    """Seen: "Groups that differ in this have no order: Mix", and no number."""
    told = ask(mixes("PostgreSQL"))
    assert told["claims"] == [] and told["missing"] == [NO_ORDER]
    assert told["words"] == f"{NO_ORDER} Throughput is 20,000 TPS of read-only and 4,000 TPS of read-write."


def test_of_four_groups_without_an_order_all_are_named():
    """Was: "and 1 more" for the fourth."""
    world = World(noise=0.0)
    for compression in ("none", "lz4", "zstd", "pglz"):
        world.add(1000, factors={"compression": compression, "scale_factor": 10})
    words = ask(world.store())["words"]
    assert all(name in words for name in ("none", "lz4", "zstd", "pglz")) and " more" not in words


def test_that_a_known_question_has_no_order_offers_no_role():
    world = World(noise=0.0)
    for version, size in (("16", 100), ("17", 10)):
        world.add(1000, dbms={"name": "PostgreSQL", "version": version}, factors={"scale_factor": size})
    (missing,) = ask(world.store())["missing"]
    assert "no order: Scale factor" in missing and "role" not in missing


def test_that_a_question_has_no_order_is_not_told_as_levels_that_are_not_there():
    """Seen: "No two series have two levels in common" where every system was measured at both mixes."""
    told = ask(mixes("PostgreSQL", "MariaDB"), "ask=rank&fact=factor:mix")
    assert told["words"] == NO_ORDER


def test_an_undecided_pair_is_told_with_what_is_not_alike():
    """Seen: the best at 32 terminals against the best at 20, and no word of the terminals."""
    world = World(seed=3)
    for dbms, curve in zip(SYSTEMS, ((9000, 9800, 10_000), (9100, 10_050, 9000)), strict=True):
        for terminals, tps in zip((8, 20, 32), curve, strict=True):
            world.add(tps, dbms=dbms, factors={"terminals": terminals})
    told = ask(world.store(), "ask=best")
    assert not told["sure"] and told["words"].endswith("Not alike: Terminals (32 against 20).")


def test_of_a_system_at_its_best_it_is_told_where_it_failed():
    """Seen: "MariaDB (16 terminals): 3.33 × that of PostgreSQL", which is faster wherever both ran: it failed at 16."""
    world = World(noise=0.005)
    for dbms, factor in ((SYSTEMS[0], 1.2), (SYSTEMS[1], 1.0)):
        for terminals in (1, 4, 16):
            world.add(1000 * terminals * factor, dbms=dbms, factors={"terminals": terminals})
            if (dbms["name"], terminals) == ("PostgreSQL", 16):
                world.documents[-1] |= OUT_OF_MEMORY
    told = ask(world.store(), "ask=best")
    assert told["claims"][0]["label"] == "MariaDB 11.4"
    assert told["apart"] == {"failed: out of memory": ["PostgreSQL 18.0 · 16 terminals"]}


@pytest.mark.parametrize("failing", SYSTEMS)
def test_of_a_level_that_is_left_out_it_is_told_who_failed_there(failing: dict[str, str]):
    """Seen: "Left out: Scale factor 16 (failed: out of memory)" of two systems."""
    world = World(noise=0.005)
    for dbms, factor in zip(SYSTEMS, (1.2, 1.0), strict=True):
        for scale in (1, 4, 16):
            world.add(1000 / scale * factor, dbms=dbms, factors={"scale_factor": scale})
            if (dbms, scale) == (failing, 16):
                world.documents[-1] |= OUT_OF_MEMORY
    told = ask(world.store(), "ask=best")
    name = f"{failing['name']} {failing['version']}"
    assert told["words"].endswith(f"Left out: Scale factor 16 ({name}: failed: out of memory).")


def test_of_two_without_a_ratio_at_any_level_it_is_told_why_at_each():
    """Was: "PostgreSQL against Firebird: fewer than two levels in common", of two that have three."""
    world = World()
    for at, size in enumerate((10, 40, 160)):
        for name in ("PostgreSQL", "Firebird"):
            world.add(1000 / size, dbms={"name": name, "version": "1.0"}, factors={"size_gb": size})
        world.documents[-1 - at % 2]["repeats"][0]["metrics"]["tps"] = 0
    world.add(5, dbms={"name": "Firebird", "version": "1.0"}, factors={"size_gb": 320})
    told = ask(world.store(), "ask=a_b&fact=dbms&a=PostgreSQL 1.0&b=Firebird 1.0")
    left_out = (
        "10 GB, 40 GB and 160 GB (no ratio: a value is zero or negative); 320 GB (PostgreSQL 1.0 was not measured)"
    )
    words = f"PostgreSQL 1.0 against Firebird 1.0: fewer than two levels have a ratio. Left out: {left_out}."
    assert told["words"] == words


def test_of_a_level_without_a_ratio_it_is_told_who_came_to_nothing_there():
    """Seen: "no winner over 4 levels of size. Left out: 128 GB and 256 GB (no ratio: a value is zero or negative)"."""
    world = World()
    for size in (16, 32, 64, 128, 256):
        for name in ("PostgreSQL", "MariaDB"):
            tps = 0 if size == 256 or (name, size) == ("MariaDB", 128) else 1500
            world.add(tps, dbms={"name": name, "version": "1.0"}, factors={"size_gb": size})
    selects = world.store()
    (first, second), told = ("PostgreSQL 1.0", "MariaDB 1.0"), ask(selects, "ask=best")
    both = f"{told['first']} and {told['second']} have 0 TPS in every repeat"
    assert {told["first"], told["second"]} == {first, second}
    assert told["words"].endswith(f"Left out: 128 GB ({second} has 0 TPS in every repeat); 256 GB ({both}).")


def test_of_two_systems_it_is_told_which_is_best_on_which_disk():
    """Seen: no `best_at` of two, of which each is better on one of the disks."""
    world = World()
    for size in (10, 40):
        for name, disk, tps in (("A", "HDD", 300), ("B", "HDD", 400), ("A", "NVMe", 2000), ("B", "NVMe", 1000)):
            world.add(tps / size, dbms={"name": name, "version": "1"}, factors={"size_gb": size, "disk": disk})
    told = ask(world.store(), "ask=best")
    assert told["best_at"] == {"B 1": ["10 GB · HDD", "40 GB · HDD"], "A 1": ["10 GB · NVMe", "40 GB · NVMe"]}
    assert told["words"].startswith("No single number over 4 levels of size and disk: ")


def test_where_another_came_to_nothing_a_system_is_the_best():
    """Seen: no `best_at`, of a system that is faster up to the size at which it stands still."""
    world = World()
    for size, first in ((10, 3000), (40, 3000), (160, 0)):
        for name, tps in (("A", first), ("B", 2000)):
            world.add(tps, dbms={"name": name, "version": "1"}, factors={"size_gb": size})
    told = ask(world.store(), "ask=best")
    assert told["best_at"] == {"A 1": ["10 GB", "40 GB"], "B 1": ["160 GB"]}


def test_a_winner_that_comes_to_nothing_at_some_levels_leaves_the_best_of_them_named():
    """Seen: "A has 1.50 × the throughput of B over 2 levels", and no word of C, the best of the third."""
    world = World()
    for size, first, last in ((10, 3000, 1000), (40, 3000, 1000), (160, 0, 500)):
        for name, tps in (("A", first), ("B", first / 1.5), ("C", last)):
            world.add(tps, dbms={"name": name, "version": "1"}, factors={"size_gb": size})
    told = ask(world.store(), "ask=best")
    assert told["words"].startswith("A 1 has ") and told["best_at"] == {"A 1": ["10 GB", "40 GB"], "C 1": ["160 GB"]}
    assert "Level by level, A 1 is best at 10 GB and 40 GB, C 1 at 160 GB." in told["words"].replace("\xa0", " ")
