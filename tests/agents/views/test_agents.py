from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import reverse
from django.utils import timezone

from agents import machines
from agents.jobs import dispatch, status
from agents.models import Agent, AgentStatus, EnrolmentCode, Job, Reservation
from agents.plans import schedule
from runs.access import changes
from runs.models import Run
from tests.agents.conftest import facts_of, plan_of, registration

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
    dispatch.assign_queued()
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
    assert "one-time code" in html


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
    assert "bench1 is in use: disable or retire it instead" in kept
    assert list(Agent.objects.all()) == [works]


def test_it_shows_a_new_code_once(client, operator):
    client.force_login(operator)
    answer = client.post(reverse("agent-code"))
    assert "no-store" in answer["Cache-Control"]
    code = answer.content.decode().split("data-code>")[1].split("<")[0]
    assert code not in page(client)
    assert EnrolmentCode.redeem(code)
    assert not EnrolmentCode.redeem(code)


def test_it_asks_the_database_a_fixed_number_of_times(client, machine, django_assert_max_num_queries):
    for number in range(6):
        machine(f"bench{number}")
    with django_assert_max_num_queries(4):
        client.get(PATH)


def act(client, agent: Agent, action: str, status: int = 302, **more: str):
    answer = client.post(reverse("agent", args=[agent.slug]), {"action": action, **more})
    assert answer.status_code == status
    agent.refresh_from_db()
    return answer


@pytest.fixture
def bench(client, machine, operator):
    made = machine("bench1")
    client.force_login(operator)
    return made


def test_it_gives_an_agent_a_name_and_labels_and_keeps_its_address_and_who_did_it(client, bench, operator):
    act(client, bench.agent, "describe", name="alpha", labels="rack-2 nvme nvme")
    assert (bench.agent.name, bench.agent.slug, bench.agent.labels) == ("alpha", "bench1", ["nvme", "rack-2"])
    assert {(change.field, change.by) for change in changes.history(bench.agent)} == {
        ("name", operator), ("labels", operator),
    }  # fmt: skip
    assert "alpha" in page(client)


@pytest.mark.parametrize(
    ("given", "field"),
    [({"name": ""}, "name"), ({"name": "bench2"}, "name"), ({"name": "x", "labels": "a,b"}, "labels"),
     ({"name": "x", "labels": " ".join(map(str, range(21)))}, "labels")],
)  # fmt: skip
def test_it_names_the_field_of_a_name_or_label_that_cannot_be_and_changes_nothing(client, bench, machine, given, field):
    machine("bench2")
    answer = act(client, bench.agent, "describe", 422, **given)
    assert list(answer.context["describe"].errors) == [field]
    assert (bench.agent.name, bench.agent.labels) == ("bench1", [])


def test_a_paused_agent_gets_no_run_until_its_time_or_until_it_is_resumed(client, bench, operator):
    run = schedule.start(plan_of(agent=bench.agent), user=None).runs.get()
    soon = timezone.now() + timedelta(hours=1)
    act(client, bench.agent, "reserve", reason="new fan", ends_at=f"{soon:%Y-%m-%dT%H:%M}")
    assert dispatch.assign_queued() == 0
    waiting = Run.objects.select_related("job__requested_agent", "dbms_version__dbms").get(pk=run.pk)
    assert status.reason(waiting) == f"Agent bench1 is reserved until {soon:%Y-%m-%d %H:%M} UTC by {operator}: new fan."
    assert bench.poll().json()["message"].endswith("new fan")
    assert not dispatch.assign(run, bench.agent)  # one that was idle when the dispatcher looked
    Reservation.objects.update(ends_at=timezone.now() - timedelta(seconds=1))
    assert dispatch.assign_queued() == 1


