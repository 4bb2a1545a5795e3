"""Data that were loaded once and are used again: a copy for each repeat, or handed on from run to run.

A data set lies beside the jobs' folders on the storage it was loaded on, in a folder named by a digest of everything
that decides its files: engine, version, settings, workload and its data factors. It is written under another name
first, so that what carries the name is whole.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchagent.caches import drop_page_cache
from benchagent.errors import JobError
from benchagent.limits import Cage
from benchagent.process import Children
from benchagent.protocol import JobSpec

FRESH, RESTORED, CONTINUED = "fresh", "restored", "continued"
FOLDER = ".benchagent-data"
FACTS = "facts.json"
ROLES = ("data", "log")
COPY_TIMEOUT_S = 6 * 3600
ORIGIN_WORDS = {FRESH: "fresh load", RESTORED: "restored copy", CONTINUED: "continued"}
Copy = Callable[[Path, Path], None]


def copied_by(children: Children, cage: Callable[[], Cage | None]) -> Copy:
    """Copies of whole folders within the limits of the job: every byte of them, and on the disk at the end.

    Blocks that two files share would have to be copied during the run, and what is not on the disk yet written then.
    """

    def copy(source: Path, target: Path) -> None:
        for command in (["cp", "-a", "--reflink=never", f"{source}/.", f"{target}/"], ["sync", "-f", f"{target}"]):
            children.run(command, timeout_s=COPY_TIMEOUT_S, cage=cage())

    return copy


def dataset_key(spec: JobSpec, data_factors: Mapping[str, str], origin: str, *, log_apart: bool) -> str:
    """The same for jobs whose data are the same, whatever is done with them."""
    facts = [
        spec["dbms"],
        spec["dbms_version"],
        [list(pair) for pair in spec["settings"]],
        spec["workload"],
        spec["workload_version"],
        dict(data_factors),
        origin,
        log_apart,
    ]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:20]


@dataclass(frozen=True)
class Dataset:
    folder: Path
    facts: dict[str, Any]


class Datasets:
    """The data sets on one storage. `copy` copies the content of a folder into another one, with owners and modes."""

    def __init__(self, storage: Path, copy: Copy) -> None:
        self._root = storage / FOLDER
        self._copy = copy

    def find(self, key: str) -> Dataset | None:
        folder = self._root / key
        try:
            return Dataset(folder, json.loads((folder / FACTS).read_text()))
        except (OSError, ValueError):
            return None

    def save(self, key: str, folders: Mapping[str, Path], facts: Mapping[str, Any]) -> None:
        """Keep a copy of the folders of a shut down instance; an older one of that key is replaced."""
        draft = self._root / f".draft-{key}"
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

    def bytes_needed(self, dataset: Dataset) -> int:
        return sum(path.lstat().st_blocks * 512 for path in dataset.folder.rglob("*"))

    def make_room(self, bytes_needed: int, keep: Sequence[str]) -> None:
        """Forget the data sets that were saved longest ago until so much is free."""
        if not self._root.exists():
            return
        oldest_first = sorted(self._root.iterdir(), key=lambda folder: folder.stat().st_mtime)
        for folder in oldest_first:
            if shutil.disk_usage(self._root).free >= bytes_needed:
                return
            if folder.name not in keep:
                shutil.rmtree(folder, ignore_errors=True)


@dataclass(frozen=True)
class DataPlan:
    """How one job comes to its data: `origin` is "fresh", "restored" or "continued"."""

    origin: str
    key: str
    datasets: Datasets

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
        self.datasets.make_room(bytes_needed, keep=[self.key])
        free = shutil.disk_usage(folder).free
        if free < bytes_needed:
            raise JobError(f"{bytes_needed / 1e9:.1f} GB of disk space are needed, {free / 1e9:.1f} GB are free")

    def facts(self, dataset: Dataset | None, loaded: Mapping[str, Any]) -> dict[str, Any]:
        """How the data of this run came about; `loaded`: what it would load itself."""
        if dataset is None:
            return {**loaded, "origin": ORIGIN_WORDS[FRESH]}
        earlier, run_id = dataset.facts["dataset"], dataset.facts["run_id"]
        found = {**earlier, "origin": ORIGIN_WORDS[self.origin], "loaded_by_run": earlier.get("loaded_by_run", run_id)}
        return {**found, "continues_run": run_id} if self.handed_on else found

    def cache_words(self, dataset: Dataset | None) -> str:
        """What is in the page cache when a run with warm caches begins."""
        if dataset or self.for_each_repeat:
            return "the DBMS was started on data that were not in the page cache; warm by its warm-up only"
        return "as the load has left them"

    def put_into_place(self, folders: Mapping[str, Path], log: Callable[[str], None]) -> Dataset | None:
        """What was kept of earlier runs; None when the data have to be loaded. Raises `JobError` for lack of space."""
        dataset = self.datasets.find(self.key) if self.origin != FRESH else None
        if dataset is None:
            return None
        needed = self.datasets.bytes_needed(dataset)
        if shutil.disk_usage(folders["data"]).free < needed:
            raise JobError(f"a copy of the data needs {needed / 1e9:.1f} GB, which are not free")
        begun = time.monotonic()
        self.datasets.restore(dataset, folders)
        # Pages that the agent has touched are outside a memory limit of the job, and warm without a run.
        action = drop_page_cache(folders.values())
        log(f"caches: {action.words}")
        log(f"data of run {dataset.facts['run_id']} put into place in {time.monotonic() - begun:.1f} s")
        return dataset

    def keep(self, folders: Mapping[str, Path], facts: Mapping[str, Any], size_bytes: int) -> bool:
        """False when there is no space for it. What is kept leaves the page cache, as it will when it is restored."""
        self.datasets.make_room(2 * size_bytes, keep=[self.key])
        if shutil.disk_usage(folders["data"]).free < size_bytes:
            return False
        self.datasets.save(self.key, folders, facts)
        drop_page_cache(folders.values())
        return True
