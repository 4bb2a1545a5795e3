"""What the processes of a job may reach: the job's own folders, and to read what is installed on the machine.

Two means, each where the machine has it. A user of their own, when the agent is root: files that are private to
others stay so. Landlock: nothing but what is listed, whoever they run as. A job runs SQL and settings of people who
may schedule, and engines have doors to files and programs; with neither of them those doors lead to everything that
the agent's user can read.
"""

from __future__ import annotations

import os
from collections.abc import Collection
from contextlib import AbstractContextManager, closing, nullcontext
from dataclasses import dataclass
from pathlib import Path

from benchagent.machine import landlock
from benchagent.machine.landlock import Ruleset
from benchagent.machine.system import ServiceUser, first_blocked, service_user

# Programs, libraries and what they look up; nothing of /home, /root, /run, /srv, /tmp and /var.
INSTALLED = tuple(map(Path, ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/etc", "/opt", "/nix/store")))
KERNEL = (Path("/proc"), Path("/sys"))
DEVICES = tuple(Path("/dev") / name for name in ("null", "zero", "full", "random", "urandom", "fd", "shm"))
FOLDERS_OF_PROGRAMS = ("bin", "sbin", "libexec")


@dataclass(frozen=True)
class Sandbox:
    """What this machine has: the user of jobs, None where they run as the agent's own, and Landlock's version or 0."""

    user: ServiceUser | None
    landlock: int
    # Why they run as the agent's own; empty where they do not.
    no_user: str = ""

    def __bool__(self) -> bool:
        """True where there is one at least."""
        return bool(self.user or self.landlock)

    @property
    def words(self) -> str:
        who = f"as user {self.user.name}" if self.user else f"as the agent's own user ({self.no_user})"
        if not self.landlock:
            where = "may read whatever that user can: this kernel has no Landlock that suffices (Linux 5.19 or later)"
        else:
            network = ", and by TCP only their own DBMS"
            if self.landlock < landlock.NETWORK_SINCE:
                network = "; their network is open: this kernel cannot confine it (Linux 6.7 or later)"
            sockets = ""
            if self.landlock < landlock.SOCKETS_SINCE and not self.user:
                sockets = "; sockets that the agent's user may open stay open to them (before Linux 7.1)"
            where = f"reach, by Landlock, only their own folders and what is installed{network}{sockets}"
        return f"jobs run {who} and {where}"


def sandbox(*folders: Path) -> Sandbox:
    """The sandbox of an agent whose jobs have to reach these folders."""
    if os.geteuid() != 0:
        return Sandbox(None, landlock.version(), "only root can start processes as somebody else")
    try:
        user = service_user()
    except LookupError as error:
        return Sandbox(None, landlock.version(), str(error))
    if user and (blocked := first_blocked(user, *folders)):
        return Sandbox(None, landlock.version(), f"user {user.name} may not enter {blocked}")
    return Sandbox(user, landlock.version())


@dataclass(frozen=True)
class Confinement:
    """The sandbox of one job. `secrets` is never opened for the sake of a program that lies above it."""

    sandbox: Sandbox
    readable: tuple[Path, ...]
    writable: tuple[Path, ...]
    secrets: Path

    def rules(self, program: str | Path, ports: Collection[int]) -> AbstractContextManager[Ruleset | None]:
        """To enter before the program begins; None where there is no Landlock. `ports`: of the job's own servers."""
        if not self.sandbox.landlock:
            return nullcontext()
        # Where a program lies that was not installed by the system's packages.
        real = Path(program).resolve()
        home = real.parents[1] if real.parent.name in FOLDERS_OF_PROGRAMS else real.parent
        readable = (*INSTALLED, *KERNEL, *self.readable, real if self.secrets.is_relative_to(home) else home)
        return closing(Ruleset(readable=readable, writable=(*self.writable, *DEVICES), ports=ports))
