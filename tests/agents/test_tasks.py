"""The tasks called as functions; test_celery_real.py sends them through a real broker to a real worker."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone

from agents import tasks
from agents.jobs import dispatch, life
from agents.models import Agent, EnrolmentCode, Job
from agents.plans import schedule
from benchsite.celery import app
from runs.models import Experiment, Run, SeriesChunk
from runs.models.choices import RunState
from tests.agents.conftest import plan_of, samples_item, state_item

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_first_run(settings):
    settings.FIRST_RUN = False


@pytest.mark.parametrize("task", [tasks.dispatch, tasks.sweep], ids=["dispatch", "what a lost message left behind"])
def test_it_hands_out_runs(machine, task):
    machine()
    schedule.start(plan_of(), user=None)
    task()
    assert Run.objects.get().state == RunState.ASSIGNED


def test_the_sweep_expires_leases_and_takes_back_what_nobody_fetched(
    machine, hinted, django_capture_on_commit_callbacks
):
    bench, other = machine("bench1"), machine("bench2")
    for agent in (bench.agent, other.agent):
        schedule.start(plan_of(agent=agent), user=None)
    dispatch.assign_queued()
    claimed = Job.objects.get(agent=bench.agent)
    life.claim(agent=bench.agent, run_id=claimed.pk)
    past = timezone.now() - timedelta(hours=1)
    Job.objects.filter(pk=claimed.pk).update(lease_expires_at=past)
    Job.objects.exclude(pk=claimed.pk).update(assigned_at=past)
    Agent.objects.update(last_seen_at=past)
    with django_capture_on_commit_callbacks(execute=True):
        tasks.sweep()
    assert Run.objects.get(pk=claimed.pk).state == RunState.LOST
    assert Run.objects.exclude(pk=claimed.pk).get().state == RunState.QUEUED
    assert ("agents.summarise", (str(claimed.pk),)) in hinted


def test_the_sweep_starts_the_first_experiment(machine, settings):
    settings.FIRST_RUN = True
    machine()
    tasks.sweep()
    assert Experiment.objects.get().slug == "first-light"
    assert Run.objects.filter(state=RunState.ASSIGNED).count() == 1


def test_it_merges_the_series_of_a_lost_run(machine):
    bench = machine()
    run = schedule.start(plan_of(), user=None).runs.get()
    dispatch.assign_queued()
    life.claim(agent=bench.agent, run_id=run.pk)
    items = [state_item("measuring"), samples_item(1.0), samples_item(2.0, chunk=1, t0_s=1.0)]
    life.apply(run_id=run.pk, batch={"seq": 1, "items": items})
    tasks.summarise(str(run.pk))
    assert SeriesChunk.objects.count() == 2  # it still goes on
    life.expire_leases(now=timezone.now() + timedelta(hours=1))
    for _ in range(2):
        tasks.summarise(str(run.pk))
    assert SeriesChunk.objects.count() == 1


def test_housekeeping_takes_away_what_is_over():
    EnrolmentCode.issue(valid_for=timedelta(days=-8))
    Session.objects.create(session_key="old", session_data="", expire_date=timezone.now() - timedelta(days=1))
    tasks.tidy_up()
    assert not EnrolmentCode.objects.exists()
    assert not Session.objects.exists()


def test_beat_calls_tasks_that_exist_and_lets_stale_messages_expire():
    app.loader.import_default_modules()
    for entry in app.conf.beat_schedule.values():
        assert entry["task"] in app.tasks
        assert entry["options"]["expires"] <= entry["schedule"]
    assert app.conf.beat_schedule["sweep"]["schedule"] <= 5
