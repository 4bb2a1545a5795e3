from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from runs.publications.importer import import_literature


class Command(BaseCommand):
    help = "Bring the results of published articles into the repository; a second run changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--keep-deleted", action="store_true", help="do not restore runs that were deleted")

    def handle(self, *args: Any, **options: Any) -> None:
        report = import_literature(keep_deleted=options["keep_deleted"])
        for line in report.lines():
            self.stdout.write(line)
        self.stdout.write(f"literature: {report.rows_changed} rows changed")
