from __future__ import annotations

import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from benchsite import embedded
from benchsite.programs import CannotStart


class Command(BaseCommand):
    help = "Start broker, web, worker, beat and a local agent, and stop them with Ctrl-C."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            embedded.run(settings.STATE)
        except CannotStart as error:
            print(f"make up: {error}", file=sys.stderr)
            sys.exit(1)
