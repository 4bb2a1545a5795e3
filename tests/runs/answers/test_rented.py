"""What is asked of rented machines: instances of several sizes, disks with a burst, rates that are offered."""

from __future__ import annotations

import json
from itertools import product

import pytest
from django.test import Client

from tests.runs.answers.test_answers import GIB, World, ask, page

pytestmark = pytest.mark.django_db


def instances(*, cores: tuple[int, ...] = (2, 4, 8, 16)) -> str:
    """Two providers, of which the second is a tenth faster at each number of cores."""
    world = World(noise=0.01)
    for provider, tps in (("Nimbus", 400.0), ("Stratus", 440.0)):
        for count in cores:
            hardware = {
                "name": f"{provider} {count}", "cpu_model": f"{provider} vCPU", "cpu_cores": count,
                "ram_bytes": 4 * count * GIB,
            }  # fmt: skip
            world.add(tps * count**0.9, hardware=hardware, factors={"terminals": 64, "duration_s": 300})
    return world.store()


def test_a_system_scales_with_the_cores_of_machines_of_one_processor():
    """Seen: "“cpu_cores” does not vary. There are: hardware." of instances of 2 to 16 cores."""
    selects = instances()

    (offered,) = (each for each in ask(selects)["questions"] if each["kind"] == "scales")
    assert offered["words"] == "How far does it scale over cores?"
    told = ask(selects, offered["query"])

    by_label = {claim["label"]: claim for claim in told["claims"]}
    assert by_label.keys() == {"Nimbus vCPU", "Stratus vCPU"}
    assert {claim["most_at"] for claim in by_label.values()} == {16.0}
    assert by_label["Nimbus vCPU"]["efficiency_at_most"] == pytest.approx(8**-0.1, abs=0.03)
    assert "Pooled, but not" not in page(selects, offered["query"]), "one machine of each number is pooled with none"


def test_processors_are_ranked_at_equal_numbers_of_cores():
    told = ask(instances(), "ask=rank&fact=cpu_model&x=cpu_cores")

    assert told["words"].startswith("Stratus vCPU has 1.1") and "over 4 levels of cores" in told["words"]


def test_two_numbers_of_cores_make_no_curve_that_is_offered():
    assert not [each for each in ask(instances(cores=(2, 16)))["questions"] if each["kind"] == "scales"]


def test_a_short_window_wins_nothing_where_each_disk_has_a_longer_one_too():
    """Seen: "gp2 (measured window 300 s) has the highest throughput: 1.27 × that of gp3", whose credits end soon."""
    world = World(noise=0.01)
    for disk, rates in (("gp2", {300: 1500.0, 1800: 900.0}), ("gp3", {300: 1200.0, 1800: 1195.0})):
        for window, tps in rates.items():
            factors = {"terminals": 32, "duration_s": window}
            world.add(tps, factors=factors, storage=[{"role": "data", "device": {"name": disk, "medium": "ssd"}}])

    told = ask(world.store())

    assert told["words"].startswith("No single number over 2 levels of measured window: ")
    assert told["held"] == "measured window"
    assert sorted(claim["ratio"]["verdict"] for claim in told["claims"] if claim["kind"] == "level") == [
        "better", "worse",
    ]  # fmt: skip


def test_what_grows_a_thousandfold_has_its_pace_as_a_factor():
    """Seen: "+64.7 % per doubling before, +156,553.8 % after" of a latency behind what a pool can serve."""
    world = World(noise=0.02)
    for rate, latency in (
        (500, 6.0),
        (1000, 7.0),
        (1500, 9.0),
        (2000, 12.0),
        (3000, 55.0),
        (3500, 900.0),
        (4000, 4000.0),
    ):
        world.add(latency, metric="latency_p99_ms", factors={"target_tps": rate, "terminals": 200})

    words = ask(world.store(), "ask=falls_off&metric=latency_p99_ms")["words"]

    assert "per doubling before" in words and words.endswith("× after.")


def test_how_fast_it_loads_is_not_offered_beside_its_answer():
    world = World()
    for name, version, rate in (("PostgreSQL", "17.2", 60.0), ("MySQL", "8.4.3", 35.0)):
        world.add(rate, metric="load_mb_per_s", dbms={"name": name, "version": version})
        for repeat in world.documents[-1]["repeats"]:
            repeat["metrics"] |= {"load_s": 10_240 / repeat["metrics"]["load_mb_per_s"], "tps": 900.0}
    selects = world.store()

    assert "load" in {each["kind"] for each in ask(selects, "metric=tps")["questions"]}
    assert "load" not in {each["kind"] for each in ask(selects, "ask=load")["questions"]}


