from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from agents import machines
from agents.models import Agent, Confirmation, EnrolmentCode, Job
from agents.plans import again, schedule
from runs import results
from runs.history import filing
from runs.models import Alert, Batch, ChangePoint, Run
from runs.models.choices import RunState
from tests.agents.conftest import RESULT, plan_of, registration

pytestmark = pytest.mark.django_db
NIGHTS = 12


@pytest.fixture
def agent() -> Agent:
    agent, _ = machines.register(message=registration("bench1", code=EnrolmentCode.issue()))
    machines.edit(agent, by=None, measures_again=True)
    return agent


def finish(run: Run, tps: float, *, ago: timedelta) -> None:
    """As its agent ends it, so long ago, after a minute."""
    Job.objects.filter(run=run).update(agent=run.job.requested_agent)
    Run.objects.filter(pk=run.pk).update(state="collecting")
    run.refresh_from_db()
    result: Any = {**RESULT, "metrics": [{"name": "tps", "value": tps, "phase": "run"}]}
    results.finish_run(run=run, outcome="finished", message="", at=timezone.now(), result=result)
    begun = timezone.now() - ago
    Run.objects.filter(pk=run.pk).update(
        started_at=begun, measured_at=begun, finished_at=begun + timedelta(seconds=60), tested={}
    )
    filing.keep_up()


@pytest.fixture
def suspicion(agent, operator) -> ChangePoint:
    """After so many nights that scatter a little, one that is far off."""
    for night in range(NIGHTS + 1):
        experiment = schedule.start(plan_of(agent=agent), user=operator)
        level = 700 if night == NIGHTS else 1000 * (1 + 0.01 * math.sin(2.4 * night))
        finish(experiment.runs.get(), level, ago=timedelta(days=NIGHTS - night, hours=2))
    return ChangePoint.objects.get(state="suspected")


def test_it_measures_at_a_distance_until_three_in_a_row_are_clear(suspicion):
    for number, tps in enumerate((702, 695)):
        assert again.confirm_suspicions() == 1
        assert again.confirm_suspicions() == 0  # it waits for that batch
        run = Run.objects.get(batch__confirmation__isnull=False, state="queued")
        assert (run.experiment, run.owner, run.job.spec["factors"]) == (
            None, suspicion.at.run.owner, suspicion.at.run.job.spec["factors"],
        )  # fmt: skip
        finish(run, tps, ago=timedelta(seconds=70))
        assert again.confirm_suspicions() == 0  # within the hour
        Run.objects.filter(pk=run.pk).update(finished_at=timezone.now() - timedelta(minutes=61 - number))
    suspicion.refresh_from_db()
    assert suspicion.state == "confirmed"
    assert Alert.objects.get().state == "confirmed"
    assert (again.confirm_suspicions(), Confirmation.objects.count()) == (0, 2)


def test_it_measures_nothing_where_the_operator_does_not_allow_it(suspicion, agent):
    allowed = {"measures_again": True, "again_daily_s": agent.again_daily_s, "again_after_s": agent.again_after_s}
    for change in ({"measures_again": False}, {"again_daily_s": 59}, {"again_after_s": 3 * 3600}):
        machines.edit(agent, by=None, **(allowed | change))
        assert again.confirm_suspicions() == 0, change
        assert not Batch.objects.filter(confirmation__isnull=False).exists(), change
    machines.edit(agent, by=None, **allowed)
    assert again.confirm_suspicions() == 1


def test_an_operator_sets_it_on_the_page_of_the_agent(client, operator, agent):
    client.force_login(operator)
    said = {"action": "again", "again_after_s": "60", "again_daily_s": "600"}
    assert client.post(f"/agents/{agent.slug}/", said).status_code == 302
    agent.refresh_from_db()
    assert (agent.measures_again, agent.again_after_s, agent.again_daily_s) == (False, 60, 600)
    assert client.post(f"/agents/{agent.slug}/", said | {"again_daily_s": "x"}).status_code == 422


def test_an_experiment_is_judged_and_measured_again_once_its_last_run_has_ended(agent, operator):
    """Was: suspected, told and measured again by the first of its repeats."""
    for night in range(NIGHTS):
        experiment = schedule.start(plan_of(agent=agent), user=operator)
        level = 1000 * (1 + 0.01 * math.sin(2.4 * night))
        finish(experiment.runs.get(), level, ago=timedelta(days=NIGHTS - night, hours=2))
    experiment = schedule.start(plan_of(agent=agent, repeats=2), user=operator)
    first, second = experiment.runs.order_by("order_index")
    finish(first, 700, ago=timedelta(hours=2))
    assert not ChangePoint.objects.exists()
    results.end_waiting([second.pk], state=RunState.CANCELLED, at=timezone.now(), message="no longer needed")
    filing.keep_up()
    suspicion = ChangePoint.objects.get(state="suspected")
    Run.objects.filter(pk=second.pk).update(state="queued")  # as if run again
    assert again.confirm_suspicions() == 0
    Run.objects.filter(pk=second.pk).update(state="cancelled")
    assert (again.confirm_suspicions(), suspicion.alert.state) == (1, "new")
