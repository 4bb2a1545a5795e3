"""`/metrics`, and what the log says of requests."""

from __future__ import annotations

import logging
from datetime import timedelta

import pytest
from django.utils import timezone
from prometheus_client.parser import text_string_to_metric_families

from agents.jobs import reservations
from agents.models import Agent, AgentStatus
from benchsite import health, log
from runs.models import ApiToken
from tests.runs.cells import make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def parts(monkeypatch):
    monkeypatch.setattr(health, "database", lambda: "ok")
    monkeypatch.setattr(health, "broker_and_its_users", lambda: {"broker": "ok", "worker": "no sign of life for 10 s"})


@pytest.fixture
def values(client, operator):
    """Name and labels -> value, as Prometheus reads them."""
    _, secret = ApiToken.issue(owner=operator, name="prometheus", scopes=["read"])

    def read() -> dict[tuple[str, str], float]:
        answer = client.get("/metrics", headers={"Authorization": f"Bearer {secret}"})
        assert answer.status_code == 200
        families = text_string_to_metric_families(answer.content.decode())
        return {
            (sample.name, "/".join(value for _, value in sorted(sample.labels.items()))): sample.value
            for family in families for sample in family.samples
        }  # fmt: skip

    return read


def agent(slug: str, *, seen_s: float = 1, **more) -> Agent:
    seen = timezone.now() - timedelta(seconds=seen_s)
    values = {"status": AgentStatus.APPROVED, "last_seen_at": seen, "token_digest": slug} | more
    return Agent.objects.create(slug=slug, name=slug, **values)


def test_it_tells_of_agents_queue_parts_and_disk(values, operator):
    agent("a"), agent("b", seen_s=60), agent("c", status=AgentStatus.PENDING)
    reservations.reserve(agent("d"), by=operator)
    told = values()
    agents = {label: value for (name, label), value in told.items() if name == "benchsite_agents"}
    assert agents == {"online": 1, "offline": 1, "pending": 1, "paused": 1}
    assert (told["benchsite_up", "database"], told["benchsite_up", "worker"]) == (1, 0)
    assert told["benchsite_runs", "queued"] == 0
    assert told["benchsite_database_bytes", ""] > 0
    assert told["benchsite_disk_free_bytes", ""] > 0


def test_it_counts_requests_by_route_and_not_by_address(values, client):
    run = make_run("SQLite 3.50", 1.0)
    before = values()
    client.get(f"/runs/{run.pk}/")
    client.get(f"/runs/{run.pk}x/")
    after = values()

    def more(*labels: str) -> float:
        key = ("benchsite_requests_total", "/".join(labels))
        return after[key] - before.get(key, 0)

    assert (more("GET", "run", "200"), more("GET", "none", "404")) == (1, 1)
    assert not any(str(run.pk) in label for _, label in after)


def test_only_operators_read_it(client, contributor, operator):
    assert client.get("/metrics").status_code == 401
    client.force_login(contributor)
    assert client.get("/metrics").status_code == 403
    client.force_login(operator)
    assert client.get("/metrics").status_code == 200


def lines(caplog) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "benchsite.requests"]


def test_each_request_leaves_a_line_without_secrets(client, operator, caplog):
    caplog.set_level(logging.INFO)
    token, secret = ApiToken.issue(owner=operator, name="laptop", scopes=["upload"])
    headers = {"Authorization": f"Bearer {secret}", "X-Request-ID": "of-a-proxy.1"}
    answer = client.post("/api/v1/results/?q=hidden", {}, content_type="application/json", headers=headers)
    assert answer["X-Request-ID"] == "of-a-proxy.1"
    (line,) = lines(caplog)
    assert line.startswith("POST /api/v1/results/ 400 ")
    assert f"token 'laptop' {token.prefix}… of 'olga-operator', from 127.0.0.1" in line
    assert secret not in caplog.text
    assert "hidden" not in caplog.text
    assert client.get("/", headers={"X-Request-ID": "a b\n"})["X-Request-ID"] not in ("", "a b\n")


def test_a_login_and_a_wrong_password_are_logged_without_it(client, operator, caplog):
    caplog.set_level(logging.INFO)
    operator.set_password("right-horse-9")
    operator.save()
    for name, password in ((operator.username, "wrong-horse-9"), ("my-pass-word-9", "x"),
                           (operator.username, "right-horse-9")):  # fmt: skip
        client.post("/login/", {"username": name, "password": password})
    told = [record.getMessage() for record in caplog.records if record.name == "runs.access.forms"]
    assert [line.split(" from ")[0] for line in told] == [
        "wrong password of 'olga-operator'", "wrong password of nobody", "login of 'olga-operator'"
    ]  # fmt: skip
    assert not any(word in caplog.text for word in ("right-horse-9", "wrong-horse-9", "my-pass-word-9"))


def test_lines_within_a_request_name_it():
    record = logging.LogRecord("x", logging.INFO, "", 0, "", (), None)
    mark = log.current_request.set("abc")
    log.WithRequest().filter(record)
    assert record.request_id == " [abc]"
    log.current_request.reset(mark)
    log.WithRequest().filter(record)
    assert record.request_id == ""
