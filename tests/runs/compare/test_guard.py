from __future__ import annotations

import pytest

from runs.answers.words.gaps import difference_words
from runs.compare.guard import blocking, conditions_of, differences
from runs.models import Config, Run, RunStorage, StorageDevice
from tests.runs.cells import FACTORS, all_runs, machine, make_run, workload

pytestmark = pytest.mark.django_db


def pair(first: dict[str, object], second: dict[str, object]):
    for changes in (first, second):
        values: dict[str, object] = {"durability": "power_loss", "on": machine()} | changes
        make_run("SQLite 3", 100, **values)
    a, b = sorted(all_runs(), key=lambda run: run.created_at)
    return differences(conditions_of([a]), conditions_of([b]))


def test_it_finds_nothing_between_like_and_like():
    assert pair({}, {}) == []


@pytest.mark.parametrize(
    ("second", "field", "words"),
    [
        ({"durability": "none"}, "durability", "Durability: survives power loss against not durable"),
        ({"factors": FACTORS | {"scale_factor": 100}}, "scale_factor", "Scale factor: 10 against 100"),
    ],
)
def test_it_refuses_a_ratio_across(second, field, words):
    (difference,) = pair({}, second)

    assert (difference.field, difference.severity) == (field, "blocks")
    assert difference_words(*blocking([difference])) == words


def test_it_refuses_a_ratio_across_workloads_and_their_versions():
    (difference,) = pair({}, {"of": workload(version="2")})

    assert difference.severity == "blocks"
    assert difference_words(difference) == "Workload: TPC-B profile, version 1 against TPC-B profile, version 2"


@pytest.mark.parametrize(
    ("second", "field"),
    [
        ({"factors": FACTORS | {"terminals": 8}}, "terminals"),
        ({"factors": FACTORS | {"duration_s": 30}}, "duration_s"),
        ({"factors": FACTORS | {"warm_up_s": 0}}, "warm_up_s"),
        ({"demonstration": True}, "demonstration"),
        ({"durability": ""}, "durability"),
    ],
)
def test_it_notes_but_does_not_refuse(second, field):
    (difference,) = pair({}, second)

    assert (difference.field, difference.severity) == (field, "note")
    assert not blocking([difference])


def test_it_names_both_machines():
    (difference,) = pair({}, {"on": machine("Bench Two")})

    assert difference_words(difference) == "Machine: Bench One against Bench Two"


def test_it_notes_a_machine_that_nobody_described():
    (difference,) = pair({}, {"on": machine("Somewhere", cpu="")})

    assert difference_words(difference) == "Machine: Bench One against Somewhere (not described)"


def test_it_notes_configurations_of_one_dbms_and_not_of_two():
    config = [Config.objects.create(slug=name, name=name) for name in ("plain", "tuned")]
    a, b, c = (
        make_run(system, 100, config=chosen, on=machine(), durability="power_loss")
        for system, chosen in (("SQLite 3", config[0]), ("SQLite 3", config[1]), ("H2 2", config[1]))
    )

    differing = differences(conditions_of([a]), conditions_of([b]))
    assert [difference_words(difference) for difference in differing] == ["Configuration: plain against tuned"]
    assert differences(conditions_of([a]), conditions_of([c])) == []

    config[1].name = "plain"
    config[1].save()
    b.config.refresh_from_db()
    differing = differences(conditions_of([a]), conditions_of([b]))
    assert [difference_words(difference) for difference in differing] == ["Configuration: plain against tuned"]


def test_it_notes_which_device_held_the_data():
    devices = [
        StorageDevice.objects.create(slug=name, name=name, hardware=machine(), medium=medium)
        for name, medium in (("sda", "hdd"), ("nvme0", "ssd"))
    ]
    runs: list[Run] = []
    for device in devices:
        run = make_run("SQLite 3", 100, on=machine(), durability="power_loss")
        RunStorage.objects.create(run=run, role="data", device=device)
        run.set_cell_key()
        run.save()
        runs.append(run)

    (difference,) = differences(conditions_of(runs[:1]), conditions_of(runs[1:]))

    assert difference_words(difference) == "Storage of the data: sda (HDD) against nvme0 (SSD)"
    assert difference.severity == "note"


def test_it_does_not_count_what_one_article_leaves_unsaid_about_both_sides(article):
    Run.objects.update(durability="")
    runs = {run.dbms_version.name: run for run in all_runs()}

    assert differences(conditions_of([runs["DB2 9.7"]]), conditions_of([runs["PostgreSQL 8.3"]])) == []


def test_it_counts_what_two_uploads_leave_unsaid():
    a, b = (make_run(system, 100) for system in ("SQLite 3", "H2 2"))

    differing = differences(conditions_of([a]), conditions_of([b]))
    assert [difference_words(difference) for difference in differing] == ["Durability: not known", "Machine: not known"]


def test_a_machine_of_which_nothing_but_its_name_is_known_is_named():
    """Seen: "Machine: not known" beside "Machine Lab 1", which all groups had in common."""
    here = machine("Lab 1", cpu="")
    a, b = (make_run(system, 100, on=here) for system in ("SQLite 3", "H2 2"))

    found = [difference_words(difference) for difference in differences(conditions_of([a]), conditions_of([b]))]
    assert found == ["Durability: not known", "Machine: Lab 1 (not described)"]


def test_it_puts_what_blocks_first():
    found = pair({}, {"durability": "none", "on": machine("Bench Two"), "factors": {"scale_factor": 1, "terminals": 9}})

    assert [difference.severity for difference in found] == ["blocks", "blocks", "note", "note"]


def test_it_compares_nothing_with_an_empty_side():
    assert differences(conditions_of([]), conditions_of([])) == []
