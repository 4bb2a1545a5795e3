"""SQLite's two ways to copy a database in use: VACUUM INTO, and the online backup of its C interface."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchagent.dbms.backup import Action, BackupMethod, Options, SqlCommands, ToolCommand


class FileBackup(BackupMethod):
    """The backup is a database file: to restore it is to copy it."""

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        return [ToolCommand(["cp", source, scratch / "restored.db"])]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return f"jdbc:sqlite:{scratch / 'restored.db'}"


class VacuumInto(FileBackup):
    slug = "vacuum_into"

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        return [SqlCommands([f"VACUUM INTO '{_quoted(target)}'"])]


class OnlineBackup(FileBackup):
    slug = "online_backup"

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        """A statement of the JDBC driver, which calls `sqlite3_backup_step` until all pages are copied."""
        return [SqlCommands([f"backup to '{_quoted(target)}'"])]


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
