from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from agents import machines
from agents.jobs import dispatch, life
from agents.models import Agent, Job
from agents.plans import schedule
from runs.models import Run, delete_softly
from runs.models.choices import ON_AGENT_STATES, RunState
from tests.agents.conftest import plan_of

pytestmark = pytest.mark.django_db
A, B = "sqlite:3.50.1", "h2:2.3.232"


def first_runs(*engines: str, **more) -> list[Run]:
    return list(schedule.start(plan_of(*engines, **more), user=None).runs.order_by("order_index"))


def assigned() -> list[Job]:
    return list(Job.objects.filter(run__state=RunState.ASSIGNED).select_related("agent", "run").order_by("pk"))


def test_it_gives_the_next_run_to_an_idle_agent(machine):
    bench = machine()
    runs = first_runs(A, B, repeats=2)
    assert dispatch.assign_queued() == 1
    job = assigned()[0]
    assert (job.run, job.agent) == (runs[0], bench.agent)
    assert job.assigned_at is not None
    assert [change.state for change in job.run.state_changes.all()] == ["queued", "assigned"]


def test_it_gives_an_agent_one_run_at_a_time(machine):
    bench = machine()
    runs = first_runs(A, repeats=2)
    dispatch.assign_queued()
    assert dispatch.assign_queued() == 0
    life.claim(agent=bench.agent, run_id=runs[0].pk)
    assert dispatch.assign_queued() == 0
    Run.objects.move(runs[0].pk, to=RunState.FAILED)
    assert dispatch.assign_queued() == 1
    assert assigned()[0].run == runs[1]


def test_it_takes_experiments_in_the_order_they_were_started(machine):
    machine()
    first, second = first_runs(A, repeats=2), first_runs(B)
    order = []
    for _ in range(3):
        dispatch.assign_queued()
        order.append(assigned()[0].run)
        Run.objects.move(order[-1].pk, to=RunState.FAILED)
    assert order == [*first, *second]


def test_it_passes_over_agents_that_are_pending_disabled_or_offline(machine):
    pending = machine("pending", A, approved=False).agent
    disabled, offline = machine("disabled", A).agent, machine("offline", A).agent
    first_runs(A)
    machines.disable(disabled)
    Agent.objects.filter(pk=offline.pk).update(last_seen_at=timezone.now() - timedelta(minutes=1))
    assert dispatch.assign_queued() == 0
    machines.approve(pending)
    assert dispatch.assign_queued() == 1
    assert assigned()[0].agent == pending


def test_it_gives_a_run_only_to_the_agent_that_was_asked_for(machine):
    machine("bench1", A)
    wanted = machine("bench2", A).agent
    first_runs(A, agent=wanted)
    dispatch.assign_queued()
    assert assigned()[0].agent == wanted


def test_it_gives_a_run_only_to_an_agent_that_has_the_version(machine):
    machine("bench1", "derby:10.3.2.1")
    right = machine("bench2", "derby:10.16.1.1").agent
    first_runs("derby:10.16.1.1")
    dispatch.assign_queued()
    assert assigned()[0].agent == right


def test_it_keeps_an_experiment_on_one_machine(machine):
    """Two agents could each take a run at once; the repeats would then compare machines, not engines."""
    machine("bench1")
    machine("bench2")
    runs = first_runs(A, repeats=4)
    assert dispatch.assign_queued() == 1
    taken_by = assigned()[0].agent
    assert set(Job.objects.filter(run__in=runs).values_list("requested_agent", flat=True)) == {taken_by.pk}
    # Was: what was cancelled before it started had no machine, and was no run of it.
    assert {run.hardware for run in Run.objects.filter(pk__in=[run.pk for run in runs])} == {taken_by.hardware}


def test_it_starts_two_experiments_on_two_machines_at_once(machine):
    machine("bench1")
    machine("bench2")
    first_runs(A)
    first_runs(A)
    assert dispatch.assign_queued() == 2
    assert len({job.agent_id for job in assigned()}) == 2


def test_it_waits_for_an_agent_that_has_all_engines_of_the_experiment(machine):
    machine("bench1", A)
    both = machine("bench2", A, B).agent
    first_runs(A, B)
    dispatch.assign_queued()
    assert assigned()[0].agent == both


def test_it_does_not_start_a_deleted_run(machine):
    machine()
    run = first_runs(A)[0]
    delete_softly(run)
    assert dispatch.assign_queued() == 0
    assert life.cancel_deleted() == 1
    run.refresh_from_db()
    assert run.state == RunState.CANCELLED


