"""Classes of durability that stored runs have: in memory apart from the rest, and claims that cannot be true."""

from __future__ import annotations

from importlib import import_module

import pytest
from django.apps import apps
from django.utils import timezone

from runs import results
from runs.models import Run
from tests.runs.builders import job_result, machine, scheduled
from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db

DETAIL = "1000 TPS, 4 terminals × 200 syncs/s of the device = 800: cannot have waited for this disk"
WAITED = {"name": "waited_for_disk", "ok": True, "detail": "700 TPS, 4 terminals × 200 syncs/s of the device = 800"}
TOO_FAST = {"name": "waited_for_disk", "ok": False, "detail": DETAIL}


@pytest.mark.parametrize(("check", "doubt"), [(WAITED, ""), (TOO_FAST, DETAIL)])
def test_a_finished_run_keeps_what_was_measured_against_its_class(check, doubt):
    run = scheduled(hardware=machine())
    Run.objects.filter(pk=run.pk).update(state="collecting")

    results.finish_run(run=run, outcome="finished", message="", at=timezone.now(), result=job_result(checks=[check]))

    run.refresh_from_db()
    assert (run.durability, run.durability_doubt) == ("power_loss", doubt)
    assert Run.objects.rankable().exists() is (not doubt)


def test_runs_of_before_get_their_class_and_their_doubt():
    reason = "the database is in memory: nothing outlives the process"
    memory = make_run("H2 2", 100, durability="none", durability_reason=reason)
    risky = make_run("PostgreSQL 18", 100, durability="none", durability_reason="fsync=off: a crash may corrupt all")
    fast = make_run("SQLite 3", 100, durability="power_loss", checks=[TOO_FAST])
    sound = make_run("Derby 10", 100, durability="power_loss", checks=[WAITED])

    factors = {"load": "select_wide"}
    reads = make_run("MariaDB 10.11", 100, durability="power_loss", checks=[TOO_FAST], factors=factors)

    migration = import_module("runs.migrations.0005_durability_memory_and_doubt")
    migration.in_memory(apps, None)
    migration.doubts(apps, None)

    found = {run.pk: (run.durability, run.durability_doubt) for run in Run.objects.all()}
    assert found[memory.pk] == ("memory", "")
    assert found[risky.pk] == ("none", "")
    assert found[fast.pk] == ("power_loss", DETAIL)
    assert found[reads.pk] == ("power_loss", "")
    assert found[sound.pk] == ("power_loss", "")
