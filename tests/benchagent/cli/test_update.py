from __future__ import annotations

import pytest
from benchagent.cli import main, update
from benchagent.paths import AgentDirs

pytestmark = pytest.mark.usefixtures("own_temporary_folder")


def test_a_wheel_with_another_checksum_changes_nothing(dirs: AgentDirs, monkeypatch, capsys):
    asked: list[object] = []
    monkeypatch.setattr(update.subprocess, "run", asked.append)
    wheel = dirs.tmp / "benchagent-9-py3-none-any.whl"
    wheel.write_bytes(b"something else")
    assert main.main(["update", str(wheel), "0" * 64, "--state", str(dirs.root)]) == 1
    assert "another checksum" in capsys.readouterr().err
    assert not asked


def test_a_wheel_that_is_not_there_is_told_in_words(dirs: AgentDirs, capsys):
    missing = dirs.tmp / "missing.whl"
    assert main.main(["update", str(missing), "0" * 64, "--state", str(dirs.root)]) == 1
    assert capsys.readouterr().err == f"benchagent: [Errno 2] No such file or directory: '{missing}'\n"
