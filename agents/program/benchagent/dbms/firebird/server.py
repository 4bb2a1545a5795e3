"""One throw-away server: made, started as a direct child, stopped with all its processes.

Its private root has its configuration, its locks, its users: nothing of the machine's own is touched. Three traps:
without SecurityDatabase even a private root changes the users of the machine's own installation; an installation that
was unpacked looks for its plugins where it was built to lie, so each is named with its path; and a module that is
reached through a symbolic link is refused ("entrypoint does not exist"), so every path is resolved.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import shlex
import shutil
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from benchagent.dbms.base import GUEST, JobError, ProvisionRequest, Settings
from benchagent.dbms.firebird.discovery import Home
from benchagent.dbms.private_server import HOST, PrivateServer, log_end
from benchagent.machine import process
from benchagent.machine.process import Children, ProcessFailed
from benchagent.paths import without_links

SYSDBA = "SYSDBA"
PLUGIN_NAMES = {"udr_engine": "UDR"}
# Only in-process: no way to reach a server, by TCP or otherwise.
EMBEDDED_FOLDER = "embedded"


@dataclass(frozen=True)
class Root:
    """Environment and files for the server and for tools. `folder` is what FIREBIRD points to."""

    folder: Path
    lock: Path
    home: Home

    @property
    def security_database(self) -> Path:
        return self.folder / "security.fdb"

    def environment(self, password: str = "") -> dict[str, str]:
        """For programs of this root. Without a password: for those that open files themselves."""
        folders = {"FIREBIRD": str(self.folder), "FIREBIRD_LOCK": str(self.lock), "FIREBIRD_TMP": str(self.lock)}
        secret = {"ISC_PASSWORD": password} if password else {}
        return {**folders, **self.home.environment, "ISC_USER": SYSDBA, **secret}

    def write_configuration(self, settings: Settings) -> None:
        """firebird.conf with `settings` in their order, duplicates kept."""
        quoted = [(name, f'"{value}"' if "#" in value and '"' not in value else value) for name, value in settings]
        lines = [f"{name} = {value}\n" for name, value in quoted]
        with open(self.folder / "firebird.conf", "w", encoding="utf-8", opener=without_links) as file:
            file.writelines(lines)
            os.fchmod(file.fileno(), 0o644)


def make_root(folder: Path, home: Home, children: Children, *, lock: Path | None = None) -> Root:
    """A folder that may be used as FIREBIRD. With `lock`: one that shares the locks of another root."""
    folder = folder.resolve()
    root = Root(folder, lock or folder / "lock", home)
    for made in dict.fromkeys((folder, root.lock)):
        made.mkdir(mode=0o755, exist_ok=True)
    links = {"firebird.msg": home.messages, "plugins": home.plugins, "tzdata": home.time_zones}
    for name, target in links.items():
        if target is not None:
            (folder / name).symlink_to(target)
    # Through a link WIN1252 would be "not installed".
    shutil.copytree(home.intl, folder / "intl")
    plugins = sorted(home.plugins.resolve().glob("lib*.so"))
    named = [(path.stem.removeprefix("lib"), path) for path in plugins]
    lines = [f"Plugin = {PLUGIN_NAMES.get(name, name)} {{\n\tModule = {path}\n}}\n" for name, path in named]
    (folder / "plugins.conf").write_text("".join(lines))
    (folder / "databases.conf").write_text("")
    children.own(folder, root.lock)
    return root


DATABASE_NAME = "bench.fdb"
STOP_TIMEOUT_S, TOOL_TIMEOUT_S = 120.0, 600.0
# About one SuperServer in ten closes its databases and then listens on, whatever signals come.
CLOSED_AFTER_S = 2.0


class Server(PrivateServer):
    """`root` and `password` are for tools; `embedded` is a root whose tools open files themselves."""

    start_timeout_s = 60.0
    port_taken = ""  # tried again whatever its log says

    def __init__(self, request: ProvisionRequest, home: Home) -> None:
        folder = request.job_dir / "firebird"
        self.root = make_root(folder, home, request.children)
        log = home.shared_log or folder / "firebird.log"
        super().__init__("Firebird", request, self.root.environment(), log)
        self.home = home
        self.password = secrets.token_urlsafe(20)
        self.data_dir = request.folders.data
        self.database = self.data_dir / DATABASE_NAME
        self._settings: Settings = ()
        self.embedded = make_root(folder / EMBEDDED_FOLDER, home, request.children, lock=self.root.lock)
        self.own(request.folders.data, request.folders.temp, request.folders.backup)

    # Made once

    def configure(self, settings: Settings) -> None:
        """`settings`: of firebird.conf. The port comes with each start."""
        self._settings = list(settings)
        self._write_configurations()

    def create_users(self) -> None:
        """The security database, with two users. Raises `ProcessFailed`."""
        database = self.root.security_database
        self.run_sql(f"CREATE DATABASE '{database}';", None, embedded=True)
        self.run_tool([self.home.bin_dir / "isql-fb", "-q", "-i", self.home.security_sql, database], embedded=True)
        users = [f"CREATE OR ALTER USER {user} PASSWORD '{self.password}';" for user in (SYSDBA, GUEST)]
        self.run_sql("\n".join([*users, "COMMIT;"]), database, embedded=True)

    def _write_configurations(self) -> None:
        base = [("SecurityDatabase", str(self.root.security_database)), *self._settings]
        reach = [("RemoteServicePort", str(self.port)), ("RemoteBindAddress", HOST), ("IpcName", f"bench{self.port}")]
        providers = f"Remote,{self.home.provider},Loopback"
        self.root.write_configuration([*base, *reach, ("Providers", providers)])
        self.embedded.write_configuration([*base, ("Providers", self.home.provider)])

    # Running

    def start(self) -> None:
        """Each time on another port: it cannot listen again on one whose old connections the kernel still remembers."""
        self.port = 0
        super().start()

    def launch(self) -> None:
        self._write_configurations()
        words = f"FIREBIRD={self.root.folder} {shlex.quote(str(self.home.server))}"
        self.command_lines += [] if words in self.command_lines else [words]
        self.spawn([self.home.server], self.root.folder / "server.out", cwd=self.root.folder, env=self.environment)

    def complaint(self) -> str:
        return self.log_tail() or log_end(self.root.folder / "server.out")

    def answers(self) -> bool:
        """True when it lets us in. A signal that comes before it ever did so is lost."""
        with contextlib.suppress(OSError, ProcessFailed), socket.create_connection((HOST, self.port), timeout=2):
            tool = self.home.bin_dir / "fbsvcmgr"
            return "Server version" in self.run_tool([tool, self.remote("service_mgr"), "info_server_version"])
        return False

    def pids(self) -> list[int]:
        """The server's own process first; in Classic mode then one for each connection."""
        return [member for pid in super().pids() for member in (pid, *(child.pid for child in process.family(pid)[1:]))]

    def shut_down(self) -> None:
        """Every process is asked to end and waited for. Raises `JobError` when one had to be killed at its work.

        What has closed the database and does not end has nothing left to write, and is killed without a word.
        """
        begun = time.monotonic()
        while members := self._ask_to_end():
            waited_s = time.monotonic() - begun
            if waited_s > CLOSED_AFTER_S and not self.holds_open(self.database):
                self.stop()
                return
            if waited_s > STOP_TIMEOUT_S:
                self.stop()
                raise JobError(f"{len(members)} processes of Firebird did not stop by themselves: {self.log_tail()}")
            psutil.wait_procs(members, timeout=1)

    def _ask_to_end(self) -> list[psutil.Process]:
        """A signal to every process; those that have not ended yet."""
        if self.process is None:
            return []
        self.process.poll()
        return process.ask_to_end(process.family(self.process.pid))

    # Tools

    def remote(self, path: str | Path) -> str:
        """How a tool names a file or `service_mgr` of this server."""
        return f"{HOST}/{self.port}:{path}"

    def tool_environment(self, *, embedded: bool = False) -> dict[str, str]:
        return self.embedded.environment() if embedded else self.root.environment(self.password)

    def run_tool(
        self, command: Sequence[str | Path], *, embedded: bool = False, stdin: str = "", is_limited: bool = False
    ) -> str:
        """What it printed. `is_limited`: within the limits of the DBMS, as what it reads then stays in memory.

        Raises `ProcessFailed`.
        """
        children = self._request.children
        return children.run(
            command,
            timeout_s=TOOL_TIMEOUT_S,
            stdin_text=stdin,
            env=children.environment(**self.tool_environment(embedded=embedded)),
            cwd=self.root.folder,
            cgroup=self._request.cgroup if is_limited else None,
        )

    def run_sql(self, script: str, database: str | Path | None, *, embedded: bool = False) -> str:
        """Run a script by isql, which reads its standard input. Raises `ProcessFailed` at the first error."""
        target = [str(database)] if database else []
        return self.run_tool([self.home.bin_dir / "isql-fb", "-q", "-bail", *target], embedded=embedded, stdin=script)

    def query(self, sql: str) -> str:
        """On the server, without headings."""
        return self.run_sql(f"SET HEADING OFF;\n{sql};\n", self.remote(self.database))

    def holds_open(self, path: Path) -> bool:
        """True while a process of the server has this file open."""
        for pid in self.pids():
            with contextlib.suppress(OSError):
                for handle in Path(f"/proc/{pid}/fd").iterdir():
                    with contextlib.suppress(OSError):
                        if handle.readlink() == path or handle.samefile(path):
                            return True
        return False
