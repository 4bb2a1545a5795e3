"""Experiments over configurations and machines: which cells there are, where and in which order they are run."""

from __future__ import annotations

from dataclasses import replace

import pytest
from django.contrib.auth.models import AnonymousUser

from agents.jobs import dispatch, status, stopping
from agents.models import Agent, Job
from agents.plans import estimate, schedule
from agents.plans.form import ScheduleForm, initial_of
from agents.plans.matrix import Stop, cells_of, swept_of
from agents.plans.plan import Plan, stored_configs
from agents.refusals import FieldErrors
from runs import configs
from runs.models import Experiment, Run
from runs.models.choices import RunState
from tests.agents.conftest import FACTORS, plan_of

pytestmark = pytest.mark.django_db
A, B = "sqlite:3.50.1", "h2:2.3.232"


def runs_of(plan: Plan) -> list[Run]:
    experiment = schedule.start(plan, user=None)
    rows = experiment.runs.order_by("order_index").select_related(
        "job__requested_agent", "dbms_version__dbms", "config"
    )
    return list(rows)


def wrong(plan: Plan) -> dict[str, list[str]]:
    with pytest.raises(FieldErrors) as caught:
        schedule.start(plan, user=None)
    assert not Experiment.objects.exists()
    return caught.value.errors


def test_it_runs_every_configuration_of_a_dbms_with_every_value_of_a_setting(machine):
    machine()
    first = runs_of(plan_of(A, settings={"sqlite": (("cache_size", "-1000"), ("journal_mode", "WAL"))}))[0]
    second = runs_of(plan_of(A, settings={"sqlite": (("synchronous", "OFF"),)}))[0]
    stored = stored_configs("sqlite", [first.config.slug, second.config.slug], None)
    plan = plan_of(A, B, configs={"sqlite": stored}, swept={"sqlite": {"cache_size": ("-2000", "-4000")}}, repeats=2)
    runs = runs_of(plan)
    assert [run.job.spec["settings"] for run in runs[:4]] == [
        [["journal_mode", "WAL"], ["cache_size", "-2000"]], [["journal_mode", "WAL"], ["cache_size", "-4000"]],
        [["synchronous", "OFF"], ["cache_size", "-2000"]], [["synchronous", "OFF"], ["cache_size", "-4000"]],
    ]  # fmt: skip
    assert (len(runs), runs[4].dbms_version.dbms.slug, len({run.cell_key for run in runs})) == (10, "h2", 5)


def test_runs_of_a_stored_configuration_are_its_own_by_name_and_their_repeats_too(machine, operator):
    machine()
    file = configs.FileText("pragmas", "cache_size = -1000\npage_size = 4096\n", "plain")
    alpha = configs.create_config(configs.Content(files=[file], dbms="sqlite", name="Alpha"), by=operator)
    stored = stored_configs("sqlite", [alpha.slug], operator)
    (run,) = schedule.start(plan_of(A, configs={"sqlite": stored}), user=operator).runs.all()
    swept = {"sqlite": {"cache_size": ("-1000",)}}
    (varied,) = schedule.start(plan_of(A, configs={"sqlite": stored}, swept=swept), user=operator).runs.all()
    assert (run.config, schedule.repeat_cell(run, user=operator).config) == (alpha, alpha)
    assert varied.config not in (None, alpha)


def test_it_runs_each_cell_on_each_machine_and_each_machine_takes_its_own(machine):
    m1, m2, m3 = (machine(name, A, B) for name in ("m1", "m2", "m3"))
    Agent.objects.filter(pk__in=[m1.agent.pk, m3.agent.pk]).update(labels=["nvme"])
    plan = plan_of(A, B, labels=("nvme",), each=True, exclude=({"machine": "m3", "dbms": "h2"},))
    runs = runs_of(plan)
    assert [(run.dbms_version.dbms.slug, run.job.requested_agent.slug) for run in runs] == [
        ("sqlite", "m1"), ("sqlite", "m3"), ("h2", "m1"),
    ]  # fmt: skip
    assert dispatch.assign_queued() == 2
    assert set(Job.objects.exclude(agent=None).values_list("agent__slug", flat=True)) == {"m1", "m3"}
    assert not m2.agent.jobs.exists()


def test_an_experiment_with_a_label_waits_for_a_machine_that_has_it(machine):
    machine("m1", A)
    Agent.objects.update(labels=["nvme"])
    plan = plan_of(A, labels=("nvme",))
    run = runs_of(plan)[0]
    Agent.objects.update(labels=[])
    assert dispatch.assign_queued() == 0
    assert "label nvme" in status.reason(run)
    Agent.objects.update(labels=["nvme"])
    assert dispatch.assign_queued() == 1


