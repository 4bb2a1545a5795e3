"""What is not alike is told, and what is alike is set against each other: disks, machines, data sets, isolation."""

from __future__ import annotations

import re
from itertools import product
from typing import Any
from urllib.parse import quote

import pytest

from runs import results
from runs.answers.words.matrix import matrix
from runs.compare.compare import compare
from runs.models import Experiment
from tests.runs.answers.test_answers import GIB, World, ask, page
from tests.runs.cells import all_runs, make_run

pytestmark = pytest.mark.django_db

POSTGRESQL = {"name": "PostgreSQL", "version": "17.2"}
MYSQL = {"name": "MySQL", "version": "8.4.3"}
MARIADB = {"name": "MariaDB", "version": "11.4.2"}
DISKS = {"name": "Two disks", "storage": [{"name": "nvme0", "medium": "nvme"}, {"name": "sda", "medium": "hdd"}]}


def on(disk: str) -> dict[str, Any]:
    return {"hardware": DISKS, "storage": [{"role": "data", "device": disk}]}


def reversed_over(places: dict[str, dict[str, Any]], *others: dict[str, str]) -> str:
    """PostgreSQL is 1.25 times MySQL at the first place, and MySQL 1.25 times PostgreSQL at the last."""
    world = World(noise=0.01)
    for at, place in enumerate(places.values()):
        scale, is_last = 8000 / 8**at, at == len(places) - 1
        world.add(scale * (1 if is_last else 1.25), 4, dbms=POSTGRESQL, **place)
        world.add(scale * (1.25 if is_last else 1), 4, dbms=MYSQL, **place)
        for other in others:
            world.add(scale / 2, 4, dbms=other, **place)
    return world.store()


@pytest.mark.parametrize(
    "places",
    [
        {f"{count} terminals": {"factors": {"terminals": count}} for count in (64, 8)},
        {os: {"factors": {"os": {"value": os, "role": "condition"}}} for os in ("Linux", "FreeBSD")},
    ],
    ids=["terminals", "condition"],
)
def test_a_winner_that_is_reversed_is_told(places: dict[str, dict[str, Any]]):
    told = ask(reversed_over(places))

    first, last = places
    assert told["best_at"] == {"PostgreSQL 17.2": [first], "MySQL 8.4.3": [last]}
    assert "Level by level, " in told["words"]


MACHINES = {"alpha": {"hardware": {"name": "alpha"}}, "beta": {"hardware": {"name": "beta"}}}


@pytest.mark.parametrize("question", ["", "ask=best", "ask=rank&fact=dbms"])
@pytest.mark.parametrize(
    ("places", "others"),
    [
        ({"nvme0": on("nvme0"), "sda (HDD)": on("sda")}, []),
        ({"nvme0": on("nvme0"), "sda (HDD)": on("sda")}, [MARIADB]),
        (MACHINES, []),
        # Sent one by one, on a day of its own each.
        (
            {
                name: {**fields, "measured_on": f"2026-05-0{at}"}
                for at, (name, fields) in enumerate(MACHINES.items(), 4)
            },
            [],
        ),
    ],
    ids=["disks", "three systems", "machines", "days"],
)
def test_no_machine_or_disk_is_taken_at_its_best(
    places: dict[str, dict[str, Any]], others: list[dict[str, str]], question: str
):
    """Was: "PostgreSQL 17.2 (nvme0) has the highest throughput", of rank 1, beside a disk where MySQL is better; with
    the machine on the axis there was no single winner.
    """
    told = ask(reversed_over(places, *others), question)

    first, last = places
    assert not told["sure"] and told["ranked_at"] == "equal_levels"
    assert told["best_at"] == {"PostgreSQL 17.2": [first], "MySQL 8.4.3": [last]}


def test_a_machine_on_the_axis_asks_what_is_asked_without_it():
    selects = reversed_over(MACHINES)
    assert ask(selects, "ask=best")["words"] == ask(selects, "ask=best&x=hardware")["words"]


