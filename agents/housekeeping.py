"""Take away what nobody needs any more. Called by a Celery task every hour."""

from __future__ import annotations

from django.core.management import call_command

from agents.machines import registry


def tidy_up() -> None:
    registry.forget_stale()
    call_command("clearsessions")
