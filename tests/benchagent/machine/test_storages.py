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
from benchagent.machine.storages import Places
from benchagent.machine.storages_file import PlaceError
from benchagent.paths import AgentDirs

from tests.benchagent.storages import an_emulation, needs_emulation

ROLES = ("data", "log", "temp", "backup")


@pytest.fixture
def places(dirs: AgentDirs) -> Iterator[Places]:
    made = Places(dirs)
    yield made
    made.close()


@pytest.fixture
def folder(dirs: AgentDirs) -> Path:
    made = dirs.root.parent / "other"
    made.mkdir(mode=0o755)
    return made


def facts_of(places: Places, name: str):
    return next(facts for facts in places.facts() if facts["name"] == name)


def test_it_always_has_the_default(places: Places, dirs: AgentDirs):
    assert [(place.name, place.path) for place in places.listed()] == [("default", dirs.jobs)]
    facts = facts_of(places, "default")
    assert facts["device"] == device_of(dirs.jobs)
    assert (facts["emulated"], facts["problem"]) == ("", "")
    assert 0 < (facts["free_bytes"] or 0) < (facts["capacity_bytes"] or 0)
    assert str(dirs.root) not in json.dumps(facts)


def test_it_remembers_a_named_folder(places: Places, dirs: AgentDirs, folder: Path):
    places.add("fast", folder)
    assert Places(dirs).get("fast").path == folder
    assert [facts["name"] for facts in places.facts()] == ["default", "fast"]
    places.remove("fast")
    assert [place.name for place in Places(dirs).listed()] == ["default"]
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
def test_it_refuses_a_name(places: Places, folder: Path, name: str, words: str):
    with pytest.raises(PlaceError, match=words):
        places.add(name, folder)


def test_it_refuses_a_folder_in_which_no_job_could_work(places: Places, folder: Path):
    places.add("first", folder)
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
        with pytest.raises(PlaceError, match=words):
            places.add("second", asked)
    assert [place.name for place in places.listed()] == ["default", "first"]


def test_it_says_which_storages_there_are(places: Places):
    with pytest.raises(PlaceError, match="no storage 'fast'; it has default"):
        places.get("fast")
    with pytest.raises(PlaceError, match="always there"):
        places.remove("default")


def test_it_says_that_the_file_is_broken_and_goes_on_with_the_default(places: Places, dirs: AgentDirs):
    (dirs.root / "places.json").write_text("{}")
    with pytest.raises(PlaceError, match="correct or remove it"):
        places.listed()
    assert [facts["name"] for facts in places.facts()] == ["default"]
    places.open()
    places.clear("run")


def test_it_reports_a_folder_that_has_gone(places: Places, folder: Path):
    places.add("fast", folder)
    folder.rmdir()
    assert facts_of(places, "fast")["problem"] == f"{folder} is not there"
    with pytest.raises(PlaceError, match="storage fast cannot be used"):
        places.place("run", {"data": "fast"})


# Jobs


def test_it_gives_a_job_its_folders_and_takes_them_away(places: Places, dirs: AgentDirs, folder: Path):
    places.add("fast", folder)
    old = os.umask(0o077)
    try:
        placement = places.place("run-1", {"data": "", "log": "fast", "temp": "", "backup": "fast"})
    finally:
        os.umask(old)
    assert placement.data == dirs.jobs / "run-1" / "storage" / "data"
    assert placement.log == folder / ".benchagent-jobs" / "run-1" / "log"
    assert list(placement.folders()) == list(ROLES)
    assert {role: placement.places[role].name for role in ROLES} == {
        "data": "default",
        "log": "fast",
        "temp": "default",
        "backup": "fast",
    }
    for made in (*placement.folders().values(), placement.log.parent, placement.log.parent.parent):
        assert made.stat().st_mode & 0o777 == 0o755
    assert places.throttles(placement) == []
    with pytest.raises(PlaceError, match="in use by a job"):
        places.remove("fast")
    places.clear("run-1")
    assert not any(made.exists() for made in placement.folders().values())


def test_it_puts_what_was_not_chosen_beside_the_data(places: Places, folder: Path):
    places.add("fast", folder)
    placement = places.place("run-1", {"data": "fast"})
    assert {placement.places[role].name for role in ROLES} == {"fast"}