def test_a_level_that_denies_a_winner_is_told():
    """Was: "nvme0 has the lowest backup time over 2 levels of size; sda has 1.73 × of it", and at 50 GB no winner."""
    world = World(noise=0.005)
    for size, fast, slow in ((50, 120, 121), (200, 500, 1500)):
        for disk, seconds in (("nvme0", fast), ("sda", slow)):
            world.add(seconds, 5, metric="backup_s", factors={"size_gb": size}, **on(disk))

    words = ask(world.store(), "metric=backup_s")["words"]
    assert words.startswith("nvme0 has the lowest backup time at 200 GB, where sda (HDD) has 3.0")
    assert words.endswith("; less than 5\u202f% lie between them at 50 GB.")
    assert "1.7" not in words


def test_a_level_that_is_equivalent_is_not_undecided():
    """Was: "undecided at 1 of 3 levels" beside the verdict "equivalent (within 3%)" of the table."""
    world = World(noise=0.005)
    for terminals, first, second in ((1, 1_000, 850), (8, 4_000, 4_010), (64, 6_000, 9_000)):
        for dbms, tps in ((POSTGRESQL, first), (MYSQL, second)):
            world.add(tps, 5, dbms=dbms, factors={"terminals": terminals})

    words = ask(world.store(), "ask=rank&fact=dbms")["words"]
    assert "less than 3\u202f% apart at 8 terminals" in words and "undecided" not in words


def test_the_letters_of_a_level_begin_with_its_best():
    """Was: "PostgreSQL 10,014 b" and "MySQL 8,956 a", as MySQL comes first over all levels."""
    html = page(reversed_over(MACHINES, MARIADB))

    series = [
        {each.label: each.letters for each in level.series}
        for level in matrix(compare(all_runs())).levels
    ]  # fmt: skip
    assert series == [
        {"PostgreSQL 17.2": "a", "MySQL 8.4.3": "b", "MariaDB 11.4.2": "c"},
        {"PostgreSQL 17.2": "b", "MySQL 8.4.3": "a", "MariaDB 11.4.2": "c"},
    ]
    assert "which is better depends on the level" in html and "best first" not in html.partition('id="matrix"')[2]


def test_what_comes_to_most_over_terminals_does_so_on_each_machine():
    world = World(noise=0.01)
    for terminals in (1, 8, 64):
        for scale, place in zip((1, 5), MACHINES.values(), strict=True):
            for dbms, tps in ((POSTGRESQL, 1_000 if scale == 1 else 1_200), (MYSQL, 1_100)):
                world.add(tps * scale * terminals**0.5, dbms=dbms, factors={"terminals": terminals}, **place)

    told = ask(world.store())
    assert not told["sure"] and told["ranked_at"] == "equal_levels"
    assert {name: len(levels) for name, levels in told["best_at"].items()} == {"PostgreSQL 17.2": 3, "MySQL 8.4.3": 3}


def test_a_disk_and_the_factor_that_names_it_are_one_question():
    """Was: "Not alike: Data on storage", the very thing compared, and "which data on storage" beside "which disk"."""
    world = World()
    for disk, tps in (("nvme0", 2_000), ("sda", 500)):
        world.add(tps, 4, factors={"data_storage": disk}, **on(disk))
    selects = world.store()

    for query in ("", "ask=rank&fact=factor:data_storage"):
        answer = ask(selects, query)
        assert answer["sure"] and "Not alike" not in answer["words"]
    offered = [each["words"] for each in ask(selects, "ask=changed")["questions"]]
    assert sum("highest throughput" in words for words in offered) == 1
    shown = page(selects)
    assert "<dt>Data storage</dt>" in shown and "<dt>Data on storage</dt>" not in shown
    assert "hold-storage-data" in shown and "hold-factor-data_storage" not in shown


