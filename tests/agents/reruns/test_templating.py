"""Templates: saved from an experiment or of the product, started from by the form and by the API."""

from __future__ import annotations

import pytest

from agents.models import Template
from agents.plans import schedule
from agents.reruns.templating import OWN
from runs.models import Experiment
from tests.agents.conftest import EMBEDDED, plan_of

pytestmark = pytest.mark.django_db
A = "sqlite:3.50.1"
PATH = "/api/v1/templates/"
TPCB = {"template": "tpcb-2010", "part": "engines", "agent": "bench1"}


@pytest.fixture
def start(client, bearer):
    def post(given, **headers):
        headers = bearer("schedule") | headers
        return client.post("/api/v1/experiments/", given, content_type="application/json", headers=headers)

    return post


def told_of(client, slug):
    (told,) = [row for row in client.get(f"{PATH}?agent=bench1").json()["results"] if row["slug"] == slug]
    assert client.get(f"{PATH}{slug}/?agent=bench1").json() == told
    return told, {part["part"]: part["on_agent"] for part in told["parts"]}


def test_a_template_fills_the_form_for_operators_and_its_owner_alone_where_it_is_not_shared(
    client, bearer, machine, operator, administrator
):
    machine()
    experiment = schedule.start(plan_of(A, repeats=7), user=operator)
    body = {"experiment": experiment.slug, "name": "Seven", "shared": False}

    def save(given):
        return client.post(PATH, given, content_type="application/json", headers=bearer("schedule"))

    made = save(body)
    assert (made.status_code, made.json()["plan"]["repeats"]) == (201, 7)
    assert (save(body).status_code, list(save(body).json())) == (400, ["name"])
    address = f"/schedule/?template={made.json()['slug']}"
    assert not any(row["owner"] for row in client.get(PATH).json()["results"])
    assert client.get(address).context["form"]["repeats"].value() == 3
    client.force_login(operator)
    assert client.get(address).context["form"]["repeats"].value() == 7
    assert "Seven" in client.get("/templates/").content.decode()
    client.force_login(administrator)
    assert client.get(address).context["form"]["repeats"].value() == 3
    client.post("/templates/", {"delete": made.json()["slug"]})
    assert Template.objects.count() == 1
    Template.objects.update(is_shared=True)
    assert client.get(address).context["form"]["repeats"].value() == 7


def test_it_is_saved_and_deleted_on_its_page(client, machine, operator):
    machine()
    experiment = schedule.start(plan_of(A), user=operator)
    client.force_login(operator)
    assert client.post("/templates/", {"experiment": experiment.slug, "name": ""}).status_code == 422
    named = {"experiment": experiment.slug, "name": "Mine", "is_shared": "on"}
    assert "Mine is a template now" in client.post("/templates/", named, follow=True).content.decode()
    assert f"TPC-B profile, of {operator.username}" in client.get("/templates/").content.decode()
    template = Template.objects.get()
    assert (template.name, template.owner, template.is_shared) == ("Mine", operator, True)
    client.post("/templates/", {"delete": template.slug})
    assert not Template.objects.exists()


def test_those_of_the_product_stand_in_the_list_with_their_parts_and_what_an_agent_lacks(client, machine):
    machine("bench1", *EMBEDDED)
    assert {row["slug"] for row in client.get(PATH).json()["results"]} == {*OWN} == {
        "first-light", "gbak-backup-2007", "tpcb-2010", "firebird-terabyte-2015", "cubrid-mysql-ssd-2011",
    }  # fmt: skip
    told, on_agent = told_of(client, "tpcb-2010")
    assert (told["needs_agent"], told["plan"], told["owner"]) == (True, {}, None)
    engines = told["parts"][0]
    assert (engines["part"], engines["figure"]) == ("engines", "tpcb-table")
    assert {"mysql:5.5", "sqlite"} <= {*engines["engines"]}
    # SQLite and HSQLDB, five times each; nothing of PostgreSQL's commit groups.
    assert (on_agent["engines"]["runs"], on_agent["group-commit"]["runs"]) == (15, 0)
    assert on_agent["engines"]["estimated_s"] > 10 * 20
    lacks = {*on_agent["engines"]["lacks"]}
    assert {"MySQL 5.5", "Apache Derby 10.3"} <= lacks
    assert not {"SQLite", "DB2 9.7"} & lacks
    assert client.get(PATH).json()["results"][0]["parts"][0]["on_agent"] is None
    assert (client.get(f"{PATH}?agent=nobody").status_code, client.get(f"{PATH}nothing/").status_code) == (400, 404)


