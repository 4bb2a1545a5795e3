"""What this agent may sample for runs of others: processes by name, in a file of its state folder. No secrets."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from benchagent.errors import JobError
from benchagent.machine.devices import device_of
from benchagent.paths import NamedFile, name_problem
from benchagent.protocol import ObservationFacts

log = logging.getLogger(__name__)
FILE_NAME = "observations.json"


class ObservationsError(JobError):
    """The file or one of its entries cannot be used; the text says why."""


@dataclass(frozen=True)
class Observation:
    """Exactly one of `pid_file`, `process` (its name) and `user` is given."""

    name: str
    pid_file: str = ""
    process: str = ""
    user: str = ""
    data_dir: str = ""

    @property
    def what(self) -> str:
        """In words, without the paths of this machine: everybody can read them on the agents page."""
        if self.pid_file:
            return f"the process of {Path(self.pid_file).name}"
        return f"processes called {self.process}" if self.process else f"processes of user {self.user}"

    @property
    def device(self) -> str:
        """The device of the data; empty where no folder was named or it is not there."""
        return device_of(Path(self.data_dir)) if self.data_dir and Path(self.data_dir).is_dir() else ""

    def roots(self) -> list[int]:
        """The processes from which all the others descend; without this agent."""
        if self.pid_file:
            try:  # its first line is the number, as PostgreSQL, MySQL and systemd write it
                pid = int(Path(self.pid_file).read_text().split("\n", 1)[0])
            except (OSError, ValueError):
                return []
            return [pid] if pid > 0 and Path(f"/proc/{pid}").exists() else []
        key, wanted = ("name", self.process) if self.process else ("username", self.user)
        every = [other.info for other in psutil.process_iter(["pid", "ppid", key]) if other.pid != os.getpid()]
        parents = {info["pid"]: info["ppid"] for info in every if info[key] == wanted}
        return sorted(pid for pid, parent in parents.items() if parent not in parents)

    def problem(self) -> str:
        """Why it cannot be sampled now, in words; empty when it can."""
        if not self.roots():
            return f"there is no such thing now: {self.what}"
        return "" if self.device or not self.data_dir else "the folder of its data is not there"

    def facts(self) -> ObservationFacts:
        return {"name": self.name, "what": self.what, "device": self.device, "problem": self.problem()}


class Observations(NamedFile[Observation]):
    kind, key, error = "an observation", "observations", ObservationsError

    def __init__(self, root: Path) -> None:
        super().__init__(root / FILE_NAME)

    def item(self, entry: Mapping[str, Any]) -> Observation:
        observation = Observation(**entry)
        if problem := name_problem(observation.name, self.kind):
            raise ObservationsError(problem)
        if sum(map(bool, (observation.pid_file, observation.process, observation.user))) != 1:
            raise ObservationsError(f"observation {observation.name}: say one of pid_file, process and user")
        return observation

    def facts(self) -> list[ObservationFacts]:
        """For the server. A broken file is said in the log: the agent's own runs need none of it."""
        try:
            return [observation.facts() for observation in self.listed()]
        except ObservationsError as error:
            log.warning("%s", error)
            return []

    def add(self, observation: Observation) -> None:
        if observation.data_dir and not Path(observation.data_dir).is_dir():
            raise ObservationsError(f"--data-dir: there is no folder {observation.data_dir}")
        super().add(observation)


def followed(find: Callable[[], list[int]]) -> Callable[[], list[int]]:
    """`find` costs a look at every process: asked anew when one is gone, and each tenth time."""
    roots: list[int] = []
    calls = 0

    def pids() -> list[int]:
        nonlocal roots, calls
        if calls % 10 == 0 or not roots or not all(Path(f"/proc/{pid}").exists() for pid in roots):
            roots = find()
        calls += 1
        return roots

    return pids