def test_a_machine_that_replaced_another_of_its_name_is_told_from_it():
    """Was: "perf-a" of both, pooled as the slower until a day and then as the faster; and "nothing is perf-a-2"."""
    world = World(noise=0.005)
    for day in range(1, 11):
        old, new = {"cpu_model": "Xeon 6230", "cpu_cores": 20}, {"cpu_model": "EPYC 9354", "cpu_cores": 32}
        machines = (("perf-a", 1_500 if day > 5 else 900, new if day > 5 else old), ("perf-b", 1_000, old))
        for name, tps, made_of in machines:
            night = {"measured_on": f"2026-04-{day:02}", "tested": {"commit": f"{day:02}" * 20}}
            world.add(tps, 4, hardware={"name": name, "ram_bytes": 2**36, **made_of}, **night)
    selects = world.store()
    later = "measured_from=2026-04-06"

    words = ask(selects, "ask=rank&fact=hardware")["words"]
    assert "perf-a (EPYC 9354, 32 cores)" in words and "perf-a (Xeon 6230, 20 cores)" in words
    words = ask(selects, "ask=a_b&fact=hardware&a=perf-a-2&b=perf-b")["words"]
    assert words.startswith("perf-a (EPYC 9354, 32 cores) has 1.50")
    assert ask(f"{selects}&{later}", "ask=a_b&fact=hardware&a=perf-a-2&b=perf-b")["words"].startswith("perf-a has 1.50")


def test_two_data_sets_are_two_questions():
    """Was: "PostgreSQL has 3.33 × the throughput"; in one batch both were pooled."""
    world = World(noise=0.01)
    world.add(5000, dbms=POSTGRESQL, dataset={"rows": 1_000_000, "seed": 7})
    world.add(1500, dbms=MYSQL, dataset={"rows": 100_000_000, "seed": 7})
    selects = world.store()

    told = ask(selects)
    assert not told["sure"] and "Rows: 1,000,000 against 100,000,000" in told["words"]
    assert {claim["label"] for claim in ask(selects, "ask=changed")["claims"]} == {"DBMS", "Rows"}

    for rows, tps in ((1_000_000, 5000), (100_000_000, 1500)):
        world.add(tps, dbms=POSTGRESQL, dataset={"rows": rows})
    of_one = ask(world.store(), "ask=changed")
    assert [(claim["a"], claim["b"]) for claim in of_one["claims"]] == [("1,000,000", "100,000,000")]


def test_systems_on_two_data_sets_are_ranked_at_each():
    world = World(noise=0.01)
    for rows, tps in ((1_000_000, 5000), (100_000_000, 1500)):
        world.add(tps, dbms=POSTGRESQL, dataset={"rows": rows})
        world.add(tps / 1.3, dbms=MYSQL, dataset={"rows": rows})

    told = ask(world.store())
    assert told["sure"] and told["claims"][0]["label"] == "PostgreSQL 17.2"
    assert told["over"] == "2 levels of rows"


def test_a_size_that_was_measured_after_loading_parts_no_repeats():
    world = World()
    for size in (1534.2, 1534.9, 1535.1):
        world.add(5000, 1, dbms=POSTGRESQL, dataset={"database_size_mb": size})
        world.add(4000, 1, dbms=MYSQL, dataset={"database_size_mb": size})

    assert [claim["n"] for claim in ask(world.store())["claims"]] == [3, 3]


def isolation_levels(*cells: tuple[dict[str, str], str, float]) -> str:
    """Each measured on one day and sent by itself, as is the default."""
    world = World(noise=0.01)
    for dbms, level, tps in cells:
        world.add(tps, 4, dbms=dbms, driver={"name": "own", "isolation": level}, measured_on="2026-05-04")
    for each in world.documents:
        (outcome,) = results.store_uploads(documents=[each])
        assert not outcome.errors
    return "workload=tpcb"


def test_two_isolation_levels_of_documents_without_a_batch_are_set_against_their_like():
    """Was: groups named "PostgreSQL 17.2 (2026-05-04 · stored …)", and READ COMMITTED against SERIALIZABLE alone."""
    weak, strong = "READ COMMITTED", "SERIALIZABLE"
    selects = isolation_levels(
        (POSTGRESQL, weak, 5000), (POSTGRESQL, strong, 2000), (MYSQL, strong, 2800), (MYSQL, weak, 3000)
    )
    told = ask(selects)

    assert {claim["of"] for claim in told["claims"]} == {
        "PostgreSQL 17.2 · read committed", "MySQL 8.4.3 · read committed",
    }  # fmt: skip
    assert told["best_at"] == {"PostgreSQL 17.2": ["read committed"], "MySQL 8.4.3": ["serializable"]}
    assert ask(selects, "ask=a_b&fact=dbms")["claims"]


