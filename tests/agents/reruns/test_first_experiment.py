from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agents import machines
from agents.jobs.dispatch import assign_queued
from agents.models import Agent, Job
from agents.plans import schedule
from agents.reruns import first
from runs import results
from runs.models import Experiment, Run
from tests.agents.conftest import EMBEDDED, facts_of
from tests.agents.jobs.test_dispatch import in_threads

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def first_run(settings):
    settings.FIRST_RUN = True


def test_it_is_twelve_short_interleaved_runs(machine):
    bench = machine()
    experiment = first.start_first()
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


def test_it_waits_for_an_approved_online_agent_with_all_four_engines(machine):
    bench = machine("bench1", *EMBEDDED, approved=False)
    assert first.start_first() is None
    machines.approve(bench.agent)
    Agent.objects.update(engines=[*(facts_of(engine) for engine in EMBEDDED[:3]), facts_of(EMBEDDED[3], "no Java")])
    assert first.start_first() is None
    engines = [facts_of(engine) for engine in EMBEDDED]
    Agent.objects.update(engines=engines, last_seen_at=timezone.now() - timedelta(minutes=2))
    assert first.start_first() is None
    Agent.objects.update(last_seen_at=timezone.now())
    assert first.start_first() is not None


def test_it_takes_the_newest_version_of_each_engine(machine):
    machine("bench1", "derby:10.6.2.1", "derby:10.16.1.1", "derby:10.3.2.1", *(e for e in EMBEDDED if "derby" not in e))
    versions = first.start_first().plan["engines"]
    assert ["derby", "10.16.1.1"] in versions
    assert len(versions) == 4


def test_it_can_be_left_out(machine, settings):
    settings.FIRST_RUN = False
    machine()
    assert first.start_first() is None
    assert not Experiment.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_it_is_made_once_however_many_workers_try(machine):
    machine()
    made = in_threads(4, first.start_first)
    assert sorted(type(outcome).__name__ for outcome in made) == ["Experiment"] + ["NoneType"] * 3
    assert Run.objects.count() == 12


def fetching(engine: str, reason: str = "its jars are being fetched") -> dict:
    return {**facts_of(engine, reason), "pending": True}


def test_sqlite_does_not_wait_for_the_jars_of_the_others(machine):
    bench = machine()
    Agent.objects.update(engines=[facts_of(EMBEDDED[0]), *map(fetching, EMBEDDED[1:])])
    experiment = first.start_first()
    assert experiment is not None
    assert assign_queued() == 1
    assert Run.objects.get(state="assigned").dbms_version.dbms.slug == "sqlite"
    results.record_state(run_id=Run.objects.get(state="assigned").pk, state="cancelled", at=timezone.now())
    assign_queued()
    assert Run.objects.get(state="assigned").dbms_version.dbms.slug == "sqlite"  # the second repeat, not Derby
    results.record_state(run_id=Run.objects.get(state="assigned").pk, state="cancelled", at=timezone.now())
    Agent.objects.update(engines=[facts_of(engine) for engine in EMBEDDED])
    assign_queued()
    assert Run.objects.get(state="assigned").dbms_version.dbms.slug == "derby"
    assert bench.agent.pk


def test_its_runs_wait_for_jars_that_cannot_be_had_and_the_home_page_says_why(machine, client):
    machine()
    why = "its jars cannot be had, which is tried again by itself: the certificate of x is signed by nobody"
    Agent.objects.update(engines=[fetching(engine, why) for engine in EMBEDDED])
    assert first.start_first() is not None
    assert assign_queued() == 0
    html = client.get("/").content.decode()
    assert why in html
    assert "Start it again" not in html
    assert why in client.get("/first-experiment/").content.decode()


def test_the_home_page_says_what_is_missing_before_it_begins(machine, client):
    assert "no agent is registered and approved yet" in client.get("/").content.decode()
    machine()
    Agent.objects.update(engines=[facts_of(engine, "no Java runtime") for engine in EMBEDDED])
    assert first.start_first() is None
    assert "H2 on bench1: no Java runtime" in client.get("/").content.decode()


def fail_all(message: str = "the jars of sqlite cannot be had: no network") -> None:
    Run.objects.update(state="failed", message=message, finished_at=timezone.now())


def test_when_all_of_it_failed_the_home_page_says_why_and_a_button_starts_it_again(machine, client, operator):
    machine()
    failed = first.start_first()
    fail_all()
    html = client.get("/").content.decode()
    assert "None of its 12 runs could be made." in html
    assert html.count("<li>the jars of sqlite cannot be had: no network</li>") == 1
    assert "The first chart appears" not in html
    assert "Start it again" not in html
    assert "the next <code>make up</code> does so by itself" in html
    assert first.start_first() is None

    client.force_login(operator)
    assert "Start it again" in client.get("/").content.decode()
    assert client.post("/first-experiment/again/").status_code == 302
    again = first.start_first()
    assert again.slug == "first-light-2"
    assert schedule.first_experiment() == again
    assert again.runs.count() == 12
    assert failed.runs.count() == 12  # what failed is kept
    assert client.post("/first-experiment/again/").status_code == 302
    assert first.start_first() is None


@pytest.mark.parametrize("state", ["finished", "cancelled", "queued"])
def test_it_is_not_started_again_when_not_all_of_it_failed(machine, state):
    machine()
    first.start_first()
    fail_all()
    Run.objects.filter(pk=Run.objects.last().pk).update(state=state)
    assert not schedule.set_failed_first_aside()
    assert first.start_first() is None


@pytest.mark.django_db(transaction=True)
def test_it_is_started_again_once_however_many_ask(machine):
    machine()
    first.start_first()
    fail_all()
    assert sorted(in_threads(4, schedule.set_failed_first_aside)) == [False, False, False, True]
    made = in_threads(4, first.start_first)
    assert sorted(type(outcome).__name__ for outcome in made) == ["Experiment"] + ["NoneType"] * 3
    assert Run.objects.count() == 24


def test_without_a_first_run_nothing_is_promised_after_a_failure(machine, client, settings):
    machine()
    first.start_first()
    fail_all()
    settings.FIRST_RUN = False
    html = client.get("/").content.decode()
    assert "make up" not in html.split("Recent runs")[0]
