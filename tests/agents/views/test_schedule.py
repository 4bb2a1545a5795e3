from __future__ import annotations

import re
from dataclasses import fields, replace

import pytest
from benchagent.catalog import WORKLOADS
from django.urls import reverse
from django.utils.html import escape

from agents.models import Agent, Job
from agents.plans import schedule as scheduling
from agents.plans.plan import Plan
from runs.models import Experiment, Publication, Run
from tests.agents.conftest import FACTORS, facts_of, plan_of

pytestmark = pytest.mark.django_db
PATH = "/schedule/"
FORM = {
    "action": "start",
    "workload": "tpcb",
    "engines": ["h2:2.3.232", "sqlite:3.50.1"],
    "scale_factor": "1",
    "terminals": "2",
    "warm_up_s": "2",
    "duration_s": "5",
    "repeats": "2",
    "agent": "",
    "name": "",
}


@pytest.fixture
def as_operator(client, operator):
    client.force_login(operator)
    return client


def boxes(html: str) -> dict[str, bool]:
    """Value of every engine's checkbox -> whether it can be ticked."""
    import re

    tags = re.findall(r'<input type="checkbox" name="engines" value="([^"]+)"([^>]*)>', html)
    return {value: "disabled" not in rest for value, rest in tags}


def test_it_offers_what_the_agents_report(client, machine):
    machine("bench1", "sqlite:3.50.1", "derby:10.6.2.1", "derby:10.16.1.1")
    html = client.get(PATH).content.decode()
    assert boxes(html) == {"sqlite:3.50.1": True, "derby:10.16.1.1": True, "derby:10.6.2.1": True}
    assert "PostgreSQL" not in html


def test_it_offers_postgresql_while_it_is_there_and_not_when_it_is_gone(client, machine):
    bench = machine("bench1", "postgresql:15.8", "sqlite:3.50.1")
    assert "postgresql:15.8" in boxes(client.get(PATH).content.decode())
    bench.poll(engines=[facts_of("sqlite:3.50.1")])
    assert boxes(client.get(PATH).content.decode()) == {"sqlite:3.50.1": True}


def test_it_shows_an_engine_that_cannot_be_used_with_the_reason(client, machine):
    bench = machine()
    reason = "PostgreSQL has to run as user 'postgres', who may not enter /root"
    Agent.objects.filter(pk=bench.agent.pk).update(
        engines=[facts_of("postgresql:15.8", reason), facts_of("h2:2.3.232")]
    )
    html = client.get(PATH).content.decode()
    assert boxes(html) == {"postgresql:15.8": False, "h2:2.3.232": True}
    assert "not available: PostgreSQL has to run as user &#x27;postgres&#x27;, who may not enter /root" in html
    assert 'name="settings_postgresql"' not in html


def test_it_offers_an_engine_that_one_of_two_agents_can_use(client, machine):
    machine("bench1", "h2:2.3.232")
    other = machine("bench2", "h2:2.3.232").agent
    Agent.objects.filter(pk=other.pk).update(engines=[facts_of("h2:2.3.232", "no Java")])
    assert boxes(client.get(PATH).content.decode()) == {"h2:2.3.232": True}


def test_it_counts_only_approved_agents(client, machine):
    machine("stranger", "h2:2.3.232", approved=False)
    html = client.get(PATH).content.decode()
    assert boxes(html) == {}
    assert "No agent is approved yet" in html
    assert reverse("agents") in html


def test_it_shows_the_catalogues_configuration_to_start_from(client, machine):
    machine()
    html = client.get(PATH).content.decode()
    assert "journal_mode = WAL\nsynchronous = FULL" in html
    assert "FILES WRITE DELAY = FALSE" in html


def test_it_can_be_filled_by_its_address(client, machine):
    machine()
    html = client.get(PATH + "?scale_factor=77&engines=h2:2.3.232&repeats=9").content.decode()
    assert 'name="scale_factor" value="77"' in html
    assert 'value="h2:2.3.232" checked' in html


