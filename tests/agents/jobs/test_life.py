from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.jobs import dispatch, life
from agents.models import Job
from runs.models import Run
from runs.models.choices import RunState

pytestmark = pytest.mark.django_db


def runs_of(experiment) -> list[Run]:
    return list(experiment.runs.order_by("order_index"))


def claimed(experiment) -> Run:
    dispatch.assign_queued()
    run = runs_of(experiment)[0]
    life.claim(agent=experiment.bench.agent, run_id=run.pk)
    return run


def test_it_cancels_an_assigned_run_at_once(experiment):
    dispatch.assign_queued()
    run = runs_of(experiment)[0]
    assert run.state == RunState.ASSIGNED
    assert life.cancel(run)
    assert dispatch.assign_queued() == 1


def test_it_asks_the_agent_to_end_a_run_that_goes_on(experiment):
    run = claimed(experiment)
    assert life.cancel(run)
    asked_at = Job.objects.get(pk=run.pk).cancel_requested_at
    assert life.cancel(run)
    assert Job.objects.get(pk=run.pk).cancel_requested_at == asked_at
    run.refresh_from_db()
    assert run.state == RunState.PREPARING


def test_it_cancels_all_that_is_left_of_an_experiment(experiment):
    claimed(experiment)
    assert life.cancel_experiment(experiment) == 3
    assert [run.state for run in runs_of(experiment)] == [
        RunState.PREPARING, RunState.CANCELLED, RunState.CANCELLED,
    ]  # fmt: skip
    assert Job.objects.filter(cancel_requested_at__isnull=False).count() == 1


def test_it_gives_up_a_run_whose_lease_has_lapsed_and_does_not_start_it_again(experiment):
    run = claimed(experiment)
    life.heartbeat(Job.objects.get(pk=run.pk))
    now = timezone.now()
    assert life.expire_leases(now=now + timedelta(seconds=590)) == []
    assert life.expire_leases(now=now + timedelta(seconds=610)) == [run.pk]
    assert life.expire_leases(now=now + timedelta(seconds=610)) == []
    run.refresh_from_db()
    assert run.state == RunState.LOST
    assert "no sign of life from bench1 within 10 minutes" in run.message
    assert run not in dispatch.queued()


def test_it_gives_up_soon_a_run_whose_agent_never_spoke_after_the_claim(experiment):
    run = claimed(experiment)
    assert life.expire_leases(now=timezone.now() + timedelta(seconds=80)) == []
    assert life.expire_leases(now=timezone.now() + timedelta(seconds=95)) == [run.pk]
    run.refresh_from_db()
    assert "fetched the run and was not heard of again" in run.message
