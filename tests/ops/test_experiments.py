"""scripts/experiments.py with the real agent's lists; in the part of `manage.py` a program that notes its arguments."""

from __future__ import annotations

import fcntl
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from scripts import experiments

pytestmark = pytest.mark.ops
NOTE = "import pathlib, sys; pathlib.Path(sys.argv[1]).write_text(' '.join(sys.argv[2:]))"


@pytest.fixture
def state(monkeypatch):
    """STATE in which `make up` runs, as its lock tells. Open: servers run as users of their own."""
    folder = Path(tempfile.mkdtemp(prefix="benchsite-experiments-"))
    folder.chmod(0o755)
    monkeypatch.setattr(experiments, "STATE", folder)
    monkeypatch.setattr(experiments, "AGENT_STATE", folder / "agent")
    monkeypatch.setattr(experiments, "MANAGE", [sys.executable, "-c", NOTE, str(folder / "asked")])
    monkeypatch.delenv("QUICK", raising=False)
    with (folder / "up.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield folder
    shutil.rmtree(folder)


def run(monkeypatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["experiments.py", *arguments])
    assert experiments.main() == 0


def name_storage(state: Path, name: str) -> Path:
    folder = state / f"folder-{name}"
    folder.mkdir(mode=0o755)
    command = [*experiments.AGENT, "storage", "add", name, str(folder), "--state", str(state / "agent")]
    subprocess.run(command, check=True)
    return folder


def test_a_dry_run_installs_and_makes_nothing_and_says_what_would_be(state, monkeypatch, capfd):
    run(monkeypatch, "tpcb-2010", "--dry-run")
    said = capfd.readouterr().out
    for name in experiments.ENGINES:
        assert f"=== would be installed: {name}\n" in said
    assert "=== would be made, as root only: storage slow (--size-mb 14000 " in said
    assert "=== would be made, as root only: storage second (--size-mb 4000 " in said
    assert list((state / "agent" / "engines").iterdir()) == []
    assert not (state / "agent" / "places.json").exists()
    assert not list(state.rglob("*.img"))
    assert (state / "asked").read_text().startswith("experiments tpcb-2010 --dry-run")


def test_it_tells_which_storages_are_there_and_what_the_command_has_to_wait_for(state, monkeypatch, capfd):
    folder = name_storage(state, "slow")
    monkeypatch.setattr(experiments, "EMULATED", {"slow": experiments.EMULATED["slow"]})
    monkeypatch.setattr(experiments, "ENGINES", ("sqlite-3",))
    run(monkeypatch, "--quick")
    said = capfd.readouterr().out
    assert "=== sqlite-3 is not there: its cells will stay gaps\n" in said
    assert f"=== used as it is, whatever its rates are: storage slow  {folder}  " in said
    given = (state / "asked").read_text().split()
    assert given[:2] == ["experiments", "--quick"]
    assert [one.partition(":")[0] for one in given[2:]] == ["--expect-engine=sqlite", "--expect-storage=slow"]
    run(monkeypatch, "--dry-run")
    assert f"=== would be used as it is: storage slow  {folder}  " in capfd.readouterr().out
