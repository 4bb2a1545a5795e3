"""Batches as they come into being: what was measured together stays together."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from runs.models import Batch, Change, User


def batch_of(source_id: UUID, *, owner: User | None = None, **described: Any) -> Batch:
    """The batch of an experiment, upload, import or publication, by its id: the one that is there, else a new one."""
    return Batch.objects.get_or_create(pk=source_id, defaults={"owner": owner, **described})[0]


def forget_empty(batches: Iterable[UUID]) -> None:
    """Those of them that have no run any more, with their history."""
    empty = Batch.objects.filter(pk__in=list(batches), runs=None)
    ids = [str(pk) for pk in empty.values_list("pk", flat=True)]
    Change.objects.filter(target_type="batch", target_id__in=ids).delete()
    empty.delete()
