from __future__ import annotations

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from runs.publications.folder import Folder, FolderError
from runs.publications.importer import import_given, import_own


class Command(BaseCommand):
    help = (
        "Bring published articles into the repository: those in the named folders (docs/use/publications.md tells how "
        "to write one), without any those that come with the program. A second run changes nothing."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER")
        parser.add_argument("--keep-deleted", action="store_true", help="do not restore runs that were deleted")

    def handle(self, *args: Any, **options: Any) -> None:
        keep_deleted = options["keep_deleted"]
        try:
            if paths := options["folders"]:
                report = import_given(*map(Folder.at, paths), keep_deleted=keep_deleted)
            else:
                report = import_own(keep_deleted=keep_deleted)
        except FolderError as error:
            raise CommandError("\n".join(error.faults)) from error
        for (kind, verb), count in sorted(report.changes.items()):
            self.stdout.write(f"{count} {kind} {verb}")
        self.stdout.write(f"publications: {report.rows_changed} rows changed")
