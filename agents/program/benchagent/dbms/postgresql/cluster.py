"""The files of one cluster: where they lie, and how they are made to lie there again after a copy.

Nothing inside a cluster knows its path but two kinds of links, to a transaction log and to a tablespace on other
storage. Both are renewed before each start, so that a copy of the folders can be opened under another path.
"""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from benchagent.dbms.base import Settings
from benchagent.dbms.postgresql.discovery import Version
from benchagent.dbms.private_server import HOST, hand_over, relink, write_private
from benchagent.machine.users import ServiceUser

if TYPE_CHECKING:
    from benchagent.machine.storages import JobFolders

USER = "bench"
DATABASE = "postgres"
TEMP_TABLESPACE = "bench_temp"
OWN_CONFIGURATION = "benchagent.conf"
# Of the folder of the transaction log: from version 10 on, before.
LOG_NAMES = (NEW_LOG, OLD_LOG) = ("pg_wal", "pg_xlog")


@dataclass(frozen=True)
class Folders:
    """`log` and `temp`: the transaction log and a tablespace for temporary files, where they lie apart."""

    home: Path
    log: Path | None = None
    temp: Path | None = None

    @property
    def data(self) -> Path:
        return self.home / "cluster"

    @property
    def password_file(self) -> Path:
        """In the format of libpq's PGPASSFILE; beside the cluster, so that a copy takes it along."""
        return self.home / "pgpass"

    @property
    def temp_name_file(self) -> Path:
        return self.home / "temp_tablespace"


def folders_of(given: JobFolders) -> Folders:
    return Folders(
        given.data,
        given.log / "wal" if given.log_apart else None,
        given.temp / "tablespace" if given.temp_apart else None,
    )


def make_password(folders: Folders, user: ServiceUser | None) -> str:
    password = secrets.token_urlsafe(24)
    write_private(folders.password_file, f"{HOST}:*:*:{USER}:{password}\n", user)
    return password


def read_password(folders: Folders) -> str:
    """Raises `OSError`."""
    return folders.password_file.read_text().strip().rpartition(":")[2]


def write_configuration(folders: Folders, settings: Settings, user: ServiceUser | None) -> None:
    """`settings` in their order, in a file that initdb's own includes."""
    lines = []
    for name, value in settings:
        bare = value[1:-1].replace("''", "'") if len(value) > 1 and value[0] == value[-1] == "'" else value
        quoted = bare.replace("\\", "\\\\").replace("'", "''")
        lines.append(f"{name} = '{quoted}'\n")
    write_private(folders.data / OWN_CONFIGURATION, "".join(lines), user)


def include_configuration(folders: Folders) -> None:
    with (folders.data / "postgresql.conf").open("a", encoding="utf-8") as file:
        file.write(f"\ninclude '{OWN_CONFIGURATION}'\n")


def write_access(folders: Folders, method: str) -> None:
    """Our user alone, with its password, over loopback: also for a base backup, which is its own kind of connection."""
    lines = [f"host {database} {USER} {HOST}/32 {method}\n" for database in ("all", "replication")]
    (folders.data / "pg_hba.conf").write_text("".join(lines))


def mend(folders: Folders, version: Version, user: ServiceUser | None) -> None:
    """Renew the links to the log and to the tablespace for temporary files."""
    links = [(folders.data / (NEW_LOG if version >= (10, 0) else OLD_LOG), folders.log)] if folders.log else []
    if folders.temp:
        make_temp_folder(folders, user)
        links += [(link, folders.temp) for link in (folders.data / "pg_tblspc").iterdir()]
    for link, target in links:
        if not link.is_symlink():  # a log that lay with the data so far
            shutil.move(link, target)
        relink(link, target, user)


def note_temp_folder(folders: Folders) -> None:
    """The folder that the server has made in its tablespace is named after its version: a copy has to have it too."""
    if folders.temp:
        folders.temp_name_file.write_text("\n".join(entry.name for entry in folders.temp.iterdir()))


def make_temp_folder(folders: Folders, user: ServiceUser | None) -> None:
    if folders.temp is None:
        return
    folders.temp.mkdir(mode=0o700, exist_ok=True)
    hand_over([folders.temp], user)
    if folders.temp_name_file.exists():
        inner = folders.temp / folders.temp_name_file.read_text()
        inner.mkdir(mode=0o700, exist_ok=True)
        hand_over([inner], user)