def test_it_finds_the_processes_of_a_job_in_another_storage(places: Places, dirs: AgentDirs, folder: Path):
    """A server's child that has lost its environment and its parent, as after kill -9 of both."""
    places.add("fast", folder)
    data = places.place("run-1", {"data": "fast"}).data
    other = places.place("run-10", {"data": "fast"}).data
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
def test_it_sets_an_emulated_disk_up_and_takes_it_down(places: Places, dirs: AgentDirs, folder: Path):
    made = an_emulation(folder, write_mb_per_s=16)
    places.emulate("slow", made)
    assert emulation.attached(made.file) == []  # there while the agent runs, and only then
    assert "not set up" in facts_of(places, "slow")["problem"]
    with pytest.raises(PlaceError, match="not set up"):
        places.place("run-1", {"data": "slow"})
    places.open()
    places.open()
    facts = facts_of(places, "slow")
    assert facts["problem"] == ""
    assert facts["emulated"] == "emulated: read without limit; write 16 MB/s"
    assert facts["device"] == "slow (emulated: read without limit; write 16 MB/s)"
    device = device_of(places.get("slow").path)
    named = [one["name"] for one in places.named(storage_facts(dirs.root))]
    assert facts["device"] in named
    assert [name for name in named if name.startswith("loop")] == []
    assert facts["disks"] == facts_of(places, "default")["disks"]
    placement = places.place("run-1", {"data": "default", "backup": "slow"})
    assert placement.emulated("backup") == facts["emulated"]
    assert placement.emulated("data") == ""
    (throttle,) = places.throttles(placement)
    assert throttle.write_bytes_per_s == 16_000_000
    same = same_device(placement.data, placement.backup)
    assert same.same_physical
    assert f"{device} (emulated, a file on " in same.words
    places.clear("run-1")
    places.close()
    assert emulation.attached(made.file) == []
    places.remove("slow")
    assert not made.file.exists()
    assert not (dirs.root / "places" / "slow").exists()


@needs_emulation
def test_it_clears_an_emulated_disk_of_what_a_machine_without_power_has_left(places: Places, folder: Path):
    made = an_emulation(folder)
    places.emulate("slow", made)
    places.open()
    left = places.place("run-1", {"data": "slow"}).data
    places.close()
    places.open()
    assert not left.exists()


@needs_emulation
def test_it_takes_over_from_an_agent_that_was_killed(places: Places, dirs: AgentDirs, folder: Path):
    made = an_emulation(folder)
    places.emulate("slow", made)
    code = (
        "import os, sys\nfrom benchagent.paths import agent_dirs\nfrom benchagent.machine.storages import Places\n"
        "places = Places(agent_dirs(sys.argv[1]))\nplaces.open()\nplaces.place('run-1', {'data': 'slow'})\n"
        "os.kill(os.getpid(), 9)"
    )
    assert subprocess.run([sys.executable, "-c", code, str(dirs.root)], check=False, timeout=60).returncode == -9
    jobs = places.get("slow").path / ".benchagent-jobs"
    assert [run.name for run in jobs.iterdir()] == ["run-1"]
    assert [run.name for run in dirs.jobs.iterdir()] == ["run-1"]  # by which the next start knows what to clear
    places.clear("run-1")
    places.open()
    assert list(jobs.iterdir()) == []
    assert len(emulation.attached(made.file)) == 1


@needs_emulation
def test_it_goes_on_without_an_emulated_disk_whose_file_is_gone(places: Places, folder: Path):
    made = an_emulation(folder)
    places.emulate("slow", made)
    made.file.unlink()
    places.open()
    assert "is gone" in facts_of(places, "slow")["problem"]
    places.remove("slow")


@needs_emulation
def test_it_keeps_nothing_of_an_emulated_disk_that_cannot_be_made(places: Places, folder: Path, monkeypatch):
    made = an_emulation(folder)
    monkeypatch.setattr(emulation, "is_direct", lambda device: False)
    monkeypatch.setattr(emulation, "SEARCH_PATH", "/nowhere")
    with pytest.raises(EmulationError, match="need losetup"):
        places.emulate("slow", made)
    assert not made.file.exists()
    assert [place.name for place in places.listed()] == ["default"]
