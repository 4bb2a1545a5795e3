"""Where the files of an instance lie, and what they are called."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from benchagent.machine.storages import JobFolders

# A link inside the data directory, whose index of the binary log holds paths relative to it.
BINLOG = "benchagent-binlog"
# A folder of the log's storage, as `Folders.binlog` is.
REDO = "redo"
REDO_FILES = ("ib_logfile*", "#innodb_redo")
# The redo log, the binary log, whatever it is called, and Aria's log; the undo log is data.
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
