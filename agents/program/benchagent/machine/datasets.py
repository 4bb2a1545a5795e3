"""Data that were loaded once and are used again: a copy for each repeat, or handed on from run to run.

A data set lies beside the jobs' folders on the storage it was loaded on, in a folder named by a digest of everything
that decides its files: engine, version, settings, workload and its data factors. It is written under another name
first, so that what carries the name is whole. Which storage it lies on decides nothing: a job on another one copies it
from there, and it stays where it is.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchagent.errors import JobError
from benchagent.machine.caches import drop_page_cache
from benchagent.machine.limits import JobCgroup
from benchagent.machine.process import Children
from benchagent.machine.system import bytes_on_disk
from benchagent.protocol import JobSpec

FRESH, RESTORED, CONTINUED = "fresh", "restored", "continued"
FOLDER = ".benchagent-data"
FACTS = "facts.json"
DRAFT = ".draft-"
ROLES = ("data", "log")
COPY_TIMEOUT_S = 6 * 3600
ORIGIN_WORDS = {FRESH: "fresh load", RESTORED: "restored copy", CONTINUED: "continued"}
Copy = Callable[[Path, Path], None]


def copied_by(children: Children, cgroup: Callable[[], JobCgroup | None]) -> Copy:
    """Copies of whole folders within the limits of the job: every byte of them, and on the disk at the end.

    Blocks that two files share would have to be copied during the run, and what is not on the disk yet written then.
    """

    def copy(source: Path, target: Path) -> None:
        commands = [["cp", "-a", "--reflink=never", f"{source}/.", f"{target}/"], ["sync", "-f", f"{target}"]]
        if user := children.user:  # the copy may have been made by a job of another user
            commands.insert(1, ["chown", "-R", "--no-dereference", f"{user.uid}:{user.gid}", f"{target}"])
        for command in commands:
            children.run(command, timeout_s=COPY_TIMEOUT_S, cgroup=cgroup(), trusted=True)

    return copy


def dataset_key(
    spec: JobSpec, data_factors: Mapping[str, str], origin: str, *, log_apart: bool, beside_data: Collection[str] = ()
) -> str:
    """The same for jobs whose data are the same, whatever is done with them.

    `beside_data` names the settings that leave no trace in them.
    """
    settings = [[name, value] for name, value in spec["settings"] if name not in beside_data]
    facts = [
        spec["dbms"], spec["dbms_version"], settings, spec["workload"], spec["workload_version"], dict(data_factors),
        origin, log_apart,
    ]  # fmt: skip
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Dataset:
    """`storage` is the name of the storage that it lies on."""

    folder: Path
    facts: dict[str, Any]
    storage: str


class Datasets:
    """The data sets on the storage `name`, which keeps them below the folder `storage`.

    `copy` copies the content of a folder into another one, with owners and modes.
    """

    def __init__(self, name: str, storage: Path, copy: Copy) -> None:
        self.name = name
        self._root = storage / FOLDER
        self._copy = copy

    def find(self, key: str) -> Dataset | None:
        folder = self._root / key
        try:
            return Dataset(folder, json.loads((folder / FACTS).read_text()), self.name)
        except (OSError, ValueError):
            return None

    def save(self, key: str, folders: Mapping[str, Path], facts: Mapping[str, Any]) -> None:
        """Keep a copy of the folders of a shut down instance; an older one of that key is replaced."""
        draft = draft_of(facts["run_id"], self._root.parent)
        shutil.rmtree(draft, ignore_errors=True)
        self._root.mkdir(mode=0o755, exist_ok=True)
        draft.mkdir(mode=0o755)
        try:
            for role in ROLES:
                (draft / role).mkdir()
                self._copy(folders[role], draft / role)
            (draft / FACTS).write_text(json.dumps(facts))
        except BaseException:
            shutil.rmtree(draft, ignore_errors=True)
            raise
        shutil.rmtree(self._root / key, ignore_errors=True)
        draft.rename(self._root / key)

    def restore(self, dataset: Dataset, folders: Mapping[str, Path]) -> None:
        for role in ROLES:
            self._copy(dataset.folder / role, folders[role])

    def make_room(self, folder: Path, bytes_needed: int, keep: Sequence[str]) -> None:
        """Forget the data sets that were saved longest ago until so much is free where `folder` lies."""
        if not self._root.exists() or _device(self._root) != _device(folder):
            return
        oldest_first = sorted(self._root.iterdir(), key=lambda kept: kept.stat().st_mtime)
        for kept in oldest_first:
            if shutil.disk_usage(self._root).free >= bytes_needed:
                return
            if kept.name not in keep:
                shutil.rmtree(kept, ignore_errors=True)


def draft_of(run_id: str, storage: Path) -> Path:
    """What a run is saving; it goes with the run's folders where the agent was killed meanwhile."""
    return storage / FOLDER / f"{DRAFT}{run_id}"


