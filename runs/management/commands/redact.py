"""`manage.py redact [--trial]`: secrets out of what is stored already, by today's rules."""

from __future__ import annotations

import argparse
from typing import Any

from django.core.management.base import BaseCommand

from runs.results.redacting import redact_stored


class Command(BaseCommand):
    help = "Take secrets out of all that is stored, by today's rules: rows, kept files, what was read of them."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("--trial", action="store_true", help="change nothing, say what would be")

    def handle(self, *args: Any, **options: Any) -> None:
        cleaned = redact_stored(is_trial=options["trial"])
        verb = "would lose" if options["trial"] else "lost"
        for kind, count in sorted(cleaned.items()):
            self.stdout.write(f"{kind}: {count} {verb} a secret")
        if not cleaned:
            self.stdout.write("Nothing that is stored holds a secret that is known as one.")
