from __future__ import annotations

import csv
import io
import json
import ssl
import sys
from pathlib import Path
from typing import Any

import pytest
import requests
from benchagent.ctl.api import Api, load, tls_words
from benchagent.ctl.cli import main
from benchagent.ctl.output import table_lines
from benchagent.link.client import Refused

from tests.benchagent.company import Authority, Mirror

from .fake_api import TOKEN, FakeApi, a_run

AGENT = {
    "slug": "box", "status": "approved", "online": True, "pause": "", "labels": ["nvme", "rack-2"], "machine": "box",
    "last_seen_at": None, "engines": [{"available": True}, {"available": False}],
}  # fmt: skip
QUEUED = {
    "experiment": None, "run": None, "runs": 2, "agent": "box", "state": "waiting", "reason": "1 run ahead",
    "begins_at": "2026-11-21T08:00:00Z", "ends_at": None,
}  # fmt: skip
NIGHTLY = {
    "slug": "nightly", "url": "http://x/", "cron": "0 22 * * *", "timezone": "UTC", "paused": False,
    "next_times": ["2026-11-21T22:00:00Z"], "occurrences": [{"experiment": "nightly-1", "note": ""}],
}  # fmt: skip

TPCB = {
    "slug": "tpcb-2010", "name": "TPC-B", "parts": [
        {"part": "engines", "on_agent": {"runs": 10, "estimated_s": 300.0, "lacks": ["MySQL: none", "space"]}},
        {"part": "memory", "on_agent": None},
    ],
}  # fmt: skip


@pytest.fixture
def lab(logged_in: FakeApi) -> FakeApi:
    night = {"slug": "night", "name": "Night", "created_at": "2026-11-21T08:00:00Z", "states": {"queued": 2}}
    logged_in.answers = {
        "/agents/": {"results": [AGENT]}, "/queue/": {"results": [QUEUED]}, "/experiments/": {"results": [night]},
        "/schedules/": {"results": [NIGHTLY]}, "/templates/": {"results": [TPCB]},
        "/schedules/nightly/": NIGHTLY | {"paused": True},
        "/agents/box/": AGENT | {"pause": "paused: disk"},
        "/reservations/": {"agent": "box", "words": "reserved", "id": "7"}, "/reservations/7/": {},
    }  # fmt: skip
    return logged_in


