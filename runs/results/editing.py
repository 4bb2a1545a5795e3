"""Edits of a run: what it says about itself, deletions, marks of runs that turned out wrong. Numbers are not edited.

Each leaves the old value behind. A run that is marked invalid, with a reason, leaves every median, verdict and chart.
"""

from __future__ import annotations

from typing import Annotated, Any, TypeVar, cast

from benchagent.catalog.metrics import LONGEST_S
from benchagent.redaction import redact_text
from django.contrib.auth.models import AnonymousUser
from django.db import transaction
from django.db.models import Q
from django.shortcuts import get_object_or_404
from django.utils import timezone
from pydantic import Field, model_validator
from rest_framework.exceptions import ValidationError

from runs.access import changes
from runs.incoming.values import Day, Labels, Strict, Text, contradiction, wrong
from runs.models import Annotation, Batch, Experiment, Run, Upload, User, delete_softly, take_out
from runs.models import restore as restore_run
from runs.models.base import clean
from runs.models.visible import listed, sees_all
from runs.results import copies
from runs.results.document import UploadDocument, UploadRepeat
from runs.run.number import refresh_primary

REASON_LIMIT = 2000
CORRECTING = "What was measured, and on what, is not edited: delete the runs and send the document with a new id."
CORRECTED = (
    "what was sent while it was deleted is of the same cell and time, or batch, and is taken for its correction; where "
    "both were measured, let it count again"
)
T = TypeVar("T", bound=Run | Batch)


class BatchEdit(Labels):
    """What is said of a batch, and so of all its runs that do not say something else."""

    note: Annotated[str, Text(10_000, least=0)] = ""
    reason: Annotated[str, Text(2000, least=0), Field(description="Why it is changed; kept with the change.")] = ""

    @model_validator(mode="before")
    @classmethod
    def _measured(cls, given: Any) -> Any:
        known = {*UploadDocument.model_fields, *UploadRepeat.__annotations__} - {*cls.model_fields}
        if isinstance(given, dict) and (measured := sorted(known & {*given})):
            raise wrong(*((name, CORRECTING) for name in measured))
        return given


class RunEdit(BatchEdit):
    """Descriptive fields of a run. What was measured, and on what, is not edited."""

    message: Annotated[str, Text(10_000, least=0)] = ""
    measured_on: Annotated[Day | None, Field(description="null is: not stated.")] = None


class NewAnnotation(Strict):
    """What happened at a second of a run, counted from the begin of its warm-up, as its series are."""

    at_s: Annotated[float, Field(ge=0, le=LONGEST_S, allow_inf_nan=False)]
    text: Annotated[str, Text(300)]


class NoReason(ValueError):
    """A number is not taken out of the comparison without saying why."""


def edit(target: T, wanted: BatchEdit, *, by: User | None) -> T:
    """Change the descriptive fields that were given. Raises ValidationError for a day that contradicts the start."""
    reason, columns = redact_text(wanted.reason), wanted.columns()
    given = wanted.model_fields_set - {"reason"}
    with transaction.atomic():
        row = _locked(target)
        for name in sorted(given):
            new = columns.get(name, getattr(wanted, name))
            new = redact_text(new) if isinstance(new, str) else new
            changes.record(target=row, field=name, old=getattr(row, name), new=new, by=by, reason=reason)
            setattr(row, name, new)
        if isinstance(row, Run) and "measured_on" in given:
            given |= {"measured_at"}
            if why := contradiction(row.measured_on, [row.started_at, row.finished_at]):
                raise ValidationError({"measured_on": [why]})
            row.set_measured_at()
        row.save(update_fields=given)
        Batch.objects.refile(Run.objects.filter(pk=row.pk) if isinstance(row, Run) else row.runs.all())
    return row


@transaction.atomic
def delete(run: Run, *, by: User | None) -> bool:
    """Take a run out of every list; it can be restored. False: it was deleted already."""
    if not delete_softly(run):
        return False
    take_out([run.batch_id])
    copies.release(Run.objects.filter(pk=run.pk))
    changes.record(target=run, field="deleted", old=False, new=True, by=by)
    return True


@transaction.atomic
def restore(run: Run, *, by: User | None) -> bool:
    """Undo a deletion. False: it was there."""
    run.deleted_at = Run.objects.filter(pk=run.pk).values_list("deleted_at", flat=True).first()
    if not restore_run(run):
        return False
    _judge(run)
    changes.record(target=run, field="deleted", old=True, new=False, by=by)
    return True


