"""Edits of what a run says about itself: each leaves the old value behind. Numbers are not edited."""

from __future__ import annotations

from typing import Any

from django.db import transaction

from runs import changes
from runs.ingest.shapes import Day, Either, Field, Object, Text
from runs.ingest.text import redact_line
from runs.models import Run, User, delete_softly
from runs.models import restore as restore_run

DESCRIPTIVE = ("note", "message", "measured_on")


class _Nothing:
    def read(self, value: Any) -> None:
        return None

    def schema(self, components: dict[str, Any]) -> dict[str, Any]:
        return {"type": "null"}


RUN_EDIT = Object(
    "RunEdit",
    {
        "note": Field(Text(10_000, least=0)),
        "message": Field(Text(10_000, least=0)),
        "measured_on": Field(
            Either({str: Day(), type(None): _Nothing()}, "A date is required: YYYY-MM-DD, or null for not stated.")
        ),
        "reason": Field(Text(2000, least=0), help="Why it is changed; kept with the change."),
    },
    help="Descriptive fields of a run. What was measured, and on what, is not edited.",
)


def edit(run: Run, values: dict[str, Any], *, by: User | None) -> Run:
    """Change descriptive fields; `values` are as `RUN_EDIT` reads them."""
    reason = redact_line(values.get("reason", ""))
    with transaction.atomic():
        row = Run.objects.select_for_update().get(pk=run.pk)
        for name in DESCRIPTIVE:
            if name not in values:
                continue
            new = redact_line(values[name]) if isinstance(values[name], str) else values[name]
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