def test_it_starts_the_experiment_and_leads_to_it(as_operator, machine, operator):
    machine()
    answer = as_operator.post(PATH, FORM)
    experiment = Experiment.objects.get()
    assert answer.status_code == 302
    assert answer["Location"] == reverse("experiment", args=[experiment.slug])
    assert experiment.name == "TPC-B profile: SQLite, H2"
    assert experiment.created_by == operator
    order = experiment.runs.order_by("order_index").values_list("dbms_version__dbms__slug", "repeat")
    assert list(order) == [("sqlite", 1), ("h2", 1), ("sqlite", 2), ("h2", 2)]
    assert Job.objects.filter(requested_agent=None).count() == 4


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("# mine\r\n\r\ncache_size = -2000\r\nFILES = a = b\r\ncache_size=-4000\r\n",
         [["cache_size", "-2000"], ["FILES", "a = b"], ["cache_size", "-4000"]]),
        ("", []),
    ],
)  # fmt: skip
def test_it_takes_settings_in_order_with_duplicates_or_none_at_all(as_operator, machine, text, kept):
    machine()
    as_operator.post(PATH, {**FORM, "engines": ["sqlite:3.50.1"], "settings_sqlite": text})
    assert Job.objects.first().spec["settings"] == kept


def test_a_rate_may_be_below_one_a_second_and_says_how_its_transactions_come(as_operator, machine):
    machine()
    as_operator.post(PATH, {**FORM, "rate_per_s": "0.2"})
    factors = Job.objects.first().spec["factors"]
    assert (factors["rate_per_s"], factors["arrivals"]) == (0.2, "poisson")
    assert Run.objects.first().factor("rate_per_s") == 0.2


@pytest.mark.parametrize(
    ("change", "field", "words"),
    [
        ({"engines": []}, "engines", "Choose at least one engine."),
        ({"engines": ["mongo:1"]}, "engines", "not one of the available choices"),
        ({"terminals": "0"}, "terminals", "greater than or equal to 1"),
        ({"terminals": "1,000"}, "terminals", "a thousand as 1000"),
        ({"duration_s": "long"}, "duration_s", "whole number"),
        ({"duration_s": "7.5"}, "duration_s", "7.5 is not a whole number."),
        ({"rate_per_s": "-0.5"}, "rate_per_s", "greater than or equal to 0"),
        ({"rate_per_s": "often"}, "rate_per_s", "often is not a number."),
        ({"repeats": "51"}, "repeats", "less than or equal to 50"),
        ({"workload": "tpcx"}, "workload", "not one of the available choices"),
        ({"agent": "nobody"}, "agent", "not one of the available choices"),
        ({"swept_h2": "WRITE_DELAY"}, "swept_h2", "WRITE_DELAY"),
        ({"settings_h2": "WRITE_DELAY"}, "settings_h2", "Line 1 is not of the form"),
        ({"stop_baseline": "dbms=sqlite"}, "stop_percent", "at which width"),
    ],
)
def test_it_names_the_wrong_field_and_keeps_the_input(as_operator, machine, change, field, words):
    machine()
    answer = as_operator.post(PATH, {**FORM, "name": "My night run", **change})
    assert answer.status_code == 422
    form = answer.context["form"]
    assert list(form.errors) == [field]
    html = answer.content.decode()
    assert words in form.errors[field][0]
    assert f">{form[field].label}</a>: {escape(form.errors[field][0])}</li>" in html
    assert 'value="My night run"' in html
    assert '<div class="notice notice-bad" role="alert" tabindex="-1" autofocus>' in html
    assert not Run.objects.exists()


def test_fields_of_each_engine_have_names_of_their_own(client, machine):
    """Seen: "Settings to vary: …" above six fields of that name."""
    machine()
    labels = [field.label for field in client.get(PATH).context["form"]]
    assert [label for label in set(labels) if labels.count(label) > 1] == []


