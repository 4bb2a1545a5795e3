from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from benchagent.protocol import CLOCK_HEADER
from django.utils import timezone

from agents.jobs import dispatch, observers
from agents.machines import Engine
from agents.models import ObserverOrder
from agents.plans import schedule
from agents.plans.plan import Plan
from agents.refusals import Conflict
from runs.models import Run
from runs.run import series
from tests.agents.conftest import FACTORS, Machine, finish_item, samples_item, state_item

pytestmark = pytest.mark.django_db
CLOCK = {"offset_s": 0.25, "uncertainty_s": 0.002}


@dataclass
class Observed:
    """A run of `load` on a connection that `beside` is to observe as "pg"."""

    load: Machine
    beside: Machine
    run: Run
    job_token: str = ""
    token: str = ""

    def begin(self) -> None:
        dispatch.assign_queued()
        self.job_token = self.load.claim(self.run.pk).json()["job_token"]

    def claim(self, machine: Machine | None = None) -> Any:
        answer = (machine or self.beside).post(f"/observations/{self.run.pk}/claim/")
        self.token = answer.json().get("job_token", self.token)
        return answer

    def heartbeat(self, token: str = "") -> Any:
        return self.beside.post(f"/observations/{self.run.pk}/heartbeat/", token=token or self.token)

    def batch(self, seq: int, *items: dict[str, Any], token: str = "") -> Any:
        body = {"seq": seq, "items": list(items)}
        return self.beside.post(f"/observations/{self.run.pk}/batch/", body, token=token or self.token)

    def finish(self, seq: int = 1) -> Any:
        tps = samples_item(*[10.0] * 7)
        warnings = ["server not sampled: it was not started by the agent"]
        return self.load.batch(self.run.pk, self.job_token, seq, tps, finish_item(warnings=warnings))

    @property
    def now(self) -> Run:
        return Run.objects.get(pk=self.run.pk)

    @property
    def said(self) -> str:
        return self.now.statistics["conditions"]["server_sampling"]


@pytest.fixture
def observed(machine, request) -> Observed:
    """2 s of warm-up, and a window that no check complains of."""
    load, beside = machine("load1"), machine("db1")
    engine = {"dbms": "postgresql", "version": "15.20", "available": True, "reason": "", "path": "connection shop"}
    load.agent.engines = [{**engine, "connection": "shop", "observed_by": getattr(request, "param", "db1/pg")}]
    load.agent.save()
    beside.agent.observations = [{"name": "pg", "what": "processes called postgres", "device": "sda", "problem": ""}]
    beside.agent.save()
    factors = {**FACTORS, "scale_factor": 2, "duration_s": 30}
    plan = Plan("tpcb", (Engine("postgresql", "15.20", "shop"),), factors)
    return Observed(load, beside, schedule.start(plan, user=None).runs.get())


def cpu(*values: float | None, t0_s: float = 0.0, chunk: int = 0) -> dict[str, Any]:
    return {**samples_item(*values, t0_s=t0_s, chunk=chunk), "metric": "server_cpu_cores"}


def end(problem: str = "", offset_s: float = 0.2623, uncertainty_s: float = 0.0008) -> dict[str, Any]:
    return {"kind": "observed", "problem": problem, "clock": {"offset_s": offset_s, "uncertainty_s": uncertainty_s}}


def test_the_order_goes_to_the_paired_agent_with_its_poll_once_the_run_is_claimed(observed):
    assert observed.beside.poll().json().get("observe") is None
    observed.begin()
    assert observed.load.poll().json().get("observe") is None
    assert observed.beside.poll().json()["observe"] == str(observed.run.pk)
    assert observed.claim().json()["job"] == {"run_id": str(observed.run.pk), "observation": "pg", "window_s": 32.0}
    assert observed.beside.poll().json().get("observe") is None


def test_nobody_else_may_observe_and_the_order_is_claimed_once(observed, machine):
    observed.begin()
    assert observed.claim(observed.load).status_code == 409
    assert observed.claim(machine("stranger")).status_code == 409
    assert observed.claim(machine("waiting", approved=False)).status_code == 403
    assert observed.claim().status_code == 200
    assert observed.claim().status_code == 409


def test_only_the_token_of_the_order_opens_it_and_it_opens_nothing_else(observed):
    observed.begin()
    observed.claim()
    for other in (observed.job_token, observed.beside.token, observed.load.token, "bso_x"):
        assert observed.batch(1, cpu(1.0), token=other).status_code == 401
        assert observed.heartbeat(token=other).status_code == 401
    assert observed.load.batch(observed.run.pk, observed.token, 1, cpu(1.0)).status_code == 401
    assert observed.load.heartbeat(observed.run.pk, observed.token).status_code == 401
    assert series.read_all(observed.run) == []


@pytest.mark.parametrize("observed", ["db1/pg", ""], indirect=True)
def test_the_token_of_the_job_sends_nothing_of_a_server_that_its_agent_did_not_start(observed):
    observed.begin()
    for metric in sorted(observers.ALLOWED):
        item = {**samples_item(1.0, 2.0), "metric": metric}
        answer = observed.load.batch(observed.run.pk, observed.job_token, 1, samples_item(10.0), item)
        assert (answer.status_code, list(answer.json())) == (400, ["items[1].metric"]), metric
    assert series.read_all(observed.run) == []
    assert observed.load.batch(observed.run.pk, observed.job_token, 1, samples_item(10.0)).status_code == 200


