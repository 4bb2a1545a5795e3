"""HSQLDB's BACKUP DATABASE: a compressed archive of its files, made after a checkpoint."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchagent.dbms.backup import Action, BackupMethod, Options, SqlCommands
from benchagent.dbms.embedded import in_url, java_tool
from benchagent.java import JavaToolchain

ARCHIVE = "bench.tar.gz"


class BackupDatabase(BackupMethod):
    """`target` becomes a folder, because HSQLDB looks at how the file name ends."""

    slug = "backup_database"

    def __init__(self, toolchain: JavaToolchain, class_path: Sequence[Path]) -> None:
        self._toolchain = toolchain
        self._class_path = class_path

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        """Blocking: writers wait from the checkpoint on, else the archive may not be opened."""
        return [SqlCommands([f"BACKUP DATABASE TO '{str(target / ARCHIVE).replace(chr(39), chr(39) * 2)}' BLOCKING"])]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        main = "org.hsqldb.lib.tar.DbBackupMain"
        return [java_tool(self._toolchain, self._class_path, main, "--extract", source / ARCHIVE, scratch / "restored")]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return f"jdbc:hsqldb:file:{in_url(scratch / 'restored' / 'bench')};ifexists=true"
