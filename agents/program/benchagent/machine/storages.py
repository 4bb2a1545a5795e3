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
from dataclasses import dataclass
from pathlib import Path

from benchagent.errors import JobError
from benchagent.machine import emulation
from benchagent.machine.cgroups import Throttle
from benchagent.machine.datasets import draft_of, forget_all
from benchagent.machine.devices import backing_file, device_of
from benchagent.machine.emulation import Emulation
from benchagent.machine.process import JOBS_FOLDER
from benchagent.machine.storage_facts import device_name, is_set_up, place_facts
from benchagent.machine.storages_file import Place, PlaceError, read_places, write_places
from benchagent.paths import AgentDirs
from benchagent.protocol import PlaceFacts, StorageFacts

log = logging.getLogger(__name__)
DEFAULT_PLACE = "default"
NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,39}\Z")


@dataclass(frozen=True)
class Placement:
    """The folders of one job, empty at first, each in the storage that was chosen for its role.

    Other users may pass through to them; who owns them is up to the adapter. `places` has the storage by role.
    """

    data: Path
    log: Path
    temp: Path
    backup: Path
    places: Mapping[str, Place]

    def folders(self) -> dict[str, Path]:
        return {"data": self.data, "log": self.log, "temp": self.temp, "backup": self.backup}

    @property
    def log_apart(self) -> bool:
        """True where the log was given a storage other than that of the data."""
        return self.places["log"].name != self.places["data"].name

    def emulated(self, role: str) -> str:
        """The words for an emulated disk, empty for a real one."""
        made = self.places[role].emulation
        return made.words if made else ""


