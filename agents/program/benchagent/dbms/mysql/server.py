"""One throw-away server: its files, made, started as a direct child, waited for until it answers, stopped."""

from __future__ import annotations

import hashlib
import re
import secrets
import shutil
import socket
from pathlib import Path

from benchagent.dbms.base import JobError, ProvisionRequest, Settings
from benchagent.dbms.mysql.discovery import INSTALLERS, Installation, makes_its_data
from benchagent.dbms.mysql.folders import BINLOG, REDO_FILES, Folders
from benchagent.dbms.mysql.product import USER, accounts
from benchagent.dbms.mysql.settings import all_lines, initial_lines, option_file
from benchagent.dbms.private_server import HOST, PrivateServer, failure
from benchagent.machine.process import ProcessFailed
from benchagent.paths import straight, text_of

# A clean stop writes all dirty pages.
STOP_TIMEOUT_S = 1800.0
INIT_TIMEOUT_S = 300.0
PROTOCOL_VERSION = 10
OPTION_FILE = "my.cnf"
TELLING = re.compile(r"\[ERROR\]|^ERROR|unknown (variable|option)|ambiguous|Error while setting value", re.IGNORECASE)


class Server(PrivateServer):
    """`port` opens it once it was started; `process` is the server itself."""

    stop_timeout_s = STOP_TIMEOUT_S

    def __init__(self, request: ProvisionRequest, installation: Installation, folders: Folders) -> None:
        name = installation.product.name
        super().__init__(name, request, installation.environment, request.job_dir / f"{folders.work.name}.log")
        self.installation = installation
        self.product = installation.product
        self.folders = folders
        self._first_options: list[str] = []

    def make_folders(self) -> None:
        """What is not there yet. The data directory itself is left to the server."""
        folders = self.folders
        made = [folders.work, folders.temp, *filter(None, (folders.redo, folders.binlog))]
        for folder in made:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.own(folders.home, folders.backup, *made, *filter(None, [folders.log]))

    def configure(self, settings: Settings) -> None:
        """Write the option file. Raises `JobError`."""
        lines = all_lines(self.installation, settings, self.folders, self._request.connections)
        self._write(OPTION_FILE, option_file(lines))

    def create(self, settings: Settings) -> None:
        """Make password and data directory. Raises `JobError` with the server's words, as for an unknown setting."""
        self.password = secrets.token_urlsafe(24)
        self.write_private(self.folders.password_file, self.password)
        base, lines = self.installation.base, initial_lines(self.installation, settings, self.folders)
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
            self._request.children.run(command, timeout_s=INIT_TIMEOUT_S, cwd=base, env=self.environment)
        except ProcessFailed as error:
            raise failure(f"{self.product.name}: {_words(str(error))}") from error

    def open_copy(self) -> None:
        """Start on data that were made for another job. Raises `JobError`."""
        try:
            self.password = text_of(self.folders.password_file).strip()
        except OSError as error:
            raise JobError(f"the copy of the data cannot be opened: {error}") from error
        self.start()

    def start_first(self) -> None:
        """With the accounts made, and no others left. Only the password's hash is written anywhere."""
        path = self._write("init.sql", "".join(f"{line};\n" for line in accounts(self.product, hashed(self.password))))
        self._first_options = [f"--init-file={path}"]
        try:
            self.start()
        finally:
            self._first_options = []
            path.unlink()

    def write_client_options(self) -> None:
        """For the tools, with the password: only their user can read it. One of them reads the server's options too."""
        server_options = text_of(self.folders.work / OPTION_FILE)
        client = ["[client]", f"host={HOST}", f"port={self.port}", "protocol=tcp", f"user={USER}"]
        text = "\n".join([server_options, *client, f'password="{self.password}"', ""])
        self.write_private(self.folders.client_file, text)

    def start(self) -> None:
        """With the logs where they belong and the link to the binary log renewed: a copy may be opened elsewhere."""
        folders = self.folders
        if folders.redo and folders.binlog:
            for pattern in REDO_FILES:
                for path in straight(folders.data).glob(pattern):  # of a copy whose logs lay with the data
                    shutil.move(path, straight(folders.redo) / path.name)
            self.relink(folders.data / BINLOG, folders.binlog)
        super().start()

    def launch(self) -> None:
        options = self.folders.work / OPTION_FILE
        command: list[str | Path] = [self.installation.server, f"--defaults-file={options}", f"--port={self.port}"]
        if self.process is None:
            self.remember(command)
        self.spawn([*command, *self._first_options], self.log_path, cwd=self.folders.data, env=self.environment)

    def answers(self) -> bool:
        """True when the server greets with its protocol: it does so when it has started, and was set up."""
        try:
            with socket.create_connection((HOST, self.port), timeout=2) as connection:
                greeting = connection.recv(5)
        except OSError:
            return False
        return len(greeting) == 5 and greeting[4] == PROTOCOL_VERSION

    def complaint(self) -> str:
        return _words(self.log_tail())

    def _write(self, name: str, text: str) -> Path:
        path = self.folders.work / name
        self.write_private(path, text)
        return path


def hashed(password: str) -> str:
    """As the server keeps it: a password never appears in SQL, so in none of its logs."""
    inner = hashlib.sha1(password.encode(), usedforsecurity=False).digest()
    return "*" + hashlib.sha1(inner, usedforsecurity=False).hexdigest().upper()


def _words(text: str) -> str:
    """What a server wrote about its end: its errors, else the last lines."""
    lines = text.splitlines()
    errors = [line for line in lines if TELLING.search(line)]
    return "\n".join(errors[:6] or lines[-6:])
