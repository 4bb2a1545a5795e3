"""Data that are used again: real files, copied by the real commands."""

from __future__ import annotations

import os
import shutil
from collections import namedtuple
from pathlib import Path
from typing import Any

import pytest
from benchagent.errors import JobError
from benchagent.machine.datasets import (
    CONTINUED,
    FACTS,
    FOLDER,
    FRESH,
    RESTORED,
    DataPlan,
    Datasets,
    copied_by,
    dataset_key,
)
from benchagent.machine.process import Children, ProcessFailed
from benchagent.machine.storages import Storages
from benchagent.paths import AgentDirs

from tests.benchagent.fake_server import job_spec

# Another user, where we may give files away.
OWNER = 65534 if os.geteuid() == 0 else os.getuid()
Usage = namedtuple("Usage", "total used free")
FACTS_OF_RUN = {"run_id": "run-1", "at": 1.0, "dataset": {"rows": {"t": 5}, "seed": 42, "origin": "fresh load"}}


@pytest.fixture
def datasets(tmp_path: Path) -> Datasets:
    (tmp_path / "job").mkdir()
    (tmp_path / "storage").mkdir()
    return Datasets("fast", tmp_path / "storage", copied_by(Children(tmp_path / "job"), lambda: None))


def folders(root: Path) -> dict[str, Path]:
    made = {role: root / role for role in ("data", "log", "temp", "backup")}
    for folder in made.values():
        folder.mkdir(parents=True)
    return made


@pytest.fixture
def loaded(tmp_path: Path) -> dict[str, Path]:
    """What an instance has left: files of another user, closed ones, a link, an empty folder."""
    made = folders(tmp_path / "loaded")
    (made["data"] / "base").mkdir(mode=0o700)
    (made["data"] / "base" / "1").write_bytes(os.urandom(300_000))
    (made["data"] / "password").write_text("secret")
    (made["data"] / "password").chmod(0o600)
    (made["data"] / "link").symlink_to("base/1")
    (made["data"] / "empty").mkdir()
    (made["log"] / "redo").write_bytes(os.urandom(50_000))
    (made["temp"] / "sort").write_text("of no use later")
    made["data"].chmod(0o750)
    for path in (made["data"], made["data"] / "base", made["data"] / "base" / "1"):
        os.chown(path, OWNER, -1)
    return made


def seen(folder: Path) -> dict[str, tuple[Any, ...]]:
    """Everything below a folder, and the folder itself: kind and mode, owner, content."""
    found = {}
    for path in (folder, *folder.rglob("*")):
        status = path.lstat()
        content = str(path.readlink()) if path.is_symlink() else path.read_bytes() if path.is_file() else b""
        found[str(path.relative_to(folder))] = (oct(status.st_mode), status.st_uid, status.st_gid, content)
    return found


def plan(datasets: Datasets, origin: str, key: str = "key") -> DataPlan:
    return DataPlan(origin, key, datasets)


def test_it_puts_the_same_files_into_place_with_owners_and_modes(datasets, loaded, tmp_path):
    assert plan(datasets, RESTORED).keep(loaded, FACTS_OF_RUN, 350_000)
    kept = {role: seen(loaded[role]) for role in ("data", "log")}
    shutil.rmtree(tmp_path / "loaded")
    target, lines = folders(tmp_path / "later"), []
    dataset = plan(datasets, RESTORED).restore(target, lines.append)
    assert dataset is not None and dataset.facts == FACTS_OF_RUN
    assert {role: seen(target[role]) for role in ("data", "log")} == kept
    assert kept["data"]["base/1"][1] == OWNER
    assert list(target["temp"].iterdir()) == []
    assert any(line.startswith("data of run run-1 put into place") for line in lines)


