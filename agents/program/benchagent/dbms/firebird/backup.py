"""Ways to back up a Firebird database: gbak over TCP, inside gbak, by the server; nbackup.

A local backup holds the engine in gbak's own process. That needs a root without other providers: with the usual ones
gbak turns to TCP without a word when the database is open in a SuperServer. Whether it went over TCP is told by
strace's lines, or by the connections that its processes were seen with: a trace is a list of lines of either kind, and
`connections_seen` gives those of the second, to be collected while the tool runs.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

from benchagent.dbms.backup import Action, BackupMethod, Options, ToolCommand
from benchagent.dbms.base import JobError
from benchagent.dbms.firebird.server import Server
from benchagent.dbms.firebird.settings import SUPER
from benchagent.dbms.private_server import HOST
from benchagent.machine import process
from benchagent.machine.devices import same_device
from benchagent.machine.process import ProcessFailed
from benchagent.paths import text_of

STRACE = "strace"
# Line of a look at a process. The first may come before it has connected, the last when it has gone.
LOOK = "looked at"
LOOKS_ENOUGH = 3
TCP_LINE = re.compile(r"connect\(.*AF_INET6?,.*port=htons\((\d+)\).*?\"([^\"]+)\"|^tcp (\S+):(\d+)$")


def connections_seen(pid: int) -> list[str]:
    """TCP connections of a process and its children now, one line each: ``tcp HOST:PORT`` of the other end.

    Before them a line `LOOK`; empty when nobody may see them.
    """
    targets: list[str] = []
    looked = False
    for member in process.family(pid):
        with contextlib.suppress(psutil.Error):
            connections = member.net_connections(kind="tcp")
            looked = True
            ends = [connection.raddr for connection in connections if connection.raddr]
            targets += [f"tcp {end.ip}:{end.port}" for end in ends]
    return [LOOK, *targets] if looked else []


def observed(trace: Sequence[str]) -> bool:
    """Whether a connection that is not in the trace was not there."""
    return trace.count(LOOK) >= LOOKS_ENOUGH or any(line != LOOK for line in trace)


def tcp_targets(trace: Sequence[str]) -> list[str]:
    """Whom the tool reached by TCP, each once, as host:port."""
    matches = [TCP_LINE.search(line) for line in trace]
    targets = [f"{m[2]}:{m[1]}" if m[1] else f"{m[3]}:{m[4]}" for m in matches if m]
    return list(dict.fromkeys(targets))


SERVICE = "service_mgr"
RESTORED = "restored.fdb"
CANCEL_TIMEOUT_S = 60.0
# SuperServer closes a database soon after its last connection has gone, on a busy machine later.
CLOSED_WITHIN_S = 30.0
NOT_OBSERVED = "way not observed: gbak was over too soon for looks at its connections"
# A service that runs for a tool has an attachment of its own, without a process at its other end.
SERVICE_SESSIONS = "MON$SYSTEM_FLAG = 0 AND MON$REMOTE_PROCESS IS NULL AND MON$ATTACHMENT_ID <> CURRENT_CONNECTION"
COUNT_SESSIONS = f"SELECT 'sessions=' || COUNT(*) FROM MON$ATTACHMENTS WHERE {SERVICE_SESSIONS}"  # noqa: S608
END_SESSIONS = f"DELETE FROM MON$ATTACHMENTS WHERE {SERVICE_SESSIONS}; COMMIT"  # noqa: S608


class FirebirdMethod(BackupMethod):
    """`restored_url` opens the restored database on the same server."""

    def __init__(self, server: Server) -> None:
        self.server = server

    def restored_url(self, source: Path, scratch: Path) -> str:
        return url(self.server, scratch / RESTORED)


class GbakMethod(FirebirdMethod):
    options: Sequence[str] = ("verbose",)
    embedded = False
    # What a way by TCP says when no connection was seen.
    unconnected = ""

    def __init__(self, server: Server) -> None:
        super().__init__(server)
        self._targets: list[Path] = []

    def source(self) -> str:
        """The database as gbak is to name it."""
        return str(self.server.database)

    def switches(self) -> list[str | Path]:
        """What chooses the way, before the names."""
        return []

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        self._targets.append(target)
        # Into a file beside the backup, as a terminal would slow gbak down.
        verbose: list[str | Path] = []
        if options.get("verbose") == "on":
            verbose = ["-v", "-y", target.with_name(f"{target.name}.log")]
        return [self.command(["-b", "-g", *verbose, *self.switches(), self.source(), target])]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        """Restore by the server, however the backup was made: from gbak each record would be a message of its own."""
        return [restore(self.server, "-c", source, scratch / RESTORED)]

    def observe(self, pid: int) -> Sequence[str]:
        return connections_seen(pid)

    def way(self, trace: Sequence[str]) -> str:
        return f"TCP to {self.address}" if self.address in tcp_targets(trace) else NOT_OBSERVED

    @property
    def address(self) -> str:
        return f"{HOST}:{self.server.port}"

    def honest(self, trace: Sequence[str]) -> str:
        """Its words when a connection to the server would have been seen and was not."""
        return self.unconnected if self.address not in tcp_targets(trace) and observed(trace) else ""

    def cancel(self) -> None:
        """End what the server still does for a gbak that was killed, and wait until it writes no more.

        The server's own backup is a session like any other, and can be deleted as one; the server then removes the
        target. If it does not end, the whole server is killed and started again. Raises `JobError`.
        """
        server, deadline = self.server, time.monotonic() + CANCEL_TIMEOUT_S
        try:
            while "sessions=0" not in server.query(COUNT_SESSIONS) or any(map(server.holds_open, self._targets)):
                if time.monotonic() > deadline:
                    raise ProcessFailed("the backup goes on")
                server.query(END_SESSIONS)
                time.sleep(0.1)
        except ProcessFailed:
            server.stop()
            server.start()

    def command(self, arguments: Sequence[str | Path]) -> ToolCommand:
        return tool(self.server, "gbak", arguments, embedded=self.embedded)


class GbakTcp(GbakMethod):
    slug = "gbak_tcp"
    unconnected = "gbak was to use TCP and opened no connection to the server"

    def source(self) -> str:
        return self.server.remote(self.server.database)


class GbakLocal(GbakMethod):
    """The engine inside gbak: SuperServer must not have the database open meanwhile, the Classics may."""

    slug = "gbak_local"
    embedded = True

    def __init__(self, server: Server, mode: str) -> None:
        super().__init__(server)
        self._mode = mode
        self._rehearsed = False

    def check(self, options: Options) -> None:
        deadline = time.monotonic() + CLOSED_WITHIN_S
        while self._mode == SUPER and self.server.holds_open(self.server.database):
            if time.monotonic() > deadline:
                raise JobError(
                    "a local backup cannot be made while SuperServer has the database open: close every connection, "
                    "or use ServerMode = SuperClassic"
                )
            time.sleep(0.05)
        words = self.honest(self._rehearsal())
        if words:
            raise JobError(words)

    def honest(self, trace: Sequence[str]) -> str:
        targets = tcp_targets(trace)
        return f"a local backup went over TCP, to {', '.join(targets)}" if targets else ""

    def way(self, trace: Sequence[str]) -> str:
        """A connection ends the run; so there was none, where somebody looked."""
        if self._rehearsed:
            return "without TCP: traced in a rehearsal without rows, before the caches were made as asked for"
        return "without TCP: none was seen while it ran" if observed(trace) else NOT_OBSERVED

    def _rehearsal(self) -> list[str]:
        """A backup without rows, under strace: gbak takes the same way with them. Empty where there is no strace."""
        folder = self.server.root.lock
        trace, target = folder / "connects.trace", folder / "rehearsal.fbk"
        command = self.command(["-b", "-g", "-m", self.source(), target])
        strace = shutil.which(STRACE)  # writes each connect() into `trace`
        if strace is None:
            return []
        watched = [strace, "-f", "-e", "trace=connect", "-o", trace, *command.argv]
        try:
            self.server.run_tool(watched, embedded=self.embedded, is_limited=True)
            self._rehearsed = True
        except ProcessFailed as error:
            raise JobError(f"a local backup is not possible: {error}") from error
        finally:
            lines = text_of(trace, errors="replace").splitlines() if trace.exists() else []
            for path in (trace, target):
                path.unlink(missing_ok=True)
        return lines


class GbakServices(GbakMethod):
    """The server reads and writes. Killing gbak ends nothing in a SuperServer or SuperClassic: see `cancel`."""

    slug = "gbak_services"
    unconnected = "gbak was to ask the server's Services API and opened no connection to it"

    def switches(self) -> list[str | Path]:
        return service(self.server)


class GbakServicesSame(GbakServices):
    slug = "gbak_services_same"

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        storage = same_device(self.server.database, target.parent)
        if storage.same_physical is False:
            raise JobError(f"{self.label}: the target lies on another disk ({storage.words})")
        return super().backup(target, options)


class Nbackup(FirebirdMethod):
    """A copy of pages, level 0: nbackup reads the file itself, while the server writes changes into a delta file."""

    slug = "nbackup"

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        return [tool(self.server, "nbackup", ["-B", "0", self.server.database, target])]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        return [tool(self.server, "nbackup", ["-R", scratch / RESTORED, source])]

    def cancel(self) -> None:
        """Merge the delta file into the database, which a killed nbackup leaves undone."""
        state = self.server.query("SELECT 'state=' || MON$BACKUP_STATE FROM MON$DATABASE")
        if "state=0" not in state:
            self.server.query("ALTER DATABASE END BACKUP")


def dense(server: Server, between: Path) -> Sequence[Action]:
    """Back up to the file `between` and restore over the database: no version of a record and no free space is left."""
    back_up = tool(server, "gbak", ["-b", "-g", *service(server), server.database, between])
    return [back_up, restore(server, "-rep", between, server.database), ToolCommand(["rm", "-f", between])]


def methods(server: Server, mode: str) -> list[BackupMethod]:
    return [GbakServices(server), GbakServicesSame(server), GbakTcp(server), GbakLocal(server, mode), Nbackup(server)]


def tool(server: Server, name: str, arguments: Sequence[str | Path], *, embedded: bool = False) -> ToolCommand:
    """`embedded`: with the engine in its own process."""
    return ToolCommand(
        [server.home.bin_dir / name, *arguments],
        environment=server.tool_environment(embedded=embedded),
        cwd=server.root.folder,
    )


def service(server: Server) -> list[str | Path]:
    """Switches for the Services API."""
    return ["-se", server.remote(SERVICE)]


def restore(server: Server, how: str, source: Path, database: Path) -> ToolCommand:
    """`how`: "-c" to create the database, "-rep" to replace it."""
    return tool(server, "gbak", [how, *service(server), source, database])


def url(server: Server, database: Path) -> str:
    return f"jdbc:firebirdsql://{HOST}:{server.port}/{database}"