def test_a_run_without_an_order_takes_no_observer(observed, machine):
    (other,) = schedule.start(Plan("tpcb", (Engine("sqlite", "3.50.1"),), FACTORS), user=None).runs.all()
    observed.begin()
    observed.claim()
    path = f"/observations/{other.pk}/batch/"
    answer = observed.beside.post(path, {"seq": 1, "items": [cpu(1.0)]}, token=observed.token)
    assert answer.status_code == 404


def test_an_observer_sends_nothing_but_what_a_machine_shows(observed):
    observed.begin()
    observed.claim()
    answer = observed.batch(1, cpu(1.0), samples_item(9999.0))
    assert (answer.status_code, list(answer.json())) == (400, ["items[1].metric"])
    assert observed.batch(1, finish_item()).status_code == 400
    assert series.read_all(observed.run) == []


def test_it_is_told_when_the_run_begins_by_the_servers_clock_and_when_it_is_over(observed):
    observed.begin()
    observed.claim()
    assert observed.heartbeat().json() == {"begun_at": None, "over": False}
    begun = {**state_item("warming_up"), "clock": CLOCK}
    observed.load.batch(observed.run.pk, observed.job_token, 1, begun)
    later = {**state_item("measuring"), "at": begun["at"] + 2, "clock": CLOCK}
    observed.load.batch(observed.run.pk, observed.job_token, 2, later)
    assert observed.heartbeat().json() == {"begun_at": begun["at"] + 0.25, "over": False}
    observed.load.batch(observed.run.pk, observed.job_token, 3, state_item("collecting"))
    assert observed.heartbeat().json()["over"] is True


@pytest.mark.parametrize("late", [True, False])
def test_the_run_has_its_series_figures_and_the_offset_whoever_ends_first(late, observed):
    observed.begin()
    observed.claim()
    observed.load.batch(observed.run.pk, observed.job_token, 1, {**state_item("warming_up"), "clock": CLOCK})
    sent = cpu(9.0, *[1.0, 2.0, 3.0, 4.0, 5.0], t0_s=1.0)
    if late:
        observed.finish(2)
        assert "nothing has come yet" in observed.now.warnings[0]
    assert observed.batch(1, sent, end()).status_code == 200
    if not late:
        observed.finish(2)
    run = observed.now
    assert series.read(run, "server_cpu_cores").points()[0] == (1.0, 9.0)
    assert run.measurements.get(metric__name="server_cpu_cores").value == 3.0
    assert observed.said == "server sampled by agent db1 on its machine (pg); clock offset 12.3 ms ± 2.8 ms"
    assert run.statistics["observer"]["clock_offset_s"] == pytest.approx(0.0123)
    assert run.warnings == []
    assert observed.batch(2, cpu(1.0, chunk=1)).status_code == 409


def test_what_was_not_sampled_is_a_warning(observed):
    observed.begin()
    observed.claim()
    observed.batch(1, cpu(1.0, None, 2.0, t0_s=4.0), end("the observing agent was stopped"))
    observed.finish()
    warning = "the server was sampled in 2 of 5 measured seconds; the observing agent was stopped"
    assert observed.now.warnings == [warning]


def test_an_observer_that_does_not_come_leaves_the_run_finished_with_a_warning(observed):
    observed.begin()
    observed.finish()
    assert observed.now.state == "finished"
    assert (observed.said, observed.now.warnings) == (
        "server not sampled",
        ["server not sampled: agent db1 did not come"],
    )
    assert observed.claim().status_code == 409


def test_one_that_is_not_heard_of_again_is_given_up_after_a_while(observed):
    observed.begin()
    observed.claim()
    observed.finish()
    assert observers.give_up() == 0
    assert observers.give_up(now=timezone.now() + timedelta(hours=1)) == 1
    assert [words.endswith("db1 was not heard of again") for words in observed.now.warnings] == [True]
    assert observed.batch(1, cpu(1.0)).status_code == 409


@pytest.mark.parametrize(
    ("observed", "problem"),
    [
        ("nobody/pg", "no approved agent is called nobody"),
        ("db1/mysql", "agent db1 has no observation mysql"),
        ("load1/pg", "agent load1 runs the load itself"),
    ],
    indirect=["observed"],
)
def test_a_pairing_that_leads_nowhere_is_said(observed, problem):
    observed.begin()
    assert observed.beside.poll().json().get("observe") is None
    observed.finish()
    assert observed.now.warnings == [f"server not sampled: {problem}"]


def test_an_agent_that_is_to_observe_gets_no_run(observed):
    observed.begin()
    assert observed.beside.agent not in dispatch.idle_agents()
    observed.finish()
    assert observed.beside.agent in dispatch.idle_agents()


def test_every_answer_tells_the_servers_time(observed):
    before = timezone.now().timestamp()
    received, answered = map(float, observed.beside.poll().headers[CLOCK_HEADER].split())
    assert before - 0.001 <= received <= answered <= timezone.now().timestamp() + 0.001
    with pytest.raises(Conflict):
        observers.claim(agent=observed.beside.agent, run_id=observed.run.pk)
    assert not ObserverOrder.objects.exists()
