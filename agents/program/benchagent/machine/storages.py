"""The named storages of this machine, and the folders that a job has in them.

The storage "default" is the agent's own folder of jobs. Others are folders that the operator has named, or emulated
disks. They are kept in ``places.json`` below the agent's state folder.
"""

from __future__ import annotations

import logging
import os
import re
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchagent.errors import JobError
from benchagent.machine import emulation
from benchagent.machine.datasets import draft_of, forget_all
from benchagent.machine.devices import backing_file, device_of, physical_disks, storage_facts_of
from benchagent.machine.emulation import Emulation
from benchagent.machine.limits import Throttle
from benchagent.machine.process import JOBS_FOLDER
from benchagent.paths import AgentDirs, NamedFile, name_problem
from benchagent.protocol import NamedStorageFacts, StorageFacts

# A named storage: the file that keeps them, what is told of one, and the name of its device from start to start.

# Free space is told in steps, so that it is not news with every poll.
FREE_STEP = 500_000_000


class StorageError(JobError):
    """A storage cannot be used; the text says which and why."""


@dataclass(frozen=True)
class Storage:
    """A named folder, or an emulated disk that is mounted there while the agent runs."""

    name: str
    path: Path
    emulation: Emulation | None = None

    @property
    def emulated(self) -> str:
        """The words for an emulated disk, empty for a real one."""
        return self.emulation.words if self.emulation else ""


class _StoragesFile(NamedFile[Storage]):
    kind, key, error = "a storage", "places", StorageError

    def item(self, entry: Mapping[str, Any]) -> Storage:
        emulated = entry["emulation"]
        made = Emulation(**{**emulated, "file": Path(emulated["file"])}) if emulated else None
        return Storage(entry["name"], Path(entry["path"]), made)

    def entry(self, storage: Storage) -> dict[str, Any]:
        made = storage.emulation
        emulated = {**asdict(made), "file": str(made.file)} if made else None
        return {"name": storage.name, "path": str(storage.path), "emulation": emulated}


def is_set_up(storage: Storage) -> bool:
    """Mounted where it belongs, from the file it belongs to."""
    if storage.emulation is None or not storage.path.is_dir():
        return False
    return backing_file(device_of(storage.path)) == Path(os.path.realpath(storage.emulation.file))


def device_name(storage: Storage) -> str:
    """The name by which runs are compared. For an emulated disk it says what it is and does: its loop device has
    another number with each start of the agent.
    """
    return f"{storage.name} ({storage.emulated})" if storage.emulation else device_of(storage.path)


def emulated_words(storage: Storage) -> str:
    """What an emulated disk that is set up is made of in this run."""
    disks = ", ".join(sorted(physical_disks(storage.path))) or "an unknown disk"
    return f"{storage.name} is {device_of(storage.path)}, a file on {disks}; {storage.emulated}"


def named_storage_facts(storage: Storage, problem: str) -> NamedStorageFacts:
    device = None if problem else storage_facts_of(storage.path)
    size = storage.emulation.size_bytes if storage.emulation else None
    return {
        "name": storage.name,
        "device": device_name(storage) if device else "",
        "disks": sorted(physical_disks(storage.path)) if device else [],
        "medium": device and device["medium"],
        "model": device and device["model"],
        "bus": device and device["bus"],
        "emulated": storage.emulated,
        "capacity_bytes": device["capacity_bytes"] if device else size,
        "free_bytes": shutil.disk_usage(storage.path).free // FREE_STEP * FREE_STEP if device else None,
        "problem": problem,
    }


log = logging.getLogger(__name__)
DEFAULT_STORAGE = "default"


@dataclass(frozen=True)
class JobFolders:
    """The folders of one job, empty at first, each in the storage that was chosen for its role.

    Other users may pass through to them; who owns them is up to the adapter. `storages` has the storage by role.
    """

    data: Path
    log: Path
    temp: Path
    backup: Path
    storages: Mapping[str, Storage]

    def by_role(self) -> dict[str, Path]:
        return {"data": self.data, "log": self.log, "temp": self.temp, "backup": self.backup}

    @property
    def log_apart(self) -> bool:
        """True where the log was given a storage other than that of the data."""
        return self.storages["log"].name != self.storages["data"].name

    @property
    def temp_apart(self) -> bool:
        return self.storages["temp"].name != self.storages["data"].name


