from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from benchagent.machine import emulation, process
from benchagent.machine.devices import device_of, same_device, storage_facts
from benchagent.machine.emulation import EmulationError
from benchagent.machine.storages import StorageError, Storages
from benchagent.paths import AgentDirs

from tests.benchagent.storages import an_emulation, needs_emulation

ROLES = ("data", "log", "temp", "backup")


@pytest.fixture
def storages(dirs: AgentDirs) -> Iterator[Storages]:
    made = Storages(dirs)
    yield made
    made.close()


@pytest.fixture
def folder(dirs: AgentDirs) -> Path:
    made = dirs.root.parent / "other"
    made.mkdir(mode=0o755)
    return made


def facts_of(storages: Storages, name: str):
    return next(facts for facts in storages.facts() if facts["name"] == name)


def test_it_always_has_the_default(storages: Storages, dirs: AgentDirs):
    assert [(storage.name, storage.path) for storage in storages.listed()] == [("default", dirs.jobs)]
    facts = facts_of(storages, "default")
    assert facts["device"] == device_of(dirs.jobs)
    assert (facts["emulated"], facts["problem"]) == ("", "")
    assert 0 < (facts["free_bytes"] or 0) < (facts["capacity_bytes"] or 0)
    assert str(dirs.root) not in json.dumps(facts)


def test_it_remembers_a_named_folder(storages: Storages, dirs: AgentDirs, folder: Path):
    storages.add("fast", folder)
    assert Storages(dirs).get("fast").path == folder
    assert [facts["name"] for facts in storages.facts()] == ["default", "fast"]
    storages.remove("fast")
    assert [storage.name for storage in Storages(dirs).listed()] == ["default"]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("default", "a storage 'default' already"),
        ("../x", "no name for a storage"),
        ("", "no name for a storage"),
        ("x" * 41, "no name for a storage"),
    ],
)
def test_it_refuses_a_name(storages: Storages, folder: Path, name: str, words: str):
    with pytest.raises(StorageError, match=words):
        storages.add(name, folder)


def test_it_refuses_a_folder_in_which_no_job_could_work(storages: Storages, folder: Path):
    storages.add("first", folder)
    closed = folder.parent / "closed"
    (closed / "inner").mkdir(parents=True)
    closed.chmod(0o700)
    (folder / "file").touch()
    for asked, words in (
        (folder, "has a name already"),
        (folder / "nowhere", "is not a folder"),
        (folder / "file", "is not a folder"),
        (Path("/sys/kernel"), "cannot be written"),
        (closed / "inner", "closed is closed to other users"),
    ):
        if words.startswith("closed") and os.geteuid() != 0:
            continue  # then servers run as the agent's own user
        with pytest.raises(StorageError, match=words):
            storages.add("second", asked)
    assert [storage.name for storage in storages.listed()] == ["default", "first"]


def test_it_says_which_storages_there_are(storages: Storages):
    with pytest.raises(StorageError, match=r"'fast'.*default"):
        storages.get("fast")
    with pytest.raises(StorageError, match="always there"):
        storages.remove("default")


def test_it_says_that_the_file_is_broken_and_goes_on_with_the_default(storages: Storages, dirs: AgentDirs):
    (dirs.root / "places.json").write_text("{}")
    with pytest.raises(StorageError, match="correct or remove it"):
        storages.listed()
    assert [facts["name"] for facts in storages.facts()] == ["default"]
    storages.open()
    storages.clear("run")


def test_it_reports_a_folder_that_has_gone(storages: Storages, folder: Path):
    storages.add("fast", folder)
    folder.rmdir()
    assert facts_of(storages, "fast")["problem"] == "fast is not there", "never a path"
    with pytest.raises(StorageError, match="storage fast cannot be used"):
        storages.make_folders("run", {"data": "fast"})


# Jobs


def test_it_gives_a_job_its_folders_and_takes_them_away(storages: Storages, dirs: AgentDirs, folder: Path):
    storages.add("fast", folder)
    old = os.umask(0o077)
    try:
        folders = storages.make_folders("run-1", {"data": "", "log": "fast", "temp": "", "backup": "fast"})
    finally:
        os.umask(old)
    assert folders.data == dirs.jobs / "run-1" / "storage" / "data"
    assert folders.log == folder / ".benchagent-jobs" / "run-1" / "log"
    assert list(folders.by_role()) == list(ROLES)
    assert {role: folders.storages[role].name for role in ROLES} == {
        "data": "default",
        "log": "fast",
        "temp": "default",
        "backup": "fast",
    }
    for made in (*folders.by_role().values(), folders.log.parent, folders.log.parent.parent):
        assert made.stat().st_mode & 0o777 == 0o755
    assert storages.throttles(folders) == []
    with pytest.raises(StorageError, match="in use by a job"):
        storages.remove("fast")
    storages.clear("run-1")
    assert not any(made.exists() for made in folders.by_role().values())


