"""Private experiments on shared machines: others learn neither what runs nor how long it took."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from agents.jobs import dispatch, life, status
from agents.models import Job
from agents.plans import estimate, schedule
from runs.models import Experiment, Run
from runs.models.choices import RunState
from tests.agents.conftest import plan_of

pytestmark = pytest.mark.django_db
ENGINE = "sqlite:3.50.1"
FORM = {
    "workload": "tpcb", "engines": [ENGINE], "scale_factor": "1", "terminals": "2", "warm_up_s": "2", "duration_s": "5",
    "repeats": "1", "action": "start", "settings_sqlite": "synchronous = FULL",
}  # fmt: skip


@pytest.fixture
def bench(machine):
    return machine()


def start(user, visibility: str, **more) -> Run:
    return schedule.start(plan_of(ENGINE, visibility=visibility, **more), user=user).runs.get()


@pytest.mark.parametrize("chosen", ["public", "unlisted", "private"])
def test_the_form_decides_who_sees_the_experiment_and_its_runs(client, bench, operator, chosen):
    client.force_login(operator)
    page = client.get("/schedule/").content.decode()
    assert 'name="visibility"' in page
    assert "data-licence-note" in page
    client.post("/schedule/", FORM | {"visibility": chosen})
    experiment = Experiment.objects.get()
    run = experiment.runs.get()
    assert (experiment.visibility, run.visibility, run.owner) == (chosen, chosen, operator)


def test_a_form_without_the_field_takes_the_setting(client, bench, operator, settings):
    settings.DEFAULT_VISIBILITY = "private"
    client.force_login(operator)
    client.post("/schedule/", FORM)
    assert Experiment.objects.get().visibility == "private"
    assert Experiment.objects.get().plan["visibility"] == "private"


@pytest.mark.parametrize(("sent", "status"), [({}, 201), ({"visibility": "private"}, 201), ({"visibility": "x"}, 400)])
def test_the_api_takes_it_too(client, bench, bearer, sent, status):
    body = {"workload": "tpcb", "engines": [{"dbms": "sqlite", "version": "3.50.1"}], **sent}
    answer = client.post("/api/v1/experiments/", body, content_type="application/json", headers=bearer("schedule"))
    assert answer.status_code == status
    if status == 201:
        assert answer.json()["visibility"] == sent.get("visibility", "public")


def test_one_more_repeat_belongs_to_who_owns_the_cell(bench, operator):
    run = start(operator, "private")
    again = schedule.repeat_cell(Run.objects.select_related("job").get(pk=run.pk), user=None)
    assert (again.owner, again.visibility) == (operator, "private")


def test_the_page_of_agents_does_not_say_what_runs_there_privately(client, bench, operator, administrator):
    run = start(operator, "private")
    dispatch.assign_queued()
    life.claim(agent=bench.agent, run_id=run.pk)
    assert Job.objects.get(pk=run.pk).agent == bench.agent
    page = client.get("/agents/").content.decode()
    assert "Now: a run that is not public." in page
    assert str(run.pk) not in page
    for who in (operator, administrator):
        client.force_login(who)
        assert str(run.pk) in client.get("/agents/").content.decode()


def test_a_waiting_run_does_not_say_which_private_one_is_before_it(bench, operator):
    first = start(operator, "private")
    dispatch.assign_queued()
    life.claim(agent=bench.agent, run_id=first.pk)
    second = start(operator, "public")
    assert "busy with a run that is not public" in status.reason(second)
    Run.objects.filter(pk=first.pk).update(visibility="public")
    assert "busy with SQLite 3.50.1" in status.reason(second)


def test_how_long_a_private_run_took_is_no_ones_estimate_but_its_owners(bench, operator, viewer):
    run = start(operator, "private")
    started = timezone.now() - timedelta(hours=1)
    Run.objects.filter(pk=run.pk).update(
        state=RunState.FINISHED, started_at=started, finished_at=started + timedelta(seconds=97)
    )
    plan = plan_of(ENGINE)
    assert estimate.estimate(plan).guessed == estimate.estimate(plan, user=viewer).guessed == ("SQLite 3.50.1",)
    assert estimate.estimate(plan, user=operator).seconds == 97
