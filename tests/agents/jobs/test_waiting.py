from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone

from agents import machines
from agents.jobs import dispatch, life, queue, status
from agents.models import Agent, Job
from agents.plans import schedule
from runs.models import Run
from runs.models.choices import RunState
from runs.space import shortage
from tests.agents.conftest import facts_of, plan_of

pytestmark = pytest.mark.django_db
LATER = timedelta(seconds=20)


@pytest.fixture
def bench(machine):
    return machine("bench1")


def new_run(**more) -> Run:
    return schedule.start(plan_of(**more), user=None).runs.order_by("order_index").first()


def reason(run: Run, **more) -> str:
    fresh = Run.objects.select_related("job__agent", "job__requested_agent", "dbms_version__dbms").get(pk=run.pk)
    return status.reason(fresh, **more)


def test_it_says_that_the_run_is_about_to_start(bench):
    assert reason(new_run()) == "Agent bench1 is free: the run starts in a moment."


def test_it_waits_while_the_disk_has_no_room_for_its_results(bench, settings):
    run, room = new_run(), settings.DISK_RESERVE_MB
    settings.DISK_RESERVE_MB = 10**12
    assert dispatch.assign_queued() == 0
    assert reason(run).partition(":")[0] == shortage().partition(":")[0]
    settings.DISK_RESERVE_MB = room
    assert dispatch.assign_queued() == 1


def test_it_says_that_the_worker_does_not_answer(bench):
    """An idle agent polls and the run still waits: nobody hands out runs."""
    run = new_run()
    assert reason(run, now=timezone.now() + LATER) == status.WORKER_SILENT


def test_it_does_not_blame_the_worker_when_the_agent_has_only_just_become_free(bench):
    first, second = schedule.start(plan_of(repeats=2), user=None).runs.order_by("order_index")
    dispatch.assign_queued()
    now = timezone.now() + LATER
    Run.objects.filter(pk=first.pk).update(state=RunState.FINISHED)
    Job.objects.filter(pk=first.pk).update(closed_at=now - timedelta(seconds=1))
    assert reason(second, now=now) != status.WORKER_SILENT


def test_it_says_who_is_busy_and_how_many_are_ahead(bench):
    experiment = schedule.start(plan_of("sqlite:3.50.1", repeats=4), user=None)
    runs = list(experiment.runs.order_by("order_index"))
    dispatch.assign_queued()
    assert reason(runs[1]) == "Agent bench1 is busy with SQLite 3.50.1, this run is next."
    assert [reason(run).rpartition(", ")[2] for run in runs[2:]] == ["1 run is ahead.", "2 runs are ahead."]


def test_between_two_runs_of_others_the_agent_is_free_for_those(bench):
    """Seen: "Agent vm is free: the run starts in a moment" of the 12th in line."""
    schedule.start(plan_of("sqlite:3.50.1", repeats=2), user=None)
    run = new_run()
    assert reason(run) == "Agent bench1 is free, 2 runs are ahead."


def test_what_waits_for_another_machine_is_not_ahead(bench, machine):
    other = machine("bench2")
    schedule.start(plan_of(agent=other.agent, repeats=2), user=None)
    run = new_run(agent=bench.agent)
    assert reason(run) == "Agent bench1 is free: the run starts in a moment."


def test_a_run_without_space_says_so_and_delays_nobody(bench, place):
    """Was: "73 runs are ahead", "about 7 minutes left", and all runs behind it as much later."""
    bench.agent.places = [place | {"free_bytes": 10**6}]
    bench.agent.save()
    first, second = (schedule.start(plan_of(agent=bench.agent), user=None).runs.first() for _ in range(2))
    words = "bench1 lacks space on storage default (1 MB of 624 MB): the run fails unless there is more when it begins."
    assert reason(first) == f"{words} Agent bench1 is free: the run starts in a moment."
    left = [status.experiment_progress(first.experiment, AnonymousUser())["left"]]
    begins = {entry.begins_at for entry in queue.entries(AnonymousUser())}
    assert len(begins) == 1 and None not in begins

    bench.agent.places = [place | {"free_bytes": 10**9}]
    bench.agent.save()
    assert "lacks" not in reason(second)
    left.append(status.experiment_progress(first.experiment, AnonymousUser())["left"])
    assert left == ["about 5 seconds", "about 15 seconds"]
    assert len({entry.begins_at for entry in queue.entries(AnonymousUser())}) == 2


