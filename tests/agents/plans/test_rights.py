"""`script` and servers of others are rights of their own, whichever way a run is asked for."""

from __future__ import annotations

import pytest
from benchagent.catalog import DBMSS, WORKLOADS
from django.core.exceptions import PermissionDenied

from agents.machines import Engine
from agents.plans import schedule
from agents.plans.plan import Plan
from runs.access.rules import SCOPES_BY_ROLE
from runs.models import SCOPES, ApiToken, Experiment, Run
from runs.models.choices import UserRole
from tests.agents.conftest import FACTORS
from tests.conftest import REPOSITORY

pytestmark = pytest.mark.django_db

OWN, OTHERS = Engine("sqlite", "3.50.1"), Engine("postgresql", "15.20", "staging")
SCRIPT = Plan("script", (OWN,), {factor.name: factor.default for factor in WORKLOADS["script"].factors})
CONNECTION = Plan("tpcb", (OTHERS,), FACTORS)
ARCHIVER = Plan("tpcb", (OWN,), FACTORS, settings={"sqlite": (("archive_command", "cp %p /tmp"),)})
NEEDING = [(SCRIPT, "script"), (CONNECTION, "connection"), (ARCHIVER, "script")]


@pytest.fixture(autouse=True)
def bench(machine):
    """An agent that could run all of them."""
    agent = machine().agent
    agent.engines.append({**agent.engines[0], "dbms": "postgresql", "version": "15.20", "connection": "staging"})
    agent.save()


def token(owner, *scopes: str) -> ApiToken:
    return ApiToken.issue(owner=owner, name="t", scopes=scopes)[0]


@pytest.mark.parametrize(("plan", "scope"), NEEDING)
def test_a_token_that_may_only_schedule_starts_none_of_them_and_is_told_the_scope(plan, scope, operator):
    with pytest.raises(PermissionDenied, match=f"not the scope {scope}, which this plan needs beside schedule"):
        schedule.start(plan, user=operator, token=token(operator, *(other for other in SCOPES if other != scope)))
    assert not Experiment.objects.exists()


@pytest.mark.parametrize(("plan", "scope"), NEEDING)
def test_one_with_the_scope_does_and_so_does_the_person(plan, scope, operator):
    for key in (token(operator, "schedule", scope), None):
        run = schedule.start(plan, user=operator, token=key).runs.get()
        assert schedule.repeat_cell(run, user=operator, token=key).repeat == 2


@pytest.mark.parametrize(("plan", "scope"), NEEDING)
def test_nobody_repeats_what_they_could_not_have_scheduled(plan, scope, operator, viewer):
    run = schedule.start(plan, user=operator).runs.get()
    for user, key in ((operator, token(operator, "schedule")), (viewer, None), (viewer, token(viewer, *SCOPES))):
        with pytest.raises(PermissionDenied, match=f"not the scope {scope}"):
            schedule.repeat_cell(run, user=user, token=key)
    assert Run.objects.count() == 1


def test_the_api_answers_403_with_the_words(client, bearer):
    body = {"workload": "script", "engines": [{"dbms": "sqlite", "version": "3.50.1"}]}
    path = "/api/v1/experiments/"
    answer = client.post(path, body, content_type="application/json", headers=bearer("read", "schedule"))
    assert answer.status_code == 403
    assert answer.json()["detail"].startswith("This token has not the scope script, which this plan needs")
    answer = client.post(path, body, content_type="application/json", headers=bearer("script"))
    assert (answer.status_code, answer.json()["detail"]) == (403, "This token has not the scope schedule.")
    assert not Run.objects.exists()


def test_settings_that_run_code_are_known_however_they_are_written():
    known = "archive_command SHARED_PRELOAD_LIBRARIES init-file plugin_load_add INIT ExternalFileAccess"
    assert all(schedule.RUNNING.fullmatch(name.replace("-", "_")) for name in known.split())


def test_no_setting_of_the_catalogue_needs_more_than_schedule():
    names = [name for entry in DBMSS.values() for name, _ in entry.settings]
    assert names
    assert not [name for name in names if schedule.RUNNING.fullmatch(name)]


def test_the_documentation_says_what_each_scope_reaches():
    lines = (REPOSITORY / "docs" / "operate" / "access.md").read_text().splitlines()
    start = lines.index("| scope | for whom | lets a program | reaches at most |") + 2
    table = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[start : start + len(SCOPES)]]
    assert [row[0] for row in table] == list(SCOPES)
    assert not lines[start + len(SCOPES)].startswith("|")
    roles = {
        "every role": UserRole.VIEWER, "contributor and up": UserRole.CONTRIBUTOR, "operator and up": UserRole.OPERATOR
    }  # fmt: skip
    order = list(UserRole.values)
    for scope, whom, *_ in table:
        lowest = next(role for role in order if scope in SCOPES_BY_ROLE[role])
        assert roles[whom] == lowest
        assert all(scope in SCOPES_BY_ROLE[role] for role in order[order.index(lowest) :])