def test_a_machine_that_lacks_something_is_named_before_anything_starts(machine):
    machine("m1", A, B)
    machine("m2", A)
    assert "m2 lacks H2 2.3.232" in str(wrong(plan_of(A, B, each=True))["machines"])
    lines = estimate.estimate(plan_of(A, B, each=True)).lacking
    assert [line for line in lines if line.startswith("m2")] == ["m2 lacks H2 2.3.232."]
    assert len(runs_of(plan_of(A, B, each=True, exclude=({"machine": "m2", "dbms": "h2"},)))) == 3


def test_space_that_a_storage_has_not_is_named(machine, place):
    bench = machine("m1", A)
    bench.agent.places = [place | {"free_bytes": 10**6}]
    bench.agent.save()
    found = estimate.estimate(plan_of(A))
    # What SQLite takes for a branch, one and a half times as much beside it, and what every run needs.
    assert found.space_bytes == 600_000_000 + 2.5 * 9_800_000
    assert len(found.lacking) == 1


@pytest.mark.parametrize(("more", "field"), [
    ({"exclude": ({"dbms": "oracle"},)}, "exclude"),
    ({"exclude": ({"dbms": "sqlite"},)}, "exclude"),
    ({"stop": Stop(percent=5, baseline={"dbms": "h2"}), "repeats": 12}, "stop"),
    ({"swept": {"h2": {"x": ("1",)}}}, "settings"),
    ({"swept": {"sqlite": {"cache_size": ("1", "1")}}}, "settings"),
    ({"swept": {"sqlite": {"cache_size": tuple(map(str, range(600)))}}}, "repeats"),
    ({"labels": ("nowhere",)}, "engines"),
])  # fmt: skip
def test_a_matrix_that_cannot_be_is_refused_by_its_field(machine, more, field):
    machine("m1", A)
    assert list(wrong(plan_of(A, **more))) == [field]


def test_a_setting_that_the_engine_does_not_take_is_refused(machine):
    machine("m1", A, "postgresql:15.8")
    earlier = runs_of(plan_of(A))[0]
    Run.objects.filter(pk=earlier.pk).update(
        ignored_settings=["cash_size: no setting that it knows", "page_size: 8192 could not be applied"],
        effective_settings=[["PAGE_SIZE", "4096"]],
    )
    Experiment.objects.all().delete()
    assert "cash_size" in str(wrong(plan_of(A, swept={"sqlite": {"cash_size": ("1", "2")}})))
    # SQLite passes over in silence what it does not know.
    silent = wrong(plan_of(A, swept={"sqlite": {"synchronous": ("NORMAL", "SUPER")}}))
    assert "synchronous=SUPER: not one of OFF, NORMAL, FULL, EXTRA" in str(silent)
    swept = {"postgresql": {"shared_buffers": ("4GB", "8GX")}}
    assert "8GX" in str(wrong(plan_of("postgresql:15.8", swept=swept)))
    given = {"postgresql": (("max_connections", "many"),)}
    assert "many" in str(wrong(plan_of("postgresql:15.8", settings=given))["settings"])
    # A number that stands for a word is one of its values.
    assert len(runs_of(plan_of(A, swept={"sqlite": {"temp_store": ("0", "2")}}))) == 2
    # Of a value that was not taken nothing is known of others.
    Experiment.objects.all().delete()
    assert len(runs_of(plan_of(A, swept={"sqlite": {"page_size": ("4096", "512")}}))) == 2


def test_what_a_server_refused_in_an_earlier_run_is_refused_before_it_starts_again(machine):
    """Was: 12 of 12 runs failed with one misspelt setting, and the next preview took it again."""
    machine("m1", "postgresql:15.18")
    earlier = runs_of(plan_of("postgresql:15.18", repeats=2))
    complaints = (
        'unrecognized configuration parameter "synchronus_commit" in file "/var/tmp/x"',
        'invalid value for parameter "Synchronous_Commit": "of"',
    )
    for run, complaint in zip(earlier, complaints, strict=True):
        message = f"PostgreSQL 15.18 did not start: 2026-11-29 19:15:01 UTC [17] LOG:  {complaint}"
        Run.objects.filter(pk=run.pk).update(state=RunState.FAILED, message=message)
    Experiment.objects.all().delete()

    def preview(*settings: tuple[str, str]) -> str:
        return str(wrong(plan_of("postgresql:15.18", settings={"postgresql": settings})))

    assert "synchronus_commit=off: postgresql 15.18 refused it in an earlier run." in preview(
        ("synchronus_commit", "off")
    )
    assert "synchronous_commit=of: postgresql 15.18 refused it" in preview(("synchronous_commit", "of"))
    assert runs_of(plan_of("postgresql:15.18", settings={"postgresql": (("synchronous_commit", "off"),)}))


