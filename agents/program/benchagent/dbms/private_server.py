"""A server that is started for one job and thrown away with it: what PostgreSQL, MySQL and Firebird have in common."""

from __future__ import annotations

import os
import shlex
import signal
import socket
import subprocess
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchagent.catalog import Durability
from benchagent.configfiles.meaning import of_effective
from benchagent.configfiles.refusals import refused_setting
from benchagent.configfiles.settings import Facts
from benchagent.dbms.base import ConfigurationRefused, Connection, Instance, JobError, ProvisionRequest
from benchagent.dbms.embedded import driver_folder
from benchagent.machine import process
from benchagent.machine.devices import same_device
from benchagent.machine.process import Children, ProcessFailed
from benchagent.machine.system import first_blocked
from benchagent.paths import straight, without_links

HOST = "127.0.0.1"
PORT_ATTEMPTS = 3
LOG_TAIL_BYTES = 3000


def check_user(children: Children, *folders: Path) -> None:
    """Raises `JobError` where the server would be root, or its user may not enter these folders."""
    if children.user is None and os.geteuid() == 0:
        raise JobError("a server must not run as root, and there is no other user who may enter the agent's folders")
    if children.user and (blocked := first_blocked(children.user, *folders)):
        raise JobError(f"user {children.user.name!r} may not enter {blocked}")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def log_size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def log_end(path: Path, begin: int = 0) -> str:
    """The last of what was written into a log from byte `begin` on; empty where there is none."""
    try:
        with open(path, "rb", opener=without_links) as file:
            file.seek(max(begin, log_size(path) - LOG_TAIL_BYTES))
            return file.read().decode(errors="replace").strip()
    except OSError:
        return ""


def failure(words: str) -> JobError:
    """That a server did not begin, of the kind that its words tell."""
    return ConfigurationRefused(words) if refused_setting(words) else JobError(words)


class PrivateServer(ABC):
    """`process` is the server itself, a direct child; `port` opens it once it was started; `name` is for messages.

    `variables`: what its programs need in their environment. `log_path`: where it writes its log.
    """

    start_timeout_s, stop_timeout_s = 300.0, 300.0
    # For a clean stop, and for the end of a server whose data are thrown away.
    stop_signal, kill_signal = signal.SIGTERM, signal.SIGKILL
    # What a log says of a port that another program has taken meanwhile.
    port_taken = "port"

    def __init__(self, name: str, request: ProvisionRequest, variables: Mapping[str, str], log: Path) -> None:
        self.name = name
        self.port = 0
        self.password = ""
        self.process: subprocess.Popen[Any] | None = None
        self.command_lines: list[str] = []
        self.log_path = log
        self.environment = request.children.environment(**variables)
        self._request = request
        self._log_begin = log_size(log)

    @abstractmethod
    def answers(self) -> bool:
        """True when the server lets somebody in; it runs, but may still be starting up."""

    @abstractmethod
    def launch(self) -> None:
        """Start the process; it is waited for elsewhere."""

    def start(self) -> None:
        """On the same port as before, where it is still free. Raises `JobError` with the end of the server's log."""
        if self.process:
            self.process.poll()  # one that was killed keeps its number until it is reaped, and its locks name it
        for attempt in range(PORT_ATTEMPTS):
            ports = self._request.children.ports
            ports.discard(self.port)  # another program may have it
            self.port = self.port if self.port and attempt == 0 else free_port()
            ports.add(self.port)
            self.launch()
            if self._comes_up():
                return
            self.stop()
            if self.port_taken not in self.log_tail().lower():
                break
        raise failure(f"{self.name} did not start: {self.complaint()}")

    def _comes_up(self) -> bool:
        deadline = time.monotonic() + self.start_timeout_s
        while time.monotonic() < deadline:
            self._request.abort.check()
            if self.process is None or self.process.poll() is not None:
                return False
            if self.answers():
                return True
            self._request.abort.sleep(0.05)
        return False

    def shut_down(self) -> None:
        """Clean stop: the files are consistent afterwards. Raises `JobError`."""
        if self.process is None or self.process.poll() is not None:
            raise JobError(f"{self.name} has ended by itself: {self.complaint()}")
        self.process.send_signal(self.stop_signal)
        deadline = time.monotonic() + self.stop_timeout_s
        while self.process.poll() is None and time.monotonic() < deadline:
            self._request.abort.sleep(0.02)
        if self.process.poll() != 0:
            self.stop()
            raise JobError(f"{self.name} did not shut down cleanly: {self.complaint()}")

    def stop(self) -> None:
        """For data that is thrown away: nothing is brought to the disk any more."""
        if self.process is not None:
            process.stop(self.process, first=self.kill_signal)

    def log_tail(self) -> str:
        """The end of what was written since this server was made: a shared log may hold lines of other servers."""
        return log_end(self.log_path, self._log_begin)

    def complaint(self) -> str:
        """What the server wrote about its end."""
        return self.log_tail()

    def pids(self) -> list[int]:
        return [self.process.pid] if self.process and self.process.poll() is None else []

    def own(self, *paths: Path) -> None:
        self._request.children.own(*paths)

    def write_private(self, path: Path, text: str) -> None:
        with open(path, "w", encoding="utf-8", opener=without_links) as file:
            file.write(text)
        self.own(path)

    def relink(self, link: Path, target: Path) -> None:
        """Make a link, or the one that is there lead elsewhere."""
        straight(link.parent)
        link.unlink(missing_ok=True)
        link.symlink_to(target)
        self.own(link)

    def remember(self, command: Sequence[str | Path]) -> None:
        self.command_lines.append(shlex.join(str(part) for part in command))

    def spawn(self, command: Sequence[str | Path], output: Path, **popen: Any) -> None:
        """Within the limits of the job; what the server prints goes to the end of `output`."""
        with open(output, "ab", opener=without_links) as file:
            self.process = self._request.children.spawn(
                command, stdout=file, stderr=file, cgroup=self._request.cgroup, **popen
            )


@contextmanager
def stopped_on_failure(server: PrivateServer) -> Iterator[None]:
    """No process is left behind when the block fails. Raises `JobError` for what a tool or the system has refused."""
    try:
        yield
    except (ProcessFailed, OSError) as error:
        server.stop()
        raise failure(f"{server.name}: {error}") from error
    except BaseException:
        server.stop()
        raise


class ServerInstance(Instance):
    slug: str

    def __init__(
        self, server: PrivateServer, request: ProvisionRequest, class_path: Sequence[Path], data_path: Path
    ) -> None:
        self.server, self._request = server, request
        folder = driver_folder(request)
        super().__init__(connection=self.connect(), class_path=class_path, data_path=data_path, generator_dir=folder)
        self.command_lines = server.command_lines
        folders = request.folders
        self._log_apart = folders.log_apart and same_device(folders.data, folders.log).same_physical is not True

    @abstractmethod
    def connect(self) -> Connection:
        """How it is reached on the port that it has now."""

    def connection_with(self, **properties: str) -> Connection:
        return replace(self.connection, properties={**self.connection.properties, **properties})

    def durability(self, effective: Mapping[str, str]) -> tuple[Durability | None, str]:
        return of_effective(self.slug, effective, Facts(log_apart=self._log_apart))

    def server_pids(self) -> list[int]:
        return self.server.pids()

    def log_tail(self) -> str:
        return self.server.log_tail()

    def start(self) -> None:
        self.server.start()
        self.connection = self.connect()  # it may have another port than before

    def shut_down(self) -> None:
        self.server.shut_down()

    def restart(self) -> None:
        self.shut_down()
        self.start()

    def stop(self) -> None:
        self.server.stop()