def test_it_puts_what_was_not_chosen_beside_the_data(storages: Storages, folder: Path):
    storages.add("fast", folder)
    folders = storages.make_folders("run-1", {"data": "fast"})
    assert {folders.storages[role].name for role in ROLES} == {"fast"}


def test_it_finds_the_processes_of_a_job_in_another_storage(storages: Storages, dirs: AgentDirs, folder: Path):
    """A server's child that has lost its environment and its parent, as after kill -9 of both."""
    storages.add("fast", folder)
    data = storages.make_folders("run-1", {"data": "fast"}).data
    other = storages.make_folders("run-10", {"data": "fast"}).data
    server = subprocess.Popen(["/bin/sleep", "600"], cwd=data, env={})
    stranger = subprocess.Popen(["/bin/sleep", "600"], cwd=other, env={})
    try:
        process.kill_leftovers(dirs.jobs / "run-1")
        assert server.wait(60) == -signal.SIGKILL
        assert stranger.poll() is None
    finally:
        for child in (server, stranger):
            child.kill()
            child.wait()


# Emulated disks


@needs_emulation
def test_it_sets_an_emulated_disk_up_and_takes_it_down(storages: Storages, dirs: AgentDirs, folder: Path):
    made = an_emulation(folder, write_mb_per_s=16)
    storages.emulate("slow", made)
    assert emulation.attached(made.file) == []  # there while the agent runs, and only then
    assert "not set up" in facts_of(storages, "slow")["problem"]
    with pytest.raises(StorageError, match="not set up"):
        storages.make_folders("run-1", {"data": "slow"})
    storages.open()
    storages.open()
    facts = facts_of(storages, "slow")
    assert facts["problem"] == ""
    assert "write 16 MB/s" in facts["emulated"]
    assert facts["device"] == f"slow ({facts['emulated']})"
    device = device_of(storages.get("slow").path)
    named = [one["name"] for one in storages.named(storage_facts(dirs.root))]
    assert facts["device"] in named
    assert [name for name in named if name.startswith("loop")] == []
    assert facts["disks"] == facts_of(storages, "default")["disks"]
    folders = storages.make_folders("run-1", {"data": "default", "backup": "slow"})
    assert folders.storages["backup"].emulated == facts["emulated"]
    assert folders.storages["data"].emulated == ""
    (throttle,) = storages.throttles(folders)
    assert throttle.write_bytes_per_s == 16_000_000
    same = same_device(folders.data, folders.backup)
    assert same.same_physical
    assert f"{device} (emulated, a file on " in same.words
    storages.clear("run-1")
    storages.close()
    assert emulation.attached(made.file) == []
    storages.remove("slow")
    assert not made.file.exists()
    assert not (dirs.root / "places" / "slow").exists()


@needs_emulation
def test_it_clears_an_emulated_disk_of_what_a_machine_without_power_has_left(storages: Storages, folder: Path):
    made = an_emulation(folder)
    storages.emulate("slow", made)
    storages.open()
    left = storages.make_folders("run-1", {"data": "slow"}).data
    storages.close()
    storages.open()
    assert not left.exists()


@needs_emulation
def test_it_takes_over_from_an_agent_that_was_killed(storages: Storages, dirs: AgentDirs, folder: Path):
    made = an_emulation(folder)
    storages.emulate("slow", made)
    code = (
        "import os, sys\nfrom benchagent.paths import agent_dirs\nfrom benchagent.machine.storages import Storages\n"
        "storages = Storages(agent_dirs(sys.argv[1]))\nstorages.open()\n"
        "storages.make_folders('run-1', {'data': 'slow'})\n"
        "os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(dirs.root)], check=False, timeout=60).returncode == -9
    jobs = storages.get("slow").path / ".benchagent-jobs"
    assert [run.name for run in jobs.iterdir()] == ["run-1"]
    assert [run.name for run in dirs.jobs.iterdir()] == ["run-1"]  # by which the next start knows what to clear
    storages.clear("run-1")
    storages.open()
    assert list(jobs.iterdir()) == []
    assert len(emulation.attached(made.file)) == 1


@needs_emulation
def test_it_goes_on_without_an_emulated_disk_whose_file_is_gone(storages: Storages, folder: Path):
    made = an_emulation(folder)
    storages.emulate("slow", made)
    made.file.unlink()
    storages.open()
    assert "is gone" in facts_of(storages, "slow")["problem"]
    storages.remove("slow")


@needs_emulation
def test_it_keeps_nothing_of_an_emulated_disk_that_cannot_be_made(storages: Storages, folder: Path, monkeypatch):
    made = an_emulation(folder)
    monkeypatch.setattr(emulation, "SEARCH_PATH", "/nowhere")
    with pytest.raises(EmulationError, match="need losetup"):
        storages.emulate("slow", made)
    assert not made.file.exists()
    assert [storage.name for storage in storages.listed()] == ["default"]
