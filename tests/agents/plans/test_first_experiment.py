from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agents import machines
from agents.models import Agent, Job
from agents.plans import schedule
from runs.models import Experiment, Run
from tests.agents.conftest import EMBEDDED, facts_of
from tests.agents.jobs.test_dispatch import in_threads


@pytest.fixture(autouse=True)
def first_run(settings):
    settings.FIRST_RUN = True


@pytest.mark.django_db
def test_it_is_twelve_short_interleaved_runs(machine):
    bench = machine()
    experiment = schedule.start_first()
    runs = list(experiment.runs.order_by("order_index").select_related("dbms_version__dbms", "job"))
    assert [run.dbms_version.dbms.slug for run in runs] == ["sqlite", "derby", "hsqldb", "h2"] * 3
    assert [run.repeat for run in runs] == [1] * 4 + [2] * 4 + [3] * 4
    factors = {"scale_factor": 4, "terminals": 4, "warm_up_s": 10, "duration_s": 5}
    assert all(run.job.spec["factors"] == factors for run in runs)
    assert experiment.slug == "first-light"
    assert experiment.demonstration
    assert all(run.demonstration for run in runs)
    assert set(Job.objects.values_list("requested_agent", flat=True)) == {bench.agent.pk}
    assert dict(runs[2].job.spec["settings"])["FILES WRITE DELAY"] == "FALSE"


@pytest.mark.django_db
def test_it_never_counts_as_best(machine):
    machine()
    schedule.start_first()
    Run.objects.update(state="finished")
    assert Run.objects.with_values().count() == 12
    assert not Run.objects.rankable().exists()


@pytest.mark.django_db
def test_it_is_made_once(machine):
    machine()
    assert schedule.start_first() is not None
    assert schedule.start_first() is None
    assert Experiment.objects.count() == 1


@pytest.mark.django_db
def test_it_waits_for_an_approved_online_agent_with_all_four_engines(machine):
    bench = machine("bench1", *EMBEDDED, approved=False)
    assert schedule.start_first() is None
    machines.approve(bench.agent)
    Agent.objects.update(engines=[*(facts_of(engine) for engine in EMBEDDED[:3]), facts_of(EMBEDDED[3], "no Java")])
    assert schedule.start_first() is None
    engines = [facts_of(engine) for engine in EMBEDDED]
    Agent.objects.update(engines=engines, last_seen_at=timezone.now() - timedelta(minutes=2))
    assert schedule.start_first() is None
    Agent.objects.update(last_seen_at=timezone.now())
    assert schedule.start_first() is not None


@pytest.mark.django_db
def test_it_takes_the_newest_version_of_each_engine(machine):
    machine("bench1", "derby:10.6.2.1", "derby:10.16.1.1", "derby:10.3.2.1", *(e for e in EMBEDDED if "derby" not in e))
    versions = schedule.start_first().plan["engines"]
    assert ["derby", "10.16.1.1"] in versions
    assert len(versions) == 4


@pytest.mark.django_db
def test_it_can_be_left_out(machine, settings):
    settings.FIRST_RUN = False
    machine()
    assert schedule.start_first() is None
    assert not Experiment.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_it_is_made_once_however_many_workers_try(machine):
    machine()
    made = in_threads(4, schedule.start_first)
    assert sorted(type(outcome).__name__ for outcome in made) == ["Experiment"] + ["NoneType"] * 3
    assert Run.objects.count() == 12
