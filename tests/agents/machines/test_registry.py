from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agents import machines
from agents.models import Agent, AgentStatus, EnrolmentCode
from agents.refusals import Refusal
from runs.models import HardwareProfile, digest_secret
from tests.agents.conftest import HARDWARE, facts_of, registration

pytestmark = pytest.mark.django_db


@pytest.fixture
def open_registration(settings):
    settings.OPEN_REGISTRATION = True


def test_it_approves_who_brings_a_one_time_code():
    agent, token = machines.register(message=registration(code=EnrolmentCode.issue()))
    assert agent.status == AgentStatus.APPROVED
    assert agent.hardware.cpu_model == "Example 3000"
    assert agent.token_digest == digest_secret(token)
    assert Agent.objects.by_token(token) == agent


def test_it_approves_a_machine_whose_facts_are_damaged_and_takes_them_with_its_next_poll(open_registration):
    machines.register(message=registration())
    Agent.objects.update(facts={"ram_bytes": "many"})
    agent = Agent.objects.get()
    machines.approve(agent)
    assert (agent.status, agent.hardware) == (AgentStatus.APPROVED, None)
    poll = {"protocol": 1, "agent_version": "0.1.0", "hardware": registration()["hardware"]}
    machines.update(agent, poll=poll)
    assert agent.hardware.cpu_model == "Example 3000"


def test_it_stores_neither_token_nor_code():
    code = EnrolmentCode.issue()
    agent, token = machines.register(message=registration(code=code))
    assert token not in str(Agent.objects.filter(pk=agent.pk).values())
    assert code not in str(EnrolmentCode.objects.values())


@pytest.mark.parametrize("open_registration", [False, True])
def test_it_refuses_the_second_user_of_a_code_or_lets_him_wait(settings, open_registration):
    settings.OPEN_REGISTRATION = open_registration
    code = EnrolmentCode.issue()
    machines.register(message=registration("first", code=code))
    if open_registration:
        second, _ = machines.register(message=registration("second", code=code))
        assert second.status == AgentStatus.PENDING
    else:
        with pytest.raises(Refusal, match="unknown, used or older than an hour"):
            machines.register(message=registration("second", code=code))


def test_it_does_not_take_a_code_that_has_expired(open_registration):
    code = EnrolmentCode.issue(valid_for=timedelta(seconds=-1))
    agent, _ = machines.register(message=registration(code=code))
    assert agent.status == AgentStatus.PENDING


def test_it_keeps_facts_of_a_bounded_size_and_the_code_good_for_another_try(monkeypatch):
    monkeypatch.setattr(machines, "MAX_FACTS_BYTES", 3000)
    code = EnrolmentCode.issue()
    large = [{**facts_of("sqlite:3.50.1"), "path": "/x" * 2000}]
    with pytest.raises(Refusal, match="takes 4 kB; at most 2 kB are kept"):
        machines.register(message={**registration(code=code), "engines": large})
    agent, _ = machines.register(message=registration(code=code))
    with pytest.raises(Refusal, match="takes"):
        machines.update(agent, poll={"protocol": 1, "agent_version": "0.1.0", "engines": large})
    assert Agent.objects.get().engines != large


def test_it_removes_only_who_waits(machine):
    approved, pending = machine().agent, machine("stranger", approved=False).agent
    assert [machines.remove(approved), machines.remove(pending)] == [False, True]
    assert list(Agent.objects.all()) == [approved]


def test_it_writes_no_hardware_for_a_stranger_before_he_is_approved(open_registration):
    agent, _ = machines.register(message=registration())
    assert agent.status == AgentStatus.PENDING
    assert not HardwareProfile.objects.exists()
    machines.approve(agent)
    agent.refresh_from_db()
    assert agent.hardware.storage.get().name == "sda"


def test_it_finds_the_same_machine_again():
    first, _ = machines.register(message=registration(code=EnrolmentCode.issue()))
    second, _ = machines.register(message=registration(code=EnrolmentCode.issue()))
    assert first != second
    assert first.hardware == second.hardware
    assert first.slug != second.slug


def test_it_refuses_more_strangers_than_anybody_would_approve(monkeypatch, open_registration):
    monkeypatch.setattr(machines, "MAX_PENDING", 2)
    machines.register(message=registration("a"))
    machines.register(message=registration("b"))
    with pytest.raises(Refusal, match="Too many agents wait"):
        machines.register(message=registration("c"))
    machines.register(message=registration("d", code=EnrolmentCode.issue()))


def test_it_takes_new_engines_and_hardware_from_a_poll(machine):
    bench = machine()
    hardware = {**HARDWARE, "hostname": "bench1", "kernel": "6.2"}
    poll = {"protocol": 1, "agent_version": "0.2.0", "engines": [facts_of("h2:2.3.232")], "hardware": hardware}
    before = bench.agent.hardware
    machines.update(bench.agent, poll=poll)
    agent = Agent.objects.get(pk=bench.agent.pk)
    assert [engine["dbms"] for engine in agent.engines] == ["h2"]
    assert agent.agent_version == "0.2.0"
    assert agent.hardware != before
    assert agent.hardware.kernel == "6.2"


def test_it_writes_the_time_of_a_poll_at_most_every_five_seconds(machine, django_assert_num_queries):
    agent = machine().agent
    seen = agent.last_seen_at
    poll = {"protocol": 1, "agent_version": "0.1.0"}
    with django_assert_num_queries(0):
        machines.update(agent, poll=poll)
    agent.last_seen_at = seen - timedelta(seconds=6)
    agent.save()
    with django_assert_num_queries(1):
        machines.update(agent, poll=poll)
    assert Agent.objects.get(pk=agent.pk).last_seen_at > seen - timedelta(seconds=1)


def test_it_forgets_strangers_that_left_and_codes_that_are_over(machine):
    approved, pending = machine().agent, machine("stranger", approved=False).agent
    EnrolmentCode.issue(valid_for=timedelta(days=-8))
    fresh = EnrolmentCode.issue()
    Agent.objects.update(last_seen_at=timezone.now() - timedelta(days=8))
    machines.forget_stale()
    assert list(Agent.objects.all()) == [approved]
    assert not Agent.objects.filter(pk=pending.pk).exists()
    assert EnrolmentCode.redeem(fresh)


def test_a_second_agent_of_a_host_name_has_a_name_of_its_own(machine):
    assert [machine("vm").agent.name for _ in range(2)] == ["vm", "vm-2"]
