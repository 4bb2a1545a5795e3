"""Prints a one-time code for an agent and nothing else."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand

from agents.models import EnrolmentCode


class Command(BaseCommand):
    help = "Print a one-time code: the agent that registers with it within an hour is approved."
    requires_system_checks: list[str] = []

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(EnrolmentCode.issue())
