"""The description is enough: a public generator makes a client of it, which does a whole lab's day."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agents.jobs import dispatch
from runs.models import ApiToken, Experiment
from tests.agents.conftest import finish_item, samples_item, state_item

HERE = Path(__file__).parent


@pytest.fixture
def generator(tmp_path: Path) -> Path:
    """The interpreter of an environment with the generator alone; kept between runs where there is a cache."""
    venv = Path(os.environ.get("BENCHSITE_TEST_CACHE", tmp_path)) / "client-generator"
    pins = (HERE / "client-requirements.txt").read_text()
    if not (venv / "pins").exists() or (venv / "pins").read_text() != pins:
        subprocess.run([sys.executable, "-m", "venv", "--without-pip", "--clear", venv], check=True)
        pip = [sys.executable, "-m", "pip", "--python", venv, "install", "--quiet", "--no-compile"]
        subprocess.run([*pip, "-r", HERE / "client-requirements.txt"], check=True)
        (venv / "pins").write_text(pins)
    return venv / "bin" / "python"


@pytest.mark.engines
@pytest.mark.django_db(transaction=True)
def test_a_generated_client_does_a_labs_day(live_server, machine, operator, client, generator, tmp_path):
    bench = machine("bench1", "sqlite:3.50.1")
    scopes = ["read", "upload", "schedule", "agent"]
    _, token = ApiToken.issue(owner=operator, name="lab", scopes=scopes)
    described = client.get("/api/schema/", {"format": "json"})
    (tmp_path / "schema.json").write_bytes(described.content)
    words = ["generate", "--path", tmp_path / "schema.json", "--output-path", tmp_path / "lab_client", "--meta", "none"]
    subprocess.run([generator.with_name("openapi-python-client"), *words], check=True, capture_output=True)

    def part_of_day(part: str) -> dict[str, object]:
        command = [generator, HERE / "lab_day.py", part, live_server.url, token]
        done = subprocess.run(
            command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False, timeout=120
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    told = part_of_day("morning")
    assert (told["runs"], told["next"], told["refused"]) == (3, None, True)
    assert sorted(filter(None, told["verdicts"])) == ["better"]
    assert told["samples"] == [[150.0, 150.0]] or len(told["samples"]) == 1
    first, again, second = told["experiments"]
    assert (first == again, first != second, Experiment.objects.count()) == (True, True, 3)
    assert told["rerun"] == [5, 5]
    assert (told["queued"], told["cancelled"], told["next_times"]) == ([first, second], 1, 5)
    assert "tpcb" in told["workloads"]

    bench.poll()  # the day may have taken longer than a silent agent counts as online
    dispatch.assign_queued()
    run = Experiment.objects.get(slug=first).runs.get()
    job_token = bench.claim(run.pk).json()["job_token"]
    items = [state_item(state) for state in ("preparing", "loading", "warming_up", "measuring", "collecting")]
    bench.batch(run.pk, job_token, 1, *items, samples_item(812.0, 813.0), finish_item())
    assert part_of_day("evening") == {"states": {"finished": 1}, "tps": 812.5}
