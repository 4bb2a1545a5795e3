"""Own runs beside those of an article, which states other things of them: what is true of each alone stays true."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import pytest
from django.test import Client

from tests.runs.answers.test_answers import World, ask, page

pytestmark = pytest.mark.django_db
TPCB: dict[str, float] = {"scale_factor": 10, "size_mb": 100, "threads": 4}
OWN = {"name": "Author box", "cpu_model": "Example", "ram_bytes": 64 * 2**30}


def rerun(*, only_monday: Mapping[str, Any] = MappingProxyType({})) -> str:
    """Systems of the TPC-B article beside newer ones: PostgreSQL 17.2 is the fastest of all, 10 % before 16.4.
    `only_monday`: factors that the second batch does not state.
    """
    world = World(noise=0.005)
    for label, factors in (("monday", only_monday), ("tuesday", {})):
        for system, tps in (("PostgreSQL 8.3", 559), ("MySQL 5.0", 125), ("PostgreSQL 16.4", 5080),
                            ("PostgreSQL 17.2", 5588)):  # fmt: skip
            name, _, version = system.partition(" ")
            world.add(
                tps, workload="wl-tpcb", dbms={"name": name, "version": version}, hardware=OWN, label=label,
                measured_on="2026-11-28", factors={**TPCB, **factors},
            )  # fmt: skip
        world.store()
    return "workload=wl-tpcb"


def faster_disk() -> str:
    """The sizes of the Firebird article on a disk of one's own: 8 × its SATA up to 17.3 GB, 6 × from 21.6 GB on."""
    printed = Client().get("/api/v1/runs/?publication=firebird-terabyte-2015&workload=wl-firebird-oltp&page_size=100")
    world = World(noise=0.005)
    for label in ("monday", "tuesday"):
        for run in printed.json()["results"]:
            value, size_gb = run["metrics"].get("performance"), run["factors"]["size_gb"]
            if value and size_gb in (9.04, 13, 17.3, 21.6, 26, 30.3):
                world.add(
                    value * (8 if size_gb < 20 else 6), metric="performance", unit="business operations/s", label=label,
                    workload="wl-firebird-oltp", hardware=OWN, factors=run["factors"] | {"disk": "SSD"},
                    dbms={"name": "Firebird", "version": "2.5.2 SuperServer"}, measured_on="2026-11-28",
                )  # fmt: skip
        world.store()
    return "workload=wl-firebird-oltp"


def test_a_unit_that_is_not_stated_makes_no_second_level(published):
    """Was: "4 threads" and "4", and PostgreSQL 8.3 the fastest "over 2 levels of threads"."""
    told = ask(rerun())

    assert "threads" not in told["asked"] and "Threads" not in told["not_alike"]
    assert told["words"].startswith("PostgreSQL 17.2 has 1.10\u202f×"), told["words"]


def test_a_window_that_only_some_state_makes_no_level(published):
    told = ask(rerun(only_monday={"duration_s": 120}))

    assert "window" not in told["asked"], told["asked"]
    assert told["words"].startswith("PostgreSQL 17.2 has 1.10\u202f×"), told["words"]


def test_a_configuration_that_several_systems_share_takes_no_ratio_from_others(published):
    """Was: DB2 without a ratio, "not measured here", where own runs of other systems stood beside it."""
    levels = Client().get(f"/api/v1/compare/?{rerun()}").json()["levels"]

    of_db2 = next(each for each in levels["series"] if each["label"] == "DB2 9.7")
    ratios = [level["ratio"]["value"] for level in of_db2["levels"] if level["ratio"]]
    assert levels["baseline"] == "PostgreSQL 8.3" and [round(ratio, 1) for ratio in ratios] == [4.7], of_db2
    told = ask("workload=wl-tpcb")
    assert {name: len(at) for name, at in told["best_at"].items()} == {"DB2 9.7": 1, "PostgreSQL 17.2": 2}
    by_level = told["words"].partition("Level by level, ")[2]
    assert by_level.startswith("PostgreSQL 17.2 is best at ") and "DB2 9.7 at " in by_level


def test_two_that_share_no_level_have_a_ratio_where_the_machine_alone_is_not_alike(published):
    """Was: "fewer than two levels have a ratio", and no way to the one that there is."""
    told = ask(rerun(), "ask=a_b&fact=dbms&a=PostgreSQL+17.2&b=DB2+9.7")

    assert re.search(r"PostgreSQL 17.2.* has 2\.[34]\d?\s× .* of DB2 9.7.*: better", told["words"]), told["words"]


def test_those_that_stand_last_for_want_of_levels_are_not_called_the_worst(published):
    """Was: "best first", and DB2 behind MySQL."""
    html = page(rerun())

    assert "those with a ratio over levels to" in html and "best first, then the others" in html


def test_an_article_is_not_measured_on_the_day_on_which_it_was_stored(published):
    told = ask(rerun(), "ask=since")

    assert "2010-11-04" in told["words"] and "20" + "26-11-30" not in told["words"], told["words"]