def test_two_load_generators_of_documents_without_a_batch_are_called_by_their_names():
    """Was: "2026-05-04 · stored 2026-05-04 04:58:18" and "… #2", and what varies was the batch."""
    world = World(noise=0.01)
    for name, version, tps in (("pgbench", "16.4", 3000), ("sysbench", "1.0.20", 5200)):
        world.add(tps, 4, driver={"name": name, "version": version}, measured_on="2026-05-04")
    for each in world.documents:
        results.store_uploads(documents=[each])
    told = ask("workload=tpcb")
    assert [claim["label"] for claim in told["claims"]] == ["sysbench", "pgbench"]
    assert (told["question"]["fact"], told["not_alike"]) == ("tool", "")
    html = page("workload=tpcb")
    assert "stored" not in re.sub(r"<[^>]+>", " ", html.partition("<main")[2].partition("</h1>")[0])
    assert "Load generator" in html


def test_a_system_is_best_at_the_isolation_level_that_both_were_measured_at():
    told = ask(isolation_levels(
        (POSTGRESQL, "READ COMMITTED", 5000), (POSTGRESQL, "SERIALIZABLE", 2000), (MYSQL, "SERIALIZABLE", 2800)
    ))  # fmt: skip

    assert told["claims"][0]["label"] == "MySQL 8.4.3" and told["alike_in"] == ["serializable"]


def test_two_systems_on_machines_of_their_own_are_set_against_each_other_by_the_fact_that_is_asked():
    """Was: "Nothing with values here is “PostgreSQL 17.2”; there are: My own box, m6i.large"."""
    world = World(noise=0.01)
    for machine, dbms, size, tps in (
        ("mine", POSTGRESQL, 10, 5000), ("mine", POSTGRESQL, 100, 3000), ("rented", MYSQL, 10, 4000),
        ("rented", POSTGRESQL, 10, 4400), ("rented", POSTGRESQL, 100, 2500),
    ):  # fmt: skip
        world.add(tps, 4, dbms=dbms, hardware={"name": machine}, factors={"size_gb": size})

    told = ask(world.store(), f"ask=a_b&fact=dbms&a={quote('PostgreSQL 17.2')}&b={quote('MySQL 8.4.3')}")
    assert 1.05 < told["claims"][0]["ratio"]["value"] < 1.15


def test_what_has_none_shares_no_letter_with_what_has_a_thousand():
    """Was: PostgreSQL with no lost rows had the letters a and b, so that it "cannot be told apart" from 1,000."""
    world = World()
    for dbms, lost in ((POSTGRESQL, [0] * 5), (MYSQL, [9, 10, 11, 10, 10]), (MARIADB, [990, 1005, 1001, 1011, 998])):
        metric = {"name": "lost_rows", "unit": "rows", "better": "lower"}
        world.add(1.0, dbms=dbms)
        world.documents[-1]["repeats"] = [{"metrics": [metric | {"value": value}]} for value in lost]

    shown = page(world.store())
    assert "share a letter" not in shown
    assert "median where a value is zero" in shown


def test_what_one_setting_at_a_time_did_is_told_with_what_it_was_measured_beside():
    """Was: "huge_pages: below 3 %", which was measured beside 1 GB of shared buffers alone."""
    world = World(noise=0.005)
    for size, huge, tps in (("1GB", "off", 1000), ("8GB", "off", 1500), ("1GB", "on", 1000)):
        settings = {"shared_buffers": size, "huge_pages": huge}
        config = [{"name": name, "value": value} for name, value in settings.items()]
        world.add(tps, 4, dbms=POSTGRESQL, config=config)

    words = ask(world.store(), "ask=effects")["words"]
    assert "huge_pages with shared_buffers=1GB alone: below" in words


