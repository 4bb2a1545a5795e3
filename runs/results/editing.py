"""Edits of what a run says about itself: each leaves the old value behind. Numbers are not edited."""

from __future__ import annotations

from typing import Annotated

from django.db import transaction
from pydantic import Field, TypeAdapter

from runs.access import changes
from runs.incoming.reading import Day, Strict, Text
from runs.models import Run, User, delete_softly
from runs.models import restore as restore_run
from runs.models.text import redact_line

DESCRIPTIVE = ("note", "message", "measured_on")


class RunEdit(Strict):
    """Descriptive fields of a run. What was measured, and on what, is not edited."""

    note: Annotated[str, Text(10_000, least=0)] = ""
    message: Annotated[str, Text(10_000, least=0)] = ""
    measured_on: Annotated[Day | None, Field(description="null is: not stated.")] = None
    reason: Annotated[str, Text(2000, least=0), Field(description="Why it is changed; kept with the change.")] = ""


RUN_EDIT = TypeAdapter(RunEdit)


def edit(run: Run, wanted: RunEdit, *, by: User | None) -> Run:
    """Change the descriptive fields that were given."""
    reason = redact_line(wanted.reason)
    with transaction.atomic():
        row = Run.objects.select_for_update().get(pk=run.pk)
        for name in DESCRIPTIVE:
            if name not in wanted.model_fields_set:
                continue
            given = getattr(wanted, name)
            new = redact_line(given) if isinstance(given, str) else given
            changes.record(target=row, field=name, old=getattr(row, name), new=new, by=by, reason=reason)
            setattr(row, name, new)
        row.save(update_fields=DESCRIPTIVE)
    return row


def delete(run: Run, *, by: User | None) -> bool:
    """Take a run out of every list; it can be restored. False: it was deleted already."""
    with transaction.atomic():
        done = delete_softly(run)
        if done:
            changes.record(target=run, field="deleted", old=False, new=True, by=by)
        return done


def restore(run: Run, *, by: User | None) -> bool:
    """Undo a deletion. False: it was there."""
    with transaction.atomic():
        done = restore_run(run)
        if done:
            changes.record(target=run, field="deleted", old=True, new=False, by=by)
        return done
