"""Runs that turned out wrong: marked invalid, with a reason, they leave every median, verdict and chart."""

from __future__ import annotations

from django.db import transaction
from django.utils import timezone

from runs.access import changes
from runs.models import Run, User
from runs.models.text import clean, redact_line
from runs.run import primary

REASON_LIMIT = 2000


class NoReason(ValueError):
    """A number is not taken out of the comparison without saying why."""


def invalidate(run: Run, *, reason: str, by: User | None) -> None:
    """Mark a run invalid; a second time replaces the reason. Raises NoReason."""
    words = redact_line(clean(reason, REASON_LIMIT)).strip()
    if not words:
        raise NoReason("Say why the run is invalid.")
    with transaction.atomic():
        row = Run.objects.select_for_update().get(pk=run.pk)
        old = row.invalid_reason if row.invalid_at else None
        Run.objects.filter(pk=run.pk).update(invalid_at=timezone.now(), invalid_reason=words, invalid_by=by)
        primary.refresh(Run.objects.filter(pk=run.pk))
        changes.record(target=run, field="invalid", old=old, new=words, by=by, reason=words)
    run.refresh_from_db(fields=["invalid_at", "invalid_reason", "invalid_by"])


def validate(run: Run, *, by: User | None) -> bool:
    """Take the mark away. False: it had none."""
    with transaction.atomic():
        row = Run.objects.select_for_update().get(pk=run.pk)
        if row.invalid_at is None:
            return False
        Run.objects.filter(pk=run.pk).update(invalid_at=None, invalid_reason="", invalid_by=None)
        primary.refresh(Run.objects.filter(pk=run.pk))
        changes.record(target=run, field="invalid", old=row.invalid_reason, new=None, by=by)
    run.refresh_from_db(fields=["invalid_at", "invalid_reason", "invalid_by"])
    return True
