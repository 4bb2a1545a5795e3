from __future__ import annotations

import pytest
from benchagent.protocol import API_ROOT, POLL_IDLE_S
from django.core.cache import cache

from agents import machines
from agents.jobs import dispatch, life
from agents.models import ONLINE_WITHIN
from agents.plans import schedule
from tests.agents.conftest import facts_of, plan_of

pytestmark = pytest.mark.django_db


def test_it_names_the_run_assigned_to_this_agent(assigned):
    bench, run = assigned
    answer = bench.poll()
    assert answer.status_code == 200
    assert answer.json() == {"status": "approved", "poll_after_s": POLL_IDLE_S, "job": str(run.pk), "message": ""}


def test_it_names_it_again_until_it_is_claimed(assigned):
    bench, run = assigned
    assert bench.poll().json()["job"] == bench.poll().json()["job"] == str(run.pk)
    life.claim(agent=bench.agent, run_id=run.pk)
    assert bench.poll().json()["job"] is None


def test_it_gives_nothing_that_another_agent_has(assigned, machine):
    assert machine("bench2").poll().json()["job"] is None


def test_it_gives_no_run_by_itself(machine):
    """Only the task `dispatch` assigns: with the worker stopped runs stay queued."""
    bench = machine()
    schedule.start(plan_of(), user=None)
    assert bench.poll().json()["job"] is None


def test_it_sets_a_faster_tempo_while_there_is_work(machine):
    bench = machine()
    assert bench.poll().json()["poll_after_s"] == POLL_IDLE_S
    schedule.start(plan_of(), user=None)
    assert bench.poll().json()["poll_after_s"] <= 1


def test_it_tells_a_pending_and_a_disabled_agent_why_they_get_nothing(machine):
    pending = machine(approved=False).poll().json()
    assert (pending["status"], pending["job"]) == ("pending", None)
    assert "approval" in pending["message"]
    bench = machine("bench2")
    schedule.start(plan_of(), user=None)
    dispatch.assign_queued()
    machines.disable(bench.agent)
    disabled = bench.poll().json()
    assert (disabled["status"], disabled["job"]) == ("disabled", None)
    assert "disabled" in disabled["message"]


@pytest.mark.parametrize("token", ["", "bsa_wrong", "bst_wrong"])
def test_it_refuses_an_unknown_token(machine, token):
    answer = machine().post("/poll/", {"protocol": 1, "agent_version": "1"}, token=token)
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"] == "Bearer"


def test_it_refuses_a_job_token(attempt):
    answer = attempt.machine.post("/poll/", {"protocol": 1, "agent_version": "1"}, token=attempt.token)
    assert answer.status_code == 401


def test_it_refuses_another_protocol(machine):
    answer = machine().post("/poll/", {"protocol": 9, "agent_version": "1"})
    assert answer.status_code == 426
    assert (answer.json()["server"], answer.json()["agent"]) == (1, 9)


def test_it_names_the_wrong_field(machine):
    answer = machine().poll(engines=[{"dbms": "h2"}])
    assert answer.status_code == 400
    assert answer.json() == {"engines[0].version": ["This field is required."]}


def test_it_asks_the_database_little(machine, django_assert_max_num_queries):
    bench = machine()
    bench.poll()  # how many agents there are is counted every few seconds
    with django_assert_max_num_queries(3):
        bench.poll()


@pytest.mark.parametrize("levels", [101, 480, 900, 5_000])
@pytest.mark.parametrize(("opened", "closed"), [("[", "]"), ('{"a":', "}")])
def test_it_refuses_a_message_that_is_nested_too_deeply_wherever(client, levels, opened, closed):
    """Also in what an answer repeats: the version of the protocol."""
    body = f'{{"protocol": {opened * levels}1{closed * levels}}}'
    for path in (f"{API_ROOT}/poll/", f"{API_ROOT}/register/", "/api/v1/results/", "/api/v1/experiments/"):
        answer = client.post(path, body, content_type="application/json")
        assert (answer.status_code, "levels deep" in answer.content.decode()) in ((400, True), (401, False)), path


@pytest.mark.parametrize("version", ["²", "9" * 5_000, "", "1\n2"])
def test_it_refuses_a_version_that_is_no_name(client, assigned, version):
    bench, _run = assigned
    answer = bench.poll(engines=[facts_of("sqlite:3.50.1"), {**facts_of("sqlite:1"), "version": version}])
    assert (answer.status_code, list(answer.json())) == (400, ["engines[1].version"])
    bench.agent.refresh_from_db()
    assert version not in [engine["version"] for engine in bench.agent.engines]


@pytest.mark.parametrize("page", ["/agents/", "/schedule/"])
def test_pages_open_whatever_version_is_stored(client, assigned, page):
    bench, _run = assigned
    bench.agent.engines = [
        {**facts_of("sqlite:1"), "version": version} for version in ("²", "9" * 5_000, "3.9", "3.10")
    ]
    bench.agent.save()
    assert client.get(page).status_code == 200


def test_the_more_agents_the_slower_each_asks_and_only_who_may_get_a_run_asks_often(machine, monkeypatch):
    bench, other = machine("bench1"), machine("bench2")
    schedule.start(plan_of(agent=bench.agent), user=None)
    assert bench.poll().json()["poll_after_s"] < other.poll().json()["poll_after_s"] == POLL_IDLE_S
    cache.set("agents-online", 500)
    assert 6 < other.poll().json()["poll_after_s"] < 10
    cache.set("agents-online", 10**6)
    assert other.poll().json()["poll_after_s"] < ONLINE_WITHIN.total_seconds() / 2
    cache.delete("agents-online")
