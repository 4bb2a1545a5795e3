"""`make token NAME=x SCOPES=read,upload`: prints a new API token and nothing else."""

from __future__ import annotations

import argparse
from datetime import timedelta
from typing import Any

from benchagent.arguments import refuse_repeated
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from benchsite.state import OPERATOR
from runs.access import people
from runs.models import SCOPES, User


class Command(BaseCommand):
    help = "Print a new token for the API. It is stored hashed and cannot be shown again."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        refuse_repeated(parser)
        parser.add_argument("--name", default="", help="what the token is for")
        parser.add_argument("--scopes", default="", help=f"of {', '.join(SCOPES)}, separated by commas")
        parser.add_argument("--days", default="", help="expires after so many days; default: never")
        parser.add_argument("--user", default=OPERATOR, help="whose token; default: operator")

    def handle(self, *args: Any, **options: Any) -> None:
        name, scopes = options["name"].strip(), [scope.strip() for scope in options["scopes"].split(",")]
        if not name or len(name) > 120:
            raise CommandError("NAME: say in 1 to 120 characters what the token is for, as NAME=laptop")
        days = options["days"] or None
        if days is not None and not (days.isdecimal() and 0 < int(days) <= 36500):
            raise CommandError(f"DAYS: a number from 1 to 36500, not {days!r}")
        expires_at = timezone.now() + timedelta(days=int(days)) if days else None
        try:
            owner = User.objects.filter(username=options["user"]).first()
            if owner is None:
                raise CommandError(f"USER: there is no user {options['user']!r}; start once with `make up`")
            wanted = [scope for scope in scopes if scope]
            _, secret = people.issue_token(owner=owner, name=name, scopes=wanted, expires_at=expires_at)
        except ValueError as error:
            raise CommandError(f"SCOPES: {error}") from None
        self.stdout.write(secret)
