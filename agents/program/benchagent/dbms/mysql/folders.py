"""The files of one instance: where they lie, and what is mended when a copy is opened under another path."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchagent.dbms.private_server import hand_over, relink
from benchagent.machine.process import ServiceUser

if TYPE_CHECKING:
    from benchagent.machine.storages import JobFolders

# Names inside the data directory; the index of the binary log holds paths relative to it.
BINLOG = "benchagent-binlog"
REDO = "redo"
REDO_FILES = ("ib_logfile*", "#innodb_redo")
# Of the binary log, whatever it is called, and Aria's log; the undo log is data.
LOG_NAMES = (*REDO_FILES, BINLOG, "*.[0-9][0-9][0-9][0-9][0-9][0-9]", "aria_log*")


@dataclass(frozen=True)
class Folders:
    """`home` holds the data directory and the password; `log` is None where the logs lie in the data directory.

    `work`: option files, socket and output of the server, gone with the job. `backup`: where the server may write
    files when SQL tells it to.
    """

    home: Path
    log: Path | None
    temp: Path
    backup: Path
    work: Path

    @property
    def data(self) -> Path:
        return self.home / "data"

    @property
    def password_file(self) -> Path:
        """Beside the data directory, so that a copy takes it along."""
        return self.home / "password"

    @property
    def client_file(self) -> Path:
        return self.work / "client.cnf"

    @property
    def redo(self) -> Path | None:
        return self.log / REDO if self.log else None

    @property
    def binlog(self) -> Path | None:
        return self.log / "binlog" if self.log else None


def folders_of(given: JobFolders, job_dir: Path) -> Folders:
    """A copy whose logs lay apart keeps them so, even where both lie on one storage now."""
    apart = given.log_apart or (given.log / REDO).is_dir()
    log = given.log if apart else None
    return Folders(given.data, log, given.temp / "tmp", given.backup, job_dir / "mysql")


def make(folders: Folders, user: ServiceUser | None) -> None:
    """What is not there yet. The data directory itself is left to the server."""
    made = [folders.work, folders.temp, *filter(None, (folders.redo, folders.binlog))]
    for folder in made:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    hand_over([folders.home, folders.backup, *made], user)
    if folders.log:
        hand_over([folders.log], user)


def mend(folders: Folders, user: ServiceUser | None) -> None:
    """Put the logs where they belong and renew the link from the data directory to the binary log."""
    if folders.redo is None or folders.binlog is None:
        return
    for pattern in REDO_FILES:
        for path in folders.data.glob(pattern):  # of a copy whose logs lay with the data
            shutil.move(path, folders.redo / path.name)
    relink(folders.data / BINLOG, folders.binlog, user)
