from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.migrations.loader import MigrationLoader

from benchsite.schema import why_newer


class Command(migrate.Command):
    """Django's own, which would pass over a newer version's tables in silence."""

    def handle(self, *args: Any, **options: Any) -> None:
        if why := why_newer(MigrationLoader(connections[options["database"]])):
            raise CommandError(why)
        super().handle(*args, **options)
