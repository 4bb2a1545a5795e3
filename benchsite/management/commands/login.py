"""`make login`: a new password for the operator."""

from __future__ import annotations

import argparse
from typing import Any

from benchagent.arguments import refuse_repeated
from django.conf import settings
from django.core.management.base import BaseCommand

from benchsite.embedded import new_password
from benchsite.programs import Address
from benchsite.state import OPERATOR, read


class Command(BaseCommand):
    help = "Make a new password for a user (made as operator if missing) and print it."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        refuse_repeated(parser)
        parser.add_argument("--user", default=OPERATOR, help="default: operator")

    def handle(self, *args: Any, **options: Any) -> None:
        state = settings.STATE
        url = read(state.url_file) if state.url_file.exists() else Address.from_environment().url
        password = new_password(username=options["user"], state=state, url=url)
        self.stdout.write(f"url       {url}/\nuser      {options['user']}\npassword  {password}")
