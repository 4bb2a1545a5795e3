"""Which machine an agent is on: never pooled or split silently, whatever it is called."""

from __future__ import annotations

from copy import deepcopy

import pytest

from agents import machines
from agents.jobs import dispatch
from agents.models import Agent, EnrolmentCode
from agents.plans import schedule
from runs.access.changes import history
from runs.history.identity import machine_of
from runs.models import HardwareProfile, Run
from tests.agents.conftest import HARDWARE, plan_of, registration

pytestmark = pytest.mark.django_db


def registered(name: str, hostname: str = "node", **facts) -> Agent:
    hardware = deepcopy(HARDWARE) | {"hostname": hostname} | facts
    message = registration(name, hardware=hardware, code=EnrolmentCode.issue())
    return machines.register(message=message)[0]


def polled(agent: Agent, hostname: str = "node", **facts) -> Agent:
    hardware = deepcopy(HARDWARE) | {"hostname": hostname} | facts
    machines.update(agent, poll={"protocol": 1, "agent_version": "0.1.0", "hardware": hardware})
    return Agent.objects.get(pk=agent.pk)


def series_of(agent: Agent):
    return machine_of(agent.hardware, None)


def test_two_agents_with_one_host_name_are_two_machines():
    one, other = registered("one", machine_id="a" * 32), registered("two", machine_id="b" * 32)
    assert one.hardware != other.hardware
    assert series_of(one) != series_of(other)


def test_a_renamed_host_stays_its_machine_and_says_so():
    agent = registered("one", "old", machine_id="a" * 32)
    before = (agent.hardware, series_of(agent))
    agent = polled(agent, "new", machine_id="a" * 32)
    assert (agent.hardware, series_of(agent)) == before
    assert [(row.field, row.old, row.new) for row in history(agent)] == [("host name", "old", "new")]


def test_an_agent_installed_anew_finds_its_machine():
    one, again = registered("one", machine_id="a" * 32), registered("again", machine_id="a" * 32, kernel="7.0")
    assert one.hardware != again.hardware
    assert series_of(one) == series_of(again)


def test_a_copy_of_an_image_is_a_machine_of_its_own_and_said_so():
    one = registered("one", machine_id="a" * 32, made_of=["board1", "card1"])
    copy = registered("copy", machine_id="a" * 32, made_of=["board2", "card2"])
    assert series_of(one) != series_of(copy)
    (said,) = history(copy)
    assert (said.field, said.new) == ("machine", copy.hardware.details["machine_id"])
    with_new_card = polled(one, machine_id="a" * 32, made_of=["board1", "card3"])
    assert series_of(with_new_card) == series_of(one)
    assert polled(copy, machine_id="a" * 32, made_of=["board2"]).hardware == copy.hardware
    assert history(copy).count() == 1


def test_a_machine_that_begins_to_tell_its_id_keeps_its_runs_and_benchmarks():
    agent = registered("one")
    before = (agent.hardware, series_of(agent))
    agent = polled(agent, machine_id="a" * 32)
    assert (agent.hardware, series_of(agent)) == before
    newer = polled(agent, machine_id="a" * 32, kernel="7.0")
    assert newer.hardware != before[0]
    assert series_of(newer) == before[1]
    assert registered("two", machine_id="b" * 32).hardware not in (before[0], newer.hardware)
    assert HardwareProfile.objects.count() == 3


@pytest.mark.parametrize("exclusive", [True, False])
def test_two_agents_on_one_machine_measure_one_after_the_other(settings, exclusive):
    settings.EXCLUSIVE_MACHINES = exclusive
    one, two = (registered(name, machine_id="a" * 32) for name in ("one", "two"))
    assert one.hardware == two.hardware
    for agent in (one, two):
        schedule.start(plan_of(agent=agent), user=None)
    assert dispatch.assign_queued() == (1 if exclusive else 2)
    assert dispatch.assign_queued() == 0
    waiting = Run.objects.filter(state="queued").first()
    if exclusive:  # also where another dispatcher looked for idle agents before the first run was given
        assert not dispatch.assign(dispatch.queued().get(pk=waiting.pk), waiting.job.requested_agent)


def test_an_agent_that_leaves_is_given_nothing_and_gives_back_what_it_has_not_begun(machine):
    bench = machine("bench1")
    schedule.start(plan_of(agent=bench.agent), user=None)
    assert bench.poll(leaving=True).json()["job"] is None
    assert (Agent.objects.get().is_online, dispatch.assign_queued()) == (False, 0)
    # Also where a dispatcher saw it idle before it left: of the run that ended because it was stopped.
    assert not dispatch.assign(dispatch.queued().get(), Agent.objects.get())
    bench.poll()
    assert dispatch.assign_queued() == 1
    assert bench.poll(leaving=True).json()["job"] is None
    assert Run.objects.get().state == "queued"
