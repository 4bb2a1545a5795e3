"""Bring the repository to what a publication's folder says. Can be run at any time; writes only what differs."""

from __future__ import annotations

import io
import traceback
from contextlib import suppress

from django.contrib.auth.models import AnonymousUser
from django.db import DataError, IntegrityError, transaction
from django.db.models import ProtectedError
from django.utils import timezone

from runs.models import Aggregate, Batch, Measurement, Publication, PublicationFiles, Run, RunFactor, RunStorage
from runs.models.choices import Provenance, RunState
from runs.publications.check import stored
from runs.publications.document import Results, RunRow
from runs.publications.folder import Folder, FolderError, own, read_zip, stable_id
from runs.publications.page import export
from runs.publications.page.page import Page
from runs.publications.subjects import Subjects, Sync, sync_subjects
from runs.results import PublishedRun, store_published
from runs.results.names import batch_of
from runs.results.purge import forget_empty


def import_own(*, keep_deleted: bool = False) -> Sync:
    """The publications that come with the program. All or nothing."""
    return import_folders(*own().values(), keep_deleted=keep_deleted)


def import_given(*folders: Folder, keep_deleted: bool = False) -> Sync:
    """Somebody's publications: also tried out, so that what no rule foresees is refused too. Raises FolderError."""
    try:
        with transaction.atomic():
            sync = import_folders(*folders, keep_deleted=keep_deleted)
            for folder in folders:
                PublicationFiles.objects.update_or_create(
                    slug=folder.slug,
                    defaults={
                        "title_en": folder.results.publication.title_en, "archive": folder.zipped(), "deleted_at": None,
                    },
                )  # fmt: skip
                export.text(Page(Publication.objects.get(slug=folder.slug), AnonymousUser()).material)
    except FolderError:
        raise
    except (DataError, IntegrityError) as error:
        raise FolderError([f"results.json: cannot be stored: {error}"]) from error
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        where = traceback.extract_tb(error.__traceback__)[-1].name.strip("_<>").replace("_", " ")
        raise FolderError([f"its page cannot be shown ({where}): {type(error).__name__}: {error}"]) from error
    return sync


@transaction.atomic
def remove(publication: Publication) -> None:
    """With its runs and statements, and with those of its configurations, machines and workloads that nobody uses.

    The files that it was imported from stay: `bring_back`.
    """
    PublicationFiles.objects.filter(slug=publication.slug).update(deleted_at=timezone.now())
    its_own = [*publication.configs.all(), *publication.hardware.all(), *publication.workloads.all()]
    of_runs = publication.pk
    publication.delete()
    forget_empty([of_runs])
    for row in its_own:
        with suppress(ProtectedError), transaction.atomic():
            row.delete()


def bring_back(kept: PublicationFiles) -> None:
    """A deleted article out of its files, with the same addresses. Raises FolderError."""
    import_given(read_zip(io.BytesIO(kept.archive), len(kept.archive)))


def import_folders(*folders: Folder, keep_deleted: bool = False) -> Sync:
    """All or nothing. Restores whatever was changed, also deleted runs unless `keep_deleted`. Raises FolderError."""
    sync = Sync()
    with transaction.atomic():
        for folder in folders:
            subjects = sync_subjects(sync, folder)
            _sync_runs(sync, folder.results, subjects, keep_deleted=keep_deleted)
            _sync_aggregates(sync, folder.results, subjects)
            sync.correct(subjects.publication, {"checks": stored(folder.checks.checks)})
    return sync


# Runs, with and without values, and the statistics that the publication prints of them


def _sync_runs(sync: Sync, data: Results, subjects: Subjects, *, keep_deleted: bool) -> None:
    promises = {row.id: (row.durability, row.durability_reason) for row in data.configs}
    # In the order of the source, so that lists and charts show it as printed.
    batch = batch_of(subjects.publication.pk)
    wanted = [_run(position, row, promises[row.config], subjects, batch) for position, row in enumerate(data.runs, 1)]
    for verb, count in store_published(wanted, keep_deleted=keep_deleted).items():
        sync.note(Run, verb, count)
    stale = Run.objects.exclude(source_id="").exclude(id__in=[published.run.id for published in wanted])
    sync.delete(stale.filter(publication=subjects.publication))


def _run(position: int, row: RunRow, promise: tuple[str, str], subjects: Subjects, batch: Batch) -> PublishedRun:
    run = Run(
        batch=batch,
        id=stable_id("run", subjects.publication.slug, row.id),
        publication=subjects.publication,
        source_id=row.id,
        workload=subjects.workloads[row.workload],
        dbms_version=subjects.versions[row.version],
        config=subjects.configs[row.config],
        hardware=subjects.hardware[row.hardware],
        state=RunState.VALUE_MISSING if row.missing else RunState.FINISHED,
        provenance=row.provenance,
        repeat=row.repeat,
        order_index=position,
        durability=promise[0],
        durability_reason=promise[1],
        note=row.note,
        missing_metric=row.missing.metric if row.missing else "",
        missing_reason=row.missing.reason if row.missing else "",
    )
    return PublishedRun(
        run,
        [RunFactor.of(run, name, factor.value, factor.unit, factor.role) for name, factor in row.factors.items()],
        [RunStorage(run=run, role=role, device=subjects.devices[device]) for role, device in row.storage.items()],
        [
            Measurement(
                run=run, metric=subjects.metrics[number.name], value=number.value, as_printed=number.as_printed,
                provenance=row.provenance, note=number.note,
            )
            for number in row.metrics
        ],
    )  # fmt: skip


def _sync_aggregates(sync: Sync, data: Results, subjects: Subjects) -> None:
    slug = subjects.publication.slug
    wanted = {
        row.id: {
            "id": stable_id("aggregate", slug, row.id),
            "publication_id": subjects.publication.id,
            "source_id": row.id,
            "statistic": row.statistic,
            "workload_id": subjects.workloads[row.workload].id,
            "dbms_version_id": subjects.versions[row.version].id,
            "metric_id": subjects.metrics[row.metric.name].id,
            "value": row.value,
            "as_printed": row.as_printed,
            "provenance": Provenance.PRINTED,
            "details": row.details,
        }
        for row in data.aggregates
    }
    made = sync.rows(Aggregate, wanted)
    stale = Aggregate.objects.filter(publication=subjects.publication)
    sync.delete(stale.exclude(pk__in=[aggregate.pk for aggregate in made.values()]))
    for row in data.aggregates:
        aggregate = made[row.id]
        of = {stable_id("run", slug, run) for run in row.of}
        if set(aggregate.of.values_list("pk", flat=True)) != of:
            aggregate.of.set(Run.objects.filter(pk__in=of))
            sync.note(Aggregate, "linked")
