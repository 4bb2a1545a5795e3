"""`make backup FILE=…`: all of the site in one file, while it runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from benchsite.backup import BackupError, backup


class Command(BaseCommand):
    help = (
        "Write database, artefacts, secret key and the local agent's own files to one file, also while the site runs."
    )
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("file", type=Path, metavar="FILE", help="must not be there yet")

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        if file.is_dir():  # also what `make backup` without FILE asks for
            raise CommandError(f"{file} is a folder: name a file, as in make backup FILE=backup.zip")
        try:
            done = backup(settings.STATE, file)
        except BackupError as error:
            raise CommandError(str(error)) from None
        self.stdout.write(f"{file}: {done.words}, {file.stat().st_size / 1e6:,.1f} MB")
        self.stdout.write(
            "It holds secrets: digests of passwords and tokens, the secret key, the agent's token, passwords of "
            "connections. Only its owner may read it (mode 0600): keep it so."
        )
        for name in done.missing:
            self.stderr.write(f"not on the disk, deleted meanwhile or lost before: {name}")