def test_it_says_who_fetches_an_assigned_run(bench):
    run = new_run()
    dispatch.assign_queued()
    bench.agent.refresh_from_db()
    now = bench.agent.last_seen_at + timedelta(seconds=4)
    assert reason(run, now=now) == "Assigned to bench1, which fetches it when it asks next (heard of 4 s ago)."


def test_it_says_since_when_the_agent_is_offline(bench):
    run = new_run()
    Agent.objects.update(last_seen_at=timezone.now() - timedelta(minutes=3, seconds=5))
    assert reason(run) == "Offline: bench1 (last heard of 3\xa0minutes ago). The run starts when an agent is back."


def test_it_says_that_no_agent_is_registered(bench):
    run = new_run()
    Agent.objects.all().delete()
    assert reason(run) == "No agent is registered. The agents page tells how to add one."


def test_it_says_that_an_agent_waits_for_approval_or_is_disabled(bench):
    run = new_run(agent=bench.agent)
    machines.disable(bench.agent)
    assert reason(run) == "Agent bench1 is disabled."
    Agent.objects.update(status="pending")
    assert reason(run) == "No agent is approved yet; one waits for it on the agents page."


def test_it_says_why_an_engine_is_not_available_any_more(bench):
    run = new_run()
    Agent.objects.update(engines=[facts_of("sqlite:3.50.1", "no Java runtime")])
    assert reason(run) == "Agent bench1 does not offer SQLite 3.50.1: no Java runtime."
    Agent.objects.update(engines=[])
    assert "no Java runtime" not in reason(run)


def test_it_says_that_no_single_agent_has_all_engines_any_more(bench, machine):
    run = schedule.start(plan_of("sqlite:3.50.1", "h2:2.3.232"), user=None).runs.order_by("order_index").first()
    machine("bench2", "h2:2.3.232")
    Agent.objects.filter(name="bench1").update(engines=[facts_of("sqlite:3.50.1")])
    assert "No single agent offers all engines" in reason(run)


def test_it_has_nothing_to_say_of_a_run_that_goes_on(bench):
    run = new_run()
    dispatch.assign_queued()
    life.claim(agent=bench.agent, run_id=run.pk)
    assert reason(run) == ""


def in_state(run: Run, state: str, *, started_s: float, since_s: float) -> status.Progress | None:
    now = timezone.now()
    Run.objects.filter(pk=run.pk).update(
        state=state, started_at=now - timedelta(seconds=started_s), state_changed_at=now - timedelta(seconds=since_s)
    )
    return status.progress(Run.objects.select_related("job", "workload").get(pk=run.pk), now=now)


def test_it_reckons_progress_from_the_phase_and_the_plan(bench):
    run = new_run()  # warm-up 2 s, window 5 s
    assert status.progress(run) is None
    assert in_state(run, "warming_up", started_s=4, since_s=1).left_s == pytest.approx(8)
    measuring = in_state(run, "measuring", started_s=9, since_s=4)
    assert measuring.left_s == pytest.approx(3)
    assert measuring.percent == 75
    late = in_state(run, "measuring", started_s=60, since_s=55)
    assert (late.percent, late.left) == (99, "nearly done")
    assert in_state(run, "finished", started_s=60, since_s=5) is None


def test_it_waits_for_another_agent_on_its_machine_and_begins_after_it(bench, machine):
    """Nobody blames the worker, and no run is expected to begin beside the one that is measured there."""
    other = machine("bench2")
    Agent.objects.update(hardware=bench.agent.hardware)
    measured = new_run(agent=other.agent)
    assert dispatch.assign_queued() == 1
    waits = new_run(agent=bench.agent)
    words = reason(waits, now=timezone.now() + LATER)
    assert words == "Agent bench2, on the same machine, is busy with SQLite 3.50.1, this run is next."
    entries = {entry.run.pk: entry for entry in queue.entries(measured.owner or AnonymousUser())}
    assert entries[waits.pk].begins_at >= entries[measured.pk].ends_at
