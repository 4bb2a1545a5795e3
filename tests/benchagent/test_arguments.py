"""What is said on a command line is done or refused, never lost."""

from __future__ import annotations

import argparse

import pytest
from benchagent.cli import main as agent
from benchagent.ctl import cli as ctl
from django.core.management import CommandError, call_command, get_commands, load_command_class


@pytest.mark.parametrize(
    ("command", "words"),
    [
        (["runs", "--limit", "1", "--limit", "2"], "argument --limit: given twice"),
        (["upload", "a", "--workload", "tpcb", "--workload=tpcc"], "argument --workload: given twice"),
        (["compare", "a", "--baseline", "b", "--baseline", "c"], "argument --baseline: given twice"),
        (["schedule", "--repeats", "1", "--repeats", "1"], "argument --repeats: given twice"),
        (["watch", "x", "--timeout", "1", "--timeout", "2"], "argument --timeout: given twice"),
    ],
)
def test_benchctl_refuses_a_second_value(command: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        ctl.main(command)
    assert refused.value.code == 2
    assert words in capsys.readouterr().err


@pytest.mark.parametrize(
    "command",
    [
        ["facts", "--state", "A", "--state", "B"],
        ["engines", "--state", "A", "list", "--state", "B"],
        ["run", "--state", "A", "--server", "https://a", "--server", "https://b"],
        ["connections", "add", "x", "--dbms", "mysql", "--dbms", "oracle"],
    ],
)
def test_benchagent_refuses_a_second_value(command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as refused:
        agent.main(command)
    assert refused.value.code == 2
    assert "given twice" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--factor", "scale_factor=1", "--factor", "scale_factor=4"], "scale_factor is given twice, with 1 and 4"),
        (["--engine", "sqlite:3"], "--engine sqlite:3 is given twice"),
    ],
)
def test_benchctl_schedules_nothing_when_a_value_would_be_lost(
    options: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ctl.main(["schedule", "--workload", "tpcb", "--engine", "sqlite:3", *options]) == 2
    assert words in capsys.readouterr().err


def test_benchctl_uploads_nothing_with_two_devices_for_one_role(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--storage", "data=sda", "--storage", "log=sdb", "--storage", "data=sdc"]
    assert ctl.main(["upload", "nowhere.txt", *options]) == 2
    assert "--storage data is given twice, with sda and sdc" in capsys.readouterr().err


def test_manage_py_refuses_a_second_value() -> None:
    with pytest.raises(CommandError, match="argument --scopes: given twice"):
        call_command("token", "--name", "x", "--scopes", "read", "--scopes", "upload")


def test_every_command_of_manage_py_of_ours_does() -> None:
    lax = [
        f"{name} {action.option_strings[-1]}"
        for name, app in get_commands().items()
        if app in ("benchsite", "runs", "agents")
        for action in load_command_class(app, name).create_parser("manage.py", name)._actions
        if type(action) is argparse._StoreAction and action.option_strings
        if action.dest not in ("database", "verbosity", "settings", "pythonpath")  # Django's own
    ]
    assert lax == []


def test_what_may_come_several_times_still_may(capsys: pytest.CaptureFixture[str]) -> None:
    options = ctl._parser().parse_args(["upload", "a", "--config", "a.conf", "--config", "b.conf"])
    assert options.config == ["a.conf", "b.conf"]
