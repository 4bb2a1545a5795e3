"""One throw-away server: made, started as a direct child, waited for until it answers, stopped."""

from __future__ import annotations

import contextlib
import hashlib
import re
import signal
import socket
import time
from collections.abc import Sequence
from pathlib import Path

from benchagent.dbms.base import JobError, ProvisionRequest, Settings
from benchagent.dbms.mysql.discovery import INSTALLERS, Installation, makes_its_data
from benchagent.dbms.mysql.folders import Folders, mend
from benchagent.dbms.mysql.product import accounts
from benchagent.dbms.mysql.settings import all_lines, initial_lines, option_file
from benchagent.dbms.private_server import HOST, PrivateServer, free_port, write_private
from benchagent.machine import process
from benchagent.machine.process import ProcessFailed
from benchagent.machine.users import ServiceUser

# A clean stop writes all dirty pages.
STOP_TIMEOUT_S = 1800.0
INIT_TIMEOUT_S = 300.0
PORT_ATTEMPTS = 3
PROTOCOL_VERSION = 10
OPTION_FILE = "my.cnf"
TELLING = re.compile(r"\[ERROR\]|^ERROR|unknown (variable|option)|ambiguous|Error while setting value", re.IGNORECASE)


class Server(PrivateServer):
    """`port` opens it once it was started; `process` is the server itself."""

    def __init__(
        self, request: ProvisionRequest, installation: Installation, folders: Folders, user: ServiceUser | None
    ) -> None:
        super().__init__(request, user)
        self.installation = installation
        self.product = installation.product
        self.folders = folders
        self._output = folders.work / "output.log"

    def configure(self, settings: Settings) -> None:
        """Write the option file. Raises `JobError`."""
        lines = all_lines(
            self.product,
            settings,
            self.folders,
            base=self.installation.base,
            plugins=self.installation.plugins,
            connections=self._request.connections,
        )
        self._write(OPTION_FILE, option_file(lines))

    def create(self, settings: Settings) -> None:
        """Make the data directory. Raises `JobError` with the server's words, as for a setting it does not know."""
        base, plugins = self.installation.base, self.installation.plugins
        lines = initial_lines(self.product, settings, self.folders, base=base, plugins=plugins)
        defaults = f"--defaults-file={self._write('initial.cnf', option_file(lines))}"
        if makes_its_data(self.product):
            command: list[str | Path] = [self.installation.server, defaults, "--initialize-insecure"]
        else:
            script = self.installation.program(*INSTALLERS)
            if script is None:
                raise JobError(f"{base} has no {INSTALLERS[-1]}")
            more = ["--auth-root-authentication-method=normal", "--skip-test-db"]
            command = ["/bin/sh", script, defaults, *(more if self.product.since(None, (10, 4)) else [])]
            command += [f"--basedir={base}", f"--datadir={self.folders.data}"]
        self.remember(command)
        try:
            self._request.children.run(
                command, timeout_s=INIT_TIMEOUT_S, cwd=base, env=self._environment(), **self.popen_user()
            )
        except ProcessFailed as error:
            raise JobError(f"{self.product.name}: {_words(str(error))}") from error

    def start_first(self, password: str) -> None:
        """With the accounts made, and no others left. Only the password's hash is written anywhere."""
        path = self._write("init.sql", "".join(f"{line};\n" for line in accounts(self.product, hashed(password))))
        try:
            self.start(f"--init-file={path}")
        finally:
            path.unlink()

    def start(self, *more: str) -> None:
        """Raises `JobError` with the end of the server's output when it does not come up."""
        mend(self.folders, self.user)
        if self.process is not None:
            self.process.poll()  # one that was killed and not waited for would still hold the lock of its socket
        keep_port = self.port != 0
        for attempt in range(1, PORT_ATTEMPTS + 1):
            self.port = self.port if keep_port else free_port()
            self._spawn(more, remember=attempt == 1 and not keep_port)
            if self.wait_until_ready():
                return
            self.stop()
            if "port" not in self.log_tail().lower():
                break
        raise JobError(f"{self.product.name} did not start: {_words(self.log_tail())}")

    def _spawn(self, more: Sequence[str], *, remember: bool) -> None:
        options = self.folders.work / OPTION_FILE
        command: list[str | Path] = [self.installation.server, f"--defaults-file={options}", f"--port={self.port}"]
        if remember:
            self.remember(command)
        self.spawn([*command, *more], self._output, cwd=self.folders.data, env=self._environment())

    def answers(self) -> bool:
        """True when the server greets with its protocol: it does so when it has started, and was set up."""
        try:
            with socket.create_connection((HOST, self.port), timeout=2) as connection:
                greeting = connection.recv(5)
        except OSError:
            return False
        return len(greeting) == 5 and greeting[4] == PROTOCOL_VERSION

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
        write_private(path, text, self.user)
        return path

    def _environment(self) -> dict[str, str]:
        return self._request.children.environment(**self.installation.environment)


def hashed(password: str) -> str:
    """As the server keeps it: a password never appears in SQL, so in none of its logs."""
    inner = hashlib.sha1(password.encode(), usedforsecurity=False).digest()
    return "*" + hashlib.sha1(inner, usedforsecurity=False).hexdigest().upper()


def _words(text: str) -> str:
    """What a server wrote about its end: its errors, else the last lines."""
    lines = text.splitlines()
    errors = [line for line in lines if TELLING.search(line)]
    return "\n".join(errors[:6] or lines[-6:])