def test_a_pause_without_an_end_lasts_until_it_is_resumed_and_lets_the_present_run_go_on(client, bench):
    first, second = schedule.start(plan_of(repeats=2), user=None).runs.order_by("order_index")
    dispatch.assign_queued()
    act(client, bench.agent, "reserve")
    assert bench.poll().json()["job"] == str(first.pk)
    assert bench.claim(first.pk).status_code == 200
    assert "draining" in page(client)
    Run.objects.filter(pk=first.pk).update(state="finished")
    assert dispatch.assign_queued() == 0
    act(client, bench.agent, "resume")
    assert dispatch.assign_queued() == 1
    assert Run.objects.get(pk=second.pk).state == "assigned"


def test_a_run_that_any_machine_may_make_goes_past_a_paused_one(client, bench, machine):
    other = machine("bench2").agent
    act(client, bench.agent, "reserve")
    run = schedule.start(plan_of(), user=None).runs.get()
    assert dispatch.assign_queued() == 1
    assert Job.objects.get(pk=run.pk).agent == other


def test_a_pause_whose_end_is_over_is_refused(client, bench):
    answer = act(client, bench.agent, "reserve", 422, ends_at="2020-01-01T00:00")
    assert list(answer.context["reserve"].errors) == ["ends_at"]
    assert not bench.agent.is_paused


def test_a_retired_agent_is_shut_out_keeps_its_runs_and_can_then_be_deleted(client, bench):
    act(client, bench.agent, "retire")
    assert bench.poll().status_code == 401
    assert "Retired" in page(client)
    assert 'data-agent="bench1"' not in page(client)
    assert client.post(reverse("agent-approve", args=["bench1"])).status_code == 404
    client.post(reverse("agent-delete", args=["bench1"]))
    assert not Agent.objects.exists()


def test_what_waits_for_a_retired_agent_goes_to_another_unless_its_plan_names_it(client, bench, machine):
    free = schedule.start(plan_of(repeats=2), user=None)
    assert dispatch.assign_queued() == 1
    named = schedule.start(plan_of(agent=bench.agent), user=None)
    act(client, bench.agent, "retire")
    machine("bench2")
    wanted = {job.run.experiment: job.requested_agent for job in Job.objects.filter(run__state="queued")}
    assert wanted == {free: None, named: bench.agent}


def test_a_code_for_an_agent_gives_it_another_token_and_no_second_agent(client, bench):
    code = client.post(reverse("agent-code"), {"agent": "bench1"}).content.decode().split("data-code>")[1].split("<")[0]
    agent, token = machines.register(message=registration("another name", code=code))
    assert (agent, agent.name, agent.status) == (bench.agent, "bench1", AgentStatus.APPROVED)
    assert bench.poll().status_code == 401
    bench.token = token
    assert bench.poll().status_code == 200
    assert Agent.objects.count() == 1


def test_it_says_that_nobody_hears_of_a_run_and_when_it_is_given_up(client, bench):
    run = schedule.start(plan_of(), user=None).runs.get()
    dispatch.assign_queued()
    bench.claim(run.pk)
    Agent.objects.update(last_seen_at=timezone.now() - timedelta(minutes=2))
    html = client.get(reverse("run-job", args=[run.pk])).content.decode()
    lease = Job.objects.get(pk=run.pk).lease_expires_at
    assert "No sign of life from bench1" in html
    assert f"At {lease:%H:%M:%S} UTC the run is given up as lost" in html
    assert "<progress" not in html
    progress = client.get(reverse("experiment-progress", args=[run.experiment.slug])).content.decode()
    assert "sign of life" in progress
    assert "left for everything" not in progress


def test_who_may_not_operate_sees_an_agent_and_none_of_its_buttons(client, machine, viewer):
    machine("bench1")
    machine("waits", approved=False)
    client.force_login(viewer)
    assert 'name="action"' not in page_of(client, "bench1")
    assert client.get(reverse("agent", args=["waits"])).status_code == 404
    assert client.post(reverse("agent", args=["bench1"]), {"action": "retire"}).status_code == 403
    assert Agent.objects.get(slug="bench1").status == AgentStatus.APPROVED


def page_of(client, slug: str) -> str:
    return client.get(reverse("agent", args=[slug])).content.decode()
