"""Gone for good, by an administrator: an upload, a run, an experiment, a report, a schedule, with all it alone has.

What stays is a record of what it was in numbers, who purged it, when and why. Deleting (`runs.results.editing`) hides
from every reader and can be undone; this cannot.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from datetime import datetime
from typing import Any, cast
from uuid import UUID

from benchagent.catalog import METRICS
from django.db import transaction
from django.db.models import Model, Q, QuerySet
from django.db.models.deletion import ProtectedError

from runs.access.rules import Target
from runs.models import (
    Artefact,
    Batch,
    Change,
    Config,
    Dbms,
    DbmsVersion,
    Experiment,
    FileImport,
    HardwareProfile,
    Metric,
    Report,
    Run,
    Upload,
    Workload,
    take_out,
)
from runs.models.base import NamedModel, in_parts
from runs.models.choices import OPEN_STATES, ImportState, Provenance
from runs.models.visible import Person, owner_id_of
from runs.results import copies
from runs.results.names import catalogue_slugs
from runs.run import artefacts

PURGED = "purged"
BATCH = 500


class CannotPurge(ValueError):
    """The text says why, and what to do first."""


def what(target: Target | NamedModel) -> dict[str, Any]:
    """What goes with it, in numbers, as its record keeps it. Without names: they go too."""
    kept = _files(target)
    return {
        "runs": _runs(target).count(), "files": len(kept), "bytes": sum(file.size_bytes for file in kept),
        "made": made_at(target).isoformat(timespec="seconds"),
        "owner": str(owner_id_of(target) or ""),
    }  # fmt: skip


@transaction.atomic
def purge(target: Target | NamedModel, *, by: Person, reason: str = "") -> Change:
    """Raises CannotPurge."""
    if isinstance(target, Run) and target.publication_id is not None:
        raise CannotPurge("This run is part of a publication: delete that.")
    if isinstance(target, Run) and target.upload is not None and target.upload.runs.count() == 1:
        target = target.upload  # what is left would be its document and files
    runs = _runs(target)
    if runs.filter(state__in=OPEN_STATES).exists():
        raise CannotPurge("A run of it has not ended. Cancel it first.")
    upload = target.upload if isinstance(target, Run) else target if isinstance(target, Upload) else None
    if upload is not None and upload.file_import_id is not None:
        taken = FileImport.objects.select_for_update().get(pk=upload.file_import_id)
        if taken.state == ImportState.READING:
            raise CannotPurge("Its files are being read again, which would bring it back. Purge it when that is done.")
    counted, kept, since = what(target), _files(target), made_at(target)
    used = _used(runs)
    kind, pk = str(target._meta.model_name), str(target.pk)
    of_runs = [str(run) for run in runs.values_list("pk", flat=True)]
    if isinstance(target, Run) and upload is not None:
        # Its numbers leave the document, in which the other repeats keep their places.
        repeats = upload.document.get("repeats", [])
        if 0 < target.repeat <= len(repeats):
            repeats[target.repeat - 1] = {}
            upload.save(update_fields=["document"])
    sent = _own_import(target) if isinstance(target, Upload) else None
    if sent is not None:
        sent.delete()
    Report.objects.all().thaw(of_runs)
    copies.release(runs)
    runs.delete()
    if not isinstance(target, Run):
        type(target)._default_manager.filter(pk=pk).delete()
    _forget(used, since)
    Change.objects.filter(target_type=kind, target_id=pk).delete()
    for some in in_parts(of_runs, BATCH):
        Change.objects.filter(target_type="run", target_id__in=some).delete()
    note = Change.objects.create(
        target_type=kind, target_id=pk, field=PURGED, old=counted, reason=reason.strip(), by_id=getattr(by, "pk", None)
    )
    # Before the commit: where this fails the rows are still there, and it can be done again.
    artefacts.discard(kept)
    if sent is not None and sent.reports:
        sent.reports.delete(save=False)
    return note


@transaction.atomic
def take_back(uploads: QuerySet[Upload]) -> None:
    """Uploads that nobody has seen, with the names that came with them. They have no files."""
    ids = list(uploads.values_list("pk", flat=True).distinct())
    if not ids:
        return
    runs = Run.objects.filter(upload__in=ids)
    used, since = _used(runs), Upload.objects.filter(pk__in=ids).earliest("received_at").received_at
    runs.delete()
    Upload.objects.filter(pk__in=ids).delete()
    _forget(used, since)


def purges() -> QuerySet[Change]:
    """The record, newest first."""
    return Change.objects.filter(field=PURGED).select_related("by")


def forget_empty(batches: Iterable[UUID]) -> None:
    """Those of them that have no run any more, with their history."""
    empty = Batch.objects.filter(pk__in=list(batches), runs=None)
    ids = [str(pk) for pk in empty.values_list("pk", flat=True)]
    Change.objects.filter(target_type="batch", target_id__in=ids).delete()
    empty.delete()


def _runs(target: Target | NamedModel) -> QuerySet[Run]:
    if isinstance(target, Run):
        return Run.objects.filter(pk=target.pk)
    return target.runs.all() if isinstance(target, Upload | Experiment) else Run.objects.none()


def made_at(target: Target | NamedModel) -> datetime:
    return cast(datetime, getattr(target, "received_at" if isinstance(target, Upload) else "created_at"))


def _files(target: Target | NamedModel) -> list[Artefact]:
    holder = Q(run__in=_runs(target))
    if isinstance(target, Upload):
        holder |= Q(upload=target)
        if (sent := _own_import(target)) is not None:
            holder |= Q(file_import=sent)
    return list(Artefact.objects.filter(holder))


def _own_import(upload: Upload) -> FileImport | None:
    """The dropped files that it was read from, where no other upload was."""
    sent = upload.file_import
    return sent if sent is not None and not sent.uploads.exclude(pk=upload.pk).exists() else None


def _used(runs: QuerySet[Run]) -> dict[type[Model], set[Any]]:
    """What the runs are about, by model."""
    columns = {
        Config: "config", HardwareProfile: "hardware", Workload: "workload", DbmsVersion: "dbms_version",
        Dbms: "dbms_version__dbms", Metric: "measurements__metric", Batch: "batch",
    }  # fmt: skip
    used: dict[type[Model], set[Any]] = {}
    for model, column in columns.items():
        used[model] = set(runs.order_by().values_list(column, flat=True).distinct()) - {None}
    used[Metric] |= set(runs.order_by().values_list("series__metric", flat=True).distinct()) - {None}
    return used


def _forget(used: dict[type[Model], set[Any]], since: datetime) -> None:
    """Names that came with what was purged and that nothing else uses: without runs everybody would see them."""
    take_out(used[Batch])
    forget_empty(used[Batch])
    unused: tuple[QuerySet[Any], ...] = (
        Config.objects.filter(runs=None, publication=None, created_at__gte=since, later_revisions=None),
        HardwareProfile.objects.filter(
            runs=None, publication=None, provenance=Provenance.UPLOADED, created_at__gte=since, merged=None
        ),
        Workload.objects.filter(runs=None, publication=None).exclude(slug__in=catalogue_slugs()),
        DbmsVersion.objects.filter(runs=None, configs=None),
        Dbms.objects.filter(versions=None, configs=None),
        Metric.objects.filter(measurements=None).exclude(name__in=METRICS),
    )
    for rows in unused:
        for row in rows.filter(pk__in=used[rows.model]):
            # What an aggregate, a series or another machine's use still needs stays.
            with suppress(ProtectedError), transaction.atomic():
                row.delete()
