from __future__ import annotations

import json
import os

import pytest
from benchagent.cli import doctor, main
from benchagent.cli.doctor import State, examine
from benchagent.java import JavaNotFoundError, JavaToolchain
from benchagent.machine.confinement import Sandbox
from benchagent.machine.limits import CgroupError
from benchagent.machine.system import ServiceUser
from benchagent.paths import AgentDirs

NOBODY = ServiceUser("nobody", 65534, 65534)


pytestmark = pytest.mark.usefixtures("own_temporary_folder")


def found(toolchain: JavaToolchain, dirs: AgentDirs, *wanted: str) -> dict[str, doctor.Finding]:
    return {finding.subject: finding for finding in examine(toolchain, dirs, wanted)}


def run(dirs: AgentDirs, *words: str) -> int:
    return main.main(["doctor", *words, "--state", str(dirs.root)])


def test_all_is_well_with_what_comes_with_the_agent(dirs: AgentDirs, capsys):
    assert run(dirs, "sqlite", "derby") == 0
    said = capsys.readouterr().out
    assert "ok       SQLite" in said
    assert "missing" not in said


def test_it_fails_for_an_engine_that_is_not_there(dirs: AgentDirs, monkeypatch, capsys):
    monkeypatch.setenv("BENCHAGENT_POSTGRESQL_DIRS", str(dirs.tmp))
    assert run(dirs, "postgresql", "--json") == 1
    said = json.loads(capsys.readouterr().out)
    assert said["ok"] is False
    (finding,) = [finding for finding in said["findings"] if finding["subject"] == "PostgreSQL"]
    assert (finding["state"], finding["words"]) == ("missing", "not on this machine")
    assert finding["remedy"].startswith("`benchagent engines install postgresql-18`")


def test_an_unknown_dbms_is_named(dirs: AgentDirs, capsys):
    assert run(dirs, "dbase") == 2
    assert "no DBMS 'dbase'; there are: postgresql, " in capsys.readouterr().err


def test_without_java_it_says_how_to_get_it(toolchain: JavaToolchain, dirs: AgentDirs, monkeypatch):
    def none() -> None:
        raise JavaNotFoundError("no Java 17 or newer")

    monkeypatch.setattr(toolchain, "java", none)
    findings = found(toolchain, dirs, "sqlite")
    assert findings["Java"].state is State.MISSING
    assert "openjdk-17" in findings["Java"].remedy
    (sqlite,) = [finding for subject, finding in findings.items() if subject.startswith("SQLite")]
    assert (sqlite.state, sqlite.words) == (State.MISSING, "no Java runtime: no Java 17 or newer")


def test_an_adapter_that_fails_hides_no_other(toolchain: JavaToolchain, dirs: AgentDirs, monkeypatch):
    working = doctor.adapter

    def broken(slug: str):
        if slug == "h2":
            raise RuntimeError("boom")
        return working(slug)

    monkeypatch.setattr(doctor, "adapter", broken)
    findings = found(toolchain, dirs, "h2", "sqlite")
    assert findings["H2"].words == "cannot be looked for: boom"
    assert findings["SQLite"].state is State.OK


@pytest.mark.parametrize(
    ("around", "state", "words"),
    [
        (Sandbox(NOBODY, 7), State.OK, "jobs run as user nobody and reach, by Landlock, only their own folders"),
        (Sandbox(NOBODY, 0), State.LIMITED, "may read whatever that user can"),
        (Sandbox(None, 8, "only root"), State.LIMITED, "sockets that the agent's user may open stay open to them"),
        (Sandbox(None, 9, "only root"), State.LIMITED, "by TCP only their own DBMS"),
        (Sandbox(None, 7, "user nobody may not enter /root"), State.LIMITED, "user nobody may not enter /root"),
    ],
)
def test_it_says_what_is_around_jobs(
    toolchain: JavaToolchain, dirs: AgentDirs, monkeypatch, around: Sandbox, state: State, words: str
):
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(doctor, "sandbox", lambda *folders: around)
    finding = found(toolchain, dirs, "sqlite")["jobs"]
    assert (finding.state, words in finding.words) == (state, True)


def test_what_only_limits_is_no_failure(toolchain: JavaToolchain, dirs: AgentDirs, monkeypatch):
    def none(controller: str) -> None:
        raise CgroupError(f"no control group hierarchy with the controller {controller}")

    monkeypatch.setattr(doctor, "hierarchy", none)
    monkeypatch.setattr(doctor, "DROP_CACHES", dirs.tmp / "none")
    monkeypatch.setattr(doctor, "LOW_SPACE_BYTES", 1 << 60)
    monkeypatch.setenv("PATH", str(dirs.tmp))
    findings = found(toolchain, dirs, "sqlite")
    limited = {subject for subject, finding in findings.items() if finding.state is State.LIMITED}
    assert limited == {"memory limit", "emulated disks", "cold cache", "disk space", "fio", "strace"}
    assert State.MISSING not in {finding.state for finding in findings.values()}
