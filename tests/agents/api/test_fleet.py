from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.jobs import dispatch, life
from agents.models import Agent, Job
from agents.plans import schedule
from runs.models import ApiToken, Run
from tests.agents.conftest import plan_of

pytestmark = pytest.mark.django_db
ROOT = "/api/v1"


@pytest.fixture
def as_operator(operator):
    _, secret = ApiToken.issue(owner=operator, name="lab", scopes=["read", "agent", "schedule"])
    return {"headers": {"Authorization": f"Bearer {secret}"}, "content_type": "application/json"}


def got(client, path: str, **more):
    answer = client.get(ROOT + path, **more)
    assert answer.status_code == 200
    return answer.json()


def test_it_lists_agents_with_what_they_offer(client, machine):
    machine("bench1", "sqlite:3.50.1")
    (told,) = got(client, "/agents/")["results"]
    assert (told["slug"], told["status"], told["online"], told["machine"]) == ("bench1", "approved", True, "bench1")
    assert told["engines"] == [
        {"dbms": "sqlite", "version": "3.50.1", "connection": "", "available": True, "reason": ""}
    ]
    assert got(client, "/agents/bench1/") == told


def test_who_waits_for_approval_is_told_to_operators_only(client, machine, as_operator):
    machine("waits", approved=False)
    assert got(client, "/agents/")["results"] == []
    assert client.get(f"{ROOT}/agents/waits/").status_code == 404
    assert [told["slug"] for told in got(client, "/agents/", **as_operator)["results"]] == ["waits"]


def test_it_changes_an_agent_and_leaves_what_is_not_named(client, machine, as_operator):
    machine("bench1")
    path, until = f"{ROOT}/agents/bench1/", timezone.now() + timedelta(hours=1)
    told = client.patch(path, {"labels": ["nvme"], "paused": True, "paused_until": until.isoformat()}, **as_operator)
    assert told.json()["labels"] == ["nvme"]
    assert told.json()["pause"].startswith("reserved until")
    told = client.patch(path, {"name": "alpha", "paused": False}, **as_operator).json()
    assert (told["name"], told["labels"], told["pause"], told["slug"]) == ("alpha", ["nvme"], "", "bench1")
    assert client.patch(path, {"status": "retired"}, **as_operator).json()["status"] == "retired"
    assert list(client.patch(path, {"status": "approved"}, **as_operator).json()) == ["status"]


@pytest.mark.parametrize(
    ("given", "field"),
    [({"name": ""}, "name"), ({"name": "bench2"}, "name"), ({"labels": ["a b"]}, "labels"), ({"state": 1}, "state"),
     ({"status": "pending"}, "status"), ({"paused": True, "paused_until": "2020-01-01T00:00:00Z"}, "paused_until")],
)  # fmt: skip
def test_it_names_the_field_that_is_wrong_and_changes_nothing(client, machine, as_operator, given, field):
    machine("bench1"), machine("bench2")
    answer = client.patch(f"{ROOT}/agents/bench1/", given, **as_operator)
    assert (answer.status_code, list(answer.json())) == (400, [field])
    agent = Agent.objects.get(slug="bench1")
    assert (agent.name, agent.labels, agent.is_paused) == ("bench1", [], False)


# The queue


def test_it_tells_what_runs_and_what_waits_with_expected_times(client, machine):
    bench, other = machine("bench1"), machine("bench2", "h2:2.3.232")
    long = schedule.start(plan_of(repeats=3, name="long", agent=bench.agent), user=None)
    next_ = schedule.start(plan_of(name="next", agent=bench.agent), user=None)
    schedule.start(plan_of("h2:2.3.232", name="elsewhere", agent=other.agent), user=None)
    Agent.objects.filter(slug="bench2").update(last_seen_at=timezone.now() - timedelta(hours=1))
    dispatch.assign_queued()
    life.claim(agent=bench.agent, run_id=long.runs.get(order_index=1).pk)
    rows = got(client, "/queue/")["results"]
    assert [(row["experiment"], row["runs"], row["agent"], row["state"]) for row in rows] == [
        (long.slug, 1, "bench1", "running"), (long.slug, 2, "bench1", "waiting"),
        (next_.slug, 1, "bench1", "waiting"), ("elsewhere", 1, "bench2", "waiting"),
    ]  # fmt: skip
    assert [row["begins_at"] for row in rows[1:3]] == [row["ends_at"] for row in rows[:2]]
    assert rows[3]["begins_at"] is None
    assert "Offline: bench2" in rows[3]["reason"]


