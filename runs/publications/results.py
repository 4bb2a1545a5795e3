"""Runs of a publication, with and without values, and the statistics that it prints of them."""

from __future__ import annotations

from runs.models import Aggregate, Run
from runs.models.choices import Provenance, RunState
from runs.publications.document import Factor, Results, RunRow
from runs.publications.folder import stable_id
from runs.publications.subjects import Subjects
from runs.publications.sync import Sync
from runs.results import PublishedNumber, PublishedRun, store_published


def sync_results(sync: Sync, data: Results, subjects: Subjects, *, keep_deleted: bool = False) -> None:
    promises = {row.id: (row.durability, row.durability_reason) for row in data.configs}
    # In the order of the source, so that lists and charts show it as printed.
    wanted = [_run(position, row, promises[row.config], subjects) for position, row in enumerate(data.runs, 1)]
    for verb, count in store_published(wanted, keep_deleted=keep_deleted).items():
        sync.note(Run, verb, count)
    stale = Run.objects.exclude(source_id="").exclude(id__in=[published.run.id for published in wanted])
    stale = stale.filter(publication=subjects.publication)
    sync.note(Run, "deleted", stale.count())
    stale.delete()
    _aggregates(sync, data, subjects)


def _run(position: int, row: RunRow, promise: tuple[str, str], subjects: Subjects) -> PublishedRun:
    run = Run(
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
        factors={
            name: (value.value, value.unit) if isinstance(value, Factor) else (value, "")
            for name, value in row.factors.items()
        },
        storage={role: subjects.devices[device] for role, device in row.storage.items()},
        numbers=[
            PublishedNumber(subjects.metrics[number.name], number.value, number.as_printed, row.provenance, number.note)
            for number in row.metrics
        ],
    )


def _aggregates(sync: Sync, data: Results, subjects: Subjects) -> None:
    slug = subjects.publication.slug
    wanted = [
        {
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
    ]
    among = Aggregate.objects.filter(publication=subjects.publication)
    for row, aggregate in zip(data.aggregates, sync.rows(Aggregate, wanted, among=among), strict=True):
        of = {stable_id("run", slug, run) for run in row.of}
        if set(aggregate.of.values_list("pk", flat=True)) != of:
            aggregate.of.set(Run.objects.filter(pk__in=of))
            sync.note(Aggregate, "linked")
