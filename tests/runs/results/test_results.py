"""The one door: machines, names, scheduled runs, states, samples, results."""

from __future__ import annotations

import threading
import uuid
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from runs import results
from runs.models import Dbms, HardwareProfile, Metric, Run, SeriesChunk, UnknownName
from runs.results.live import dbms_build
from runs.results.names import make_metric
from runs.run import series
from tests.runs.builders import (
    FACTORS,
    SQLITE_SETTINGS,
    document,
    hardware_facts,
    job_result,
    machine,
    samples,
    scheduled,
    store_upload,
)

pytestmark = pytest.mark.django_db
NOW = timezone.now() + timedelta(hours=1)


def advance(run: Run, *states: str) -> None:
    for state in states:
        assert results.record_state(run_id=run.id, state=state, at=NOW)


def measuring(**changes) -> Run:
    run = scheduled(**changes)
    advance(run, "assigned", "preparing", "loading", "warming_up", "measuring")
    return run


@pytest.mark.parametrize(
    ("product", "version", "build"),
    [
        ("Apache Derby 10.16.1.1 - (1901046)", "10.16.1.1", "1901046"),
        ("PostgreSQL 16.4 (Debian 16.4-1.pgdg120+1)", "16.4", "Debian 16.4-1.pgdg120+1"),
        ("H2 2.2.224 (2023-09-17)", "2.2.224", "2023-09-17"),
        ("Firebird LI-V3.0.11.33703", "3.0.11", "33703"),
        ("SQLite 3.45.1", "3.45.1", ""),
        ("", "3.45.1", ""),
    ],
)
def test_it_keeps_the_build_that_the_dbms_tells(product, version, build):
    assert dbms_build(product, version) == build


@pytest.mark.parametrize("change", [{"kernel": "6.2.0"}, {"ram_bytes": 16 * 1024**3}, {"cpu_model": "Other"}])
def test_it_takes_a_changed_machine_as_another(change):
    assert machine() != machine(**change)
    assert sorted(HardwareProfile.objects.values_list("slug", flat=True)) == ["bench-one", "bench-one-2"]


def test_it_updates_devices_by_name_and_keeps_those_that_are_gone():
    device = hardware_facts()["storage"][0]
    machine()
    machine(storage=[{**device, "scheduler": "mq-deadline"}, {**device, "name": "vdb"}])
    profile = machine(storage=[])
    found = {device.name: device.scheduler for device in profile.storage.all()}
    assert found == {"vda": "mq-deadline", "vdb": "none"}


def test_it_stores_what_a_database_can_hold_of_strange_facts():
    profile = machine(cpu_model="a\x00b" + "x" * 300, os="\ud800")
    profile.refresh_from_db()
    assert profile.cpu_model.startswith("abxx")
    assert len(profile.cpu_model) == 200
    assert profile.os == "?"


def test_it_schedules_a_run_of_catalogue_names():
    run = scheduled(hardware=machine())
    assert (run.state, run.provenance, run.workload.slug, run.workload.primary_metric) == (
        "queued", "measured", "tpcb", "tps",
    )  # fmt: skip
    assert (run.dbms_version.slug, run.dbms_version.name) == ("sqlite-3-45-1", "SQLite 3.45.1")
    assert (run.config.slug, run.config.name) == ("sqlite-standard", "SQLite, standard")
    assert {factor.name: (factor.value, factor.unit) for factor in run.factors.all()} == {
        "scale_factor": (4, "branches"),
        "terminals": (4, "connections"),
        "warm_up_s": (10, "s"),
        "duration_s": (5, "s"),
    }
    assert [change.state for change in run.state_changes.all()] == ["queued"]


@pytest.mark.parametrize(
    "change",
    [
        {"dbms_version": "3.46.0"},
        {"settings": [("journal_mode", "WAL"), ("synchronous", "NORMAL")]},
        {"settings": [*SQLITE_SETTINGS, ("synchronous", "FULL")]},
        {"factors": {**FACTORS, "terminals": 8}},
        {"factors": {**FACTORS, "extra": "x"}},
    ],
)
def test_only_repeats_of_a_cell_share_its_key(change):
    assert scheduled().cell_key == scheduled(repeat=2, order_index=9).cell_key != scheduled(**change).cell_key