def test_what_is_private_takes_its_time_and_is_not_named(client, machine, operator):
    bench = machine("bench1")
    schedule.start(plan_of(agent=bench.agent, visibility="private", name="secret plan"), user=operator)
    schedule.start(plan_of(agent=bench.agent, name="shown"), user=None)
    hidden, shown = got(client, "/queue/")["results"]
    assert (hidden["experiment"], hidden["run"], hidden["reason"]) == (None, None, "")
    assert shown["begins_at"] == hidden["ends_at"]
    assert "secret plan" not in client.get("/queue/").content.decode()


def test_an_operator_lets_an_experiment_begin_first_or_last(client, machine, operator):
    machine("bench1")
    first, second, third = (schedule.start(plan_of(name=name), user=None) for name in "abc")

    def order() -> list[str]:
        return [run.experiment.name for run in dispatch.queued().select_related("experiment")]

    assert client.post("/queue/", {"experiment": third.slug, "to": "first"})["Location"].startswith("/login/")
    client.force_login(operator)
    client.post("/queue/", {"experiment": third.slug, "to": "first"})
    assert order() == ["c", "a", "b"]
    client.post("/queue/", {"experiment": first.slug, "to": "last"})
    assert order() == ["c", "b", "a"]
    assert client.post("/queue/", {"run": "x"}).status_code == 400
    assert str(second) in client.get("/queue/").content.decode()


def test_a_run_that_has_not_begun_by_its_deadline_is_cancelled_and_says_why(client, machine, as_operator):
    machine("bench1")
    soon = timezone.now() + timedelta(minutes=5)
    plan = {"workload": "tpcb", "engines": [{"dbms": "sqlite", "version": "3.50.1"}], "not_after": soon.isoformat()}
    slug = client.post(f"{ROOT}/experiments/", plan, **as_operator).json()["slug"]
    assert life.cancel_overdue() == 0
    assert life.cancel_overdue(now=soon + timedelta(seconds=1)) == 1
    run = Run.objects.get(experiment__slug=slug)
    assert (run.state, "was not to begin" in run.message) == ("cancelled", True)
    answer = client.post(f"{ROOT}/experiments/", plan | {"not_after": "2020-01-01T00:00:00Z"}, **as_operator)
    assert list(answer.json()) == ["not_after"]


# Experiments


def test_it_tells_of_experiments_and_cancels_what_is_left(client, machine, as_operator):
    machine("bench1")
    experiment = schedule.start(plan_of(repeats=2, name="night"), user=None)
    (told,) = got(client, "/experiments/")["results"]
    assert (told["slug"], told["is_open"], told["states"]) == ("night", True, {"queued": 2})
    assert told["plan"]["workload"] == "tpcb"
    path = f"{ROOT}/experiments/night/cancel/"
    assert client.post(path).status_code == 401
    assert client.post(path, **as_operator).json() == {"cancelled": 2}
    assert got(client, "/experiments/night/")["states"] == {"cancelled": 2}
    assert not Job.objects.filter(run__experiment=experiment, run__state="queued").exists()


# Schedules


def test_a_program_makes_pauses_and_deletes_a_schedule(client, machine, as_operator):
    machine("bench1")
    schedule.start(plan_of(name="sweep"), user=None)
    given = {"experiment": "sweep", "name": "Nightly", "cron": "0 2 * * *", "timezone": "Europe/Berlin"}
    made = client.post(f"{ROOT}/schedules/", given, **as_operator)
    assert made.status_code == 201
    assert (made.json()["slug"], len(made.json()["next_times"])) == ("nightly", 5)
    assert got(client, "/schedules/")["results"] == []
    assert [told["slug"] for told in got(client, "/schedules/", **as_operator)["results"]] == ["nightly"]
    path = f"{ROOT}/schedules/nightly/"
    assert client.patch(path, {"paused": True}, **as_operator).json()["next_times"] == []
    assert client.delete(path, **as_operator).status_code == 204
    for field, value in (("cron", "x"), ("timezone", "Mars"), ("experiment", "none"), ("at", "2020-01-01T00:00:00Z")):
        wrong = given | {"cron": "" if field == "at" else given["cron"], field: value}
        assert list(client.post(f"{ROOT}/schedules/", wrong, **as_operator).json()) == [field]
    assert got(client, "/schedules/", **as_operator)["results"] == []