def spelt_twice(**in_force: Any) -> World:
    """Two configurations that scatter, the first two of which are written in other units."""
    world = World(noise=0.4)
    for size, memory, jit in (("64MB", "4MB", "off"), ("65536kB", "4096kB", "no")):
        settings = {"shared_buffers": size, "work_mem": memory, "jit": jit}
        config = [{"name": name, "value": value} for name, value in settings.items()]
        world.add(1_000, 4, dbms=POSTGRESQL, config=config, **in_force)
    return world


@pytest.mark.parametrize("in_force", [{}, {"effective_settings": {"shared_buffers": "8192", "fsync": "on"}}])
def test_one_configuration_under_two_names_is_not_said_to_differ(in_force: dict[str, Any]):
    """Was: "They differ in Configuration", and "over 20 more repeats" to tell the two apart."""
    selects = spelt_twice(**in_force).store()
    assert "65536kB" in ask(selects, "ask=changed")["words"]
    for question in ("ask=changed", "ask=best", "ask=rank&fact=config", "ask=a_b", "ask=effects", ""):
        answer = ask(selects, question)
        assert "differ in Configuration" not in answer["words"] and "more repeats" not in str(answer)
        assert question == "ask=effects" or "The same settings under several names: " in answer["words"]
    assert "more repeat" not in page(selects)


def test_one_setting_does_the_same_however_it_is_written():
    world = spelt_twice()
    config = [{"name": "shared_buffers", "value": "64MB"}, {"name": "work_mem", "value": "8MB"}]
    world.add(3_000, 4, dbms=POSTGRESQL, config=[*config, {"name": "jit", "value": "off"}])
    effects = ask(world.store(), "ask=effects")["claims"]
    assert [(each["label"], each["start"], each["end"]) for each in effects] == [("work_mem", "4096kB", "8MB")]


def test_another_value_in_force_is_another_configuration():
    world = spelt_twice(effective_settings={"work_mem": "4MB"})
    world.documents[-1]["effective_settings"] = {"work_mem": "1MB"}
    assert "differ in Configuration" in ask(world.store(), "ask=changed")["words"]


def test_what_is_there_in_another_unit_is_not_called_missing():
    """Was: "no footprint in this run" of one in MB beside others in GB."""
    world = World()
    for dbms, unit, value in ((POSTGRESQL, "GB", 12), (MARIADB, "GB", 14), (MYSQL, "MB", 13_000)):
        world.add(1.0, dbms=dbms)
        metric = {"name": "footprint", "unit": unit, "better": "lower", "value": value}
        world.documents[-1]["repeats"] = [{"metrics": [metric]}] * 3

    words = ask(world.store(), "metric=footprint")["words"]
    assert "not in GB, but in MB" in words and "no footprint" not in words


def test_settings_that_were_always_changed_together_are_named():
    """Was: jit alone, without a word of the 50 % that two others made together."""
    world = World(noise=0.005)
    for size, cache, jit, tps in (("1GB", "4GB", "off", 1000), ("1GB", "4GB", "on", 900), ("8GB", "24GB", "off", 1500)):
        settings = {"shared_buffers": size, "effective_cache_size": cache, "jit": jit}
        config = [{"name": name, "value": value} for name, value in settings.items()]
        world.add(tps, 4, dbms=POSTGRESQL, config=config)

    config = [{"name": "shared_buffers", "value": "64GB"}]
    world.add(1.0, dbms=POSTGRESQL, config=config, outcome="failed", message="out of memory")

    words = ask(world.store(), "ask=effects")["words"]
    assert "out of memory" in words
    assert "jit off → on" in words
    assert "No two groups differ in one of these settings alone: shared_buffers and effective_cache_size." in words


def methods(**lost: str) -> str:
    """Elapsed times by method; of those that are `lost` none is known."""
    experiment = Experiment.objects.create(slug="methods", name="Methods")
    for method, value in (("se", 42.0), ("tcp", 60.0), ("local", 50.0)):
        gap = {"state": "value_missing", "missing_metric": "tps", "missing_reason": lost.get(method)}
        make_run(
            "Firebird 1.5", None if method in lost else value, factors={"method": method}, experiment=experiment,
            **(gap if method in lost else {}),
        )  # fmt: skip
    return "experiment=methods"