def test_it_names_a_configuration_by_what_is_not_standard():
    run = scheduled(settings=[("journal_mode", "WAL"), ("synchronous", "OFF"), ("key_password", "hunter2")])
    assert run.config.name == "SQLite: synchronous=OFF, key_password=[redacted]"
    assert [p.value for p in run.config.parameters.all()] == ["WAL", "OFF", "[redacted]"]


@pytest.mark.parametrize("change", [{"workload": "nothing"}, {"dbms": "nothing"}])
def test_it_refuses_names_that_the_catalogue_does_not_have(change):
    with pytest.raises(UnknownName, match="nothing"), transaction.atomic():
        scheduled(**change)
    assert Run.objects.count() == 0


def test_it_notes_when_a_run_entered_a_state():
    run = scheduled()
    advance(run, "assigned", "preparing")
    run.refresh_from_db()
    assert (run.started_at, run.finished_at) == (NOW, None)
    assert results.record_state(run_id=run.id, state="failed", at=NOW + timedelta(seconds=5), message="no disk")
    run.refresh_from_db()
    assert (run.finished_at, run.message) == (NOW + timedelta(seconds=5), "no disk")
    assert [change.state for change in run.state_changes.all()] == ["queued", "assigned", "preparing", "failed"]


@pytest.mark.parametrize("state", ["preparing", "finished", "value_missing", "nonsense"])
def test_it_refuses_a_state_that_does_not_follow(state):
    run = scheduled()
    assert not results.record_state(run_id=run.id, state=state, at=NOW)
    run.refresh_from_db()
    assert (run.state, run.state_changes.count()) == ("queued", 1)


def test_it_refuses_the_state_of_a_run_that_does_not_exist():
    assert not results.record_state(run_id=uuid.uuid4(), state="assigned", at=NOW)


def test_it_stores_a_delivery_of_samples_once():
    run = measuring()
    results.append_samples(run=run, item=samples("tps", 0, 0, [1.0, None]))
    results.append_samples(run=run, item=samples("tps", 0, 0, [9.0, 9.0]))
    results.append_samples(run=run, item=samples("tps", 1, 2, []))
    assert series.read(run, "tps").values == [1.0, None]
    assert SeriesChunk.objects.count() == 1


def test_it_takes_a_metric_that_the_catalogue_does_not_have():
    results.append_samples(run=measuring(), item=samples("own_thing", 0, 0, [1.0]))
    metric = Metric.objects.get()
    assert (metric.name, metric.unit, metric.label, metric.better) == ("own_thing", "", "Own thing", "none")


def test_the_name_of_a_new_metric_does_not_say_its_unit_again():
    assert make_metric("latency_stddev_ms", "ms", None).label == "Latency stddev"
    assert make_metric("latency_stddev_ms", "µs", None).label == "Latency stddev ms"
    assert make_metric("latency_p99_ms", "ms", None).label == "p99 latency"


@pytest.mark.parametrize(
    ("name", "unit", "label"),
    [
        ("restore_mb_per_s", "MB/s", "Restore rate"), ("restore_mb_s", "MB/s", "Restore rate"),
        ("scan_rows_per_s", "rows/s", "Scan rate"), ("throughput_mb_per_s", "MB/s", "Throughput"),
        ("connect_ms", "ms", "Connect time"), ("p95_ms", "ms", "P95"),
        ("latency_ms", "ms", "Latency"), ("energy_j_per_tx", "J", "Energy per tx"),
        # Was: "which system has the highest hit".
        ("hit_percent", "%", "Hit share"), ("disk_util_percent", "%", "Disk busy"),
        ("energy_j_per_tx", "J/tx", "Energy"), ("tps_per_keur", "TPS/kEUR", "TPS per kEUR"), ("s", "s", "S"),
        ("failed_transactions", "transactions", "Failed transactions"), ("errors_per_s", "errors/s", "Errors per s"),
    ],
)  # fmt: skip
def test_the_name_of_a_metric_of_ones_own_reads_as_a_noun(name, unit, label):
    """Seen: "has the highest restore, 397.2 MB/s", "has the lowest energy j per tx"."""
    assert make_metric(name, unit, None).label == label


