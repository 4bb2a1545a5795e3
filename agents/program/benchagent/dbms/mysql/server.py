"""One throw-away server: made, started as a direct child, waited for until it answers, stopped."""

from __future__ import annotations

import contextlib
import hashlib
import re
import shlex
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchagent.dbms.base import JobError, ProvisionRequest, Settings
from benchagent.dbms.mysql.configuration import HOST, all_lines, initial_lines, option_file
from benchagent.dbms.mysql.discovery import INSTALLERS, Installation, makes_its_data
from benchagent.dbms.mysql.folders import Folders, mend, write_private
from benchagent.dbms.mysql.schema import accounts
from benchagent.machine import process
from benchagent.machine.process import ProcessFailed
from benchagent.machine.users import ServiceUser

START_TIMEOUT_S = 300.0
# A clean stop writes all dirty pages.
STOP_TIMEOUT_S = 1800.0
INIT_TIMEOUT_S = 300.0
PORT_ATTEMPTS = 3
PROTOCOL_VERSION = 10
OPTION_FILE = "my.cnf"
TELLING = re.compile(r"\[ERROR\]|^ERROR|unknown (variable|option)|ambiguous|Error while setting value", re.IGNORECASE)


class Server:
    """`port` opens it once it was started; `process` is the server itself."""

    def __init__(
        self, request: ProvisionRequest, installation: Installation, folders: Folders, user: ServiceUser | None
    ) -> None:
        self._request = request
        self._installation = installation
        self._user = user
        self.product = installation.product
        self.folders = folders
        self.port = 0
        self.process: subprocess.Popen[Any] | None = None
        self.command_lines: list[str] = []
        self._output = folders.work / "output.log"

    def configure(self, settings: Settings) -> None:
        """Write the option file. Raises `JobError`."""
        lines = all_lines(
            self.product,
            settings,
            self.folders,
            base=self._installation.base,
            plugins=self._installation.plugins,
            connections=self._request.connections,
        )
        self._write(OPTION_FILE, option_file(self.product, lines))

    def create(self, settings: Settings) -> None:
        """Make the data directory. Raises `JobError` with the server's words, as for a setting it does not know."""
        base, plugins = self._installation.base, self._installation.plugins
        lines = initial_lines(self.product, settings, self.folders, base=base, plugins=plugins)
        defaults = f"--defaults-file={self._write('initial.cnf', option_file(self.product, lines))}"
        if makes_its_data(self.product):
            command: list[str | Path] = [self._installation.server, defaults, "--initialize-insecure"]
        else:
            command = [*self._installer(defaults), f"--basedir={base}", f"--datadir={self.folders.data}"]
        self._remember(command)
        try:
            self._request.children.run(command, timeout_s=INIT_TIMEOUT_S, cwd=base, **self._as_user())
        except ProcessFailed as error:
            raise JobError(f"{self.product.name}: {_words(str(error))}") from error

    def _installer(self, defaults: str) -> list[str | Path]:
        script = self._installation.program(*INSTALLERS)
        if script is None:
            raise JobError(f"{self._installation.base} has no {INSTALLERS[-1]}")
        more = ["--auth-root-authentication-method=normal", "--skip-test-db"]
        return ["/bin/sh", script, defaults, *(more if self.product.since(None, (10, 4)) else [])]

    def start_first(self, password: str) -> None:
        """With the accounts made, and no others left. Only the password's hash is written anywhere."""
        path = self._write("init.sql", "".join(f"{line};\n" for line in accounts(self.product, hashed(password))))
        try:
            self.start(f"--init-file={path}")
        finally:
            path.unlink()

    def start(self, *more: str) -> None:
        """Raises `JobError` with the end of the server's output when it does not come up."""
        mend(self.folders, self._user)
        if self.process is not None:
            self.process.poll()  # one that was killed and not waited for would still hold the lock of its socket
        keep_port = self.port != 0
        for attempt in range(1, PORT_ATTEMPTS + 1):
            self.port = self.port if keep_port else free_port()
            self._spawn(more, remember=attempt == 1 and not keep_port)
            if self._wait_until_ready():
                return
            self.stop()
            if "port" not in self.log_tail().lower():
                break
        raise JobError(f"{self.product.name} did not start: {_words(self.log_tail())}")

    def _spawn(self, more: Sequence[str], *, remember: bool) -> None:
        options = self.folders.work / OPTION_FILE
        command: list[str | Path] = [self._installation.server, f"--defaults-file={options}", f"--port={self.port}"]
        if remember:
            self._remember(command)
        with self._output.open("ab") as output:
            self.process = self._request.children.spawn(
                [*command, *more],
                stdout=output,
                stderr=output,
                cwd=self.folders.data,
                cage=self._request.cage,
                **self._as_user(),
            )

    def _wait_until_ready(self) -> bool:
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            self._request.abort.check()
            if self.process is None or self.process.poll() is not None:
                return False
            if answers(self.port):
                return True
            self._request.abort.sleep(0.05)
        return False

    def shut_down(self) -> None:
        """Clean stop: the log is applied, the files are consistent. Raises `JobError`."""
        if self.process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGTERM)
        deadline = time.monotonic() + STOP_TIMEOUT_S
        while self.process.poll() is None:
            self._request.abort.sleep(0.05)
            if time.monotonic() > deadline:
                raise JobError(f"{self.product.name} did not stop within {STOP_TIMEOUT_S:.0f} s")
        code, self.process = self.process.returncode, None
        if code:
            raise JobError(f"{self.product.name} ended with {code}: {_words(self.log_tail())}")

    def stop(self) -> None:
        """For data that is thrown away: nothing is brought to the disk any more."""
        if self.process is not None:
            process.stop(self.process, first=signal.SIGKILL)
            self.process = None

    def log_tail(self, size: int = 3000) -> str:
        try:
            return self._output.read_text(errors="replace")[-size:].strip()
        except OSError:
            return ""

    def _write(self, name: str, text: str) -> Path:
        path = self.folders.work / name
        write_private(path, text, self._user)
        return path

    def _as_user(self) -> dict[str, Any]:
        """Arguments of `Popen`: whose process it is, and the variables that its libraries need."""
        environment = self._request.children.environment(**self._installation.environment)
        return {"env": environment, **(self._user.popen() if self._user else {})}

    def _remember(self, command: Sequence[str | Path]) -> None:
        self.command_lines.append(shlex.join(str(part) for part in command))


def hashed(password: str) -> str:
    """As the server keeps it: a password never appears in SQL, so in none of its logs."""
    inner = hashlib.sha1(password.encode(), usedforsecurity=False).digest()
    return "*" + hashlib.sha1(inner, usedforsecurity=False).hexdigest().upper()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port


def answers(port: int) -> bool:
    """True when the server greets with its protocol: it does so when it has started, and was set up."""
    try:
        with socket.create_connection((HOST, port), timeout=2) as connection:
            greeting = connection.recv(5)
    except OSError:
        return False
    return len(greeting) == 5 and greeting[4] == PROTOCOL_VERSION


def _words(text: str) -> str:
    """What a server wrote about its end: its errors, else the last lines."""
    lines = text.splitlines()
    errors = [line for line in lines if TELLING.search(line)]
    return "\n".join(errors[:6] or lines[-6:])
