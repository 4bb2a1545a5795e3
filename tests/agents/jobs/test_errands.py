"""What is asked of a machine itself: given to its agent between runs, told by it, undone."""

from __future__ import annotations

import pytest
from django.utils import timezone

from agents.jobs import dispatch, errands, life, status
from agents.models import Agent, Errand
from agents.plans import schedule
from agents.refusals import FieldErrors
from runs.models import Run
from tests.agents.conftest import Machine, plan_of, registration

pytestmark = pytest.mark.django_db
OFFERED = {
    "engines install": ["mysql-5.5.34"], "engines remove": [], "storage add": [], "storage measure": ["default"],
}  # fmt: skip


@pytest.fixture
def bench(machine) -> Machine:
    made = machine("bench1")
    assert made.poll(errands=OFFERED).status_code == 200
    made.agent.refresh_from_db()
    return made


@pytest.fixture
def asked(bench, operator) -> Errand:
    return errands.ask(bench.agent, by=operator, command="engines install", words=["mysql-5.5.34"])


def told(bench: Machine, errand: Errand, state: str, log: str = "") -> dict:
    return bench.poll(errand={"id": str(errand.pk), "state": state, "log": log}).json()


def test_it_is_named_until_its_agent_has_told_of_its_end(bench, asked):
    order = {"id": str(asked.pk), "command": "engines install", "words": ["mysql-5.5.34"]}
    assert [bench.poll().json()["errand"] for _ in range(2)] == [order, order]
    assert told(bench, asked, "running", "half")["errand"] == order
    asked.refresh_from_db()
    assert (asked.state, asked.log, asked.ended_at) == ("running", "half", None)
    assert "errand" not in told(bench, asked, "done", "all of it")
    told(bench, asked, "failed", "late")
    asked.refresh_from_db()
    assert (asked.state, asked.log) == ("done", "all of it")
    assert asked.begun_at < asked.ended_at


def test_it_waits_for_the_run_that_goes_on_and_the_next_run_waits_for_it(bench, operator):
    first, second = schedule.start(plan_of(repeats=2), user=None).runs.order_by("order_index")
    dispatch.assign_queued()
    asked = errands.ask(bench.agent, by=operator, command="storage measure", words=["default"])
    assert "errand" not in bench.poll().json()
    life.claim(agent=bench.agent, run_id=first.pk)
    assert "errand" not in bench.poll().json()
    Run.objects.filter(pk=first.pk).update(state="finished")
    assert dispatch.assign_queued() == 0
    waiting = Run.objects.select_related("job__requested_agent", "dbms_version__dbms").get(pk=second.pk)
    assert "storage measure default" in status.reason(waiting)
    assert bench.poll().json()["errand"]["id"] == str(asked.pk)
    told(bench, asked, "done")
    assert dispatch.assign_queued() == 1


def test_an_agent_on_the_same_machine_that_measures_is_waited_for(bench, machine, asked):
    other = machine("bench2")
    Agent.objects.update(hardware=bench.agent.hardware)
    run = schedule.start(plan_of(agent=other.agent), user=None).runs.get()
    Run.objects.filter(pk=run.pk).update(state="measuring", state_changed_at=timezone.now())
    run.job.agent = other.agent
    run.job.save()
    assert "errand" not in bench.poll().json()


@pytest.mark.parametrize(
    ("command", "words", "field"),
    [("engines install", ["mysql-4.0"], "words"), ("engines install", [], "words"), ("rm", ["x"], "command"),
     ("storage remove", ["default"], "command")],
)  # fmt: skip
def test_what_the_agent_does_not_offer_is_refused(bench, operator, command, words, field):
    with pytest.raises(FieldErrors) as caught:
        errands.ask(bench.agent, by=operator, command=command, words=words)
    assert list(caught.value.errors) == [field]


def test_an_agent_that_is_too_old_says_so(bench, operator):
    bench.poll(engines=registration()["engines"])
    bench.agent.refresh_from_db()
    with pytest.raises(FieldErrors, match=r"0\.1\.0.* is too old"):
        errands.ask(bench.agent, by=operator, command="storage measure", words=["default"])


def test_what_was_installed_is_undone_once_the_agent_has_it(bench, asked, operator):
    assert errands.undo_of(asked) is None
    bench.poll()
    told(bench, asked, "done")
    bench.poll(errands={"engines install": [], "engines remove": ["mysql-5.5.34"]})
    asked.refresh_from_db()
    assert errands.undo(asked, by=operator).line == "engines remove mysql-5.5.34"


def test_what_failed_is_not_undone_and_says_why(client, bench, operator):
    """Was: Undo of a folder that was not there removed the storage of that name that was made after it."""
    failed = errands.ask(bench.agent, by=operator, command="storage add", words=["ram", "/none"])
    bench.poll()
    assert "Now: storage add ram." in client.get("/agents/bench1/").content.decode()
    told(bench, failed, "failed", "looking\nbenchagent: /none is not a folder\n")
    done = errands.ask(bench.agent, by=operator, command="storage add", words=["ram", "/mnt"])
    bench.poll()
    told(bench, done, "done")
    bench.poll(errands={**OFFERED, "storage remove": ["ram"]})

    client.force_login(operator)
    html = client.get("/agents/bench1/").content.decode()
    assert html.count('value="undo"') == html.count('data-confirm="Undo it: have storage remove ram done?"') == 1
    assert '<p class="warn-text">benchagent: /none is not a folder</p>' in html
    client.post("/agents/bench1/", {"action": "undo", "errand": failed.pk})
    assert Errand.objects.count() == 2


def test_it_is_asked_shown_and_cancelled_by_page_and_by_api(client, bench, operator, bearer):
    client.force_login(operator)
    client.post("/agents/bench1/", {"action": "errand", "what": "engines install mysql-5.5.34"})
    client.post("/agents/bench1/", {"action": "storage", "name": "nvme", "folder": "/mnt/nvme"})
    lines = [errand.line for errand in Errand.objects.order_by("asked_at")]
    assert lines == ["engines install mysql-5.5.34", "storage add nvme /mnt/nvme"]
    refused = client.post("/agents/bench1/", {"action": "errand", "what": "engines install mysql-4.0"})
    assert (refused.status_code, Errand.objects.count()) == (422, 2)
    html = client.get("/agents/bench1/").content.decode()
    assert all(line in html for line in lines)
    path, headers = "/api/v1/agents/bench1/errands/", bearer("agent")
    client.logout()
    assert client.get(path).json() == {"results": []}
    body = {"command": "storage measure", "words": ["default"]}
    made = client.post(path, body, content_type="application/json", headers=headers)
    assert (made.status_code, made.json()["state"], made.json()["by"]) == (201, "waiting", "olga-operator")
    assert list(client.post(path, body, content_type="application/json", headers=headers).json()) == ["command"]
    one = f"{path}{made.json()['id']}/"
    assert client.get(one, headers=bearer("read")).json() == made.json()
    assert client.delete(one, headers=headers).status_code == 204
    assert Errand.objects.get(pk=made.json()["id"]).state == "cancelled"