def test_it_refuses_an_engine_that_is_not_available(as_operator, machine):
    bench = machine()
    Agent.objects.filter(pk=bench.agent.pk).update(engines=[facts_of("h2:2.3.232", "no Java")])
    answer = as_operator.post(PATH, {**FORM, "engines": ["h2:2.3.232"]})
    assert answer.status_code == 422
    assert "H2 2.3.232." in answer.context["form"].errors["engines"][0]


def test_it_tells_number_and_time_before_the_start(client, machine):
    machine()
    html = client.post(PATH, {**FORM, "action": "preview"}).content.decode()
    assert "4 runs, about 50 seconds" in html
    assert 'value="sqlite:3.50.1" checked' in html
    # What is opened by hand stays so where its part of the page is replaced, if it has an id.
    assert not re.findall(r"<details(?! id=)", html)
    assert not Run.objects.exists()


def test_it_estimates_while_the_form_is_filled(client, machine):
    machine()
    answer = client.post(reverse("schedule-estimate"), {**FORM, "repeats": "3"}, headers={"HX-Request": "true"})
    html = answer.content.decode()
    assert html.strip().startswith('<p id="estimate"')
    assert "6 runs, about 80 seconds" in html
    incomplete = client.post(reverse("schedule-estimate"), {**FORM, "engines": []}).content.decode()
    assert "Choose at least one engine." in incomplete
    wrong = client.post(reverse("schedule-estimate"), {**FORM, "terminals": "0"}).content.decode()
    assert "Terminals: Ensure" in wrong
    # Seen: only the first of several.
    both = client.post(reverse("schedule-estimate"), {**FORM, "terminals": "0", "repeats": "0"}).content.decode()
    assert "Terminals: Ensure" in both and "Repeats: Ensure" in both
    assert not Run.objects.exists()


def test_another_workload_keeps_what_was_typed(as_operator, machine):
    """Was: its tab loaded an empty form."""
    machine()
    typed = FORM | {"name": "My night run", "terminals": "2, x", "repeats": "7", "settings_h2": "WRITE_DELAY = 0"}
    form = as_operator.post(PATH, typed | {"switch": "tpcc"}).context["form"]
    kept = {name: form[name].value() for name in ("workload", "engines", "name", "terminals", "repeats", "settings_h2")}
    assert kept == {name: typed.get(name) for name in kept} | {"workload": "tpcc"}
    assert not form.errors and not Run.objects.exists()


def test_it_shows_a_start_button_only_to_those_who_may(client, machine, viewer, operator):
    machine()
    start = 'value="start"'
    assert start not in client.get(PATH).content.decode()
    assert "Log in to start" in client.get(PATH).content.decode()
    client.force_login(viewer)
    assert start not in client.get(PATH).content.decode()
    client.force_login(operator)
    assert start in client.get(PATH).content.decode()


AGAIN = "?workload=tpcb&publication=tpcb-2010&figure=tpcb-table&scale_factor=10&terminals=4&engines=derby&repeats=5"


@pytest.fixture
def article(db):
    return Publication.objects.create(slug="tpcb-2010", title_original="o", title_en="A test", language="cs")


def test_it_is_filled_in_from_a_publication_and_names_it(client, machine, article):
    machine("bench1", "sqlite:3.50.1", "derby:10.6.2.1", "derby:10.16.1.1")
    html = client.get(PATH + AGAIN).content.decode()
    assert f'Re-run of <a href="{article.get_absolute_url()}">A test</a>' in html
    assert 'name="publication" value="tpcb-2010"' in html and 'name="figure" value="tpcb-table"' in html
    assert 'name="scale_factor" value="10"' in html and 'name="repeats" value="5"' in html
    ticked = {line.partition('"')[0] for line in html.split('name="engines" value="') if " checked" in line[:60]}
    assert ticked == {"derby:10.6.2.1", "derby:10.16.1.1"}


