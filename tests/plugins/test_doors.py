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

from runs import imports
from tests.plugins.inside import MINIBENCH, sent

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


@pytest.mark.engines
def test_it_adds_one_of_each_kind_with_nothing_of_the_project_edited(repository, tmp_path):
    python = installed(repository, tmp_path)
    command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/plugins/inside.py"]
    environment = os.environ | {"STATE": str(tmp_path / "state")}
    done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-5000:]
    assert "4 passed" in done.stdout


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


def offered(monkeypatch: pytest.MonkeyPatch, *others: EntryPoint) -> dict[str, object]:
    ours = plugins.entry_points(group=plugins.EXPORTERS)
    monkeypatch.setattr(plugins, "entry_points", lambda group: [*others, *ours])
    return plugins.offered(plugins.EXPORTERS)


def test_a_part_that_cannot_be_loaded_costs_only_itself_and_is_logged(monkeypatch, caplog):
    broken = EntryPoint("broken", "no_such_module", plugins.EXPORTERS)
    assert "broken" not in offered(monkeypatch, broken)
    assert "broken" in caplog.text


def test_a_part_does_not_take_the_name_of_one_of_ours(monkeypatch, caplog):
    other = EntryPoint("csv", "json", plugins.EXPORTERS)
    assert offered(monkeypatch, other)["csv"].__name__ == "benchagent.exporters.csv_file"
    assert "csv" in caplog.text


def test_what_others_offer_comes_first(monkeypatch):
    other = EntryPoint("z", "json", plugins.EXPORTERS)
    assert list(offered(monkeypatch, other)) == ["z", "csv"]


def test_an_installation_from_before_the_doors_says_what_to_do(monkeypatch):
    monkeypatch.setattr(plugins, "entry_points", lambda group: [])
    with pytest.raises(RuntimeError, match=r"scripts/bootstrap\.py"):
        plugins.offered(plugins.ENGINES)
