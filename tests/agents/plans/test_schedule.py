from __future__ import annotations

import pytest

from agents.models import Agent, Job
from agents.plans import schedule
from agents.refusals import FieldErrors
from runs.models import Run
from runs.models.choices import RunState
from tests.agents.conftest import FACTORS, plan_of

pytestmark = pytest.mark.django_db

A, B = "sqlite:3.50.1", "h2:2.3.232"


def started(plan, **more) -> list[Run]:
    experiment = schedule.start(plan, user=None, **more)
    return list(experiment.runs.order_by("order_index").select_related("job", "dbms_version__dbms"))


def test_it_writes_a_spec_that_an_agent_can_run_alone(machine):
    machine()
    run = started(plan_of(A, settings={"sqlite": (("cache_size", "-2000"), ("cache_size", "-4000"))}))[0]
    spec = run.job.spec
    assert spec["run_id"] == str(run.pk)
    assert (spec["workload"], spec["workload_version"]) == ("tpcb", "1")
    assert (spec["dbms"], spec["dbms_version"]) == ("sqlite", "3.50.1")
    assert spec["settings"] == [["cache_size", "-2000"], ["cache_size", "-4000"]]
    assert spec["factors"] == FACTORS
    assert spec["seed"] > 0


def test_it_takes_the_catalogues_settings_where_none_are_given(machine):
    machine()
    run = started(plan_of(A))[0]
    assert run.job.spec["settings"] == [["journal_mode", "WAL"], ["synchronous", "FULL"]]
    assert [str(parameter) for parameter in run.config.parameters.all()] == [
        "journal_mode = WAL", "synchronous = FULL",
    ]  # fmt: skip


def test_it_gives_each_repeat_its_own_seed_and_all_engines_the_same(machine):
    machine()
    seeds = {(run.repeat, run.job.spec["dbms"]): run.job.spec["seed"] for run in started(plan_of(A, B, repeats=2))}
    assert seeds[1, "sqlite"] == seeds[1, "h2"] != seeds[2, "sqlite"] == seeds[2, "h2"]


def test_it_keeps_the_plan_and_names_the_experiment(machine, operator):
    bench = machine()
    experiment = schedule.start(plan_of(A, B, agent=bench.agent, name="Night run"), user=operator)
    assert (experiment.name, experiment.slug, experiment.created_by) == ("Night run", "night-run", operator)
    assert experiment.plan["engines"] == [["sqlite", "3.50.1"], ["h2", "2.3.232"]]
    assert experiment.plan["agent"] == bench.agent.slug
    assert not experiment.demonstration
    assert Job.objects.filter(requested_agent=bench.agent).count() == 2


def test_it_shows_no_secret_of_a_configuration(machine):
    machine()
    experiment = schedule.start(plan_of(A, settings={"sqlite": (("key_password", "s3cret"),)}), user=None)
    assert "s3cret" not in str(experiment.plan)
    run = experiment.runs.get()
    assert "s3cret" not in str(list(run.config.parameters.values()))
    assert run.job.spec["settings"] == [["key_password", "s3cret"]]


def test_it_gives_two_experiments_of_one_name_two_addresses(machine):
    machine()
    slugs = [schedule.start(plan_of(A, name="Same"), user=None).slug for _ in range(2)]
    assert slugs == ["same", "same-2"]


@pytest.mark.parametrize(
    ("engines", "agent", "words"),
    [
        ((A, "derby:10.16.1.1"), None, "Not available on any agent: Apache Derby"),
        ((A, B), None, "No single agent"),
        ((B,), "bench1", "Not available on bench1: H2"),
        ((B,), "bench3", "bench3 is not approved"),
    ],
)
def test_it_refuses_what_no_agent_or_not_the_chosen_one_can_run(machine, engines, agent, words):
    for name, engine, approved in (("bench1", A, True), ("bench2", B, True), ("bench3", B, False)):
        machine(name, engine, approved=approved)
    with pytest.raises(FieldErrors, match=words):
        schedule.start(plan_of(*engines, agent=Agent.objects.filter(slug=agent).first()), user=None)


def test_it_repeats_one_cell_at_the_end_of_its_experiment(machine):
    bench = machine()
    runs = started(plan_of(A, B, repeats=2))
    Job.objects.filter(pk=runs[0].pk).update(agent=bench.agent)
    again = schedule.repeat_cell(Run.objects.get(pk=runs[0].pk), user=None)
    assert (again.repeat, again.order_index, again.state) == (3, 5, RunState.QUEUED)
    assert again.experiment == runs[0].experiment
    assert again.job.requested_agent == bench.agent
    assert again.job.spec["run_id"] == str(again.pk)
    old, new = dict(runs[0].job.spec), dict(again.job.spec)
    for spec in (old, new):
        del spec["run_id"], spec["seed"], spec["repeat"]
    assert old == new


def test_it_repeats_no_cell_of_another_version_of_its_workload(machine):
    machine()
    (run,) = started(plan_of(A))
    Job.objects.filter(pk=run.pk).update(spec={**run.job.spec, "workload_version": "0"})
    with pytest.raises(FieldErrors, match="ran version 0 of its workload, agents run version 1, and the two are not"):
        schedule.repeat_cell(Run.objects.get(pk=run.pk), user=None)
    assert Run.objects.count() == 1


def test_it_wakes_the_dispatcher_when_the_runs_are_there(machine, hinted, django_capture_on_commit_callbacks):
    machine()
    with django_capture_on_commit_callbacks(execute=True):
        schedule.start(plan_of(A), user=None)
    assert ("agents.dispatch", ()) in hinted
