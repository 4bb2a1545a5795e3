from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchagent.ctl.cli import main

from .fake_api import FakeApi, a_run


@pytest.fixture
def night(logged_in: FakeApi) -> FakeApi:
    logged_in.runs = [a_run(1), a_run(2)]
    return logged_in


def test_it_schedules_what_the_options_say(night: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    options = [
        "--workload",
        "tpcb",
        "--engine",
        "postgresql:15.14",
        "--engine",
        "sqlite:3.40.1",
        "--factor",
        "terminals=4",
    ]
    assert main(["schedule", *options, "--repeats", "3", "--agent", "box", "--name", "nightly"]) == 0
    assert night.sent("POST", "/experiments/") == [{
        "workload": "tpcb", "factors": {"terminals": 4}, "repeats": 3, "agent": "box", "name": "nightly",
        "engines": [{"dbms": "postgresql", "version": "15.14"}, {"dbms": "sqlite", "version": "3.40.1"}],
    }]  # fmt: skip
    captured = capsys.readouterr()
    assert captured.out.strip().endswith("/experiments/night/")
    assert "about 1 min 15 s" in captured.err
    assert "warning: bench1 lacks space on storage default" in captured.err


def test_an_engine_may_be_that_of_a_connection(night: FakeApi) -> None:
    assert main(["schedule", "--workload", "tpcb", "--engine", "postgresql:15.18@shop"]) == 0
    (plan,) = night.sent("POST", "/experiments/")
    assert plan["engines"] == [{"dbms": "postgresql", "version": "15.18", "connection": "shop"}]


def test_it_schedules_a_plan_from_a_file_and_waits(
    night: FakeApi, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = {"workload": "tpcb", "engines": [{"dbms": "sqlite", "version": "3"}], "settings": {"sqlite": [["a", "b"]]}}
    file = tmp_path / "plan.json"
    file.write_text(json.dumps(plan))
    night.states = ["queued", "measuring", "finished"]
    assert main(["schedule", "--file", str(file), "--watch", "--poll", "0.01"]) == 0
    assert night.sent("POST", "/experiments/") == [plan]
    assert "0/2 ended · 2 measuring" in capsys.readouterr().err


@pytest.mark.parametrize(("end", "status"), [("finished", 0), ("failed", 20), ("cancelled", 21), ("lost", 22)])
def test_it_ends_with_the_status_of_the_worst_end(night: FakeApi, end: str, status: int) -> None:
    night.states = ["loading", end]
    assert main(["watch", "night", "--poll", "0.01"]) == status


def test_a_failed_run_that_was_made_up_for_counts_no_longer(night: FakeApi) -> None:
    night.states = ["failed"]
    night.answers["/experiments/night/"] = {"failed": 1}
    assert main(["watch", "night", "--poll", "0.01"]) == 20
    night.answers["/experiments/night/"] = {"failed": 0}
    assert main(["watch", "night", "--poll", "0.01"]) == 0
    assert main(["watch", night.runs[0]["id"], "--poll", "0.01"]) == 20


def test_it_watches_one_run(night: FakeApi, capsys: pytest.CaptureFixture[str]) -> None:
    night.states = ["measuring", "finished"]
    assert main(["watch", night.runs[0]["id"], "--poll", "0.01", "--json"]) == 0
    assert [row["id"] for row in json.loads(capsys.readouterr().out)] == [night.runs[0]["id"]]


def test_it_gives_up_after_its_time(night: FakeApi) -> None:
    night.states = ["queued"]
    assert main(["watch", "night", "--poll", "0.01", "--timeout", "0.05"]) == 23


def test_it_waits_while_the_server_is_away(night: FakeApi, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        night.down = False

    monkeypatch.setattr("benchagent.ctl.output.time.sleep", sleep)
    night.down = True
    assert main(["watch", "night"]) == 0
    assert pauses == [2.0]


@pytest.mark.parametrize(
    "options", [["--workload", "tpcb"], ["--workload", "x", "--engine", "postgresql"], ["--file", "/nowhere"]]
)
def test_it_refuses_half_a_plan(night: FakeApi, options: list[str]) -> None:
    assert main(["schedule", *options]) == 2
    assert night.requests == []


def test_it_names_an_experiment_that_is_not_there(night: FakeApi) -> None:
    assert main(["watch", "day", "--poll", "0.01"]) == 2
