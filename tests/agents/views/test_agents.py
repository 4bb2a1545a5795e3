from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from agents.jobs import dispatch
from agents.models import Agent, AgentStatus, EnrolmentCode
from agents.plans import schedule
from tests.agents.conftest import facts_of, plan_of

pytestmark = pytest.mark.django_db
PATH = "/agents/"


def page(client, **more) -> str:
    answer = client.get(PATH, **more)
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def test_it_lists_engines_machine_and_state(client, machine):
    bench = machine("bench1", "sqlite:3.50.1", "h2:2.3.232")
    Agent.objects.filter(pk=bench.agent.pk).update(
        engines=[facts_of("sqlite:3.50.1"), facts_of("postgresql:15.8", "who may not enter /root")]
    )
    html = page(client)
    assert "Approved, online" in html
    assert "SQLite 3.50.1" in html
    assert "PostgreSQL 15.8: not available, who may not enter /root" in html
    assert "Example 3000, 4 threads" in html
    assert "<dd>8 GiB</dd>" in html
    assert "Idle." in html


def test_it_says_which_engines_were_never_verified_against_a_live_server(client, machine):
    agent = machine("bench1", "sqlite:3.50.1").agent
    there = {"dbms": "db2", "version": "11.5", "available": True, "reason": "", "path": "", "connection": "prod"}
    Agent.objects.filter(pk=agent.pk).update(engines=[facts_of("sqlite:3.50.1"), there])
    html = page(client)
    assert html.count("not verified against a live server") == 1
    assert "IBM Db2 11.5 on connection prod<span" in html


def test_it_says_what_an_agent_is_doing(client, machine):
    machine()
    run = schedule.start(plan_of(), user=None).runs.get()
    dispatch.hand_out()
    assert f'Now: <a href="{reverse("run", args=[run.pk])}">TPC-B profile on SQLite 3.50.1' in page(client)


def test_it_says_when_an_agent_was_last_heard_of(client, machine):
    machine()
    Agent.objects.update(last_seen_at=timezone.now() - timedelta(hours=2))
    html = page(client)
    assert "Approved, offline" in html
    assert "Last heard of" in html


def test_it_tells_how_to_add_one(client):
    html = page(client)
    assert "No agent is registered yet" in html
    assert "benchagent run --server http://testserver --state /var/lib/benchagent" in html


def test_it_refreshes_the_list_alone_for_htmx(client, machine):
    machine()
    html = page(client, headers={"HX-Request": "true"})
    assert html.startswith('<div class="stack" id="agent-rows"')
    assert "SQLite 3.50.1" in html
    assert "<html" not in html


def test_it_lets_an_operator_approve_and_disable(client, machine, operator):
    agent = machine("stranger", approved=False).agent
    client.force_login(operator)
    assert "Approve" in page(client)
    assert client.post(reverse("agent-approve", args=[agent.slug])).status_code == 302
    agent.refresh_from_db()
    assert agent.status == AgentStatus.APPROVED
    client.post(reverse("agent-disable", args=[agent.slug]))
    agent.refresh_from_db()
    assert agent.status == AgentStatus.DISABLED


def test_who_waits_is_shown_to_operators_only(client, machine, viewer, operator):
    machine("rude name of a stranger", approved=False)
    for person in (None, viewer):
        if person:
            client.force_login(person)
        assert "rude name" not in page(client)
    client.force_login(operator)
    assert "rude name" in page(client)


def test_it_lets_an_operator_delete_who_waits_and_nobody_else(client, machine, operator):
    waits, works = machine("stranger", approved=False).agent, machine("bench1").agent
    client.force_login(operator)
    assert (
        "stranger is deleted" in client.post(reverse("agent-delete", args=[waits.slug]), follow=True).content.decode()
    )
    kept = client.post(reverse("agent-delete", args=[works.slug]), follow=True).content.decode()
    assert "bench1 does not wait for approval: disable it instead" in kept
    assert list(Agent.objects.all()) == [works]


def test_it_shows_a_new_code_once(client, operator):
    client.force_login(operator)
    answer = client.post(reverse("agent-code"))
    assert "no-store" in answer["Cache-Control"]
    code = answer.content.decode().split("data-code>")[1].split("<")[0]
    assert code not in page(client)
    assert EnrolmentCode.redeem(code)
    assert not EnrolmentCode.redeem(code)


@pytest.mark.parametrize("action", ["agent-approve", "agent-disable", "agent-delete", "agent-code"])
def test_it_lets_nobody_else_change_anything(client, machine, viewer, contributor, action):
    agent = machine("stranger", approved=False).agent
    path = reverse(action, args=[] if action == "agent-code" else [agent.slug])
    assert client.post(path)["Location"].startswith(reverse("login"))
    for person in (viewer, contributor):
        client.force_login(person)
        assert client.post(path).status_code == 403
        assert client.get(path).status_code == 405
    agent.refresh_from_db()
    assert agent.status == AgentStatus.PENDING
    assert not EnrolmentCode.objects.exists()


def test_it_asks_the_database_a_fixed_number_of_times(client, machine, django_assert_max_num_queries):
    for number in range(6):
        machine(f"bench{number}")
    with django_assert_max_num_queries(4):
        client.get(PATH)