@pytest.mark.parametrize(
    ("lost", "a", "b", "words"),
    [
        # Seen: "Only one is ranked: add another that may be set against it" and a list of all that are lost.
        (
            {"local": "the picture is lost", "tcp": "the picture is lost"}, "local", "tcp",
            "No value of local and tcp is known: the picture is lost.",
        ),
        ({"tcp": "the picture is lost"}, "se", "tcp", "No value of tcp is known: the picture is lost."),
        (
            {"local": "the picture is lost", "tcp": "failed"}, "local", "tcp",
            "No value of local is known: the picture is lost. No value of tcp is known: failed.",
        ),
        (
            {"local": "lost", "tcp": "lost"}, "SSD", "HDD",
            "Nothing here is “SSD”; there are: se, tcp, local. Nothing here is “HDD” either.",
        ),
        ({}, "se", "SSD", "Nothing here is “SSD”; there are: se, tcp, local."),
        ({"tcp": "lost"}, "tcp", "SSD", "No value of tcp is known: lost. Nothing here is “SSD”; there are: "),
    ],
)  # fmt: skip
def test_of_two_that_are_named_it_is_told_which_has_no_value_or_is_not_there(lost, a, b, words):
    told = ask(methods(**lost), f"ask=a_b&fact=factor:method&a={a}&b={b}")
    assert told["claims"] == []
    assert told["words"].startswith(words) and "Not ranked" not in told["words"]


def test_a_disk_is_named_by_its_medium_where_it_is_the_only_one(published):
    """Seen: "Nothing with values here is “SSD”" of the disk "SSD (SSD)", whose values are lost."""
    told = ask("publication=firebird-terabyte-2015", "metric=performance&ask=a_b&fact=storage:data&a=ssd&b=HDD")
    assert told["words"].startswith("No value of SSD (SSD) is known: ") and told["claims"] == []


def test_an_order_is_that_of_the_ranks():
    """Seen: ranks 6, 5, 7, 6, as the mean of one that scatters lies between those that do not."""
    world = World()
    for name, values in {
        "A": (1000, 1001, 999), "B": (950, 951, 949), "C": (900, 901, 899), "D": (890, 790, 980), "E": (600, 601, 599),
    }.items():  # fmt: skip
        world.add(1.0, dbms={"name": name, "version": "1"})
        metric = {"name": "tps", "unit": "TPS", "better": "higher"}
        world.documents[-1]["repeats"] = [{"metrics": [metric | {"value": value}]} for value in values]

    told = ask(world.store(), "ask=best")

    ranks = [claim["rank"] for claim in told["claims"] if claim["kind"] == "standing"]
    assert ranks == sorted(ranks) and len({*ranks}) < len(ranks), ranks


def test_a_machine_measured_with_a_window_of_its_own_is_ranked_and_that_is_named():
    """Seen: "Not ranked: db-gamma (fewer than two levels in common)", beside 1.61 × over nine levels of it."""
    world = World(noise=0.005)
    for (machine, tps, window), terminals in product(
        (("alpha", 1000, 300), ("beta", 800, 300), ("gamma", 620, 180)), (1, 8, 64)
    ):
        hardware = {"name": machine, "cpu_model": "Example", "ram_bytes": 64 * GIB}
        world.add(tps * terminals, hardware=hardware, factors={"terminals": terminals, "duration_s": window})
    selects = world.store()

    ranked = ask(selects, "ask=rank&fact=hardware")
    pair = ask(selects, "ask=a_b&fact=hardware&a=alpha&b=gamma")

    standings = [claim for claim in ranked["claims"] if claim["kind"] == "standing"]
    assert [claim["label"] for claim in standings] == ["alpha", "beta", "gamma"]
    assert standings[2]["ratio"]["value"] == pytest.approx(1000 / 620, rel=0.02)
    assert pair["claims"][0]["ratio"]["value"] == pytest.approx(1000 / 620, rel=0.02)
    assert ["Measured window" in each["not_alike"] for each in (ranked, pair)] == [True, True]
