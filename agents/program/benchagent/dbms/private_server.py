"""A server that is started for one job and thrown away with it: what PostgreSQL, MySQL and Firebird have in common."""

from __future__ import annotations

import os
import shlex
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from benchagent.dbms.base import Instance, JobError, ProvisionRequest
from benchagent.machine.process import ProcessFailed
from benchagent.machine.users import ServiceUser, first_blocked, service_user

HOST = "127.0.0.1"


def allowed_user(users: Sequence[str], *folders: Path) -> ServiceUser | None:
    """Who runs the server, and may enter these folders; None: the agent's own user. Raises `JobError`."""
    try:
        user = service_user(users)
    except LookupError as error:
        raise JobError(str(error)) from error
    for folder in folders if user else ():
        blocked = first_blocked(user, folder) if user else None
        if user and blocked:
            raise JobError(f"user {user.name!r} may not enter {blocked}")
    return user


def hand_over(paths: Iterable[Path], user: ServiceUser | None) -> None:
    for path in paths:
        if user:
            os.chown(path, user.uid, user.gid)


def write_private(path: Path, text: str, user: ServiceUser | None) -> None:
    path.touch(mode=0o600)
    path.write_text(text, encoding="utf-8")
    hand_over([path], user)


def relink(link: Path, target: Path, user: ServiceUser | None) -> None:
    """Make a link, or the one that is there lead elsewhere."""
    link.unlink(missing_ok=True)
    link.symlink_to(target)
    if user:
        os.lchown(link, user.uid, user.gid)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


class PrivateServer(ABC):
    """`process` is the server itself, a direct child; `port` opens it once it was started."""

    start_timeout_s = 300.0

    def __init__(self, request: ProvisionRequest, user: ServiceUser | None) -> None:
        self.user = user
        self.port = 0
        self.process: subprocess.Popen[Any] | None = None
        self.command_lines: list[str] = []
        self._request = request

    @abstractmethod
    def answers(self) -> bool:
        """True when the server lets somebody in; it runs, but may still be starting up."""

    @abstractmethod
    def start(self) -> None:
        """Raises `JobError` with the end of the server's log when it does not come up."""

    @abstractmethod
    def shut_down(self) -> None:
        """Clean stop: the files are consistent afterwards. Raises `JobError`."""

    @abstractmethod
    def stop(self) -> None:
        """For data that is thrown away: nothing is brought to the disk any more."""

    @abstractmethod
    def log_tail(self) -> str:
        """The last lines of what the server wrote, for error messages."""

    def pids(self) -> list[int]:
        return [self.process.pid] if self.process and self.process.poll() is None else []

    def popen_user(self) -> dict[str, Any]:
        """Arguments of `Popen` that choose the user."""
        return self.user.popen() if self.user else {}

    def remember(self, command: Sequence[str | Path]) -> None:
        self.command_lines.append(shlex.join(str(part) for part in command))

    def spawn(self, command: Sequence[str | Path], output: Path, **popen: Any) -> None:
        """Within the limits of the job; what the server prints goes to the end of `output`."""
        with output.open("ab") as file:
            self.process = self._request.children.spawn(
                command, stdout=file, stderr=file, cage=self._request.cage, **self.popen_user(), **popen
            )

    def wait_until_ready(self) -> bool:
        deadline = time.monotonic() + self.start_timeout_s
        while time.monotonic() < deadline:
            self._request.abort.check()
            if self.process is None or self.process.poll() is not None:
                return False
            if self.answers():
                return True
            self._request.abort.sleep(0.05)
        return False


@contextmanager
def stopped_on_failure(server: PrivateServer, name: str) -> Iterator[None]:
    """No process is left behind when the block fails. Raises `JobError` for what a tool or the system has refused."""
    try:
        yield
    except (ProcessFailed, OSError) as error:
        server.stop()
        raise JobError(f"{name}: {error}") from error
    except BaseException:
        server.stop()
        raise


class ServerInstance(Instance):
    """An instance whose DBMS is a `PrivateServer`, which has to be `server` by the time that it is used."""

    server: PrivateServer

    def server_pids(self) -> list[int]:
        return self.server.pids()

    def own(self, folder: Path) -> None:
        hand_over([folder], self.server.user)

    def log_tail(self) -> str:
        return self.server.log_tail()

    def start(self) -> None:
        self.server.start()

    def shut_down(self) -> None:
        self.server.shut_down()

    def restart(self) -> None:
        self.shut_down()
        self.start()

    def stop(self) -> None:
        self.server.stop()
