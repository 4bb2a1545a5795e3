"""Run by `test_doors.py` in an environment that has the example plug-in: its parts as people meet them."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from benchagent import importers
from benchagent.catalog import Durability
from benchagent.java import JavaToolchain
from benchagent.paths import AgentDirs
from benchagent.plugins import LACKING
from rest_framework.exceptions import ValidationError

from agents.jobs import dispatch
from agents.machines import Engine
from agents.models import Agent, EnrolmentCode
from agents.plans import schedule
from agents.plans.plan import Plan
from agents.refusals import FieldErrors
from runs import imports
from runs.models import FileImport, Run
from runs.models.choices import SHORT_DURABILITY, RunState
from runs.results import bundle
from tests.benchagent.conftest import dirs, toolchain
from tests.benchagent.fake_server import wait_until
from tests.benchagent.small import RATE_PER_S

__all__ = ["dirs", "toolchain"]
pytestmark = pytest.mark.django_db
MINIBENCH = b"""$ minibench run
minibench 2.1
clients: 4
transactions: 120 (11.98 per sec.)
average latency: 8.3 ms
done in 10.01 s
"""
SUBJECT = {"hardware": {"name": "bench 7"}, "dbms": {"name": "MiniDB", "version": "1"}}
FACTORS = {"counters": 100, "terminals": 2, "warm_up_s": 0, "duration_s": 2, "rate_per_s": RATE_PER_S}
WAIT_S, EVERY_S = 120, 0.25


def sent(content: bytes) -> list[imports.Sent]:
    return [imports.Sent("out.txt", io.BytesIO(content))]


def test_its_file_is_read_stored_and_exported_through_the_api(client, bearer):
    headers = bearer("upload")
    files = {"file": io.BytesIO(MINIBENCH), "subject": json.dumps(SUBJECT)}
    taken = client.post("/api/v1/imports/", files, headers=headers).json()
    assert [(item["tool"], item["status"]) for item in taken["items"]] == [("minibench", "complete")]
    address = f"/api/v1/imports/{taken['id']}/store/"
    stored = client.post(address, {}, content_type="application/json", headers=headers)
    assert (stored.status_code, len(stored.json()["runs"])) == (201, 1)
    assert Run.objects.get().measurements.get(metric__name="tps").value == 11.98

    answer = client.get("/api/v1/runs/", {"format": "markdown"})
    head, _, line = b"".join(answer.streaming_content).decode().splitlines()
    assert answer["Content-Type"] == "text/markdown; charset=utf-8"
    assert dict(zip(head.split(" | "), line.split(" | "), strict=True))["workload"] == "minibench"


def test_its_tool_and_its_format_are_named_where_people_choose(client, contributor):
    client.force_login(contributor)
    imports.store(imports.receive(files=sent(MINIBENCH), owner=contributor)[0], subject=SUBJECT, owner=contributor)
    assert "minibench" in client.get("/imports/").content.decode()
    assert "format=markdown" in client.get("/runs/").content.decode()


def test_to_read_again_without_the_plug_in_loses_nothing(contributor, monkeypatch):
    taken, _ = imports.receive(files=sent(MINIBENCH), owner=contributor)
    (run,), _ = imports.store(taken, subject=SUBJECT, owner=contributor)
    left = tuple(each for each in importers.importers() if each.TOOL != "minibench")
    monkeypatch.setattr(importers, "importers", lambda: left)
    with pytest.raises(ValidationError):
        imports.read_again(FileImport.objects.get())
    assert Run.objects.get(pk=run.pk).measurements.get(metric__name="tps").value == 11.98


@contextmanager
def agent_of(python: str | Path, server: str, dirs: AgentDirs, toolchain: JavaToolchain) -> Iterator[Agent]:
    """An agent of an environment, approved at once."""
    code = dirs.root / "code"
    code.touch(mode=0o600)
    code.write_text(EnrolmentCode.issue())
    dirs.cache.rmdir()
    dirs.cache.symlink_to(toolchain.folder)
    words = ["run", "--server", server, "--name", "bench1", "--code-file", str(code), "--state", str(dirs.root)]
    child = subprocess.Popen([python, "-m", "benchagent", *words], stderr=subprocess.DEVNULL)
    try:
        wait_until(lambda: Agent.objects.filter(last_seen_at__isnull=False).exists(), WAIT_S, EVERY_S)
        yield Agent.objects.get()
    finally:
        child.kill()
        child.wait()


def offered(agent: Agent) -> dict[str, str]:
    return {facts["dbms"]: facts["version"] for facts in agent.engines if facts["available"]}


def ended(run: Run) -> bool:
    """As the worker does: give runs to agents until this one has ended."""
    dispatch.assign_queued()
    return Run.objects.get(pk=run.pk).state in (RunState.FINISHED, RunState.FAILED)


@pytest.mark.django_db(transaction=True)
def test_its_engine_is_offered_by_an_agent_and_measured_with_its_workload(
    live_server, dirs, toolchain, client, operator
):
    client.force_login(operator)
    with agent_of(sys.executable, live_server.url, dirs, toolchain) as agent:
        assert "H2 in PostgreSQL mode" in client.get("/schedule/").content.decode()
        run = measured("counters", "h2pg", agent)
    assert run.state == RunState.FINISHED, run.message
    assert run.measurements.get(metric__name="tps").value > 0
    (raised,) = [check for check in run.checks if check["name"] == "counters"]
    assert raised["ok"], raised
    assert (run.durability, run.statistics["durability"]["promised"]["durability"]) == ("", "")
    page = client.get(run.get_absolute_url()).content.decode()
    assert "what a commit promises is not known for this DBMS" in page
    assert SHORT_DURABILITY[Durability.NONE] not in page
    Path(os.environ["BUNDLE"]).write_bytes(bundle.export(run.experiment, operator, address=live_server.url))


@pytest.mark.django_db(transaction=True)
def test_an_agent_without_it_is_given_nothing_of_its_engine_and_fails_what_names_its_workload(
    live_server, dirs, toolchain
):
    with agent_of(os.environ["PYTHON_WITHOUT"], live_server.url, dirs, toolchain) as agent:
        with pytest.raises(FieldErrors, match="H2 in PostgreSQL mode 1"):
            schedule.start(Plan("counters", (Engine("h2pg", "1"),), FACTORS), user=None)
        run = measured("counters", "sqlite", agent)
    assert (run.state, run.measurements.exists()) == (RunState.FAILED, False)
    assert f"'counters': {LACKING}" in run.message


def measured(workload: str, dbms: str, agent: Agent) -> Run:
    run = schedule.start(Plan(workload, (Engine(dbms, offered(agent)[dbms]),), FACTORS), user=None).runs.get()
    wait_until(lambda: ended(run), WAIT_S, EVERY_S)
    return Run.objects.get(pk=run.pk)