class Places:
    """The storages of one agent. The file is read each time: the command line may have changed it."""

    def __init__(self, dirs: AgentDirs) -> None:
        self._dirs = dirs
        self._file = dirs.root / "places.json"
        # Emulated disks that could not be set up, with the reason.
        self._problems: dict[str, str] = {}

    def listed(self) -> list[Place]:
        """All, the default first. Raises `PlaceError` for a broken file."""
        return [Place(DEFAULT_PLACE, self._dirs.jobs), *self._named()]

    def get(self, name: str) -> Place:
        """By name, empty for the default. Raises `PlaceError`."""
        for place in self.listed():
            if place.name == (name or DEFAULT_PLACE):
                return place
        raise PlaceError(f"this machine has no storage {name!r}; it has {', '.join(p.name for p in self.listed())}")

    def facts(self) -> list[PlaceFacts]:
        """What the server is told: no paths."""
        try:
            listed = self.listed()
        except PlaceError as error:
            log.warning("%s", error)
            listed = [Place(DEFAULT_PLACE, self._dirs.jobs)]
        return [place_facts(place, self.problem(place)) for place in listed]

    def named(self, devices: Sequence[StorageFacts]) -> list[StorageFacts]:
        """The devices of this machine, the emulated disks among them by the names that they keep.

        Loop devices that belong to somebody else come and go, and are left out.
        """
        names = {device_of(place.path): device_name(place) for place in self._emulated() if is_set_up(place)}
        own = device_of(self._dirs.jobs)
        return [
            {**facts, "name": names.get(facts["name"], facts["name"])}
            for facts in devices
            if facts["name"] in (own, *names) or not backing_file(facts["name"])
        ]

    def problem(self, place: Place) -> str:
        """Why a storage cannot be used now; empty when it can."""
        if place.emulation and not is_set_up(place):
            return self._problems.get(place.name) or "the emulated disk is not set up: the agent does it when it starts"
        return "" if place.path.is_dir() else f"{place.path} is not there"

    # Changes

    def add(self, name: str, folder: Path) -> Place:
        """Name a folder. Raises `PlaceError` for one in which a job could not work."""
        place = Place(self._new_name(name), Path(os.path.realpath(folder)))
        if not place.path.is_dir():
            raise PlaceError(f"{folder} is not a folder")
        if any(place.path == other.path for other in self.listed()):
            raise PlaceError(f"{place.path} has a name already")
        _check_usable(place.path)
        write_places(self._file, [*self._named(), place])
        return place

    def emulate(self, name: str, made: Emulation) -> Place:
        """Make an emulated disk and try it once; the agent sets it up. Raises `PlaceError` or `EmulationError`."""
        place = Place(self._new_name(name), self._dirs.root / "places" / name, made)
        emulation.create(made)
        try:
            emulation.set_up(made, place.path)
            emulation.take_down(made)
            write_places(self._file, [*self._named(), place])
        except BaseException:
            _discard(place)
            raise
        return place

    def remove(self, name: str) -> str:
        """Forget a storage. What the agent has made on it goes with it: kept data, the file of an emulated one.

        Returns words on what was kept there, empty when nothing was.
        """
        if name == DEFAULT_PLACE:
            raise PlaceError("the default storage is always there")
        place = self.get(name)
        jobs = place.path / JOBS_FOLDER
        if jobs.is_dir() and any(jobs.iterdir()):
            raise PlaceError(f"storage {name} is in use by a job, or holds what is left of one: start the agent once")
        words = _what_was_kept(place)
        if place.emulation:
            _discard(place)
        elif jobs.is_dir():
            jobs.rmdir()
        write_places(self._file, [other for other in self._named() if other.name != name])
        return words

    # Life of the agent

    def open(self) -> None:
        """Set up the emulated disks that are not there yet. Never raises: a storage with a problem is reported so.

        At the agent's start, after the processes of earlier jobs were killed, and whenever it looks around.
        """
        for place in self._emulated():
            if not is_set_up(place):
                self._problems.pop(place.name, None)
                try:
                    made = place.emulation
                    device = emulation.set_up(made, place.path) if made else ""
                    # What a machine that lost power has left: while the disk was not there, no job can have been.
                    shutil.rmtree(place.path / JOBS_FOLDER, ignore_errors=True)
                    log.info("storage %s is %s on %s", place.name, made.words if made else "", device)
                except JobError as error:
                    self._problems[place.name] = str(error)
                    log.warning("storage %s: %s", place.name, error)

    def close(self) -> None:
        """Take the emulated disks down. Never raises."""
        for place in self._emulated():
            try:
                if place.emulation:
                    emulation.take_down(place.emulation)
                    _remove_empty(place.path)
            except JobError as error:
                log.warning("storage %s: %s", place.name, error)

    # Jobs

    def place(self, run_id: str, chosen: Mapping[str, str]) -> Placement:
        """Make the folders of a job; `chosen` names a storage by role, those not named use that of the data.

        Raises `PlaceError`. The job's own folder is made as well: by it the next start knows what to clear.
        """
        (self._dirs.jobs / run_id).mkdir(mode=0o755, parents=True, exist_ok=True)
        data = chosen.get("data", "")
        places = {role: self.get(chosen.get(role) or data) for role in ("data", "log", "temp", "backup")}
        folders = {}
        for role, place in places.items():
            problem = self.problem(place)
            if problem:
                raise PlaceError(f"storage {place.name} cannot be used: {problem}")
            folders[role] = self._make(place, run_id, role)
        return Placement(**folders, places=places)

    def keeping(self, first: Place) -> list[tuple[str, Path]]:
        """Names and folders of the storages that can be used now, for what is kept from job to job: `first` first."""
        usable = [place for place in self.listed() if place.name != first.name and not self.problem(place)]
        # Not among the jobs: what is left there by a job that was interrupted goes at the next start.
        return [
            (place.name, self._dirs.root if place.name == DEFAULT_PLACE else place.path) for place in [first, *usable]
        ]

    def throttles(self, placement: Placement) -> list[Throttle]:
        """For `Limits`: the rates of the emulated disks that a job uses."""
        found = {}
        for place in placement.places.values():
            if place.emulation:
                number = emulation.device_number(device_of(place.path))
                throttle = place.emulation.throttle(number)
                if throttle:
                    found[number] = throttle
        return list(found.values())

    def clear(self, run_id: str) -> None:
        """Remove a job's folders from all storages. Never raises. After its processes have ended."""
        try:
            folders = [self._folder(place, run_id) for place in self.listed()]
            folders += [draft_of(run_id, kept) for _, kept in self.keeping(self.get(DEFAULT_PLACE))]
        except PlaceError as error:
            log.warning("%s", error)
            return
        for folder in folders:
            shutil.rmtree(folder, ignore_errors=True)
            if folder.exists():
                log.warning("could not remove all of %s", folder)

    def _make(self, place: Place, run_id: str, role: str) -> Path:
        folder = self._folder(place, run_id) / role
        try:
            folder.mkdir(parents=True)
            for passed in (folder.parent.parent, folder.parent, folder):
                passed.chmod(0o755)  # whatever the umask says: servers run as users of their own
        except OSError as error:
            raise PlaceError(f"storage {place.name} cannot be written: {error.strerror}") from error
        return folder

    def _folder(self, place: Place, run_id: str) -> Path:
        if place.name == DEFAULT_PLACE:
            return self._dirs.jobs / run_id / "storage"
        return place.path / JOBS_FOLDER / run_id

    # The file

    def _emulated(self) -> list[Place]:
        try:
            return [place for place in self._named() if place.emulation]
        except PlaceError as error:
            log.warning("%s", error)
            return []

    def _named(self) -> list[Place]:
        return read_places(self._file)

    def _new_name(self, name: str) -> str:
        if not NAME.match(name):
            raise PlaceError(f"{name!r} is no name for a storage: up to 40 letters, digits, and . _ - after the first")
        if any(place.name == name for place in self.listed()):
            raise PlaceError(f"there is a storage {name!r} already")
        return name


def _what_was_kept(place: Place) -> str:
    if place.emulation:
        return f"its file {place.emulation.file} is deleted"
    if not place.path.is_dir():
        return f"{place.path} is not there: what was kept on it stays"
    return forget_all(place.path)


def _discard(place: Place) -> None:
    if place.emulation:
        emulation.take_down(place.emulation)
        _remove_empty(place.path)
        place.emulation.file.unlink(missing_ok=True)


def _remove_empty(folder: Path) -> None:
    try:
        folder.rmdir()
    except OSError:
        log.debug("%s stays", folder)


def _check_usable(folder: Path) -> None:
    """Raises `PlaceError` where jobs could not write, or a server's own user could not get to its files."""
    probe = folder / JOBS_FOLDER
    try:
        probe.mkdir(exist_ok=True)
        if not any(probe.iterdir()):
            probe.rmdir()
    except OSError as error:
        raise PlaceError(f"{folder} cannot be written: {error.strerror}") from error
    if os.geteuid() == 0:
        for passed in (folder, *folder.parents):
            if not passed.stat().st_mode & 0o001:
                raise PlaceError(f"{passed} is closed to other users, and servers run as users of their own")
