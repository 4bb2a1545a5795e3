"""One against another: over all that the two have in common, and of nobody else."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

import pytest

from tests.runs.answers.test_answers import World, ask

pytestmark = pytest.mark.django_db

SIZES_GB = (1, 10, 30, 300)
# At the largest size the first has far less than the second.
CROSSING = {"PostgreSQL 17.2": (1.3, 1.3, 1.6, 0.6), "PostgreSQL 16.4": (1.2, 1.2, 1.4, 0.5), "MySQL 8.4": (1, 1, 1, 1)}


def system(name: str, **settings: str) -> dict[str, Any]:
    dbms, version = name.split()
    config = [{"name": setting, "value": value} for setting, value in settings.items()]
    return {"dbms": {"name": dbms, "version": version}, "config": config}


def five_sizes() -> str:
    """Each DBMS has settings of its own, and one of the systems two configurations."""
    world = World()
    for name, shares in CROSSING.items():
        for size, share in zip(SIZES_GB, shares, strict=True):
            own = {"innodb_buffer_pool_size": "16G"} if "MySQL" in name else {"shared_buffers": "4GB"}
            world.add(10_000 * share, factors={"size_gb": size}, **system(name, **own))
            if name == "PostgreSQL 17.2":
                world.add(10_500 * share, factors={"size_gb": size}, **system(name, shared_buffers="16GB"))
    return world.store()


@pytest.mark.parametrize("fact", ["&fact=dbms", ""])
def test_two_systems_are_set_against_each_other_over_all_they_have_in_common(fact):
    """Seen: "PostgreSQL 17.2 · 1 GB · shared_buffers=4GB has 1.31 × …: better", sure, of five sizes and two
    configurations: at 300 GB it has 0.6 ×.
    """
    told = ask(five_sizes(), f"ask=a_b{fact}&a={quote('PostgreSQL 17.2')}&b={quote('MySQL 8.4')}")

    overall, *levels = told["claims"]
    assert (told["sure"], overall["ratio"]["verdict"]) == (False, "mixed")
    assert [(each["label"], each["ratio"]["verdict"]) for each in levels] == [
        ("1 GB", "better"), ("10 GB", "better"), ("30 GB", "better"), ("300 GB", "worse")
    ]  # fmt: skip
    assert told["first"] == "PostgreSQL 17.2 · shared_buffers=16GB" and told["second"].startswith("MySQL 8.4")
    assert "PostgreSQL 16.4" not in told["words"]


def two_batches(label: str = "after") -> str:
    """Three systems in both, of which one lost a tenth; a fourth in the first alone."""
    world, batches = World(noise=0.005), []
    systems = {"Firebird 5": 5000, "MariaDB 11.4": 8000, "MySQL 8.4": 8100, "PostgreSQL 17": 10_000}
    for name, share in (("before", 1.0), (label, 0.9)):
        for place, (of, tps) in enumerate(systems.items()):
            if share == 1 or place:
                context = {"kernel_tested": "6.6"} if share < 1 else {}
                lost = share if of.startswith("PostgreSQL") else 1.0
                world.add(tps * lost, 5, label=name, context=context, **system(of))
        batches.append(world.store())
    return "&".join(batches)


@pytest.mark.parametrize("question", ["&a=after&b=before", ""])
def test_two_labels_are_set_against_each_other_over_what_is_in_both(question):
    """Seen: MySQL alone was told, the first in the alphabet, and without a= and b= "MariaDB has 2.20 × of Firebird"."""
    told = ask(two_batches(), f"ask=a_b&fact=label{question}")

    assert (told["first"], told["second"]) == ("after", "before")
    found = {each["label"]: each["ratio"]["value"] for each in told["claims"][1:]}
    assert found == {
        "MariaDB 11.4": pytest.approx(1, abs=0.02), "MySQL 8.4": pytest.approx(1, abs=0.02),
        "PostgreSQL 17": pytest.approx(0.9, abs=0.02),
    }  # fmt: skip
    assert "Firebird 5" in told["words"]


def test_of_a_study_done_again_with_newer_versions_the_others_are_named():
    """Seen: "follow-up · PostgreSQL 18.0 has 1.20 × … better" of six systems, of which another had lost 15 %."""
    world, batches = World(noise=0.005), []
    systems = {"PostgreSQL": ("17.2", "18.0", 1.2), "MySQL": ("8.4.3", "8.4.7", 0.85), "H2": ("2.3", "2.4", 1.0)}
    for at, label in enumerate(("white paper", "follow-up")):
        for place, (name, (*versions, factor)) in enumerate(systems.items()):
            for scale in (1, 10):
                tps = 10_000 / (place + 1) * (factor if at else 1)
                world.add(tps, 4, label=label, factors={"scale_factor": scale}, **system(f"{name} {versions[at]}"))
        batches.append(world.store())
    question = f"ask=a_b&fact=label&a=follow-up&b={quote('white paper')}"

    told = ask("&".join(batches), question)
    of_one = ask("&".join(batches), f"{question}&dbms=mysql")

    assert told["first"] == "follow-up · PostgreSQL 18.0"
    assert told["words"].endswith("better. It says nothing of H2 and MySQL: choose one of them.")
    assert of_one["claims"][0]["ratio"]["value"] == pytest.approx(0.85, abs=0.02)
    assert "nothing of" not in of_one["words"]


def test_what_changed_between_two_batches_is_offered():
    offered = [each["query"] for each in ask(two_batches())["questions"]]
    assert "ask=a_b&fact=label&a=after&b=before" in offered


def test_a_fact_of_one_value_is_not_set_against_itself():
    """Seen: asked for a machine before its new kernel against it after, which are one machine, it told two nights."""
    world = World()
    for night, kernel in enumerate(("6.1", "6.1", "6.8", "6.8")):
        machine = {"name": "alpha", "cpu_model": "Example", "kernel": kernel}
        world.add(1000 + night, measured_on=f"2026-03-0{night + 1}", label="nightly", hardware=machine)
        world.store()

    told = ask("label=nightly", "ask=a_b&fact=hardware&a=alpha&b=alpha-2")

    assert (told["claims"], told["sure"]) == ([], False) and "one machine" in told["words"]


def test_of_several_that_are_called_so_it_is_asked_which():
    """Seen: "Nothing here is “PostgreSQL”", beside two versions of it."""
    told = ask(five_sizes(), "ask=a_b&fact=dbms&a=PostgreSQL&b=MySQL")

    assert told["words"] == "Several are called “PostgreSQL” here: PostgreSQL 16.4, PostgreSQL 17.2."


def on_disks(world: World, tps_by_disk: dict[str, float], machine: str = "alpha", **more: Any) -> None:
    """Two sizes on each disk, named as in the keys; all of them SSDs."""
    hardware = {"name": machine, "cpu_model": "Example", "storage": [{"name": n, "medium": "ssd"} for n in tps_by_disk]}
    for disk, tps in tps_by_disk.items():
        for size in (1, 10):
            storage = [{"role": "data", "device": disk}]
            world.add(tps, 4, hardware=hardware, storage=storage, factors={"size_gb": size}, **more)


def test_a_disk_is_meant_by_its_name_before_its_medium():
    """Seen: "Nothing here is “ssd”; there are: … ssd (SSD)"."""
    world = World(noise=0.005)
    on_disks(world, {"ssd": 5000, "sata0": 4000, "sata1": 3000})
    selects = world.store()

    told = ask(selects, "ask=a_b&fact=storage:data&a=ssd&b=sata0")

    assert told["claims"][0]["ratio"]["value"] == pytest.approx(1.25, rel=0.02)


@pytest.mark.parametrize(
    ("question", "why"),
    [
        ("ask=rank&fact=storage:data", "no levels in common, as each has its own workload and machine"),
        ("", "no ratio to each other: Workload: Orders, version 1 against Orders, version 2"),
    ],
)
def test_it_is_said_why_disks_have_no_ratio_to_others(question: str, why: str):
    """Seen: "ssd and nvme0 share no levels", of the same sizes in two versions of a workload."""
    world, orders = World(noise=0.005), {"slug": "orders", "name": "Orders"}
    on_disks(world, {"nv0": 9000, "nv1": 7000}, workload=orders | {"version": "1"})
    first = world.store()
    on_disks(world, {"sata0": 4000, "sata1": 3000}, "beta", workload=orders | {"version": "2"})

    told = ask(f"{first}&set={quote(world.store())}", question)

    assert f"nv0 (SSD) and sata0 (SSD) have {why}." in told["words"]