def test_a_part_of_an_article_is_started_as_its_page_starts_it(client, start, machine, operator):
    machine("bench1", *EMBEDDED)
    client.force_login(operator)
    client.post("/schedule/article/tpcb-2010/", {"part": "engines"})
    by_page = Experiment.objects.get()
    answer = start(TPCB, **{"Idempotency-Key": "one"})
    assert (answer.status_code, len(answer.json()["runs"])) == (201, 15)
    assert start(TPCB, **{"Idempotency-Key": "one"}).json() == answer.json()
    by_api = Experiment.objects.exclude(pk=by_page.pk).get()
    assert (by_api.plan, by_api.name, by_api.slug) == (by_page.plan, by_page.name, answer.json()["slug"])
    assert by_api.plan["publication"] == "tpcb-2010"
    assert by_api.plan["published"] and by_api.plan["gaps"]


def test_what_is_given_beside_a_template_stands_in_the_place_of_its_own(start, machine, operator):
    machine("bench1", *EMBEDDED)
    answer = start(TPCB | {"repeats": 1, "name": "Once", "label": "patched"}).json()
    assert (answer["name"], [run["repeat"] for run in answer["runs"]]) == ("Once", [1, 1, 1])
    experiment = Experiment.objects.get(slug=answer["slug"])
    plan = experiment.plan
    assert {run.effective_label for run in experiment.runs.all()} == {"patched"}
    saved = Template.objects.create(slug="mine", name="Mine", owner=operator, plan=plan)
    again = start({"template": saved.slug, "engines": [{"dbms": "sqlite", "version": "3.50.1"}], "repeats": 2})
    assert [run["dbms"] for run in again.json()["runs"]] == ["SQLite 3.50.1"] * 2


def test_the_first_experiment_is_one_too(client, start, machine, operator):
    machine("bench1", *EMBEDDED)
    told, on_agent = told_of(client, "first-light")
    assert [part["on_agent"] for part in told["parts"]] == [*on_agent.values()]
    answer = start({"template": "first-light", "agent": "bench1"}).json()
    assert len(answer["runs"]) == on_agent["engines"]["runs"] == 12
    assert not Experiment.objects.get().demonstration, "it is not that of the home page"
    client.force_login(operator)
    form = client.get("/schedule/?template=first-light").context["form"]
    assert (form["repeats"].value(), len(form["engines"].value())) == (3, 4)
    assert "?template=first-light" in client.get("/templates/").content.decode()


@pytest.mark.parametrize(
    ("given", "field"),
    [
        ({"template": "nothing"}, "template"), (TPCB | {"agent": "nobody"}, "agent"),
        ({"template": "tpcb-2010", "part": "engines"}, "agent"), (TPCB | {"part": "nothing"}, "part"),
        ({"template": "tpcb-2010", "agent": "bench1"}, "part"), (TPCB | {"part": "group-commit"}, "agent"),
        (TPCB | {"engines": [{"dbms": "h2", "version": "2.3.232"}]}, "engines"), (TPCB | {"repeats": 0}, "repeats"),
        (TPCB | {"templates": 1}, "templates"), (TPCB | {"factors": {"terminals": 8}}, "factors"),
        ({"template": "mine", "part": "engines"}, "part"), ({"template": "mine", "agent": "nobody"}, "agent"),
    ],
)  # fmt: skip
def test_a_start_that_cannot_be_names_the_field(start, machine, operator, given, field):
    machine("bench1", *EMBEDDED)
    Template.objects.create(slug="mine", name="Mine", owner=operator, plan=plan_of(A).as_json())
    answer = start(given)
    assert (answer.status_code, list(answer.json())) == (400, [field])
    assert not Experiment.objects.exists()


def test_an_agent_that_is_not_approved_starts_none(start, machine):
    machine("bench1", *EMBEDDED, approved=False)
    assert list(start(TPCB).json()) == ["agent"]


def test_a_saved_one_tells_what_an_agent_lacks_and_takes_no_name_of_the_product(client, bearer, machine, operator):
    machine("bench1", A)
    experiment = schedule.start(plan_of(A, repeats=2), user=operator)
    body = {"experiment": experiment.slug, "name": "First light"}
    made = client.post(PATH, body, content_type="application/json", headers=bearer("schedule")).json()
    assert made["slug"] not in OWN
    client.force_login(operator)
    told, on_agent = told_of(client, made["slug"])
    assert (told["needs_agent"], told["parts"][0]["engines"]) == (False, [A])
    assert (on_agent[""]["runs"], on_agent[""]["lacks"]) == (2, [])
    machine("bench2", "h2:2.3.232")
    (part,) = client.get(f"{PATH}{made['slug']}/?agent=bench2").json()["parts"]
    assert (part["on_agent"]["runs"], "SQLite 3.50.1" in part["on_agent"]["lacks"][0]) == (0, True)
