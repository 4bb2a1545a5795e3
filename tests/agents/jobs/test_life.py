from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace
from datetime import timedelta

import pytest
from benchagent.protocol import CONFIGURATION
from django.urls import reverse
from django.utils import timezone

from agents.jobs import dispatch, life, status
from agents.models import Job
from agents.plans import schedule
from runs import results
from runs.models import Experiment, Run
from runs.models.choices import RunState
from tests.agents.conftest import finish_item, plan_of

pytestmark = pytest.mark.django_db


def runs_of(experiment) -> list[Run]:
    return list(experiment.runs.order_by("order_index"))


def claimed(experiment) -> Run:
    dispatch.assign_queued()
    run = runs_of(experiment)[0]
    life.claim(agent=experiment.bench.agent, run_id=run.pk)
    return run


def test_it_cancels_an_assigned_run_at_once(experiment, operator):
    dispatch.assign_queued()
    run = runs_of(experiment)[0]
    assert run.state == RunState.ASSIGNED
    assert life.cancel(run, by=operator)
    run.refresh_from_db()
    assert run.message == "cancelled by olga-operator before it started"
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


REFUSED = 'PostgreSQL 15.8 did not start: unrecognized configuration parameter "x"'


def ended(run: Run, *, failure: str = CONFIGURATION, message: str = REFUSED) -> None:
    """As its agent says that it failed."""
    dispatch.assign_queued()
    job = Job.objects.get(pk=run.pk)
    life.claim(agent=job.agent, run_id=run.pk)
    item = finish_item("failed", message) | ({"failure": failure} if failure else {})
    life.apply(run_id=run.pk, batch={"seq": 1, "items": [item]})


def of_two_configurations(machine) -> Experiment:
    """Two levels of each, two repeats."""
    machine("m1", "postgresql:15.8")
    plan = plan_of("postgresql:15.8", repeats=2, swept={"postgresql": {"work_mem": ("4MB", "8MB")}})
    return schedule.start(replace(plan, sweep={"scale_factor": (1, 2)}), user=None)


def states_by_value(experiment: Experiment) -> dict[str, set[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for run in experiment.runs.select_related("job"):
        found[dict(run.job.spec["settings"])["work_mem"]].add(run.state)
    return found


def test_what_has_the_refused_settings_is_not_begun(machine, operator):
    """Was: each of them started and failed, one after the other."""
    started = of_two_configurations(machine)
    first = runs_of(started)[0]
    ended(first)
    assert states_by_value(started) == {"4MB": {RunState.FAILED}, "8MB": {RunState.QUEUED}}
    alike = started.runs.filter(state=RunState.FAILED)
    unstarted = "not started: x was refused"
    assert Counter(alike.values_list("message", flat=True)) == {REFUSED: 1, unstarted: 3}
    failures = status.experiment_progress(started, operator)["failures"]
    assert failures == [f"3 × {unstarted}", REFUSED], "Was: 4 × did not start"
    # They are had again as all that failed.
    again = schedule.repeat_failed(started, user=operator)
    assert {run.state for run in again} == {RunState.QUEUED} and len(again) == 4


def test_what_its_dbms_has_refused_is_not_repeated(machine, operator, client):
    """Seen: the same three runs queued once more without a word, to fail again."""
    started = of_two_configurations(machine)
    ended(runs_of(started)[0], message='PostgreSQL 15.8 did not start: invalid value for parameter "work_mem": "4MB"')
    client.force_login(operator)
    path = reverse("experiment-repeat", args=[started.slug])
    said = client.post(path, follow=True).content.decode()
    assert "Nothing was queued. work_mem=4MB: postgresql 15.8 refused it in an earlier run." in said
    assert states_by_value(started) == {"4MB": {RunState.FAILED}, "8MB": {RunState.QUEUED}}
    assert started.runs.count() == 8
    # What failed for another reason is.
    waiting = started.runs.filter(state=RunState.QUEUED).first()
    results.end_waiting([waiting.pk], state=RunState.FAILED, at=timezone.now(), message="the disk is full")
    assert "1 run queued once more." in client.post(path, follow=True).content.decode()


@pytest.mark.parametrize("failure", ["", "a kind of tomorrow"])
def test_a_failure_of_another_kind_or_of_an_older_agent_is_of_its_run_alone(machine, failure):
    started = of_two_configurations(machine)
    ended(runs_of(started)[0], failure=failure)
    assert started.runs.filter(state=RunState.FAILED).count() == 1


def test_settings_that_follow_from_a_factor_are_of_the_refused_ones(machine):
    machine("m1", "postgresql:15.8")
    plan = replace(plan_of("postgresql:15.8"), sweep={"group_commit": ("off", "2")})
    started = schedule.start(plan, user=None)
    ended(runs_of(started)[0])
    assert started.runs.filter(state=RunState.FAILED).count() == 1


def test_another_experiment_and_a_run_of_none_are_left_alone(machine):
    started, other = of_two_configurations(machine), of_two_configurations(machine)
    Run.objects.filter(experiment=other).update(experiment=None)
    ended(runs_of(started)[0])
    assert not Run.objects.filter(experiment=None, state=RunState.FAILED).exists()
    Run.objects.filter(experiment=started, state=RunState.QUEUED).delete()
    ended(Run.objects.filter(experiment=None).order_by("order_index")[0])
    assert Run.objects.filter(experiment=None, state=RunState.FAILED).count() == 1
