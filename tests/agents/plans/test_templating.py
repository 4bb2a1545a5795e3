"""Templates: saved from an experiment, shared or not, started from by the form."""

from __future__ import annotations

import pytest

from agents.models import Template
from agents.plans import schedule
from tests.agents.conftest import plan_of

pytestmark = pytest.mark.django_db
A = "sqlite:3.50.1"
PATH = "/api/v1/templates/"


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
    assert client.get(PATH).json()["results"] == []
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
    client.post("/templates/", {"experiment": experiment.slug, "name": "Mine", "is_shared": "on"})
    template = Template.objects.get()
    assert (template.name, template.owner, template.is_shared) == ("Mine", operator, True)
    client.post("/templates/", {"delete": template.slug})
    assert not Template.objects.exists()