def forget_all(storage: Path) -> str:
    """Delete the data sets on a storage and nothing else; what was deleted and what stays, in words, may be empty."""
    root = storage / FOLDER
    if not root.is_dir():
        return ""
    own = [kept for kept in root.iterdir() if _is_own(kept)]
    size = sum(map(bytes_on_disk, own))
    for kept in own:
        shutil.rmtree(kept, ignore_errors=True)
    words = [f"kept data deleted: {len(own)} ({size / 1e9:.1f} GB)"] if own else []
    if any(root.iterdir()):
        return "; ".join([*words, f"{root} stays: it holds {', '.join(sorted(path.name for path in root.iterdir()))}"])
    root.rmdir()
    return "; ".join(words)


def _is_own(kept: Path) -> bool:
    """A data set, a draft of one, or what a deletion that broke off has left of one."""
    return kept.is_dir() and (kept.name.startswith(DRAFT) or {path.name for path in kept.iterdir()} <= {FACTS, *ROLES})


@dataclass(frozen=True)
class DataPlan:
    """How one job comes to its data: `origin` is "fresh", "restored" or "continued".

    `datasets` are those on the storage of its data, `others` those on the other storages of this machine.
    """

    origin: str
    key: str
    datasets: Datasets
    others: Sequence[Datasets] = ()

    @property
    def for_each_repeat(self) -> bool:
        """True where each run starts from what was there after the load."""
        return self.origin == RESTORED

    @property
    def handed_on(self) -> bool:
        """True where a run starts from what the run before has left."""
        return self.origin == CONTINUED

    def ensure_space(self, folder: Path, bytes_needed: int) -> None:
        """For a job: data sets that were kept for others make way. Raises `JobError`."""
        self._make_room(folder, bytes_needed)
        free = shutil.disk_usage(folder).free
        if free < bytes_needed:
            needed = f"{bytes_needed / 1e9:.1f} GB of disk space are needed with room for logs and copies"
            raise JobError(f"{needed}, {free / 1e9:.1f} GB are free on storage {self.datasets.name}")

    def facts(self, dataset: Dataset | None, loaded: Mapping[str, Any]) -> dict[str, Any]:
        """How the data of this run came about; `loaded`: what it would load itself."""
        if dataset is None:
            return {**loaded, "origin": ORIGIN_WORDS[FRESH]}
        earlier, run_id = dataset.facts["dataset"], dataset.facts["run_id"]
        origin = ORIGIN_WORDS[self.origin]
        if dataset.storage != self.datasets.name:
            origin = f"{origin} (made on storage {dataset.storage}, run {run_id})"
        facts = {**earlier, "origin": origin, "loaded_by_run": earlier.get("loaded_by_run", run_id)}
        return {**facts, "continues_run": run_id} if self.handed_on else facts

    def find(self) -> Dataset | None:
        """The dataset on its own storage, or a copy of what another storage has; what is handed on stays on its
        storage.
        """
        if self.origin == FRESH:
            return None
        storages = [self.datasets] if self.handed_on else [self.datasets, *self.others]
        return next((dataset for storage in storages if (dataset := storage.find(self.key))), None)

    def cache_words(self, dataset: Dataset | None) -> str:
        """What is in the page cache when a run with warm caches begins."""
        if dataset or self.for_each_repeat:
            return "the DBMS was started on data that were not in the page cache; warm by its warm-up only"
        return "as the load has left them"

    def restore(self, folders: Mapping[str, Path], log: Callable[[str], None]) -> Dataset | None:
        """What was kept of earlier runs; None when the data have to be loaded. Raises `JobError` for lack of space."""
        dataset = self.find()
        if dataset is None:
            return None
        needed: dict[int, int] = {}
        for role in ROLES:
            device = _device(folders[role])
            needed[device] = needed.get(device, 0) + bytes_on_disk(dataset.folder / role)
        for role in ROLES:  # the copy's, on every device that gets a part of it
            size = needed[_device(folders[role])]
            if shutil.disk_usage(folders[role]).free < size:
                raise JobError(f"a copy of the data needs {size / 1e9:.1f} GB, which are not free")
        begun = time.monotonic()
        self.datasets.restore(dataset, folders)
        # Pages that the agent has touched are outside a memory limit of the job, and warm without a run.
        log(f"caches: {drop_page_cache([*folders.values(), dataset.folder])}")
        where = "" if dataset.storage == self.datasets.name else f", from storage {dataset.storage},"
        log(f"data of run {dataset.facts['run_id']}{where} put into place in {time.monotonic() - begun:.1f} s")
        return dataset

    def keep(self, folders: Mapping[str, Path], facts: Mapping[str, Any], size_bytes: int) -> bool:
        """False when there is no space for it. What is kept leaves the page cache, as it will when it is restored."""
        self._make_room(folders["data"], 2 * size_bytes)
        if shutil.disk_usage(folders["data"]).free < size_bytes:
            return False
        self.datasets.save(self.key, folders, facts)
        drop_page_cache(folders.values())
        return True

    def _make_room(self, folder: Path, bytes_needed: int) -> None:
        """Storages may share a device: then what the others keep there makes way as well, their own comes first."""
        for datasets in (self.datasets, *self.others):
            datasets.make_room(folder, bytes_needed, keep=[self.key])


def _device(folder: Path) -> int:
    return folder.stat().st_dev
