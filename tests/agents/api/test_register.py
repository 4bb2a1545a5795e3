from __future__ import annotations

import pytest
from benchagent.protocol import API_ROOT

from agents import machines
from agents.models import Agent, EnrolmentCode
from tests.agents.conftest import registration

pytestmark = pytest.mark.django_db
PATH = f"{API_ROOT}/register/"


@pytest.fixture(autouse=True)
def open_registration(settings):
    settings.OPEN_REGISTRATION = True


def post(client, body, **more):
    return client.post(PATH, body, content_type="application/json", **more)


def test_it_registers_an_agent_that_then_waits(client):
    answer = post(client, registration())
    assert answer.status_code == 200
    body = answer.json()
    assert body["status"] == "pending"
    agent = Agent.objects.by_token(body["token"])
    assert str(agent.pk) == body["agent_id"]
    assert [engine["dbms"] for engine in agent.engines] == ["sqlite", "derby", "hsqldb", "h2"]


def test_it_approves_with_a_code(client):
    assert post(client, registration(code=EnrolmentCode.issue())).json()["status"] == "approved"


@pytest.mark.parametrize(("code", "why"), [({}, "none was given"), ({"code": "bsc_wrong"}, "unknown, used or older")])
def test_it_refuses_who_has_no_good_code_by_default(client, settings, code, why):
    settings.OPEN_REGISTRATION = False
    answer = post(client, registration(**code))
    assert answer.status_code == 403
    assert why in answer.json()["detail"] and "an operator makes one on the agents page" in answer.json()["detail"]
    assert not Agent.objects.exists()


def test_three_large_registrations_leave_nothing_in_the_database(client):
    for number in range(3):
        body = registration(f"stranger-{number}", tuple(f"sqlite:{'9' * 1000}.{n}" for n in range(12_000)))
        answer = post(client, body)
        assert answer.status_code == 413
        assert "at most" in answer.json()["detail"]
    assert not Agent.objects.exists()


def test_what_fits_the_body_may_still_be_more_than_is_kept(client):
    answer = post(client, registration(engines=tuple(f"sqlite:{'9' * 100}.{n}" for n in range(1_550))))
    assert answer.status_code == 413
    assert "at most 256 kB are kept" in answer.json()["detail"]


@pytest.mark.parametrize("protocol", [0, 2, "1", None])
def test_it_refuses_another_protocol_before_it_looks_at_anything_else(client, protocol):
    answer = post(client, {"protocol": protocol, "news": 1})
    assert answer.status_code == 426
    assert "version 1" in answer.json()["detail"]
    assert not Agent.objects.exists()


def without(path: str):
    body = registration()
    *way, last = path.split(".")
    holder = body
    for step in way:
        holder = holder[int(step)] if step.isdigit() else holder[step]
    del holder[last]
    return body


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("name", "name"),
        ("engines", "engines"),
        ("engines.1.reason", "engines[1].reason"),
        ("hardware.ram_bytes", "hardware.ram_bytes"),
        ("hardware.storage.0.emulated", "hardware.storage[0].emulated"),
    ],
)
def test_it_names_a_missing_field(client, path, field):
    answer = post(client, without(path))
    assert answer.status_code == 400
    assert answer.json() == {field: ["This field is required."]}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": 5}, "name"),
        ({"engines": {}}, "engines"),
        ({"engines": [7]}, "engines[0]"),
        ({"hardware": []}, "hardware"),
        ({"code": None}, "code"),
    ],
)
def test_it_names_a_field_of_the_wrong_type(client, change, field):
    answer = post(client, {**registration(), **change})
    assert answer.status_code == 400
    assert list(answer.json()) == [field]


@pytest.mark.parametrize("cores", [-1, 1.5, 2**31, True, "2"])
def test_it_names_a_number_that_no_column_holds(client, cores):
    body = registration()
    body["hardware"]["cpu_cores"] = cores
    answer = post(client, body)
    assert answer.status_code == 400
    assert list(answer.json()) == ["hardware.cpu_cores"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"NaN", b'{"protocol": NaN}', b"\xff", b"[" * 100_000])
def test_it_answers_nonsense_with_400_or_426_and_json(client, body):
    answer = client.post(PATH, body, content_type="application/json")
    assert answer.status_code == (426 if body == b"" else 400)
    assert answer.json()


def test_it_takes_text_that_a_database_refuses(client):
    body = registration(name="a\x00b\ud800")
    body["engines"][0]["path"] = "x\x00"
    answer = post(client, body)
    assert answer.status_code == 200
    assert Agent.objects.get().name == "a b?"


def test_it_cuts_a_long_name(client):
    assert post(client, registration(name="n" * 5000)).status_code == 200
    assert len(Agent.objects.get().name) == 200


def test_it_says_that_too_many_wait(client, monkeypatch):
    monkeypatch.setattr(machines, "MAX_PENDING", 0)
    assert post(client, registration()).status_code == 429


def test_it_needs_no_cookie_against_forgery():
    from django.test import Client

    assert post(Client(enforce_csrf_checks=True), registration()).status_code == 200
