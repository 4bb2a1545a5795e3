"""H2's BACKUP TO: the database file, compressed into a zip while transactions go on."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchagent.dbms.backup import Action, BackupMethod, Options, SqlCommands
from benchagent.dbms.embedded import in_url, java_tool
from benchagent.java import JavaToolchain


class BackupTo(BackupMethod):
    slug = "backup_to"

    def __init__(self, toolchain: JavaToolchain, class_path: Sequence[Path]) -> None:
        self._toolchain = toolchain
        self._class_path = class_path

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        return [SqlCommands([f"BACKUP TO '{str(target).replace(chr(39), chr(39) * 2)}'"])]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        tool = "org.h2.tools.Restore"
        return [java_tool(self._toolchain, self._class_path, tool, "-file", source, "-dir", scratch)]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return f"jdbc:h2:file:{in_url(scratch / 'bench')};IFEXISTS=TRUE"
