"""Who changed what, and when: every edit of something stored leaves the old value behind."""

from __future__ import annotations

import datetime
from typing import Any

from django.db.models import Model, QuerySet

from runs.models import Change, User
from runs.models.visible import Person


def record(*, target: Model, field: str, old: Any, new: Any, by: Person, reason: str = "") -> Change | None:
    """Note that a field of `target` went from `old` to `new`. None, and nothing noted, where both are the same.

    Call it in the transaction of the change itself. `by` None or anonymous is the system.
    """
    before, after = _plain(old), _plain(new)
    if before == after:
        return None
    return Change.objects.create(
        target_type=str(target._meta.model_name),
        target_id=str(target.pk),
        field=field,
        old=before,
        new=after,
        by=by if isinstance(by, User) else None,
        reason=reason,
    )


def history(target: Model) -> QuerySet[Change]:
    """The changes of one object, newest first, with the people who made them."""
    rows = Change.objects.filter(target_type=str(target._meta.model_name), target_id=str(target.pk))
    return rows.select_related("by")


def _plain(value: Any) -> Any:
    """As JSON holds it: times and dates in ISO 8601, ids and everything else unknown as text."""
    if isinstance(value, (datetime.date, datetime.datetime)):
        return value.isoformat()
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(inner) for inner in value]
    return value if value is None or isinstance(value, (str, int, float, bool)) else str(value)
