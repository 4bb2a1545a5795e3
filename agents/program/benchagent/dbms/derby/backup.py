"""Derby's own backup: a procedure copies the files while transactions go on, and adds the log that is needed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchagent.dbms.backup import Action, BackupMethod, Options, SqlCommands
from benchagent.dbms.embedded import in_url

DATABASE = "bench"


class BackupProcedure(BackupMethod):
    slug = "backup_database"

    def backup(self, target: Path, options: Options) -> Sequence[Action]:
        return [SqlCommands([f"CALL SYSCS_UTIL.SYSCS_BACKUP_DATABASE('{quoted(target)}')"])]

    def restore(self, source: Path, scratch: Path) -> Sequence[Action]:
        """Derby restores while it connects: it copies the backup and replays its log."""
        made = f"{self.restored_url(source, scratch)};createFrom={in_url(source / DATABASE)}"
        return [SqlCommands(["VALUES 1"], made)]

    def restored_url(self, source: Path, scratch: Path) -> str:
        return f"jdbc:derby:{in_url(scratch / 'restored')}"


def quoted(path: Path) -> str:
    """Inside an SQL literal."""
    return str(path).replace("'", "''")