def test_what_no_run_can_be_given_is_refused_before_it_starts(machine):
    """Was: `port=5432` named configurations and was not in force; the others failed in the run, minutes later."""
    machine("m1", "postgresql:15.18")

    def refused(**more) -> dict[str, list[str]]:
        return wrong(replace(plan_of("postgresql:15.18"), **more))

    given = {"postgresql": (("Port", "5432"), ("work_mem", "8MB"), ("ssl", "on"))}
    assert refused(settings=given) == {
        "settings": ["Port: the agent sets this itself, and ssl."]
    }  # fmt: skip
    assert list(refused(swept={"postgresql": {"port": ("5432", "5433")}})) == ["settings"]
    too_few = refused(settings={"postgresql": (("max_connections", "1"),)})
    assert too_few == {"settings": ["max_connections=1: too few for 2 terminals."]}
    varied = {name: value for name, value in FACTORS.items() if name != "terminals"}
    swept = {"postgresql": {"max_connections": ("4", "20")}}
    too_few = refused(factors=varied, sweep={"terminals": (4, 8)}, swept=swept)
    assert too_few == {"settings": ["max_connections=4: too few for 8 terminals."]}
    beyond = refused(factors={**FACTORS, "memory_limit_mb": 999_999, "cpus": 5})
    assert beyond == {
        "factors.memory_limit_mb": ["No machine has so much: 8,589 MB at most."],
        "factors.cpus": ["No machine has so much: 4 CPUs at most."],
    }  # fmt: skip
    apart = [{"terminals": "8", "max_connections": "4"}]
    plan = plan_of("postgresql:15.18", sweep={"terminals": (4, 8)}, swept=swept, exclude=tuple(apart))
    assert len(runs_of(replace(plan, factors={**varied, "memory_limit_mb": 8_589, "cpus": 4}))) == 3


def test_a_machine_that_has_not_the_memory_is_named_where_another_has_it(machine):
    machine("m1", A)
    small = machine("m2", A).agent
    small.change(facts={**small.facts, "ram_bytes": 4_000_000_000})
    plan = plan_of(A)
    plan = replace(plan, factors={**FACTORS, "memory_limit_mb": 5_000})
    assert estimate.estimate(plan).lacking == ("m2 lacks memory for a limit of 5,000 MB.",)
    assert wrong(replace(plan, each=True)) == {"machines": ["m2 lacks memory for a limit of 5,000 MB."]}


def test_a_stored_configuration_may_hold_what_the_agent_sets(machine):
    """It may be the whole file of a server."""
    machine("m1", "postgresql:15.18")
    run = runs_of(plan_of("postgresql:15.18", settings={"postgresql": (("work_mem", "8MB"),)}))[0]
    run.config.parameters.update(name="port", value="5432")
    stored = stored_configs("postgresql", [run.config.slug], None)
    assert runs_of(plan_of("postgresql:15.18", configs={"postgresql": stored}))


def test_a_random_order_is_another_in_each_repeat_and_the_same_for_one_seed(machine):
    machine()
    sized = {name: value for name, value in FACTORS.items() if name != "terminals"}
    swept = plan_of(A, repeats=3, sweep={"terminals": (1, 2, 3, 4, 5)}, order="random", order_seed=7)
    plan = replace(swept, factors=sized)

    def orders() -> list[list[int]]:
        values = [run.job.spec["factors"]["terminals"] for run in runs_of(plan)]
        return [values[at : at + 5] for at in (0, 5, 10)]

    first = orders()
    assert first == orders()
    assert all(sorted(block) == [1, 2, 3, 4, 5] for block in first)
    assert first[0] != first[1]
    drawn = schedule.start(replace(plan, order_seed=0), user=None)
    assert drawn.plan["order_seed"] > 0


def finished(runs: list[Run], values: dict[str, list[float]]) -> None:
    for run in runs:
        given = values[run.dbms_version.dbms.slug]
        if run.repeat <= len(given):
            Run.objects.filter(pk=run.pk).update(state=RunState.FINISHED, primary_value=given[run.repeat - 1])