def delete_runs(of: Upload | Experiment, *, by: User | None) -> int:
    """Take all its runs out of lists and charts, with the document and files of an upload. -> how many there were."""
    with transaction.atomic():
        count = of.runs.filter(deleted_at=None).update(deleted_at=timezone.now())
        take_out(set(of.runs.order_by().values_list("batch", flat=True)))
        copies.release(of.runs.all())
        changes.record(target=of, field="runs deleted", old=0, new=count, by=by)
    return count


def restore_runs(of: Upload | Experiment, *, by: User | None) -> int:
    """Bring back whatever was deleted of it. -> how many there were."""
    with transaction.atomic():
        gone = list(of.runs.exclude(deleted_at=None))
        Run.objects.filter(pk__in=[run.pk for run in gone]).update(deleted_at=None)
        Batch.objects.refile(of.runs.all())
        for run in gone:
            _judge(run)
        changes.record(target=of, field="runs brought back", old=0, new=len(gone), by=by)
    return len(gone)


def _judge(run: Run) -> None:
    """What is brought back may have come again or corrected meanwhile, or what it was a copy of may have gone.

    `run` as it was read while it was deleted.
    """
    if run.upload_id and (run.invalid_at is None or (run.copy_of_id and run.invalid_by_id is None)):
        copies.take_back(run)
        copies.mark_stored(run, earlier_only=False)
        if run.copy_of_id is None and _correction_of(run):
            _mark(run, CORRECTED, None, invalid_at=timezone.now(), invalid_reason=CORRECTED, invalid_by=None)


def _correction_of(run: Run) -> Run | None:
    """What was sent while it was deleted and says to be the same measurement: of its cell, and of its batch or time."""
    is_same = Q(batch=run.batch_id)
    if run.started_at:
        is_same |= Q(started_at=run.started_at)
    elif run.measured_on:
        is_same |= Q(started_at=None, measured_on=run.measured_on)
    sent = Run.objects.with_values().filter(is_same, cell_key=run.cell_key, created_at__gt=run.deleted_at)
    return sent.exclude(upload=None).exclude(upload=run.upload_id).filter(listed(run.owner or AnonymousUser())).first()


def invalidate(run: Run, *, reason: str, by: User | None) -> None:
    """Mark a run invalid; a second time replaces the reason. Raises NoReason."""
    words = redact_text(clean(reason, REASON_LIMIT)).strip()
    if not words:
        raise NoReason("Say why the run is invalid.")
    _mark(run, words, by, invalid_at=timezone.now(), invalid_reason=words, invalid_by=by)


def validate(run: Run, *, by: User | None) -> bool:
    """Take the mark away. False: it had none, or one that the rules made, which only an administrator takes away."""
    if run.is_marked_by_rules and not (by and sees_all(by)):
        return False
    return _mark(run, None, by, invalid_at=None, invalid_reason="", invalid_by=None)


def annotate(run: Run, wanted: NewAnnotation, *, by: User | None, annotation: Annotation | None = None) -> Annotation:
    """Note something at a second of a run, or change what was noted there."""
    with transaction.atomic():
        old = str(annotation) if annotation else None
        row = annotation or Annotation(run=run, by=by)
        row.at_s, row.text = wanted.at_s, redact_text(clean(wanted.text, REASON_LIMIT))
        row.save()
        changes.record(target=run, field="annotation", old=old, new=str(row), by=by)
    return row


def forget_annotation(annotation: Annotation, *, by: User | None) -> None:
    with transaction.atomic():
        changes.record(target=annotation.run, field="annotation", old=str(annotation), new=None, by=by)
        annotation.delete()


def _locked(target: T) -> T:
    """Raises Http404 where it was purged meanwhile."""
    return cast(T, get_object_or_404(type(target)._default_manager.select_for_update(), pk=target.pk))


def _mark(run: Run, reason: str | None, by: User | None, **mark: Any) -> bool:
    """Set the columns of a run's mark. False: it had none, and gets none."""
    with transaction.atomic():
        row = _locked(run)
        old = row.invalid_reason if row.invalid_at else None
        if old is None and reason is None:
            return False
        Run.objects.filter(pk=run.pk).update(**mark)
        refresh_primary(Run.objects.filter(pk=run.pk))
        changes.record(target=run, field="invalid", old=old, new=reason, by=by, reason=reason or "")
    run.refresh_from_db(fields=list(mark))
    return True