def test_what_another_storage_has_is_copied_from_there_and_stays_there(datasets, loaded, tmp_path, monkeypatch):
    plan(datasets, RESTORED).keep(loaded, FACTS_OF_RUN, 350_000)
    (tmp_path / "other").mkdir()
    elsewhere = Datasets("slow", tmp_path / "other", copied_by(Children(tmp_path / "job"), lambda: None))
    there, lines = DataPlan(RESTORED, "key", elsewhere, [datasets]), []
    target = folders(tmp_path / "later")
    dataset = there.restore(target, lines.append)
    assert dataset is not None and dataset.storage == "fast"
    assert {role: seen(target[role]) for role in ("data", "log")} == {
        role: seen(loaded[role]) for role in ("data", "log")
    }
    assert any("run-1, from storage fast" in line for line in lines)
    assert "storage fast, run run-1" in there.facts(dataset, {})["origin"]
    assert datasets.find("key") and not elsewhere.find("key")
    # What a run leaves for the next one belongs to its storage.
    assert DataPlan(CONTINUED, "key", elsewhere, [datasets]).find() is None
    # On one device the data sets of both storages make way, but never those of the job itself.
    datasets.save("older", loaded, FACTS_OF_RUN)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(1000, 0, 0))
    with pytest.raises(JobError, match=r"of disk space are needed.* 0\.0 GB are free on storage "):
        there.ensure_space(tmp_path, 600)
    assert datasets.find("key") and not datasets.find("older")
    with pytest.raises(JobError, match="a copy of the data needs"):
        there.restore(folders(tmp_path / "third"), print)


def test_each_repeat_gets_the_copy_as_it_was(datasets, loaded, tmp_path):
    plan(datasets, RESTORED).keep(loaded, FACTS_OF_RUN, 350_000)
    first, second = folders(tmp_path / "first"), folders(tmp_path / "second")
    plan(datasets, RESTORED).restore(first, print)
    (first["data"] / "base" / "1").write_text("changed by the run")
    plan(datasets, RESTORED).restore(second, print)
    assert seen(second["data"]) == seen(loaded["data"])


def test_a_fresh_job_takes_nothing(datasets, loaded, tmp_path):
    plan(datasets, RESTORED).keep(loaded, FACTS_OF_RUN, 350_000)
    assert plan(datasets, FRESH).restore(folders(tmp_path / "later"), print) is None
    assert plan(datasets, RESTORED, "other").restore(loaded, print) is None


def test_what_is_handed_on_moves_on_with_every_run(datasets, loaded, tmp_path):
    chain = plan(datasets, CONTINUED)
    fresh = {"rows": {"t": 5}, "seed": 42}
    described = chain.facts(None, fresh)
    assert described == {**fresh, "origin": "fresh load"}
    for number in (1, 2, 3):
        place = folders(tmp_path / f"run-{number}")
        (place["data"] / "history").write_text(f"of run {number}")
        chain.keep(place, {"run_id": f"run-{number}", "at": 1.0, "dataset": described}, 10)
        later = folders(tmp_path / f"after-{number}")
        dataset = chain.restore(later, print)
        assert (later["data"] / "history").read_text() == f"of run {number}"
        described = chain.facts(dataset, {"rows": {}, "seed": 7})
        assert described == {
            **fresh, "origin": "continued", "loaded_by_run": "run-1", "continues_run": f"run-{number}",
        }  # fmt: skip
    assert [folder.name for folder in (tmp_path / "storage" / FOLDER).iterdir()] == ["key"]


def test_a_copy_is_described_by_the_run_that_loaded_it(datasets, loaded):
    chosen = plan(datasets, RESTORED)
    chosen.keep(loaded, FACTS_OF_RUN, 10)
    described = chosen.facts(datasets.find("key"), {"rows": {"t": 5}, "seed": 99})
    assert described == {"rows": {"t": 5}, "seed": 42, "origin": "restored copy", "loaded_by_run": "run-1"}


@pytest.mark.parametrize(
    "changed",
    [
        {"dbms": "derby"},
        {"dbms_version": "2"},
        {"settings": [("page_size", "8192")]},
        {"settings": [("b", "2"), ("a", "1")]},
        {"workload": "tpcc"},
        {"workload_version": "2"},
        {"factors": {"scale_factor": "2"}},
        {"origin": CONTINUED},
        {"log_apart": True},
    ],
)
def test_other_data_have_another_key(changed: dict[str, Any]):
    def key(**changes: Any) -> str:
        factors = changes.pop("factors", {"scale_factor": "1"})
        origin, log_apart = changes.pop("origin", RESTORED), changes.pop("log_apart", False)
        spec = job_spec(**{"settings": [("a", "1"), ("b", "2")], **changes})
        return dataset_key(spec, factors, origin, log_apart=log_apart)

    assert key() == key(run_id="run-2", seed=7)
    assert key() != key(**changed)


def test_settings_beside_the_data_make_no_other_key():
    keys = {
        dataset_key(
            job_spec(settings=[("mode", mode), ("page", "1")]), {}, RESTORED, log_apart=False, beside_data=["mode"]
        )
        for mode in ("a", "b")
    }
    assert len(keys) == 1


