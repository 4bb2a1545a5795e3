"""What is said of curves that begin at 0, end at nothing, rise and fall, or were tried where nothing came of it."""

from __future__ import annotations

from itertools import product

import pytest
from django.test import Client

from tests.runs.answers.test_answers import World, ask, page, two_disks

pytestmark = pytest.mark.django_db


def replicas() -> str:
    world = World()
    for count in range(6):
        world.add(4000 / (1 + 0.3 * count), factors={"replicas": count})
    return world.store()


def test_a_level_of_0_is_a_level():
    """Seen: "the value is zero at replicas 0", where it was 4,000 TPS, and "What is lost from replicas 1 to 5?"."""
    selects = replicas()

    told = ask(selects)

    (claim,) = told["claims"]
    assert (claim["kind"], claim["start"], claim["end"]) == ("loss", 0, 5)
    assert claim["change"]["low"] < 1 / 2.5 - 1 < claim["change"]["high"]
    assert "zero" not in told["words"]
    assert "value is zero" not in page(selects)


def test_a_loss_is_offered_from_0_and_a_knee_only_where_levels_above_it_are_enough():
    world = World()
    for name, factor in (("PostgreSQL", 1.4), ("MySQL", 1.0)):
        for percent in (0, 25, 50, 75, 100):
            tps = factor * 10_000 / (1 + percent / 25)
            world.add(tps, dbms={"name": name, "version": "1"}, factors={"write_percent": percent})
    selects = world.store()

    offered = [each["query"] for each in ask(selects)["questions"]]
    assert "ask=loss&x=factor%3Awrite_percent&from=0&to=100" in offered
    assert not [query for query in offered if "falls_off" in query]
    words = ask(selects, "ask=falls_off&x=factor:write_percent")["words"]
    assert "oo few levels above 0 to tell where it falls off per doubling, 4 of 5" in words


def test_an_axis_that_cannot_be_logarithmic_says_so():
    selects = replicas()
    note = "The axis of replicas is linear: a level is zero or negative."
    assert note in page(selects, "view=curve&x_scale=log")
    assert note not in page(selects, "view=curve&x_scale=linear")


def test_no_fixed_rate_is_no_level_of_a_rate():
    world = World()
    for rate, tps in ((0, 5000), (100, 100), (200, 200), (400, 400)):
        world.add(tps, factors={"rate_per_s": rate, "terminals": 8})

    told = ask(world.store(), "ask=loss&x=factor:rate_per_s")

    assert [(claim["start"], claim["end"]) for claim in told["claims"]] == [(100, 400)]
    assert "zero" not in told["words"]


def test_all_that_is_lost_is_told_once():
    """Seen: "−100.0 %" beside "the value is zero at 1,000 clients, so that there is no ratio to it"."""
    world = World()
    for clients, tps in ((1, 1000), (10, 5000), (100, 9000), (1000, 0)):
        world.add(tps, factors={"clients": clients})
    selects = world.store()

    lost = ask(selects, "ask=loss&x=factor:clients")
    assert lost["claims"][0]["change"]["value"] == -1
    assert "no ratio" not in lost["words"]
    scales = ask(selects, "ask=scales&x=factor:clients")
    assert scales["claims"][0]["still_grows"] is False and scales["claims"][0]["efficiency"] == 0
    assert scales["words"].endswith("The value is zero at 1,000 clients.")


def lost_at_100_warehouses() -> str:
    world = World()
    for name, tps in (("PostgreSQL", 3000), ("MySQL", 2000), ("Firebird", 1000)):
        for warehouses in (10, 100):
            failed = (
                {"outcome": "failed", "message": "out of memory"} if (name, warehouses) == ("Firebird", 100) else {}
            )
            factors = {"warehouses": warehouses}
            world.add(tps, dbms={"name": name, "version": "1"}, factors=factors, **failed)
    return world.store()


def test_what_failed_at_a_level_is_told_with_why():
    """Seen: "fewer than two levels in common with the others", and "one level only, measure a second"."""
    selects = lost_at_100_warehouses()

    assert "Not ranked: Firebird 1 (no value at 100 warehouses: failed: out of memory)." in ask(selects)["words"]
    for question in ("ask=loss", "ask=loss&x=factor:warehouses&from=10&to=100", "ask=scales&x=factor:warehouses"):
        told = ask(selects, question)
        if told["claims"]:
            assert "Firebird 1: no value at 100 warehouses: failed: out of memory." in told["words"]
    assert "no value at 100 warehouses: failed: out of memory" in ask(selects, "ask=falls_off")["words"]