def cluster() -> str:
    world = World(noise=0.01)
    for nodes in (1, 3, 5, 9):
        factors = {"nodes": nodes, "terminals": 256}
        world.add(5000 * nodes / (1 + 0.08 * (nodes - 1)), factors=factors)
    return world.store()


def test_a_cluster_scales_with_its_nodes():
    """Seen: "No number of terminals varies on the axis" of a cluster of 1 to 9 nodes."""
    told = ask(cluster(), "ask=scales")

    (claim,) = told["claims"]
    assert (claim["kind"], claim["most_at"], told["question"]["x"]) == ("scales", 9.0, "factor:nodes")
    assert "9 nodes" in told["words"]
    assert claim["efficiency_at_most"] == pytest.approx(1 / 1.64, abs=0.03)


@pytest.mark.parametrize("controls", ["ask=scales&x=nodes", "ask=loss&x=nodes&from=1&to=9", "view=bars&series=nodes"])
def test_a_factor_is_found_by_its_bare_name(controls):
    """Seen: "“nodes” does not vary. There are: factor:nodes."."""
    selects = cluster()
    assert ask(selects, controls)["words"] == ask(selects, controls.replace("nodes", "factor:nodes"))["words"]
    assert "does not vary" not in page(selects, controls)


def test_a_factor_that_is_called_as_a_fact_does_not_take_its_place():
    world = World(noise=0.01)
    for name, version, tps in (("PostgreSQL", "17.2", 1000.0), ("MySQL", "8.4.3", 1300.0)):
        for config in ("a", "b"):
            world.add(tps, dbms={"name": name, "version": version}, factors={"dbms": config})
    selects = world.store()

    assert [claim["label"] for claim in ask(selects, "ask=rank&fact=dbms")["claims"]][:2] == [
        "MySQL 8.4.3", "PostgreSQL 17.2",
    ]  # fmt: skip


def switches(*, role: str = "") -> str:
    """A pool and huge pages, on and off at two numbers of terminals: a tenth and a twentieth faster with them."""
    world = World(noise=0.008)
    for pooler, pages, terminals in product(("off", "on"), ("off", "on"), (16, 64)):
        tps = 3000 * (1.1 if pooler == "on" else 1) * (1.05 if pages == "on" else 1) * (1.3 if terminals == 64 else 1)
        declared = {"role": role} if role else {}
        factors = {"pooler": {"value": pooler} | declared, "huge_pages": {"value": pages} | declared}
        world.add(tps, factors=factors | {"terminals": terminals})
    return world.store()


@pytest.mark.parametrize("role", ["", "condition"])
def test_what_switches_did_is_told_as_of_settings(role):
    """Seen: "64 terminals has 1.30 × the throughput of 16 terminals", and no ratio of a pool that is on to one that is
    off, as each was another question.
    """
    told = ask(switches(role=role))

    assert told["question"]["kind"] == "effects"
    effects = {claim["label"]: claim for claim in told["claims"]}
    assert {name: (each["start"], each["end"], each["pairs"]) for name, each in effects.items()} == {
        "Pooler": ("off", "on", 4), "Huge pages": ("off", "on", 4),
    }  # fmt: skip
    for name, truth in (("Pooler", 1.1), ("Huge pages", 1.05)):
        assert effects[name]["ratio"]["verdict"] == "better"
        assert effects[name]["ratio"]["low"] < truth < effects[name]["ratio"]["high"]


def test_a_question_that_its_sender_declares_stays_one_though_it_is_a_switch():
    told = ask(switches(role="question"), "ask=rank&fact=pooler")

    assert told["words"].startswith("Groups that differ in this have no order: ")


def test_what_is_on_or_off_is_named_in_labels():
    """Seen: bars of "16 terminals · off · on"."""
    labels = [group["label"] for group in json.loads(Client().get(f"/api/v1/compare/?{switches()}").content)["groups"]]

    assert "16 terminals · huge pages off · pooler on" in labels, labels