def test_a_copy_that_broke_off_is_never_used(loaded, tmp_path):
    storage = tmp_path / "storage"
    storage.mkdir()

    def breaks(source: Path, target: Path) -> None:
        (target / "half").write_text("half")
        if source.name == "log":
            raise ProcessFailed("cp ended with 1: No space left on device")

    broken = Datasets("fast", storage, breaks)
    with pytest.raises(ProcessFailed):
        broken.save("key", loaded, FACTS_OF_RUN)
    assert broken.find("key") is None
    assert list((storage / FOLDER).iterdir()) == []


def test_an_agent_that_was_killed_while_it_copied_has_left_nothing_that_is_used(datasets, loaded, tmp_path):
    draft = tmp_path / "storage" / FOLDER / ".draft-run-1"
    (draft / "data").mkdir(parents=True)
    (draft / "data" / "half").write_text("half")
    assert datasets.find("key") is None
    (tmp_path / "storage" / FOLDER / "other").mkdir()
    assert datasets.find("other") is None
    (tmp_path / "storage" / FOLDER / "other" / FACTS).write_text('{"run_id":')
    assert datasets.find("other") is None
    datasets.save("key", loaded, FACTS_OF_RUN)
    assert not (tmp_path / "storage" / FOLDER / "key" / "data" / "half").exists()


def test_it_says_how_much_space_a_copy_lacks(datasets, loaded, tmp_path, monkeypatch):
    plan(datasets, RESTORED).keep(loaded, FACTS_OF_RUN, 350_000)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 10**12, 1000))
    with pytest.raises(JobError, match=r"needs 0\.0 GB"):
        plan(datasets, RESTORED).restore(folders(tmp_path / "later"), print)


def test_it_keeps_nothing_where_there_is_no_space_for_it(datasets, loaded, monkeypatch):
    monkeypatch.setattr(shutil, "disk_usage", lambda path: Usage(10**12, 10**12, 1000))
    assert not plan(datasets, RESTORED).keep(loaded, FACTS_OF_RUN, 350_000)
    assert datasets.find("key") is None


def test_a_storage_that_is_forgotten_takes_its_data_with_it(loaded: dict[str, Path], dirs: AgentDirs, tmp_path: Path):
    storage = dirs.root.parent / "second"
    storage.mkdir(mode=0o755)
    (storage / "somebody's").write_text("own file")
    Storages(dirs).add("second", storage)
    Datasets("second", storage, copied_by(Children(tmp_path), lambda: None)).save("key", loaded, FACTS_OF_RUN)
    assert Storages(dirs).remove("second") == "kept data deleted: 1 (0.0 GB)"
    assert [path.name for path in storage.iterdir()] == ["somebody's"]


def test_a_storage_that_is_forgotten_keeps_what_is_not_the_agents(dirs: AgentDirs, loaded: dict[str, Path], tmp_path):
    storage = dirs.root.parent / "second"
    (storage / FOLDER / ".draft-key" / "data").mkdir(parents=True)
    (storage / FOLDER / "notes").mkdir()
    (storage / FOLDER / "notes" / "mine.txt").write_text("x")
    storage.chmod(0o755)
    Storages(dirs).add("second", storage)
    words = Storages(dirs).remove("second")
    assert words == f"kept data deleted: 1 (0.0 GB); {storage / FOLDER} stays: it holds notes"
    assert (storage / FOLDER / "notes" / "mine.txt").read_text() == "x"


def test_the_oldest_data_make_way_for_a_job_but_not_its_own(datasets, loaded, tmp_path, monkeypatch):
    for number, key in enumerate(("mine", "oldest", "older", "newest")):
        datasets.save(key, loaded, FACTS_OF_RUN)
        os.utime(tmp_path / "storage" / FOLDER / key, (number, number))

    def usage(path: Path) -> Usage:
        kept = len(list((tmp_path / "storage" / FOLDER).iterdir()))
        return Usage(1000, 0, 1000 - 200 * kept)

    monkeypatch.setattr(shutil, "disk_usage", usage)
    plan(datasets, RESTORED, "mine").ensure_space(tmp_path, 600)
    assert [key for key in ("mine", "oldest", "older", "newest") if datasets.find(key)] == ["mine", "newest"]
    with pytest.raises(JobError, match="of disk space are needed"):
        plan(datasets, RESTORED, "mine").ensure_space(tmp_path, 900)
    assert datasets.find("mine") and not datasets.find("newest")
