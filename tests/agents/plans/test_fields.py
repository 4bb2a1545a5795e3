from __future__ import annotations

from html.parser import HTMLParser

import pytest
from benchagent.catalog import FACTORS as FACTORS_BY_NAME
from benchagent.catalog import FactorDef
from django import forms

from agents.machines import Engine
from agents.models import Agent, Job
from agents.plans.form import ScheduleForm, factor_field
from agents.plans.plan import Plan, check
from agents.plans.schedule import start
from agents.refusals import FieldErrors
from tests.agents.conftest import EMBEDDED, FACTORS, plan_of

pytestmark = pytest.mark.django_db
TERMINALS = FACTORS_BY_NAME["terminals"]
CACHES = FACTORS_BY_NAME["cache_state"]
PLACE = {
    "name": "slow",
    "device": "loop7",
    "medium": "virtual",
    "model": None,
    "emulated": "emulated: 60 MB/s",
    "problem": "",
}


def cleaned(factor: FactorDef, value: object, *agents: Agent) -> list[object]:
    return factor_field(factor, agents).clean(value)


@pytest.mark.parametrize(("text", "numbers"), [("4", [4]), ("1, 4,16", [1, 4, 16]), (" 2 8 ", [2, 8])])
def test_numbers_may_be_several(text, numbers):
    assert cleaned(TERMINALS, text) == numbers


@pytest.mark.parametrize("text", ["", "four", "1,x", "1.5", "0", "1001", "9" * 30])
def test_a_wrong_number_is_named(text):
    with pytest.raises(forms.ValidationError):
        cleaned(TERMINALS, text)


def test_choices_may_be_several_and_none_is_the_usual_one():
    assert cleaned(CACHES, ["warm", "cold"]) == ["warm", "cold"]
    assert cleaned(CACHES, []) == ["warm"]
    with pytest.raises(forms.ValidationError):
        cleaned(CACHES, ["tepid"])


def test_places_are_those_of_the_agents_that_can_be_used():
    agent = Agent(places=[{**PLACE, "name": "default"}, PLACE, {**PLACE, "name": "gone", "problem": "not mounted"}])
    field = factor_field(FACTORS_BY_NAME["data_storage"], [agent])
    assert field.choices == [("", "agent's own storage"), ("slow", "slow (emulated: 60 MB/s)")]


def test_choices_are_offered_in_words_and_sent_as_they_are_stored():
    field = factor_field(FACTORS_BY_NAME["load"], [])
    assert ("select_narrow", "SELECT, narrow range") in field.choices
    assert field.clean(["select_narrow"]) == ["select_narrow"]


def test_backup_methods_are_offered_with_the_engines_that_have_them():
    field = factor_field(FACTORS_BY_NAME["method"], [])
    assert field.choices[0] == ("", "the engine's first method")
    assert ("backup_database", "BACKUP DATABASE (Apache Derby, HSQLDB)") in field.choices
    assert field.clean(["vacuum_into", "online_backup"]) == ["vacuum_into", "online_backup"]


def test_a_backup_method_that_needs_the_files_of_a_server_is_refused_on_a_connection(machine):
    machine()
    plan = Plan("backup", (Engine("postgresql", "15.20", "shop"),), {"dataset_mb": 10, "method": "pg_basebackup"})
    with pytest.raises(
        FieldErrors, match="on connection shop has no backup method 'pg_basebackup'; there are: pg_dump"
    ):
        check(plan)


@pytest.mark.parametrize(("method", "words"), [("vacuum", "vacuum is not one of"), ("nbackup", "SQLite has no backup")])
def test_a_backup_method_that_an_engine_lacks_is_refused_before_anything_is_scheduled(method, words, machine):
    machine()
    data = {"workload": "backup", "engines": ["sqlite:3.50.1"], "repeats": 1, "dataset_mb": "10", "method": [method]}
    form = ScheduleForm(data)
    assert words in str(form.errors["method"])
    with pytest.raises(FieldErrors, match=rf"SQLite has no backup method '{method}'; there are: vacuum_into") as caught:
        start(Plan("backup", (Engine("sqlite", "3.50.1"),), {"dataset_mb": 10, "method": method}), user=None)
    assert (list(caught.value.errors), Job.objects.count()) == (["factors.method"], 0)


def test_the_form_makes_a_sweep_of_several_values(machine):
    machine()
    data = {"workload": "tpcb", "engines": [f"{EMBEDDED[0]}"], "repeats": 2, "scale_factor": "1", "terminals": "1,2",
            "warm_up_s": "0", "duration_s": "1", "cache_state": ["warm", "cold"]}  # fmt: skip
    form = ScheduleForm(data)
    assert form.is_valid(), form.errors
    assert form.plan.sweep == {"terminals": (1, 2), "cache_state": ("warm", "cold")}
    assert form.plan.run_count == 8
    assert form.conditions_differ


class Sent(HTMLParser):
    """What a browser would send of a page's form as it stands."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.values: dict[str, list[str]] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "input" and given.get("name") and (given.get("type") != "checkbox" or "checked" in given):
            self.values.setdefault(str(given["name"]), []).append(given.get("value") or "")


@pytest.mark.parametrize("workload", ["", "tpcb", "tpcc", "inserts_selects", "backup"])
def test_the_form_can_be_sent_as_it_is_shown(workload, machine, client, operator):
    machine()
    client.force_login(operator)
    page = client.get("/schedule/", {"workload": workload} if workload else {}).content.decode()
    data = Sent(page).values | {"engines": [EMBEDDED[0]], "action": ["start"]}
    answer = client.post("/schedule/", data)
    assert answer.status_code == 302, answer.content.decode()
    specs = [job.spec for job in Job.objects.all()]
    assert {spec["workload"] for spec in specs} == {workload or "tpcb"}
    assert not any(FACTORS_BY_NAME[name].optional for spec in specs for name in spec["factors"])


def test_cells_are_run_in_turn_and_name_only_what_was_asked_for(machine):
    machine()
    plan = plan_of(repeats=2)
    swept = Plan(
        **{**plan.__dict__, "factors": {**FACTORS, "cpus": 0, "memory_limit_mb": 64}, "sweep": {"terminals": (1, 2)}}
    )
    experiment = start(swept, user=None)
    specs = [job.spec["factors"] for job in Job.objects.filter(run__experiment=experiment).order_by("run__order_index")]
    assert [factors["terminals"] for factors in specs] == [1, 2, 1, 2]
    assert all("cpus" not in factors and factors["memory_limit_mb"] == 64 for factors in specs)
    assert experiment.plan["sweep"] == {"terminals": [1, 2]}


@pytest.mark.parametrize(
    ("sweep", "words"),
    [
        ({"terminals": (1, 1)}, "every value once"),
        ({"terminals": ()}, "every value once"),
        ({"cache_state": ("warm", "tepid")}, "must be one of warm, cold"),
        ({"data_storage": ("", "nvme")}, "No usable storage 'nvme'"),
        ({"no_such": (1,)}, "Unknown"),
    ],
)
def test_a_sweep_that_cannot_be_is_refused_by_name(sweep, words, machine):
    machine()
    with pytest.raises(FieldErrors, match=words) as caught:
        check(Plan(**{**plan_of().__dict__, "sweep": sweep}))
    assert list(caught.value.errors) == [f"factors.{name}" for name in sweep]
