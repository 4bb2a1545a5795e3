"""A plug-in beside the project: `docs/extend/example-plugin`, installed into an environment of its own; and without."""

from __future__ import annotations

import os
import shutil
import site
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from benchagent import dbms, plugins, workloads
from benchagent.dbms.base import JobError

from agents.machines import Engine
from agents.plans import schedule
from agents.plans.plan import Plan, check, planned
from agents.refusals import FieldErrors
from runs import imports
from runs.models import Experiment, Run
from runs.results import bundle
from tests.benchagent.conftest import dirs, toolchain
from tests.plugins.inside import MINIBENCH, agent_of, offered, sent

__all__ = ["dirs", "toolchain"]

EXAMPLE = Path("docs/extend/example-plugin")


def installed(repository: Path, folder: Path) -> Path:
    """The interpreter of an environment that has what ours has, and the example."""
    venv, source = folder / "venv", folder / "source"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", venv], check=True)
    (packages,) = venv.glob("lib/python*/site-packages")
    ours = "".join(f"import site; site.addsitedir({path!r})\n" for path in site.getsitepackages())
    (packages / "ours.pth").write_text(ours)
    # A build writes into the folder that it builds.
    shutil.copytree(repository / EXAMPLE, source)
    python = venv / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--no-index", "--no-deps"]
    subprocess.run([*install, "--no-build-isolation", source], check=True)
    return python


@pytest.fixture(scope="module")
def python_with(repository, tmp_path_factory) -> Path:
    return installed(repository, tmp_path_factory.mktemp("with"))


@pytest.fixture(scope="module")
def packed(repository, python_with) -> bytes:
    """The bundle of what `inside.py` measured with the plug-in."""
    packed = python_with.with_name("bundle.zip")
    command = [python_with, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/plugins/inside.py"]
    more = {"STATE": str(python_with.with_name("state")), "BUNDLE": str(packed), "PYTHON_WITHOUT": sys.executable}
    done = subprocess.run(command, cwd=repository, env=os.environ | more, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "5 passed" in done.stdout
    return packed.read_bytes()


@pytest.mark.engines
@pytest.mark.django_db
def test_it_adds_one_of_each_kind_and_a_server_without_it_takes_in_what_was_measured(packed, client, operator):
    """Nothing of the project is edited for it."""
    experiment, _ = bundle.take_in(packed, owner=operator)
    run = experiment.runs.get()
    assert (run.workload.kind, run.dbms_version.dbms.name) == ("counters", "H2 in PostgreSQL mode")
    assert (run.state, run.measurements.get(metric__name="tps").value > 0) == ("finished", True)
    client.force_login(operator)
    for address in (run.get_absolute_url(), experiment.get_absolute_url()):
        assert client.get(address).status_code == 200
    with pytest.raises(FieldErrors) as refused:
        check(planned(experiment.plan, user=operator))
    assert refused.value.errors == {
        "workload": [f"counters: {plugins.LACKING}."],
        "engines": [f"h2pg: {plugins.LACKING}."],
    }
    assert Experiment.objects.count() == 1


@pytest.mark.engines
@pytest.mark.django_db(transaction=True)
def test_a_server_without_it_offers_nothing_of_an_agent_that_has_it(
    python_with, live_server, dirs, toolchain, client, operator
):
    client.force_login(operator)
    with agent_of(python_with, live_server.url, dirs, toolchain) as agent:
        assert "h2pg" in offered(agent)
        for address in (f"/agents/{agent.slug}/", "/agents/", "/schedule/"):
            answer = client.get(address)
            assert (answer.status_code, "H2 in PostgreSQL mode" in answer.content.decode()) == (200, False)
        with pytest.raises(FieldErrors, match=f"h2pg: {plugins.LACKING}"):
            schedule.start(Plan("tpcb", (Engine("h2pg", offered(agent)["h2pg"]),), {}), user=operator)
    assert (Run.objects.count(), Experiment.objects.count()) == (0, 0)


# Without it


@pytest.mark.django_db
def test_a_file_of_a_tool_without_its_plug_in_is_kept_and_refused_in_words(contributor):
    taken, _ = imports.receive(files=sent(MINIBENCH), owner=contributor)
    (item,) = taken.items
    assert (item["status"], bool(item["reason"])) == ("not_understood", True)
    assert taken.artefacts.count() == 1


@pytest.mark.django_db
def test_a_format_without_its_plug_in_is_refused_naming_the_field_and_what_there_is(client):
    answer = client.get("/api/v1/runs/", {"format": "markdown"})
    assert answer.status_code == 400
    assert "json, csv" in answer.json()["format"][0]


def test_an_agent_refuses_a_job_that_names_an_engine_or_a_workload_without_its_plug_in():
    with pytest.raises(JobError, match=plugins.LACKING):
        dbms.adapter("h2pg")
    with pytest.raises(JobError, match=plugins.LACKING):
        workloads.workload("mine", "1")


@pytest.mark.django_db
def test_a_plan_that_names_an_engine_without_its_plug_in_is_refused_naming_the_field(client, bearer):
    plan = {"workload": "tpcb", "engines": [{"dbms": "h2pg", "version": "1"}]}
    headers = bearer("schedule")
    answer = client.post("/api/v1/experiments/", plan, content_type="application/json", headers=headers)
    assert (answer.status_code, "engines[0].dbms" in answer.json()) == (400, True)


# Of other distributions


def parts_of(monkeypatch: pytest.MonkeyPatch, *others: EntryPoint) -> dict[str, object]:
    ours = plugins.entry_points(group=plugins.EXPORTERS)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [*others, *ours])
    return plugins.offered(plugins.EXPORTERS)


def test_a_part_that_cannot_be_loaded_costs_only_itself_and_is_logged(monkeypatch, caplog):
    broken = EntryPoint("broken", "no_such_module", plugins.EXPORTERS)
    assert "broken" not in parts_of(monkeypatch, broken)
    assert "broken" in caplog.text


def test_a_part_does_not_take_the_name_of_one_of_ours(monkeypatch, caplog):
    other = EntryPoint("csv", "json", plugins.EXPORTERS)
    assert parts_of(monkeypatch, other)["csv"].__name__ == "benchagent.exporters.csv_file"
    assert "csv" in caplog.text


def test_what_others_offer_comes_first(monkeypatch):
    other = EntryPoint("z", "json", plugins.EXPORTERS)
    assert list(parts_of(monkeypatch, other)) == ["z", "csv"]


def test_an_installation_from_before_the_doors_says_what_to_do(monkeypatch):
    monkeypatch.setattr(plugins, "entry_points", lambda group: [])
    with pytest.raises(RuntimeError, match=r"scripts/bootstrap\.py"):
        plugins.offered(plugins.ENGINES)