def test_what_none_of_the_first_two_lost_is_told_as_well():
    """Seen: "1.11 × at each of 12 levels", and no word of the third system, which had failed at one."""
    world = World()
    for name, warehouses in product(("PostgreSQL", "MySQL", "Firebird"), (10, 40, 100)):
        failed = {"outcome": "failed", "message": "deadlock"} if (name, warehouses) == ("Firebird", 100) else {}
        tps = {"PostgreSQL": 3000, "MySQL": 2000, "Firebird": 1000}[name]
        world.add(tps, dbms={"name": name, "version": "1"}, factors={"warehouses": warehouses}, **failed)
    told = ask(world.store())
    assert told["missing"] == ["Firebird 1: no value at 100 warehouses: failed: deadlock."]
    assert told["sure"]


def test_why_one_is_not_ranked_is_no_level_that_would_not_have_helped():
    """Seen: "MariaDB (no value at 1 terminal: cancelled)", which has one at 4, and none where others were measured."""
    world = World()
    for name, warehouses in (("PostgreSQL", 10), ("PostgreSQL", 40), ("MySQL", 10), ("MySQL", 40), ("MariaDB", 80)):
        world.add(1000, dbms={"name": name, "version": "1"}, factors={"warehouses": warehouses})
    lost = {"outcome": "aborted", "message": "by operator"}
    world.add(1000, dbms={"name": "MariaDB", "version": "1"}, factors={"warehouses": 160}, **lost)
    assert "Not ranked: MariaDB 1 (no levels in common, as each has its own warehouses)." in ask(world.store())["words"]


@pytest.mark.parametrize("second", [42, 0])
def test_no_winner_is_sought_where_nothing_was_measured_at_a_level_of_another(second: float):
    """Seen: "No winner: MariaDB (355 TPS) and PostgreSQL (42 TPS)", of 4 terminals and of 1."""
    world, cells = World(), [("MariaDB", 4, 355), ("MariaDB", 1, 0), ("PostgreSQL", 1, second), ("PostgreSQL", 4, 0)]
    for name, terminals, tps in cells:
        lost = {} if tps else {"outcome": "aborted", "message": "by operator"}
        factors = {"terminals": terminals, "scale_factor": 1}
        world.add(tps or 1, dbms={"name": name, "version": "1"}, factors=factors, **lost)
    told = ask(world.store(), "ask=best")
    if not second:
        assert told["missing"] == ["Only one is ranked: add another that may be set against it."]
        return
    assert not told["claims"]
    assert told["words"].startswith("No two series have two levels in common. ")
    assert {"MariaDB 1: measured at 4 terminals.", "PostgreSQL 1: measured at 1 terminal."} <= {*told["missing"]}
    assert "MariaDB 1 · 1 terminal and PostgreSQL 1 · 4 terminals (cancelled: by operator)" in told["words"]


def test_repeats_that_failed_are_told_where_too_few_are_left():
    """Seen: "with fewer than 3 repeats of PostgreSQL", and no word of the four that ran out of memory."""
    world = World()
    world.add(5000, repeats=2)
    world.add(5000, repeats=4, outcome="failed", message="out of memory")
    world.add(4000, dbms={"name": "MySQL", "version": "1"})

    words = ask(world.store())["words"]

    assert words.startswith("No winner by throughput is named, with fewer than 3 repeats of PostgreSQL")
    assert words.endswith(": 4 of 6 repeats have no number: failed: out of memory.")


def over_work_mem(values: tuple[float, ...], metric: str = "tps") -> str:
    world = World()
    for at, value in enumerate(values):
        world.add(value, metric=metric, factors={"work_mem_mb": 4 ** (at + 1)})
    return world.store()