@pytest.mark.parametrize(
    ("command", "cells"),
    [("agents", ["box", "online", "nvme,rack-2", "1"]), ("queue", ["(not shown)", "2", "box", "waiting"]),
     ("experiments", ["night", "2 queued", "2026-11-21 08:00 UTC", "Night"]),
     ("templates", ["tpcb-2010", "TPC-B", "engines (10 runs, 5 min), memory", "MySQL: none; space"]),
     ("schedules", ["nightly", "0 22 * * *", "UTC", "2026-11-21 22:00 UTC", "nightly-1"])],
)  # fmt: skip
def test_it_lists_what_a_lab_has(lab: FakeApi, capsys, command: str, cells: list[str]) -> None:
    assert main([command]) == 0
    line = capsys.readouterr().out.splitlines()[1]
    assert [cell.strip() for cell in line.split("  ") if cell.strip()][: len(cells)] == cells
    assert main([command, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == lab.answers[f"/{command}/"]["results"]


def test_it_shows_columns_that_are_named_also_as_csv_and_json(logged_in: FakeApi, capsys) -> None:
    logged_in.runs = [a_run(1)]
    fields = ["runs", "--fields", "dbms.version,metrics.tps,nothing"]
    assert main([*fields, "--csv"]) == 0
    captured = capsys.readouterr()
    assert list(csv.reader(io.StringIO(captured.out)))[1] == ["15.14", "1234.5", ""]
    assert "nothing" in captured.err
    assert main([*fields, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["metrics.tps"] == 1234.5


@pytest.mark.parametrize(
    ("words", "request_"),
    [
        (["agents", "--pause", "box", "--reason", "disk", "--until", "2030-01-01T00:00Z"],
         ("PATCH", "/agents/box/", {"paused": True, "pause_reason": "disk", "paused_until": "2030-01-01T00:00Z"})),
        (["agents", "--resume", "box"], ("PATCH", "/agents/box/", {"paused": False})),
        (["schedules", "--pause", "nightly"], ("PATCH", "/schedules/nightly/", {"paused": True})),
        (["schedules", "--delete", "nightly"], ("DELETE", "/schedules/nightly/", None)),
        (["reservations", "--add", "box", "--until", "2030-01-01T00:00Z", "--reason", "kernel tests"],
         ("POST", "/reservations/", {"agent": "box", "ends_at": "2030-01-01T00:00Z", "reason": "kernel tests"})),
        (["reservations", "--end", "7"], ("DELETE", "/reservations/7/", None)),
        (["repeat", "night", "--repeats", "2"], ("POST", "/experiments/night/repeat/", {"repeats": 2})),
        (["templates", "--agent", "box"], ("GET", "/templates/", None)),
    ],
)  # fmt: skip
def test_it_does_what_pages_do(lab: FakeApi, words: list[str], request_: tuple[str, str, Any]) -> None:
    assert main(words) == 0
    assert [(method, path, body) for method, path, _, body in lab.requests] == [request_]


def test_it_adds_a_schedule_by_cron_or_by_a_time(lab: FakeApi) -> None:
    lab.answers["/schedules/"] = NIGHTLY
    assert main(["schedules", "--add", "night", "--cron", "0 22 * * *", "--timezone", "Europe/Prague"]) == 0
    (sent,) = lab.sent("POST", "/schedules/")
    assert (sent["experiment"], sent["cron"], sent["timezone"]) == ("night", "0 22 * * *", "Europe/Prague")
    assert main(["schedules", "--add", "night"]) == 2


def test_it_asks_a_machine_itself_waits_and_says_how_it_ended(lab: FakeApi, capsys) -> None:
    lab.answers["/agents/box/"] = AGENT | {"errands": {"engines install": ["mysql-5.5.34"], "update": []}}
    lab.answers["/agents/box/errands/"] = {"id": "7", "state": "waiting"}
    lab.answers["/agents/box/errands/7/"] = {"id": "7", "state": "failed", "log": "no room"}
    words = ["errand", "box", "engines", "install", "mysql-5.5.34", "--poll", "0"]
    assert main(words) == 20
    assert "no room" in capsys.readouterr().out
    assert lab.sent("POST", "/agents/box/errands/") == [{"command": "engines install", "words": ["mysql-5.5.34"]}]
    assert main(["errand", "box", "engines install", "mysql-5.5.34", "--poll", "0"]) == 20
    assert lab.sent("POST", "/agents/box/errands/")[1] == {"command": "engines install", "words": ["mysql-5.5.34"]}
    assert main(["errand", "box", "rm"]) == 2


def test_it_cancels_each_and_says_which_was_refused(lab: FakeApi, capsys) -> None:
    run = a_run(1)["id"]
    lab.answers[f"/runs/{run}/cancel/"] = {"id": run, "status": "measuring", "cancel_requested": True}
    lab.answers["/experiments/night/cancel/"] = {"cancelled": 3}
    assert main(["cancel", run, "night"]) == 0
    assert main(["cancel", "night", "nowhere"]) == 3
    assert "nowhere: Not found." in capsys.readouterr().err


def test_it_takes_configurations_and_settings_of_each_dbms(logged_in: FakeApi) -> None:
    engine = ["schedule", "--workload", "tpcb", "--engine", "postgresql:15.14"]
    assert main([*engine, "--config", "tuned", "--set", "shared_buffers=4GB,8GB", "--label", "buffers"]) == 0
    (plan,) = logged_in.sent("POST", "/experiments/")
    assert (plan["configs"], plan["label"]) == ({"postgresql": ["tuned"]}, "buffers")
    assert plan["swept"] == {"postgresql": {"shared_buffers": ["4GB", "8GB"]}}
    assert main([*engine, "--engine", "sqlite:3", "--set", "shared_buffers=4GB"]) == 2
    assert main([*engine, "--engine", "sqlite:3", "--set", "sqlite:cache_size=1"]) == 0


def test_an_interrupted_watch_says_how_to_cancel(lab: FakeApi, monkeypatch, capsys) -> None:
    lab.runs = [a_run(1, status="measuring")]

    def interrupt(_seconds: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("benchagent.ctl.running.time.sleep", interrupt)
    assert main(["watch", "night"]) == 130
    assert "benchctl cancel night" in capsys.readouterr().err


def test_it_says_who_one_is_and_forgets_it(logged_in: FakeApi, config: Path, capsys) -> None:
    token = {"name": "lab", "scopes": ["read"], "expires_at": "2030-01-01T00:00:00Z"}
    logged_in.answers["/me/"] = {"user": "anna", "role": "operator", "token": token}
    assert main(["whoami"]) == 0
    assert capsys.readouterr().out.splitlines()[0] == f"anna (operator) at {logged_in.url}"
    assert main(["logout"]) == 0
    assert not config.exists()
    assert main(["whoami"]) == 2


def test_it_keeps_the_authority_that_it_was_told(api: FakeApi, tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setenv("MY_TOKEN", TOKEN)
    (tmp_path / "ca.pem").write_text("x")
    login = ["login", "--server", api.url, "--token", "MY_TOKEN", "--ca"]
    assert main([*login, str(tmp_path / "ca.pem")]) == 0
    assert load().ca == str(tmp_path / "ca.pem")
    assert main([*login, str(tmp_path / "none.pem")]) == 2


def test_the_authority_that_it_was_told_comes_before_the_environments(tmp_path: Path, monkeypatch) -> None:
    folders = [tmp_path / name for name in ("own", "other")]
    for folder in folders:
        folder.mkdir()
    own, other = map(Authority, folders)
    monkeypatch.setenv("REQUESTS_CA_BUNDLE", str(other.certificate))
    server = Mirror(tmp_path, own)
    try:
        with pytest.raises(Refused) as refused:
            Api(server.url, TOKEN, str(own.certificate)).get("/whoami/")
    finally:
        server.stop()
    assert server.asked and "certificate" not in str(refused.value)


def test_it_says_what_is_wrong_with_a_certificate() -> None:
    wrong = ssl.SSLCertVerificationError(1, "certificate verify failed")
    wrong.verify_code, wrong.verify_message = 19, "self-signed certificate in certificate chain"
    error = requests.exceptions.SSLError("x")
    error.__context__ = wrong
    assert "--ca FILE" in tls_words(error)
    wrong.verify_code, wrong.verify_message = 10, "certificate has expired"
    assert (words := tls_words(error)).endswith("certificate has expired")
    assert "--ca" not in words


def test_it_inspects_standard_input(monkeypatch, capsys) -> None:
    class Piped:
        buffer = io.BytesIO(
            b"transaction type: <builtin: TPC-B (sort of)>\ntps = 812.5 (without initial connection time)\n"
        )

    monkeypatch.setattr(sys, "stdin", Piped)
    main(["inspect", "-", "--json"])
    (entry,) = json.loads(capsys.readouterr().out)
    assert (entry["file"], entry["tool"]) == ("stdin", "pgbench")


def test_its_baseline_is_the_newest_run_of_the_same_cell_that_filters_choose(logged_in: FakeApi) -> None:
    new = a_run(1, batch="b1", cell_key="ab" * 32)
    logged_in.runs = [new, a_run(2, batch="b2"), a_run(3, batch="b3", cell_key="ab" * 32)]
    logged_in.comparison = {
        "baseline": "b3", "metric": None, "headline": "", "groups": [
            {"key": key, "label": key, "n": 3, "runs": [run["id"]], "verdict": None, "refused": "", "ratio": None}
            for key, run in (("b1", new), ("b3", logged_in.runs[2]))
        ],
    }  # fmt: skip
    assert main(["compare", new["id"], "--baseline-filter", "branch=main", "--since", "30d"]) == 0
    asked = [dict(params) for _, path, params, _ in logged_in.requests if path == "/runs/"][-1]
    assert (asked["branch"], "measured_from" in asked) == ("main", True)
    compared = [value for _, path, params, _ in logged_in.requests if path == "/compare/" for _, value in params]
    assert logged_in.runs[2]["id"] in compared
    assert logged_in.runs[1]["id"] not in compared
    logged_in.runs.pop()
    assert main(["compare", new["id"], "--baseline-filter", "branch=main"]) == 2


def test_all_tries_are_one_line(logged_in: FakeApi, monkeypatch, capsys) -> None:
    logged_in.runs, logged_in.down = [a_run(1)], True
    pauses: list[float] = []

    def sleep(seconds: float) -> None:
        pauses.append(seconds)
        logged_in.down = len(pauses) < 3

    monkeypatch.setattr("benchagent.ctl.output.time.sleep", sleep)
    assert main(["watch", "night"]) == 0
    words = capsys.readouterr().err
    assert (words.count("503"), "(3 tries in" in words) == (1, True)


@pytest.mark.parametrize("columns", [60, 80, 100])
def test_a_table_is_as_wide_as_the_terminal(columns: int) -> None:
    """Was: templates with what an agent lacks, in lines of 250 characters."""
    lacks = "; ".join(f"it has no {engine}, which no registry offers" for engine in ("DB2 9.7", "Oracle 11.1"))
    rows = [("tpcb-2010", "How many transactions a second", "engines (21 runs, 12 min)", lacks)]
    whole, narrow = (
        table_lines(rows, heading=("TEMPLATE", "NAME", "PARTS", "LACKS"), columns=most) for most in (None, columns)
    )
    assert len(whole) == 2 and max(map(len, narrow)) <= columns
    assert sorted(" ".join(narrow).split()) == sorted(" ".join(whole).split())


def test_a_word_that_is_wider_than_the_terminal_stays_whole() -> None:
    address = "http://127.0.0.1:8000/imports/b0bc6f49-2751-4853-a745-8440e387687a/"
    lines = table_lines([("two words and more", address)], heading=("FILE", "IMPORT"), columns=40)
    assert any(line.endswith(f" {address}") for line in lines)


def test_a_shell_completes_its_commands(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["--print-completion", "bash"])
    words = capsys.readouterr().out
    assert "complete" in words
    assert "schedules" in words


def test_it_starts_a_template(logged_in: FakeApi) -> None:
    words = ["schedule", "--template", "tpcb-2010", "--part", "engines", "--agent", "box", "--repeats", "1"]
    assert main(words) == 0
    given = {"template": "tpcb-2010", "part": "engines", "agent": "box", "repeats": 1}
    assert logged_in.sent("POST", "/experiments/") == [given]