def test_it_refuses_a_publication_that_is_not_there(as_operator, machine):
    machine("bench1", "h2:2.3.232", "sqlite:3.50.1")
    response = as_operator.post(PATH, FORM | {"publication": "no-such"})
    assert response.status_code == 422
    assert "There is no publication no-such." in response.content.decode()


def test_it_says_that_a_workload_is_not_in_the_catalogue(client, machine):
    machine("bench1", "sqlite:3.50.1")
    html = client.get(PATH + "?workload=no-such-workload").content.decode()
    assert "<code>no-such-workload</code> of this experiment is not in the catalogue" in html


@pytest.mark.parametrize("workload", WORKLOADS)
def test_it_runs_an_experiment_again_as_it_was_planned(as_operator, machine, operator, workload):
    """Also one that names each of its factors, as the API plans it."""
    machine("bench1", "sqlite:3.50.1")
    factors = {factor.name: factor.default for factor in WORKLOADS[workload].factors}
    factors |= {"script_text": "-- transaction read\nSELECT 1;\n"} if workload == "script" else {}
    sweep = {"terminals": [1, 2]} if factors.pop("terminals", None) else {}
    plan = plan_of("sqlite:3.50.1", repeats=2, sweep=sweep, tags=("a", "b"), tested={"commit": "abc"}, note="as ever")
    plan = replace(plan, workload=workload, factors=factors, name="Nightly")
    made = Experiment.objects.create(slug="nightly", name="Nightly", created_by=operator, plan=plan.as_json())
    form = as_operator.get(f"{PATH}?experiment={made.slug}").context["form"]
    answer = as_operator.post(PATH, sent_of(form) | {"action": "start"})
    assert answer.status_code == 302, answer.context["form"].errors
    again = Experiment.objects.exclude(pk=made.pk).get()
    assert {**again.plan, "visibility": ""} == made.plan


OF_SEVERAL = {
    "configs", "swept", "machines", "labels", "each", "exclude", "order", "order_seed", "stop",
}  # fmt: skip


def sent_of(form) -> dict[str, object]:
    return {name: form[name].value() for name in form.fields if form[name].value() is not None}


def test_run_again_carries_every_field_of_a_plan(as_operator, machine, operator):
    """Was: machine, readers, publication, exceptions and cells beside the combinations were dropped in silence."""
    agent = machine("bench1", "sqlite:3.50.1").agent
    Publication.objects.create(slug="an-article", title_original="o", title_en="An article", language="en")
    plan = replace(
        plan_of("sqlite:3.50.1", repeats=2, sweep={"terminals": (1, 2)}),
        factors={name: value for name, value in FACTORS.items() if name != "terminals"},
        overrides=(("terminals", 2, {"cache_state": "cold"}),), extra=({"terminals": 4, "scale_factor": 2},),
        settings={"sqlite": (("synchronous", "FULL"),)}, called={"sqlite": "as delivered"}, agent=agent, name="Nightly",
        label="before the upgrade",
        tags=("a", "b"), tested={"build": "1", "commit": "abc", "branch": "main"}, note="as ever",
        visibility="private", publication="an-article", figure="a-table",
    )  # fmt: skip
    made = scheduling.start(plan, user=operator)
    form = as_operator.get(f"{PATH}?experiment={made.slug}").context["form"]
    answer = as_operator.post(PATH, sent_of(form) | {"action": "start"})
    assert answer.status_code == 302, answer.context["form"].errors
    again = Experiment.objects.exclude(pk=made.pk).get()
    usual = Plan(workload="tpcb", engines=(), factors={})
    for field in fields(Plan):
        if field.name == "not_after":  # a deadline is of the experiment that it was given for
            continue
        if field.name in OF_SEVERAL:  # which a plan for one agent has not: tests.agents.plans.test_matrix
            continue
        assert getattr(plan, field.name) != getattr(usual, field.name) or field.name == "workload", field.name
        if field.name == "factors":  # The form names the usual ones too; runs do not.
            assert again.plan["factors"].items() >= made.plan["factors"].items()
        elif field.name != "called":  # What people call settings is kept by their configuration.
            assert again.plan[field.name] == made.plan[field.name], field.name

    def jobs(experiment: Experiment) -> list[tuple[object, ...]]:
        runs = Run.objects.filter(experiment=experiment).order_by("order_index").select_related("job")
        of_one_run = {"run_id", "seed"}
        specs = [{name: value for name, value in run.job.spec.items() if name not in of_one_run} for run in runs]
        return [
            (spec, run.config.name, run.job.requested_agent, run.visibility)
            for spec, run in zip(specs, runs, strict=True)
        ]

    assert jobs(again) == jobs(made)
    assert len(jobs(again)) == 6
    assert "SQLite, as delivered" in {name for _, name, _, _ in jobs(again)}