@pytest.mark.parametrize(
    ("values", "metric", "turn"),
    [
        ((1000, 2000, 2500, 2000, 1000), "tps", "highest"),
        ((2000, 1400, 1000, 1400, 2000), "tps", "lowest"),
        ((9, 6, 4, 6, 9), "latency_p99_ms", "lowest"),
    ],
)
def test_a_hill_is_told_by_its_top(values, metric, turn):
    """Seen: "−0.6 % (−2.3 to +1.1)" and "Falls off smoothly, without a knee" of 1,000 to 2,500 to 1,000 TPS."""
    selects = f"{over_work_mem(values, metric)}&metric={metric}"

    (lost,) = ask(selects, "ask=loss")["claims"]
    assert (lost["falls_off"]["shape"], lost["falls_off"]["turn"], lost["falls_off"]["turns_at"]) == ("turn", turn, 64)
    told = ask(selects, "ask=loss")
    assert f"; between them {turn} at 64 MB (" in told["words"] and told["asked"].startswith("How does ")
    (claim,) = ask(selects, "ask=falls_off")["claims"]
    assert (claim["shape"], claim["turn"], claim["turns_at"]) == ("turn", turn, 64)
    assert f"{turn.capitalize()} at 64 MB: " in page(selects)


def test_a_flat_top_is_no_peak():
    """Seen: "Highest at 16,384 MiB: it rises up to there and falls behind it" of 20,109, 20,159 and 19,981 TPS at 8, 16
    and 32 GB, and beside it "knee: 9,410 MiB" of the loss from 16 to 64 GB.
    """
    world = World(noise=0.008)
    for gb, share in ((1, 0.6), (2, 0.72), (4, 0.86), (8, 1), (16, 1), (32, 1), (64, 0.9)):
        world.add(20_000 * share, repeats=5, config=[{"name": "shared_buffers", "value": f"{gb}GB"}])
    selects = world.store()

    (claim,) = ask(selects, "ask=falls_off")["claims"]
    assert {claim["turns_at"], *claim["turns_alike"]} == {8192, 16384, 32768}
    words = ask(selects, "ask=falls_off")["words"]
    assert "not surely higher than at " in words and words.endswith("up to these levels and falls behind them.")
    assert "not surely higher than at " in ask(selects, "ask=loss")["words"]
    assert "not surely higher than at " in page(selects, "ask=loss")
    assert "knee" not in ask(selects, "ask=loss&from=16GB&to=64GB")["words"]


def test_a_level_is_named_with_its_unit():
    """Was: "“16GB” is not a number.", and no word of which number is."""
    world = World()
    for gb, tps in ((8, 1000), (16, 900), (64, 500)):
        world.add(tps, config=[{"name": "shared_buffers", "value": f"{gb}GB"}])
    selects = world.store()

    (claim,) = ask(selects, "ask=loss&x=setting:shared_buffers&from=16GB&to=64+gb")["claims"]
    assert (claim["start"], claim["end"]) == (16384, 65536)
    (claim,) = ask(two_disks(), "ask=loss&x=factor:size_gb&from=20+GB&to=160")["claims"][:1]
    assert (claim["start"], claim["end"]) == (20, 160)
    refused = Client().get(f"/api/v1/answers/?{selects}&ask=loss&x=setting:shared_buffers&from=17GB")
    assert (refused.status_code, refused.json()) == (
        400, {"from": ["“17GB” is no number and no level of shared_buffers. There are: 8GB, 16GB, 64GB."]}
    )  # fmt: skip


def test_a_level_above_a_thousand_is_named_without_its_comma():
    """Was: "“2048GB” is no number and no level of Size. There are: …, 2,048 GB"."""
    world = World()
    for size in (1, 64, 2048):
        world.add(1000 / size, factors={"size_gb": size})
    selects = world.store()
    for written in ("2048GB", "2,048 GB"):
        assert ask(selects, f"ask=loss&x=factor:size_gb&from=1&to={written}")["claims"][0]["end"] == 2048


def test_a_fall_by_one_pace_is_told_with_it():
    """Was: "no knee up to 512 GB", of what loses 7 % with each doubling."""
    world = World(noise=0.01)
    for doubling in range(10):
        world.add(200 * 0.933**doubling, factors={"size_gb": 2**doubling})
    told = ask(world.store(), "ask=falls_off&x=factor:size_gb")

    (claim,) = told["claims"]
    assert (claim["shape"], claim["evenly"], told["sure"]) == ("none", True, True)
    assert claim["per_doubling"]["low"] < 0.933 - 1 < claim["per_doubling"]["high"]
    assert "falls evenly, without a knee: −6." in told["words"].replace("Falls", "falls")


