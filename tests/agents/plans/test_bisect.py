from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agents import machines
from agents.models import Agent, EnrolmentCode, Job
from agents.plans import schedule
from agents.plans.bisect import plan_between
from agents.plans.plan import PlanError
from runs.models import Run
from tests.agents.conftest import plan_of, registration

pytestmark = pytest.mark.django_db
VERSIONS = ("15.3", "9.6.24", "15.9", "15.18", "16.1")
SETTINGS = (("fsync", "on"), ("shared_buffers", "128MB"), ("work_mem", "4MB"))


@pytest.fixture
def agent() -> Agent:
    agent, _ = machines.register(message=registration("bench1", code=EnrolmentCode.issue()))
    agent.engines = [{**agent.engines[0], "dbms": "postgresql", "version": version} for version in VERSIONS]
    agent.save()
    return agent


@pytest.fixture
def measured(agent, operator):
    """`measured(version, days ago, setting=value, …)` -> a run that the agent has measured."""

    def measure(version: str, ago: int, **changes: str) -> Run:
        settings = tuple((name, changes.get(name, value)) for name, value in SETTINGS)
        plan = plan_of(f"postgresql:{version}", agent=agent, settings={"postgresql": settings})
        run = schedule.start(plan, user=operator).runs.get()
        Job.objects.filter(run=run).update(agent=agent)
        Run.objects.filter(pk=run.pk).update(measured_at=timezone.now() - timedelta(days=ago))
        run.refresh_from_db()
        return run

    return measure


def test_versions_between_two_points_are_measured_with_both_ends(measured):
    plan = plan_between(measured("15.3", 9), measured("15.18", 1))
    assert plan["engines"] == [["postgresql", version] for version in ("15.3", "15.9", "15.18")]
    assert (plan["agent"], plan["swept"]) == ("bench1", {})


def test_settings_that_differ_are_each_measured_at_both_values(measured):
    plan = plan_between(measured("15.3", 9), measured("15.3", 1, fsync="off", work_mem="64MB"))
    assert plan["swept"] == {"postgresql": {"fsync": ["on", "off"], "work_mem": ["4MB", "64MB"]}}
    assert plan["settings"] == {"postgresql": [["shared_buffers", "128MB"]]}


def test_it_says_why_nothing_can_be_measured_between(measured, agent):
    old, same = measured("15.3", 9), measured("15.3", 1)
    with pytest.raises(PlanError) as refused:
        plan_between(old, same)
    assert set(refused.value.errors) == {"settings"}
    Job.objects.filter(run=same).update(agent=None)
    with pytest.raises(PlanError) as refused:
        plan_between(old, same)
    assert set(refused.value.errors) == {"agent"}


def test_the_form_is_filled_with_what_lies_between(client, operator, measured):
    old, new = measured("15.3", 9), measured("15.9", 1)
    client.force_login(operator)
    page = client.get(f"/schedule/between/?run={new.pk}&run={old.pk}")
    form = page.context["form"]
    assert (page.status_code, form.initial["engines"]) == (200, ["postgresql:15.3", "postgresql:15.9"])
    assert form.initial["agent"] == "bench1"
    for wrong in (f"run={old.pk}", f"run={old.pk}&run=x", ""):
        assert client.get(f"/schedule/between/?{wrong}").status_code == 302