def left(runs: list[Run]) -> dict[str, int]:
    found: dict[str, int] = {"sqlite": 0, "h2": 0}
    for run in Run.objects.filter(pk__in=[run.pk for run in runs], state=RunState.QUEUED).select_related(
        "dbms_version__dbms"
    ):
        found[run.dbms_version.dbms.slug] += 1
    return found


QUIET, LOUD = [100, 101, 100, 99, 100] * 2, [100, 150, 80, 120, 60] * 2


def test_repeats_end_where_the_mean_is_known_and_go_on_where_it_is_not(machine):
    machine()
    runs = runs_of(plan_of(A, B, repeats=13, stop=Stop(percent=5)))
    finished(runs, {"sqlite": QUIET[:9], "h2": LOUD[:9]})
    assert (stopping.stop_where_enough(), left(runs)) == (0, {"sqlite": 4, "h2": 4})
    finished(runs, {"sqlite": QUIET, "h2": LOUD})
    assert (stopping.stop_where_enough(), left(runs)) == (3, {"sqlite": 0, "h2": 3})
    assert stopping.stop_where_enough() == 0
    ended = Run.objects.filter(state=RunState.CANCELLED).first()
    assert "10 repeats" in ended.message


def test_the_baseline_goes_on_until_every_ratio_to_it_is_known(machine):
    machine()
    runs = runs_of(plan_of(A, B, repeats=13, stop=Stop(percent=5, baseline={"dbms": "sqlite"})))
    finished(runs, {"sqlite": QUIET, "h2": LOUD})
    assert (stopping.stop_where_enough(), left(runs)) == (0, {"sqlite": 3, "h2": 3})
    finished(runs, {"sqlite": QUIET, "h2": QUIET})
    assert (stopping.stop_where_enough(), left(runs)) == (6, {"sqlite": 0, "h2": 0})


def test_lines_are_read_or_refused_whole():
    assert swept_of("a = 1, 2\n\nb=x") == {"a": ("1", "2"), "b": ("x",)}
    assert cells_of("dbms=sqlite, terminals = 64\nmachine=m1") == (
        {"dbms": "sqlite", "terminals": "64"}, {"machine": "m1"},
    )  # fmt: skip
    for read, text in ((swept_of, "a"), (swept_of, "a=1\na=2"), (cells_of, "dbms"), (cells_of, "=x")):
        with pytest.raises(ValueError):
            read(text)


@pytest.mark.parametrize(("field", "text"), [
    ("swept_sqlite", "synchronous = OFF, SUPER"), ("settings_sqlite", "journal_mode = WALL"),
    ("swept_postgresql", "port = 5432, 5433"), ("settings_postgresql", "max_connections = 1"),
    ("memory_limit_mb", "999999"),
])  # fmt: skip
def test_what_is_wrong_with_a_setting_is_said_beside_its_field(machine, field, text):
    """Was: beside the engines."""
    machine("m1", A, "postgresql:15.18")
    blank = ScheduleForm(initial=initial_of(plan_of(A, "postgresql:15.18").as_json()), user=AnonymousUser())
    data = {name: value for name in blank.fields if (value := blank[name].value()) is not None}
    assert list(ScheduleForm(data | {field: text}).errors) == [field]


def test_the_form_says_what_a_plan_says(machine):
    machine("m1", A)
    machine("m2", A)
    config = runs_of(plan_of(A, settings={"sqlite": (("cache_size", "-1000"),)}))[0].config
    plan = plan_of(
        A, repeats=12, configs={"sqlite": {config.slug: (("cache_size", "-1000"),)}},
        swept={"sqlite": {"synchronous": ("OFF", "FULL")}}, machines=("m1", "m2"), each=True,
        exclude=({"machine": "m2", "synchronous": "OFF"},), order="random", order_seed=5,
        stop=Stop(percent=2.5, baseline={"synchronous": "FULL"}), visibility="public",
    )  # fmt: skip
    document = plan.as_json()
    blank = ScheduleForm(initial=initial_of(document), user=AnonymousUser())
    data = {name: value for name in blank.fields if (value := blank[name].value()) is not None}
    form = ScheduleForm(data)
    assert form.is_valid(), form.errors
    again = form.plan.as_json()
    names = ("configs", "swept", "machines", "labels", "each", "exclude", "order", "order_seed", "stop", "repeats")
    assert {name: again[name] for name in names} == {name: document[name] for name in names}
    assert Plan.of(document, user=None).as_json() == document