@pytest.mark.parametrize(("fall", "unsure"), [(1.0, True), (0.5, False)])
def test_a_loss_between_single_values_says_what_all_levels_say(fall: float, unsure: bool):
    """Was: "−10.2 % from 9.04 to 1,814 GB", where one value a level scatters about one line that does not fall."""
    world = World()
    for doubling, noise in enumerate((1.08, 0.97, 1.02, 0.95, 1.03, 1.0, 0.96, 1.05, 0.97)):
        world.add(1, 1, factors={"size_gb": 2**doubling})
        world.documents[-1]["repeats"] = [{"metrics": {"tps": 1000 * noise * fall**doubling}}]
    told = ask(world.store(), "ask=loss&x=factor:size_gb")

    assert told["claims"][0]["change"]["low"] is None
    assert "have no interval, of fewer than 3 repeats each." in told["words"]
    assert ("o change is sure, by one fit over all levels: " in told["words"]) == unsure


def test_beside_knees_it_is_told_which_curve_has_none():
    """Was: silence on the one of six curves that has none."""
    world = World(noise=0.01)
    for doubling in range(10):
        for version, rate in (("16", 1000 * 0.9**doubling), ("17", 1000 * 0.6 ** max(0, doubling - 5))):
            world.add(rate, dbms={"name": "PostgreSQL", "version": version}, factors={"size_gb": 2**doubling})
    words = ask(world.store(), "ask=loss&x=factor:size_gb")["words"]
    assert "; knee: PostgreSQL 17 " in words and "; no sure knee: PostgreSQL 16." in words


def test_a_disk_that_holds_data_and_log_differs_once():
    """Was: "Log storage (nvme0 against sata0); and Storage of the data, log (nvme0 against sata0)"."""
    world = World()
    disks = [{"name": "nvme0", "medium": "nvme"}, {"name": "sata0", "medium": "ssd"}]
    hardware = {"name": "alpha", "cpu_model": "Example", "storage": disks}
    for disk, tps in (("nvme0", 1000), ("sata0", 600)):
        used = [{"role": role, "device": disk} for role in ("data", "log")]
        world.add(tps, hardware=hardware, storage=used, factors={"terminals": 8})
    told = ask(world.store(), "ask=changed")
    assert [claim["label"] for claim in told["claims"]] == ["Storage of the data, log"]


def test_at_which_level_a_hill_is_best_is_offered():
    selects = over_work_mem((1000, 2000, 2500, 2000, 1000))

    (query,) = [each["query"] for each in ask(selects)["questions"] if each["query"].startswith("ask=scales")]
    told = ask(selects, query)
    assert told["asked"] == "At which work mem is throughput highest?"
    assert (told["sure"], told["claims"][0]["most_at"], told["claims"][0]["as_high"]) == (True, 64, [])
    falling = ask(over_work_mem((2500, 2000, 1500, 1200, 1000)))
    assert not [each for each in falling["questions"] if each["query"].startswith("ask=scales")]


def test_what_falls_for_the_better_is_no_loss():
    """Seen: "What is lost over workers? −69.8 %", of an index that is built in a third of the time."""
    world = World()
    for workers in (0, 1, 2, 4):
        world.add(100 / (1 + workers), metric="load_s", factors={"workers": workers, "size_gb": 10})
    selects = f"{world.store()}&metric=load_s"

    told = ask(selects, "ask=loss&x=factor:workers")

    assert told["asked"].startswith("How does ") and "(lower is better)" in told["words"]


def test_a_question_has_the_same_words_before_and_after_it_is_answered():
    """Was: "What is lost from 10 to 500 GB?", answered under "How does throughput change from 10 to 500 GB?"."""
    world = World()
    for size, tps in ((10, 1000), (500, 1500)):
        for disk in ("A1", "B1"):
            world.add(tps, factors={"size_gb": size, "disk": disk})
    selects = world.store()
    (offered,) = [each for each in ask(selects, "ask=changed")["questions"] if each["kind"] == "loss"]
    told = ask(selects, offered["query"])
    assert told["asked"] == offered["words"] and told["claims"][0]["change"]["low"] > 0


def stepping() -> str:
    """−5 % from level to level, −28 % from 17.3 to 21.6 GB."""
    world, tps = World(noise=0.01), 1000.0
    for size in (9, 10.5, 12.5, 15, 17.3, 21.6, 24, 26, 28, 30.3):
        tps *= 0.72 if size == 21.6 else 0.95
        world.add(tps, factors={"size_gb": size})
    return world.store()


