from __future__ import annotations

import uuid

import pytest

from agents import machines
from agents.jobs import life
from agents.models import Job
from agents.plans import schedule
from runs.models import Run, digest_secret
from runs.models.choices import RunState
from tests.agents.conftest import HARDWARE, plan_of

pytestmark = pytest.mark.django_db


def test_it_hands_out_the_job_with_its_own_token_and_a_lease(assigned):
    bench, run = assigned
    answer = bench.claim(run.pk)
    assert answer.status_code == 200
    body = answer.json()
    job = Job.objects.select_related("run").get(pk=run.pk)
    assert body["job"] == job.spec
    assert body["lease_s"] == 600
    assert job.token_digest == digest_secret(body["job_token"])
    assert job.run.state == RunState.PREPARING
    assert job.run.started_at is not None
    assert job.lease_expires_at > job.claimed_at


def test_it_succeeds_once(assigned):
    bench, run = assigned
    assert bench.claim(run.pk).status_code == 200
    digest = Job.objects.get(pk=run.pk).token_digest
    assert bench.claim(run.pk).status_code == 409
    assert Job.objects.get(pk=run.pk).token_digest == digest


def test_it_notes_the_machine_that_measures(assigned):
    bench, run = assigned
    before = Run.objects.get(pk=run.pk).cell_key
    poll = {"protocol": 1, "agent_version": "1", "hardware": {**HARDWARE, "hostname": "bench1", "kernel": "7"}}
    machines.update(bench.agent, poll=poll)
    bench.claim(run.pk)
    run = Run.objects.select_related("hardware").get(pk=run.pk)
    assert run.hardware.kernel == "7"
    assert run.cell_key != before


def test_it_refuses_the_run_of_another_agent(assigned, machine):
    _, run = assigned
    other = machine("bench2")
    assert other.claim(run.pk).status_code == 409
    assert Run.objects.get(pk=run.pk).state == RunState.ASSIGNED


def test_it_refuses_a_run_that_nobody_assigned(machine):
    bench = machine()
    run = schedule.start(plan_of(), user=None).runs.get()
    assert bench.claim(run.pk).status_code == 409


def test_it_refuses_a_run_that_was_cancelled(assigned):
    bench, run = assigned
    life.cancel(run)
    assert bench.claim(run.pk).status_code == 409
    assert Run.objects.get(pk=run.pk).state == RunState.CANCELLED


def test_it_refuses_a_disabled_agent(assigned):
    bench, run = assigned
    machines.disable(bench.agent)
    answer = bench.claim(run.pk)
    assert answer.status_code == 403
    assert "not approved" in answer.json()["detail"]


@pytest.mark.parametrize(
    ("run_id", "words"), [(uuid.uuid4(), "no such run"), ("nonsense", "There is nothing at this address.")]
)
def test_it_does_not_know_another_run(machine, run_id, words):
    answer = machine().claim(run_id)
    assert answer.status_code == 404
    assert answer.json() == {"detail": words}
