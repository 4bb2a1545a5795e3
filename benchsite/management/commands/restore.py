"""`make restore FILE=…`: the site as it was when the backup was made."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.db import DatabaseError

from benchsite.backup import BackupError, restore
from benchsite.embedded import held
from benchsite.programs import CannotStart


class Command(BaseCommand):
    help = "Make the site what it was when the backup FILE was made. It must not run meanwhile."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--replace", action="store_true", help="also where a site is already: it is lost")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["file"].is_dir():
            raise CommandError(f"{options['file']} is a folder: name a file, as in make restore FILE=backup.zip")
        try:
            with held(settings.STATE):
                done = restore(settings.STATE, options["file"], replace=options["replace"])
        except (BackupError, CannotStart) as error:
            raise CommandError(f"nothing was restored: {error}") from None
        except DatabaseError as error:
            raise CommandError(f"nothing was restored, the database does not work: {str(error).strip()}") from None
        self.stdout.write(f"restored {done.words}; start with `make up`, log in as before")
