"""The list of runs as this site writes it, imported at another."""

from __future__ import annotations

import pytest

from runs import imports
from runs.models import HardwareProfile, Run, Workload
from tests.runs.builders import document, store_upload
from tests.runs.imports.test_imports import file

pytestmark = pytest.mark.django_db
UPLOAD_ID = "0b3c7a52-6d0f-4c0e-9b0e-6d1b8a4f00{:02}"
ABSENT = object()
BACKUP = [
    {"name": "elapsed_s", "value": 401.039, "unit": "s", "phase": "backup"},
    {"name": "cache_hit", "value": 0.5, "unit": ""},
]


@pytest.fixture
def moved(client, contributor):
    """Stores documents, takes the list's CSV, and imports it where nothing is stored yet."""

    def move(*given, subject=None, keep_machines=False):
        for number, changes in enumerate(given):
            named = {"id": UPLOAD_ID.format(number), "hardware": {"name": "Lab Alpha"}, "config": []}
            whole = document(**named | changes)
            store_upload(document={k: v for k, v in whole.items() if v is not ABSENT}, owner=contributor)
        client.force_login(contributor)
        answer = client.get("/api/v1/runs/", {"format": "csv", "ordering": "created_at"})
        text = b"".join(answer.streaming_content)
        Run.objects.all().delete()
        if not keep_machines:
            HardwareProfile.objects.all().delete()
            Workload.objects.all().delete()
        taken, _ = imports.receive(files=[file("runs.csv", text)], owner=contributor)
        return taken, imports.store(taken, subject=subject or {}, owner=contributor)[0]

    return move


def test_a_run_without_a_day_has_none_there_and_it_is_said(moved):
    """Was: the day of the upload at the first site."""
    taken, (run,) = moved({"measured_on": ABSENT, "repeats": [{"metrics": {"tps": 5}}]})
    assert (run.started_at, run.measured_on) == (None, None)
    assert "does not say when it was measured" in taken.items[0]["warnings"][0]


def test_a_day_and_a_time_are_kept(moved):
    _, (of_day, of_time) = moved(
        {"repeats": [{"metrics": {"tps": 5}}]},
        {"measured_on": ABSENT, "started_at": "2026-05-05T10:00:00+00:00", "repeats": [{"metrics": {"tps": 6}}]},
    )
    assert (of_day.started_at, str(of_day.measured_on)) == (None, "2026-05-04")
    assert of_time.started_at.isoformat() == "2026-05-05T10:00:00+00:00"


def test_figures_of_a_phase_and_without_a_unit_are_read(moved):
    """Was: failed, "line 2 has no figures"."""
    _, (run,) = moved({"repeats": [{"metrics": BACKUP}]})
    assert run.state == "finished"
    found = run.measurements.values_list("phase", "metric__name", "metric__unit", "value")
    assert {*found} == {("backup", "elapsed_s", "s", 401.039), ("run", "cache_hit", "", 0.5)}


@pytest.mark.parametrize("keep_machines", [True, False])
def test_each_run_stands_on_its_own_machine_whatever_is_said_of_all(moved, keep_machines):
    """Was: all of them on the one that was asked for, with a factor `hardware`."""
    of_each = [{"hardware": {"name": name}, "repeats": [{"metrics": {"tps": 5}}]} for name in ("Lab Alpha", "Lab Beta")]
    _, runs = moved(*of_each, subject={"hardware": {"name": "Another"}}, keep_machines=keep_machines)
    assert sorted(run.hardware.slug for run in runs) == ["lab-alpha", "lab-beta"]
    assert {run.factor("hardware") for run in runs} == {None}
    assert HardwareProfile.objects.count() == 2


@pytest.mark.parametrize(
    ("first", "said", "wanted"),
    [
        ("private", {}, "private"),
        ("private", {"visibility": "public"}, "private"),
        ("public", {"visibility": "unlisted"}, "unlisted"),
        ("public", {}, "public"),
    ],
)
def test_who_may_see_a_run_does_not_become_more(moved, first, said, wanted):
    """Was: public."""
    _, runs = moved({"visibility": first}, subject=said)
    assert {run.visibility for run in runs} == {wanted}


def test_private_and_public_runs_of_a_cell_are_no_repeats_of_each_other(moved):
    _, runs = moved(*({"visibility": seen, "repeats": [{"metrics": {"tps": 5}}]} for seen in ("private", "public")))
    assert sorted(run.visibility for run in runs) == ["private", "public"]


def test_a_run_that_counts_nowhere_counts_nowhere_there(moved):
    _, (run,) = moved({"repeats": [{"metrics": {"latency_p50_ms": 9, "latency_p95_ms": 3}}]})
    assert run.state == "failed"
    assert "contradicts itself" in run.message


def test_a_program_without_a_dbms_keeps_its_version(moved):
    about = {"workload": {"slug": "fio-randrw"}, "dbms": {"name": "fio", "version": "3.33"}}
    _, (run,) = moved(about | {"repeats": [{"metrics": [{"name": "read_iops", "value": 5, "unit": "IOPS"}]}]})
    assert (run.dbms_version.dbms.slug, run.dbms_version.version) == ("fio", "3.33")