def test_what_goes_beyond_the_fields_can_be_left_out_and_is_checked(as_operator, machine, operator):
    machine("bench1", "sqlite:3.50.1")
    extra = ({"scale_factor": 2, "terminals": 4},)
    plan = replace(plan_of("sqlite:3.50.1"), overrides=(("terminals", 2, {"cache_state": "cold"}),), extra=extra)
    Experiment.objects.create(slug="nightly", name="Nightly", created_by=operator, plan=plan.as_json())
    page = as_operator.get(f"{PATH}?experiment=nightly")
    said = page.content.decode()
    assert "<li>where Terminals: 2 connections, Caches at the start: cold caches</li>" in said
    assert "<li>beside all combinations a cell with Scale factor: " in said
    sent = sent_of(page.context["form"])
    for wrong in ("no JSON", '{"extra": [{"terminals": [1]}]}', '{"extra": [{"nonsense": 1}]}',
                  '{"overrides": [["terminals", 2, {"cache_state": "tepid"}]]}', '{"seed": 1}'):  # fmt: skip
        answer = as_operator.post(PATH, sent | {"beyond": wrong, "action": "start"})
        assert answer.status_code == 422, wrong
    # A factor that is varied now and was not: the cell beside has no value for it.
    answer = as_operator.post(PATH, sent | {"duration_s": "5, 6", "action": "start"})
    assert (answer.status_code, "A cell beside the combinations names none." in answer.content.decode()) == (422, True)
    sent.pop("beyond")
    assert as_operator.post(PATH, sent | {"action": "start"}).status_code == 302
    again = Experiment.objects.exclude(slug="nightly").get()
    assert (again.plan["overrides"], again.plan["extra"]) == ([], [])


def test_a_secret_that_is_not_stored_is_asked_for_again(as_operator, machine, operator):
    """Else a server would be started with the words that stand for it."""
    machine("bench1", "sqlite:3.50.1")
    plan = replace(plan_of("sqlite:3.50.1"), settings={"sqlite": (("password", "hunter2"),)}).as_json()
    Experiment.objects.create(slug="nightly", name="Nightly", created_by=operator, plan=plan)
    sent = sent_of(as_operator.get(f"{PATH}?experiment=nightly").context["form"])
    answer = as_operator.post(PATH, sent | {"action": "start"})
    assert answer.status_code == 422
    assert "the value of password was a secret and is not stored" in answer.content.decode()


def test_it_says_what_of_a_plan_is_not_on_the_machines_of_this_site(client, machine, operator):
    machine("bench1", "sqlite:3.50.1")
    plan = plan_of("sqlite:3.50.1", "mysql:8.0.36")
    plan = replace(plan, factors={**plan.factors, "data_storage": "slow"}).as_json()
    Experiment.objects.create(slug="nightly", name="Nightly", created_by=operator, plan=plan)
    said = client.get(f"{PATH}?experiment=nightly").content.decode()
    assert "Not on the machines of this site, and not ticked below: mysql 8.0.36, slow." in said
    assert "Not on the machines" not in client.get(f"{PATH}?engines=sqlite").content.decode()
