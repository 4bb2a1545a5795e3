"""Runs that are stored in many transactions and appear in one.

One transaction of thousands of runs would keep every other writer of SQLite waiting for seconds. So they are stored a
few at a time as if they were deleted long ago, and shown together; what was never shown is taken out again.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from datetime import datetime

from django.db import DatabaseError, transaction

from runs.models import Batch, Run, Upload
from runs.models.base import in_parts
from runs.models.runs import STAGED_AT
from runs.results import purge

AT_ONCE = 200


@contextmanager
def all_or_nothing(upload_ids: Sequence[uuid.UUID], *, is_large: bool) -> Iterator[None]:
    """What is stored within stays when nothing raises and it is shown. Small things are one transaction."""
    if not is_large:
        with transaction.atomic():
            yield
    else:
        try:
            yield
        except BaseException:
            with suppress(DatabaseError):  # `undo_left` does it
                undo(upload_ids)
            raise
    undo(upload_ids)


def show(runs: Sequence[Run]) -> None:
    """All of these, in the caller's transaction."""
    for some in in_parts(runs, AT_ONCE):
        rows = Run.objects.filter(pk__in=[run.pk for run in some])
        rows.update(deleted_at=None)
        Batch.objects.refile(rows)
    for run in runs:
        run.deleted_at = None


def undo(upload_ids: Sequence[uuid.UUID]) -> None:
    """Take out what of these is not shown, with the names that came with it."""
    for some in in_parts(upload_ids, AT_ONCE):
        purge.take_back(Upload.objects.filter(pk__in=some, runs__deleted_at=STAGED_AT))


def undo_left(*, before: datetime) -> None:
    """What a process left that was killed between storing and showing."""
    left = Upload.objects.filter(runs__deleted_at=STAGED_AT, received_at__lt=before)
    undo(list(left.values_list("pk", flat=True).distinct()))
