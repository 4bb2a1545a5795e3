"""The queue as a whole: paused, a selection cancelled, stalled."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.jobs import dispatch, queue, reservations, status
from agents.models import Agent, Job, Reservation
from agents.plans import schedule
from runs.models import Run
from runs.models.choices import RunState
from tests.agents.conftest import plan_of

pytestmark = pytest.mark.django_db
A = "sqlite:3.50.1"
PATH = "/api/v1/queue/"


def test_a_paused_queue_hands_out_nothing_and_every_run_says_so(client, bearer, machine, operator):
    machine()
    run = schedule.start(plan_of(A), user=operator).runs.get()
    headers = bearer("schedule")

    def change(**body):
        return client.patch(PATH, body, content_type="application/json", headers=headers)

    assert change(paused=True, until="2020-01-01T00:00:00Z").status_code == 400
    assert "new disk" in change(paused=True, reason="new disk").json()["paused"]
    assert dispatch.assign_queued() == 0
    assert "new disk" in status.reason(run)
    assert "new disk" in client.get("/queue/").content.decode()
    assert change(paused=False).json()["paused"] == ""
    assert dispatch.assign_queued() == 1


def test_a_pause_ends_by_its_time(machine, operator):
    machine()
    schedule.start(plan_of(A), user=operator)
    reservations.reserve(None, by=operator, ends_at=timezone.now() + timedelta(hours=1))
    assert dispatch.assign_queued() == 0
    Reservation.objects.update(ends_at=timezone.now() - timedelta(seconds=1))
    assert dispatch.assign_queued() == 1


def test_a_selection_is_cancelled_and_what_runs_goes_on(client, bearer, machine, operator):
    machine()
    first, second, third = (schedule.start(plan_of(A, repeats=2), user=operator) for _ in range(3))
    assert dispatch.assign_queued() == 1
    client.force_login(operator)
    assert "Nothing is ticked." in client.post("/queue/", {"action": "cancel"}, follow=True).content.decode()
    client.post("/queue/", {"action": "cancel", "experiment": [first.slug], "run": [str(third.runs.first().pk), "x"]})
    states = {each: sorted(each.runs.values_list("state", flat=True)) for each in (first, second, third)}
    assert states == {
        first: ["assigned", "cancelled"], second: ["queued", "queued"], third: ["cancelled", "queued"],
    }  # fmt: skip
    body = {"experiments": [second.slug], "runs": [str(run.pk) for run in third.runs.all()]}
    answer = client.post(f"{PATH}cancel/", body, content_type="application/json", headers=bearer("schedule"))
    assert (answer.status_code, answer.json()) == (202, {"cancelled": 3})


def test_a_queue_that_stands_still_although_it_could_go_on_is_an_alarm(client, machine, operator):
    machine()
    run = schedule.start(plan_of(A), user=operator).runs.get()
    long_ago = timezone.now() - timedelta(minutes=6)
    assert queue.stalled() == ""
    Run.objects.update(state_changed_at=long_ago)
    Agent.objects.update(registered_at=long_ago)
    assert "bench1 is idle" in queue.stalled()
    assert client.get(PATH).json()["stalled"] == queue.stalled()
    reservations.reserve(None, by=operator)
    assert queue.stalled() == ""
    reservations.resume(None, by=operator)
    Agent.objects.update(last_seen_at=long_ago)
    assert queue.stalled() == ""
    Agent.objects.update(last_seen_at=timezone.now())
    assert dispatch.assign_queued() == 1
    assert queue.stalled() == ""
    assert Job.objects.get(pk=run.pk).run.state == RunState.ASSIGNED