def finish(run: Run, outcome: str = "finished", message: str = "", **changes) -> Run:
    results.finish_run(run=run, outcome=outcome, message=message, at=NOW, result=job_result(**changes))
    return Run.objects.get(id=run.id)


def test_what_an_agent_does_not_know_of_a_commit_is_not_stated():
    run = finish(measuring(hardware=machine()), durability={"durability": "", "reason": "not known for this DBMS"})
    assert (run.durability, run.durability_reason) == ("", "")
    assert run.statistics["durability"]["promised"] == {"durability": "", "reason": "not known for this DBMS"}


def test_it_stores_everything_the_agent_knows():
    run = measuring(hardware=machine())
    results.append_samples(run=run, item=samples("tps", 0, 0, [1.0]))
    results.append_samples(run=run, item=samples("tps", 1, 1, [2.0]))
    before = run.cell_key
    run = finish(run)
    assert (run.state, run.finished_at, run.durability) == ("finished", NOW, "power_loss")
    assert {(m.metric.name, m.phase): m.value for m in run.measurements.all()} == {
        ("tps", "run"): 123.5,
        ("latency_p99_ms", "run"): 40.25,
        ("load_s", "load"): 3.5,
    }
    assert [(use.role, use.device.name, use.path) for use in run.storage.all()] == [
        ("data", "vda", "/data"),
        ("log", "vda", "/data"),
    ]
    assert run.driver == {"version": "0.1.0", "product": "SQLite 3.45.1"}
    assert (run.per_terminal, run.dataset) == ([31, 31, 31, 30], {"seed": 42})
    assert series.read(run, "tps").values == [1.0, 2.0]
    assert SeriesChunk.objects.filter(run=run).count() == 1
    assert run.cell_key != before, "where data and log lay is part of the cell"


def test_it_keeps_no_secret_of_a_result():
    run = finish(measuring(hardware=machine()))
    assert run.effective_settings == [["synchronous", "2"], ["admin_password", "[redacted]"]]
    assert run.command_lines == ["java -cp x Main --password=[redacted]"]


def test_it_does_not_finish_a_run_that_was_never_assigned():
    run = finish(scheduled())
    assert (run.state, run.measurements.count(), run.driver) == ("queued", 0, {})


def test_the_last_of_a_metric_told_twice_counts():
    told = [{"name": "errors", "value": value, "phase": "run"} for value in (0, 2)]
    run = finish(measuring(), metrics=told)
    assert {(m.metric.name, m.value) for m in run.measurements.all()} == {("errors", 2)}


def test_all_or_nothing_when_a_result_cannot_be_stored():
    run = measuring(hardware=machine())
    with pytest.raises(TypeError):
        finish(run, per_terminal=5)
    run.refresh_from_db()
    assert (run.state, run.measurements.count()) == ("measuring", 0)


@pytest.mark.django_db(transaction=True)
def test_uploads_at_the_same_moment_neither_fail_nor_double():
    """Four new documents about the same new things, and one of them sent twice."""
    start = threading.Barrier(5)
    answers: list[str] = []

    def send(number: int) -> None:
        start.wait()
        try:
            body = document(id=str(uuid.UUID(int=number % 4)))
            answers.append(store_upload(document=body, token=None).status)
        except Exception as error:  # the test reports it
            answers.append(repr(error))
        finally:
            connection.close()

    threads = [threading.Thread(target=send, args=[number]) for number in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(answers) == ["created"] * 4 + ["same"]
    assert (Run.objects.count(), Dbms.objects.count(), HardwareProfile.objects.filter(name="My server").count()) == (
        8,
        1,
        1,
    )
