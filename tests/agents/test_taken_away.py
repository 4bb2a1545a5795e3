"""What runs, plans and pages become when the plug-in of their engine or workload is not installed any more."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from benchagent.catalog import DBMSS, WORKLOADS
from benchagent.plugins import LACKING
from django.urls import reverse

from agents.jobs import dispatch
from agents.plans import schedule
from agents.refusals import FieldErrors
from runs.models import Run
from runs.models.choices import RunState
from tests.agents.conftest import finish_item, plan_of, state_item

pytestmark = pytest.mark.django_db
ENGINE = "h2:2.3.232"


@pytest.fixture
def bench(machine):
    return machine("bench1", ENGINE, "sqlite:3.50.1")


@pytest.fixture
def finished(bench, operator) -> Run:
    run = schedule.start(plan_of(ENGINE, repeats=2), user=operator).runs.earliest("order_index")
    dispatch.assign_queued()
    token = bench.claim(run.pk).json()["job_token"]
    bench.batch(run.pk, token, 1, *map(state_item, ("preparing", "loading", "measuring", "collecting")), finish_item())
    run.refresh_from_db()
    assert run.state == RunState.FINISHED
    return run


@pytest.fixture(params=[(DBMSS, "h2"), (WORKLOADS, "tpcb")], ids=["engine", "workload"])
def taken_away(request, finished) -> Iterator[Run]:
    """The catalogue keeps its order for other tests: it is made anew."""
    catalogue, name = request.param
    whole = dict(catalogue)
    del catalogue[name]
    yield finished
    catalogue.clear()
    catalogue.update(whole)


def test_every_page_that_shows_it_opens(taken_away, client, operator):
    client.force_login(operator)
    experiment = taken_away.experiment
    addresses = [
        "/", "/runs/", taken_away.get_absolute_url(), experiment.get_absolute_url(), "/schedule/", "/agents/",
        f"/schedule/?experiment={experiment.slug}", f"/compare/?experiment={experiment.slug}",
        f"/schedule/?engines={ENGINE}&workload=tpcb", "/api/v1/runs/", f"/api/v1/runs/{taken_away.pk}/",
        "/dbms/",
    ]  # fmt: skip
    answers = {address: client.get(address, follow=True).status_code for address in addresses}
    assert answers == dict.fromkeys(addresses, 200)


def test_a_repeat_of_it_is_refused_in_words_and_its_number_stays(taken_away, client, operator):
    with pytest.raises(FieldErrors):
        schedule.repeat_cell(taken_away, user=operator)
    assert Run.objects.get(pk=taken_away.pk).measurements.filter(metric__name="tps").exists()
    client.force_login(operator)
    assert client.post(reverse("run-repeat", args=[taken_away.pk]), follow=True).status_code == 200


def test_what_waits_in_the_queue_goes_to_an_agent_that_still_has_it(taken_away):
    dispatch.assign_queued()
    assert set(Run.objects.values_list("state", flat=True)) == {RunState.FINISHED, RunState.ASSIGNED}


def test_a_plan_of_it_is_refused_naming_the_field(taken_away, operator):
    with pytest.raises(FieldErrors) as refused:
        schedule.start(plan_of(ENGINE), user=operator)
    (why,) = refused.value.errors.values()
    assert refused.value.errors.keys() <= {"workload", "engines"} and ("tpcb" not in WORKLOADS or LACKING in why[0])