class Storages:
    """The storages of one agent. The file is read each time: the command line may have changed it."""

    def __init__(self, dirs: AgentDirs) -> None:
        self._dirs = dirs
        self._file = _StoragesFile(dirs.root / "places.json")
        # Emulated disks that could not be set up, with the reason.
        self._problems: dict[str, str] = {}

    def listed(self) -> list[Storage]:
        """All, the default first. Raises `StorageError` for a broken file."""
        return [Storage(DEFAULT_STORAGE, self._dirs.jobs), *self._file.listed()]

    def get(self, name: str) -> Storage:
        """The storage of this name, which is empty for the default. Raises `StorageError`."""
        for storage in self.listed():
            if storage.name == (name or DEFAULT_STORAGE):
                return storage
        raise StorageError(
            f"this machine has no storage {name!r}; it has {', '.join(other.name for other in self.listed())}"
        )

    def facts(self) -> list[NamedStorageFacts]:
        """What the server is told: no paths."""
        return [
            named_storage_facts(storage, self.without_paths(self.problem(storage))) for storage in self._listed_anyway()
        ]

    def without_paths(self, text: str) -> str:
        """Words for the server: in the place of a folder stands the name of its storage, of the agent's own "agent"."""
        names = {str(storage.path): storage.name for storage in self._listed_anyway()} | {str(self._dirs.root): "agent"}
        for path in sorted(names, key=len, reverse=True):
            text = re.sub(rf"(?<![\w.]){re.escape(path)}(?![\w.-])", names[path], text)
        return text

    def _listed_anyway(self) -> list[Storage]:
        try:
            return self.listed()
        except StorageError as error:
            log.warning("%s", error)
            return [Storage(DEFAULT_STORAGE, self._dirs.jobs)]

    def named(self, devices: Sequence[StorageFacts]) -> list[StorageFacts]:
        """The devices of this machine, the emulated disks among them by the names that they keep.

        Loop devices that belong to somebody else come and go, and are left out.
        """
        names = {device_of(storage.path): device_name(storage) for storage, _ in self._emulated() if is_set_up(storage)}
        own = device_of(self._dirs.jobs)
        return [
            {**facts, "name": names.get(facts["name"], facts["name"])}
            for facts in devices
            if facts["name"] in (own, *names) or not backing_file(facts["name"])
        ]

    def problem(self, storage: Storage) -> str:
        """Why a storage cannot be used now; empty when it can."""
        if storage.emulation and not is_set_up(storage):
            return (
                self._problems.get(storage.name) or "the emulated disk is not set up: the agent does it when it starts"
            )
        return "" if storage.path.is_dir() else f"{storage.path} is not there"

    # Changes

    def add(self, name: str, folder: Path) -> Storage:
        """Name a folder. Raises `StorageError` for one in which a job could not work."""
        storage = Storage(self._new_name(name), Path(os.path.realpath(folder)))
        if not storage.path.is_dir():
            raise StorageError(f"{folder} is not a folder")
        if any(storage.path == other.path for other in self.listed()):
            raise StorageError(f"{storage.path} has a name already")
        probe = storage.path / JOBS_FOLDER
        try:
            probe.mkdir(exist_ok=True)
            if not any(probe.iterdir()):
                probe.rmdir()
        except OSError as error:
            raise StorageError(f"{storage.path} cannot be written: {error.strerror}") from error
        if os.geteuid() == 0:
            for passed in (storage.path, *storage.path.parents):
                if not passed.stat().st_mode & 0o001:
                    raise StorageError(f"{passed} is closed to other users, and servers run as users of their own")
        self._file.add(storage)
        return storage

    def emulate(self, name: str, made: Emulation) -> Storage:
        """Make an emulated disk and try it once; the agent sets it up. Raises `StorageError` or `EmulationError`."""
        storage = Storage(self._new_name(name), self._dirs.root / "places" / name, made)
        emulation.create(made)
        try:
            emulation.set_up(made, storage.path)
            emulation.take_down(made)
            self._file.add(storage)
        except BaseException:
            _discard(storage, made)
            raise
        return storage

    def remove(self, name: str) -> str:
        """Forget a storage. What the agent has made on it goes with it: kept data, the file of an emulated one.

        Returns words on what was kept there, empty when nothing was.
        """
        if name == DEFAULT_STORAGE:
            raise StorageError("the default storage is always there")
        storage = self.get(name)
        jobs = storage.path / JOBS_FOLDER
        if jobs.is_dir() and any(jobs.iterdir()):
            raise StorageError(f"storage {name} is in use by a job, or holds what is left of one: start the agent once")
        if storage.emulation:
            words = f"its file {storage.emulation.file} is deleted"
            _discard(storage, storage.emulation)
        elif storage.path.is_dir():
            words = forget_all(storage.path)
            if jobs.is_dir():
                jobs.rmdir()
        else:
            words = f"{storage.path} is not there: what was kept on it stays"
        self._file.remove(name)
        return words

    # Life of the agent

    def open(self) -> None:
        """Set up the emulated disks that are not there yet. Never raises: a storage with a problem is reported so.

        At the agent's start, after the processes of earlier jobs were killed, and whenever it looks around.
        """
        for storage, made in self._emulated():
            if not is_set_up(storage):
                self._problems.pop(storage.name, None)
                try:
                    device = emulation.set_up(made, storage.path)
                    # What a machine that lost power has left: while the disk was not there, no job can have been.
                    shutil.rmtree(storage.path / JOBS_FOLDER, ignore_errors=True)
                    log.info("storage %s is %s on %s", storage.name, storage.emulated, device)
                except JobError as error:
                    self._problems[storage.name] = str(error)
                    log.warning("storage %s: %s", storage.name, error)

    def close(self) -> None:
        """Take the emulated disks down. Never raises."""
        for storage, made in self._emulated():
            try:
                _take_down(storage, made)
            except JobError as error:
                log.warning("storage %s: %s", storage.name, error)

    # Jobs

    def make_folders(self, run_id: str, chosen: Mapping[str, str]) -> JobFolders:
        """Make the folders of a job; `chosen` names a storage by role, those not named use that of the data.

        Raises `StorageError`. The job's own folder is made as well: by it the next start knows what to clear.
        """
        (self._dirs.jobs / run_id).mkdir(mode=0o755, parents=True, exist_ok=True)
        data = chosen.get("data", "")
        storages = {role: self.get(chosen.get(role) or data) for role in ("data", "log", "temp", "backup")}
        folders = {}
        for role, storage in storages.items():
            problem = self.problem(storage)
            if problem:
                raise StorageError(f"storage {storage.name} cannot be used: {problem}")
            folder = folders[role] = self._folder(storage, run_id) / role
            try:
                folder.mkdir(parents=True)
                for passed in (folder.parent.parent, folder.parent, folder):
                    passed.chmod(0o755)  # whatever the umask says: servers run as users of their own
            except OSError as error:
                raise StorageError(f"storage {storage.name} cannot be written: {error.strerror}") from error
        return JobFolders(**folders, storages=storages)

    def keeping(self, first: Storage) -> list[tuple[str, Path]]:
        """Names and folders of the storages that can be used now, for what is kept from job to job: `first` first."""
        usable = [storage for storage in self.listed() if storage.name != first.name and not self.problem(storage)]
        # Not among the jobs: what is left there by a job that was interrupted goes at the next start.
        return [
            (storage.name, self._dirs.root if storage.name == DEFAULT_STORAGE else storage.path)
            for storage in [first, *usable]
        ]

    def throttles(self, folders: JobFolders) -> list[Throttle]:
        """For `Limits`: the rates of the emulated disks that a job uses."""
        used = {device_of(storage.path): made for storage in folders.storages.values() if (made := storage.emulation)}
        throttles = [made.throttle(emulation.device_number(device)) for device, made in used.items()]
        return list(filter(None, throttles))

    def clear(self, run_id: str) -> None:
        """Remove a job's folders from all storages. Never raises. After its processes have ended."""
        try:
            folders = [self._folder(storage, run_id) for storage in self.listed()]
            folders += [draft_of(run_id, kept) for _, kept in self.keeping(self.get(DEFAULT_STORAGE))]
        except StorageError as error:
            log.warning("%s", error)
            return
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
            if folder.exists():
                log.warning("could not remove all of %s", folder)

    def _folder(self, storage: Storage, run_id: str) -> Path:
        if storage.name == DEFAULT_STORAGE:
            return self._dirs.jobs / run_id / "storage"
        return storage.path / JOBS_FOLDER / run_id

    # The file

    def _emulated(self) -> list[tuple[Storage, Emulation]]:
        try:
            return [(storage, made) for storage in self._file.listed() if (made := storage.emulation)]
        except StorageError as error:
            log.warning("%s", error)
            return []

    def _new_name(self, name: str) -> str:
        if problem := name_problem(name, self._file.kind):
            raise StorageError(problem)
        if any(storage.name == name for storage in self.listed()):
            raise StorageError(f"there is a storage {name!r} already")
        return name


def _discard(storage: Storage, made: Emulation) -> None:
    _take_down(storage, made)
    made.file.unlink(missing_ok=True)


def _take_down(storage: Storage, made: Emulation) -> None:
    emulation.take_down(made)
    with suppress(OSError):
        storage.path.rmdir()
