from __future__ import annotations

import re

import pytest

from agents.jobs.dispatch import may_take
from agents.machines import Engine, offers
from agents.models import Agent
from agents.plans import schedule
from agents.plans.plan import Plan
from agents.refusals import FieldErrors
from runs.models import Run
from tests.agents.conftest import FACTORS

pytestmark = pytest.mark.django_db


@pytest.fixture
def connected(machine) -> Agent:
    """An agent with PostgreSQL 15.20 of its own, and the same version on a server of others."""
    agent = machine().agent
    own = {"dbms": "postgresql", "version": "15.20", "available": True, "reason": "", "path": "/usr"}
    agent.engines = [own, {**own, "path": "connection staging", "connection": "staging"}]
    agent.save()
    return agent


def started(*keys: str) -> list[Run]:
    plan = Plan("tpcb", tuple(Engine(*re.split("[:@]", key)) for key in keys), FACTORS)
    return list(schedule.start(plan, user=None).runs.order_by("order_index"))


def test_keys_name_the_connection():
    assert Engine("postgresql", "15.20", "staging").key == "postgresql:15.20@staging"
    assert Engine("sqlite", "3.50").key == "sqlite:3.50"


def test_both_are_offered_and_told_apart(connected):
    assert [offer.engine.label for offer in offers([connected])] == [
        "PostgreSQL 15.20",
        "PostgreSQL 15.20 on connection staging",
    ]


def test_the_job_names_the_connection_and_sets_nothing(connected):
    own, other = started("postgresql:15.20", "postgresql:15.20@staging")
    assert "connection" not in own.job.spec
    assert own.job.spec["settings"]
    assert (other.job.spec["connection"], other.job.spec["settings"]) == ("staging", [])
    assert other.context == {"connection": "staging"}
    assert own.cell_key != other.cell_key


def test_only_an_agent_with_that_connection_takes_it(connected, machine):
    (run,) = started("postgresql:15.20@staging")
    other = machine().agent
    other.engines = [connected.engines[0]]
    other.save()
    assert may_take(connected, run)
    assert not may_take(other, run)


def test_an_unknown_connection_is_refused(connected):
    with pytest.raises(FieldErrors, match="on connection prod"):
        started("postgresql:15.20@prod")


def test_its_repeat_is_on_the_same_server(connected):
    (run,) = started("postgresql:15.20@staging")
    again = schedule.repeat_cell(run, user=None)
    assert again.job.spec["connection"] == "staging"
    assert again.context == run.context


def test_the_run_says_that_the_machine_is_the_load_generators(connected, client):
    (run,) = started("postgresql:15.20@staging")
    page = client.get(run.get_absolute_url()).content.decode()
    assert "a server that the agent did not start (its connection “staging”)" in page
