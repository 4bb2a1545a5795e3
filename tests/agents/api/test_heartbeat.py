from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.jobs import life
from agents.models import Agent
from runs.models.choices import RunState
from tests.agents.conftest import finish_item

pytestmark = pytest.mark.django_db


def test_it_renews_the_lease(attempt):
    before = attempt.job.lease_expires_at
    answer = attempt.heartbeat()
    assert answer.status_code == 200
    assert answer.json() == {"lease_s": 600, "cancel": False}
    assert attempt.job.lease_expires_at > before + timedelta(seconds=400)


def test_it_shows_the_agent_as_online(attempt):
    Agent.objects.update(last_seen_at=timezone.now() - timedelta(minutes=5))
    attempt.heartbeat()
    assert Agent.objects.get().is_online


def test_it_tells_that_the_run_is_to_be_cancelled(attempt):
    life.cancel(attempt.run)
    assert attempt.heartbeat().json()["cancel"] is True
    assert attempt.now.state == RunState.PREPARING


def test_it_keeps_up_a_run_that_was_given_up_as_lost(attempt):
    life.expire_leases(now=timezone.now() + timedelta(hours=1))
    assert attempt.now.state == RunState.LOST
    assert attempt.heartbeat().status_code == 200
    assert attempt.now.state == RunState.LOST


def test_it_ends_with_the_job(attempt):
    attempt.batch(1, finish_item())
    assert attempt.heartbeat().status_code == 409


def test_it_takes_the_job_token_only(attempt):
    assert attempt.machine.heartbeat(attempt.run.pk, attempt.machine.token).status_code == 401
    assert attempt.machine.heartbeat(attempt.run.pk, "").status_code == 401


def test_it_refuses_a_job_that_nobody_claimed(assigned):
    bench, run = assigned
    assert bench.heartbeat(run.pk, "").status_code == 401