def test_a_step_is_told_where_it_falls_off():
    """Seen: "No knee up to 30.3 GB" and "No knee: one line fits as well"."""
    selects = stepping()

    told = ask(selects, "ask=falls_off&x=factor:size_gb")

    (claim,) = told["claims"]
    assert (claim["shape"], claim["at"], claim["interval"]) == ("step", None, [17.3, 21.6])
    assert claim["step"]["low"] < -0.28 < claim["step"]["high"] and told["sure"]
    assert told["words"].startswith("Step of −2") and " from 17.3 to 21.6 GB" in told["words"]
    said = page(selects, "view=curve")
    assert "Step of −2" in said and "No knee" not in said and "per doubling" not in said
    loss = ask(selects, "ask=loss&x=factor:size_gb&from=9&to=30.3")
    assert "; step: −2" in loss["words"] and loss["claims"][0]["falls_off"]["shape"] == "step"


@pytest.mark.parametrize("after", [-0.01, 0.01])
def test_where_growth_ends_is_a_knee_whatever_the_sign_of_the_noise_behind_it(after: float):
    """Seen on one page: "No knee up to 32,768 MiB", and "Knee at 7,750 MiB: +30.9 % … before, +0.5 % after"."""
    world = World()
    for doubling in range(8):
        tps = 1000 * 1.3 ** min(doubling, 3) * (1 + after) ** max(doubling - 3, 0)
        world.add(tps, factors={"buffer_gb": 2**doubling})
    selects = world.store()

    told = ask(selects, "ask=falls_off&x=factor:buffer_gb")

    (claim,) = told["claims"]
    assert (claim["shape"], claim["falls"]) == ("knee", after < 0) and told["sure"]
    assert claim["interval"][0] < 8 < claim["interval"][1]
    assert 0.25 < claim["before"] < 0.35 and -0.03 < claim["after"] < 0.03
    assert "; knee: " in ask(selects, "ask=loss&x=factor:buffer_gb&from=1&to=128")["words"]
    said = page(selects, "view=curve&ask=falls_off&x=factor:buffer_gb")
    assert told["words"].rstrip(".") in said and "No knee" not in said


def test_an_open_loop_sweep_tells_which_rate_is_kept():
    """Seen: "No knee up to 1,200 transactions/s.", of 1,001 TPS at 1,200 and 1,000 at 1,000."""
    world = World(noise=0.002)
    for rate in (100, 200, 400, 600, 800, 900, 1000, 1200):
        world.add(min(rate, 1000), factors={"rate_per_s": rate})
    selects = world.store()

    told = ask(selects, "ask=falls_off&x=factor:rate_per_s")

    (claim,) = told["claims"]
    assert (claim["shape"], claim["kept"]) == ("knee", 1000)
    assert told["words"].endswith("; the offered rate is kept up to 1,000 transactions/s.")
    assert "The offered rate is kept up to 1,000 transactions/s." in page(selects, "view=curve&x=factor:rate_per_s")


def tables_and_rows(*sizes: tuple[int, int]) -> str:
    """Two systems at each (tables, rows of each): as many TPS as a tenth of the rows are more."""
    world = World()
    for name, factor in (("MySQL", 1.2), ("MariaDB", 1.0)):
        for tables, rows in sizes:
            factors = {"tables": tables, "table_size_rows": rows, "terminals": 32}
            world.add(factor * 9000 / (rows / 1_000_000) ** 0.5, dbms={"name": name, "version": "1"}, factors=factors)
    return world.store()


def test_data_made_larger_by_more_and_larger_tables_lose():
    """Seen: "No ratio: Tables: 64 against 10", of what everybody does who makes sysbench's data larger."""
    told = ask(tables_and_rows((10, 1_000_000), (64, 10_000_000)), "ask=loss")

    assert [claim["change"]["value"] for claim in told["claims"]] == pytest.approx([10**-0.5 - 1] * 2, abs=0.03)
    assert "from table size rows 1,000,000 to 10,000,000. Not alike: Tables (64 against 10)." in told["words"]


def test_fewer_tables_that_are_larger_are_no_larger_data():
    told = ask(tables_and_rows((10, 1_000_000), (1, 10_000_000)), "ask=loss&x=factor:table_size_rows")

    assert "No ratio: Tables: 1 against 10." in told["words"]
