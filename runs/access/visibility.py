"""Who may see what is stored: asked by lists and filters, changed with one click."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from django.conf import settings
from django.db import transaction
from django.db.models import Exists, Model, OuterRef, Q, QuerySet

from runs.access import changes
from runs.models import Config, Dbms, DbmsVersion, Experiment, HardwareProfile, Report, Run, Upload, User, Workload
from runs.models.choices import Visibility
from runs.models.runs import RunQuerySet
from runs.models.visible import Reader, listed, readable

Target = Experiment | Upload | Report | Run
M = TypeVar("M", bound=Model)

# How a run refers to what it was made with.
_FROM_RUN: dict[type[Model], str] = {
    Config: "config",
    Dbms: "dbms_version__dbms",
    DbmsVersion: "dbms_version",
    HardwareProfile: "hardware",
    Workload: "workload",
}


def default_visibility() -> str:
    """What new experiments, uploads and reports are unless somebody says otherwise: the setting's word."""
    return str(settings.DEFAULT_VISIBILITY)


def change(*, target: Target, visibility: str, by: User | None) -> bool:
    """Give `target` and its runs this visibility and note who did so. False: it had it already.

    Raises ValueError for a word that is no visibility.
    """
    if visibility not in Visibility.values:
        raise ValueError(f"visibility must be one of {', '.join(Visibility.values)}, not {visibility!r}")
    with transaction.atomic():
        rows = type(target)._default_manager.select_for_update()
        before = rows.values_list("visibility", flat=True).get(pk=target.pk)
        type(target)._default_manager.filter(pk=target.pk).update(visibility=visibility)
        if isinstance(target, Experiment | Upload):
            target.runs.update(visibility=visibility)
        target.visibility = visibility
        return changes.record(target=target, field="visibility", old=before, new=visibility, by=by) is not None


def source_of(run: Run) -> Target | None:
    """What decides who may see the run: its experiment or upload, else itself. None: published results are public."""
    if run.publication_id is not None:
        return None
    return run.experiment or run.upload or run


def candidates(user: Reader, *, experiments: Iterable[str] = ()) -> RunQuerySet:
    """Present runs that filters may choose from: the listed ones, and those of experiments named by their address.

    An unlisted experiment can be compared and listed by whoever was given its address.
    """
    chosen = listed(user)
    slugs = list(experiments)
    # An empty condition is an administrator's, who sees all; it would vanish beside another one.
    if chosen and slugs:
        chosen |= Q(experiment__slug__in=slugs) & readable(user)
    return Run.objects.present().filter(chosen)


def nameable(rows: QuerySet[M], user: Reader, *, by_address: bool = False) -> QuerySet[M]:
    """Machines, configurations, workloads, DBMSs without those that only runs use which this person may not see.

    A name can tell as much as a number. Those that no run uses yet stay. `by_address`: for a page of one of them,
    which an unlisted run leads to.
    """
    seen = readable(user) if by_address else listed(user)
    if not seen:
        return rows
    using = Run.objects.filter(**{_FROM_RUN[rows.model]: OuterRef("pk")})
    return rows.filter(Exists(using.filter(seen)) | ~Exists(using))
