"""Comparisons kept under a short address, with a title and words of their author."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from benchagent import __version__
from django.db import transaction
from django.http import QueryDict
from django.utils import timezone
from django.utils.text import slugify

from runs.access import changes
from runs.compare.compare import compare_selection
from runs.compare.comparison import Comparison
from runs.compare.grouping import ALL, BATCH
from runs.compare.select import CONTROLS, MAX_QUERY, Selection, read_threshold, select
from runs.models import Report, Run, User
from runs.models.choices import Visibility
from runs.models.shapes import Frozen
from runs.models.visible import Reader, sees_all

# Addresses of the reports' own pages.
_TAKEN = frozenset({"new"})


@dataclass(frozen=True)
class SinceFrozen:
    """Of so many `runs`: reason by id of those marked invalid, and those deleted, after the numbers were frozen."""

    runs: int
    invalid: dict[UUID, str]
    deleted: list[UUID]


class BadQuery(ValueError):
    """The query chooses no run, or is not understood; the text says so."""


_STRICTER = [Visibility.PUBLIC, Visibility.UNLISTED, Visibility.PRIVATE]


def freeze(
    report: Report, runs: Iterable[Run], *, question: str, comparison: dict[str, Any], drawn: list[str], by: User
) -> None:  # fmt: skip
    """Keeps the numbers as they stand, in place of what was frozen before."""
    kept = list(runs)
    frozen: Frozen = {
        "at": timezone.now().isoformat(timespec="seconds"),
        "version": __version__,
        "visibility": max((Visibility(run.visibility) for run in kept), key=_STRICTER.index, default=Visibility.PUBLIC),
        "runs": [str(run.id) for run in kept],
        "question": question,
        "comparison": finite(comparison),
        "drawn": finite(drawn),
    }
    _keep(report, frozen, by=by)


def finite(value: Any) -> Any:
    """As JSON of a database holds it: null where a number is none."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): finite(inner) for name, inner in value.items()}
    return [finite(inner) for inner in value] if isinstance(value, list | tuple) else value


def thaw(report: Report, *, by: User) -> None:
    _keep(report, None, by=by)


def _keep(report: Report, frozen: Frozen | None, *, by: User) -> None:
    with transaction.atomic():
        old, new = (report.frozen or {}).get("at"), frozen and frozen["at"]
        changes.record(target=report, field="frozen", old=old, new=new, by=by)
        report.frozen = frozen
        report.save(update_fields=["frozen"])


def may_read_frozen(report: Report, user: Reader) -> bool:
    """Its numbers are of all its runs together: whoever may not open one of them sees none.

    Decided by the strictest visibility that its runs had when they were frozen and have now. A run that is purged
    is nobody's to see.
    """
    frozen = report.frozen
    if frozen is None:
        return False
    owns = sees_all(user) or bool(user.pk and user.pk == report.owner_id)
    if frozen["visibility"] == Visibility.PRIVATE and not owns:
        return False
    ids = frozen["runs"]
    return Run.objects.filter(pk__in=ids).readable_by(user).count() == len(ids)


def since_frozen(report: Report, user: Reader) -> SinceFrozen | None:
    """None where nothing became of its runs, or nothing of them is for `user`."""
    if report.frozen is None or not may_read_frozen(report, user):
        return None
    at = datetime.fromisoformat(report.frozen["at"])
    runs = Run.objects.filter(pk__in=report.frozen["runs"]).order_by("pk")
    deleted = [*runs.filter(deleted_at__gt=at).values_list("pk", flat=True)]
    invalid = dict(runs.present().filter(invalid_at__gt=at).values_list("pk", "invalid_reason"))
    return SinceFrozen(len(report.frozen["runs"]), invalid, deleted) if invalid or deleted else None


def create(*, title: str, note: str, query: str, visibility: str, owner: User) -> Report:
    """Raises BadQuery."""
    kept = checked_query(query, owner)
    wanted = f"report-{title}" if slugify(title) in _TAKEN else title
    with transaction.atomic():
        return Report.objects.create(
            slug=Report.free_slug(wanted, is_hidden=visibility != Visibility.PUBLIC), name=title, note=note,
            query=kept, visibility=visibility, owner=owner,
        )  # fmt: skip


def edit(report: Report, *, title: str, note: str, by: User) -> None:
    """The address stays as it is."""
    with transaction.atomic():
        changes.record(target=report, field="title", old=report.name, new=title, by=by)
        changes.record(target=report, field="words", old=report.note, new=note, by=by)
        report.name, report.note = title, note
        report.save(update_fields=["name", "note"])


def delete(report: Report) -> bool:
    return Report.objects.filter(pk=report.pk, deleted_at=None).update(deleted_at=timezone.now()) == 1


def restore(report: Report) -> bool:
    return Report.objects.filter(pk=report.pk).exclude(deleted_at=None).update(deleted_at=None) == 1


def checked_query(query: str, user: Reader) -> str:
    """The query as it is kept. Raises BadQuery."""
    if len(query) > MAX_QUERY:
        raise BadQuery(f"The comparison has an address of more than {MAX_QUERY:,} characters. Choose runs by a filter.")
    params = QueryDict(query, mutable=True)
    params.pop("format", None)
    selection = select(params, user)
    if selection.problems:
        raise BadQuery("; ".join(f"{name}: {' '.join(words)}" for name, words in selection.problems.items()))
    if not selection.runs:
        raise BadQuery("No run is chosen. Open a comparison first and save that.")
    params.setdefault("group", BATCH)
    return params.urlencode()


def pools_as_before_batches(report: Report) -> bool:
    return "group" not in QueryDict(report.query)


def params_of(report: Report, controls: QueryDict | None = None) -> QueryDict:
    """What the report compares; `controls` (metric, baseline, order of a reader's own) go before the saved ones."""
    params = QueryDict(report.query, mutable=True)
    # Reports that were saved before there were batches pooled every repeat of a cell, and do so still.
    params.setdefault("group", ALL)
    for name in CONTROLS:
        if controls is not None and controls.get(name):
            params.setlist(name, controls.getlist(name))
    try:
        read_threshold(params)
    except ValueError:
        # As with a metric that no run has: the page falls back to what it has.
        params.pop("threshold")
    return params


def live(report: Report, user: Reader, controls: QueryDict | None = None) -> tuple[Selection, Comparison]:
    """The comparison as it stands now, of the runs that `user` may see."""
    selection = select(params_of(report, controls), user)
    return selection, compare_selection(selection)