def test_what_is_printed_is_named(published):
    """Was: "PostgreSQL 16.4: 10.2 × of what is printed", which was PostgreSQL 8.3."""
    told = ask(rerun(), "ask=published")

    for claim in told["claims"]:
        if claim["ratio"]["value"] and claim["label"] in told["words"]:
            assert f"of what is printed of {claim['beside']}." in told["words"]


def test_rows_without_a_value_choose_no_levels(published):
    """Was: no winner and no levels, where the article's lost rows of an SSD stood beside own runs of one."""
    told = ask(faster_disk())

    ratios = [round(claim["ratio"]["value"]) for claim in told["claims"] if claim["kind"] == "level"]
    assert sorted(filter(None, ratios)) == [6, 6, 6, 8, 8, 8], told["words"]
    assert told["words"].count("FX8350 server, SSD") == 1


def test_a_factor_that_states_a_setting_once_more_is_no_other_difference(published):
    told = ask("publication=tpcb-2010", "ask=effects")

    (effect,) = told["claims"]
    assert (effect["label"], effect["start"], effect["end"]) == ("commit group", "default", "2")
    assert round(effect["ratio"]["value"], 3) == 1.024


def test_how_fast_an_article_loads_is_found_by_its_own_name_of_it(published):
    told = ask("publication=firebird-terabyte-2015&workload=wl-firebird-load", "ask=load")

    assert told["metric"] == "load_speed" and "No run says how fast" not in told["words"]


def test_a_level_may_be_asked_for_by_its_number(published):
    """As docs/use/compare.md has it; the address of before said "120 s"."""
    selects = rerun(only_monday={"duration_s": 120})
    for value in ("120", "120 s"):
        assert Client().get(f"/api/v1/compare/?{selects}&fix=factor:duration_s={value}").status_code == 200
    assert Client().get(f"/api/v1/compare/?{selects}&fix=factor:duration_s=121").status_code == 400


def test_batches_stand_in_one_chart_and_what_is_not_alike_is_said_once_of_one(published):
    """Was: a panel for each batch, so that nobody saw own runs beside the printed ones."""
    selects = faster_disk()

    drawing = Client().get(f"/api/v1/compare/?{selects}").json()["drawing"]
    assert drawing["panels"] == "" and "batch" in drawing["series"]
    assert ask(selects)["words"].count("SATA RAID1") < 4


def test_of_a_machine_that_alone_has_values_it_is_told_what_is_lost(published):
    """Was: "Only one is ranked: add another that may be set against it", above the curve of its sizes."""
    told = ask("publication=firebird-terabyte-2015&workload=wl-firebird-oltp")

    assert told["question"]["kind"] == "loss" and "−65.8" in told["words"], told["words"]


def two_disks() -> str:
    """The sizes of the Firebird article on two own disks of one machine: the SSD has 8 to 5 × the HDD."""
    printed = Client().get("/api/v1/runs/?publication=firebird-terabyte-2015&workload=wl-firebird-oltp&page_size=100")
    of_sata = {run["factors"]["size_gb"]: run for run in printed.json()["results"] if run["metrics"]}
    machine = OWN | {"storage": [{"name": "m2", "medium": "ssd"}, {"name": "raid", "medium": "hdd"}]}
    world = World(noise=0.005)
    for size_gb, factor in ((9.04, 8.0), (13, 7.1), (17.3, 6.4), (26, 5.4), (30.3, 5.0)):
        run = of_sata[size_gb]
        for disk, name, value in (("SATA RAID1", "raid", 1.3), ("SSD", "m2", 1.3 * factor)):
            world.add(
                value * run["metrics"]["performance"], metric="performance", unit="business operations/s",
                workload="wl-firebird-oltp", hardware=machine, factors=run["factors"] | {"disk": disk},
                dbms={"name": "Firebird", "version": "2.5.2 SuperServer"}, storage=[{"role": "data", "device": name}],
                label="own", measured_on="2026-11-28",
            )  # fmt: skip
    world.store()
    return "workload=wl-firebird-oltp"


def test_own_disks_are_ranked_beside_the_article_s(published):
    """Seen: "Only one is ranked. Not ranked: SSD (the value was in a picture that is lost)", and none of the own."""
    told = ask(two_disks(), "ask=rank&fact=storage:data")

    assert told["words"].startswith("m2 (SSD) has 6."), told["words"]
    first, second = told["claims"][:2]
    assert (first["label"], second["label"]) == ("m2 (SSD)", "raid (HDD)"), told["claims"]
    assert "Not ranked: SSD (the value was in a picture that is lost)" in told["words"]


@pytest.mark.parametrize("question", [
    "ask=a_b&fact=factor:disk&a=SSD&b=SATA+RAID1", "ask=rank&fact=storage:data",
])  # fmt: skip
def test_runs_that_are_left_out_make_no_interval_wider(published, question):
    """Seen: 6.22 × (5.23–7.39) beside the article's runs, and 6.22 × (6.20–6.24) of the very same own ones alone."""
    selects = two_disks()

    beside, alone = (
        next(claim["ratio"] for claim in ask(each, question)["claims"] if claim["ratio"]["value"])
        for each in (selects, f"{selects}&label=own")
    )

    assert {end: beside[end] for end in ("value", "low", "high")} == pytest.approx(
        {end: alone[end] for end in ("value", "low", "high")}
    )