def test_it_takes_back_a_run_that_its_agent_does_not_fetch(machine):
    machine()
    run = first_runs(A)[0]
    dispatch.assign_queued()
    assert dispatch.take_back_unclaimed() == 0
    assert dispatch.take_back_unclaimed(now=timezone.now() + timedelta(seconds=61)) == 1
    run.refresh_from_db()
    assert run.state == RunState.QUEUED
    assert run.job.agent is None
    assert dispatch.assign_queued() == 1


def test_it_gives_nothing_to_an_agent_that_still_renews_the_lease_of_a_lost_run(machine):
    bench = machine()
    lost, _ = first_runs(A, repeats=2)
    dispatch.assign_queued()
    life.claim(agent=bench.agent, run_id=lost.pk)
    life.expire_leases(now=timezone.now() + timedelta(hours=1))
    life.heartbeat(Job.objects.get(pk=lost.pk))
    assert dispatch.assign_queued() == 0
    Job.objects.filter(pk=lost.pk).update(lease_expires_at=timezone.now() - timedelta(seconds=1))
    assert dispatch.assign_queued() == 1


def test_it_looks_at_the_queue_with_a_fixed_number_of_queries(machine, django_assert_max_num_queries):
    machine("bench1", "derby:10.16.1.1")
    bench = machine("bench2", A)
    first_runs(A, repeats=40, agent=bench.agent)
    Agent.objects.filter(pk=bench.agent.pk).update(last_seen_at=None)
    with django_assert_max_num_queries(3):
        assert dispatch.assign_queued() == 0


def in_threads(count: int, action: Callable[[], object]) -> list[object]:
    """Run `action` in that many threads that start together; every one has a connection of its own."""
    barrier, outcomes = threading.Barrier(count), []

    def work() -> None:
        try:
            barrier.wait()
            outcomes.append(action())
        except Exception as error:
            outcomes.append(error)
        finally:
            connection.close()

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return outcomes


@pytest.mark.django_db(transaction=True)
def test_it_never_gives_an_agent_two_runs_however_many_dispatchers_work(machine):
    for number in range(2):
        machine(f"bench{number}")
    for _ in range(6):
        first_runs(A)
    assert sum(in_threads(6, dispatch.assign_queued)) == 2
    on_agent = Job.objects.filter(run__state__in=ON_AGENT_STATES)
    assert sorted(job.agent.name for job in on_agent) == ["bench0", "bench1"]


@pytest.mark.django_db(transaction=True)
def test_it_never_gives_an_agent_two_runs_that_were_chosen_at_the_same_time(machine):
    agent = machine().agent
    runs = [first_runs(A)[0] for _ in range(6)]
    lock = threading.Lock()

    def assign() -> bool:
        with lock:
            run = runs.pop()
        return dispatch.assign(run, agent)

    assert sorted(in_threads(6, assign), key=str) == [False] * 5 + [True]


@pytest.mark.django_db(transaction=True)
def test_it_lets_one_of_many_claims_win(machine):
    bench = machine()
    run = first_runs(A)[0]
    dispatch.assign_queued()
    outcomes = in_threads(6, lambda: life.claim(agent=bench.agent, run_id=run.pk))
    assert sorted(type(outcome).__name__ for outcome in outcomes) == ["Conflict"] * 5 + ["dict"]


@pytest.mark.django_db(transaction=True)
def test_it_ends_a_race_of_claim_and_cancel_in_one_of_the_two(machine):
    bench = machine()
    run = first_runs(A)[0]
    dispatch.assign_queued()
    actions = iter([lambda: life.claim(agent=bench.agent, run_id=run.pk), lambda: life.cancel(run)] * 3)
    lock = threading.Lock()

    def act() -> object:
        with lock:
            action = next(actions)
        return action()

    in_threads(6, act)
    job = Job.objects.select_related("run").get(pk=run.pk)
    claimed = job.claimed_at is not None
    assert job.run.state == (RunState.PREPARING if claimed else RunState.CANCELLED)
    assert (job.cancel_requested_at is not None) == claimed


def test_a_backup_is_proven_until_one_repeat_of_its_cell_has_passed(machine):
    """The first fails, the second passes, the third need not; another cell has to prove its own."""
    machine()
    runs = first_runs(A, B, repeats=3)
    for job in Job.objects.all():
        job.spec["workload"] = "backup"
        job.save()
    states = (("failed", True), ("finished", False), ("finished", True), ("failed", True))
    for run, (state, ok) in zip(runs[:4], states, strict=True):
        Run.objects.filter(pk=run.pk).update(state=state, checks=[{"name": "restored", "ok": ok, "detail": ""}])
    told = {}
    for run in runs[4:]:
        dispatch.assign_queued()
        (job,) = assigned()
        told[job.run.dbms_version.dbms.slug] = job.spec.get("verified_in_repeat")
        Run.objects.move(run.pk, to=RunState.FAILED)
    assert told == {"sqlite": 2, "h2": None}
