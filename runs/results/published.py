"""Runs that a publication holds: brought to exactly what its data say, and counted where they differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from runs.models import Measurement, Run, RunFactor, RunStorage, cell_key
from runs.run.number import refresh_primary

# What a publication says of a run.
COLUMNS = (
    "publication_id", "batch_id", "source_id", "workload_id", "dbms_version_id", "config_id", "hardware_id", "state",
    "provenance", "repeat", "order_index", "durability", "durability_reason", "note", "missing_metric",
    "missing_reason", "deleted_at", "cell_key",
)  # fmt: skip


@dataclass(frozen=True)
class PublishedRun:
    """Unsaved rows; `run` has the `COLUMNS`, but for the cell's key."""

    run: Run
    factors: list[RunFactor]
    storage: list[RunStorage]
    measurements: list[Measurement]


def store_published(wanted: Sequence[PublishedRun], *, keep_deleted: bool = False) -> Counter[str]:
    """Create, correct and restore these runs. Returns how many were `created`, `updated`, `restored`.

    Call it inside a transaction. A run that is as wanted is not written. `keep_deleted`: what somebody deleted
    stays deleted.
    """
    runs = [published.run for published in wanted]
    known = Run.objects.prefetch_related("factors", "storage", "measurements").in_bulk([run.id for run in runs])
    for published in wanted:
        storage = {use.role: use.device for use in published.storage}
        factors = {factor.name: factor.value for factor in published.factors}
        published.run.cell_key = cell_key(published.run, storage=storage, factors=factors)
    Run.objects.bulk_create(run for run in runs if run.id not in known)
    changes: Counter[str] = Counter()
    for published in wanted:
        if (stored := known.get(published.run.id)) is not None:
            changes.update(_correct(stored, published, keep_deleted=keep_deleted))
        else:
            _write(published)
            changes["created"] += 1
    refresh_primary(Run.objects.filter(pk__in=[run.id for run in runs]))
    return changes


def _correct(stored: Run, published: PublishedRun, *, keep_deleted: bool) -> list[str]:
    columns = {name: getattr(published.run, name) for name in COLUMNS}
    if keep_deleted:
        del columns["deleted_at"]
    different = [name for name, value in columns.items() if getattr(stored, name) != value]
    same_children = _marks(stored.factors.all(), stored.storage.all(), stored.measurements.all()) == _marks(
        published.factors, published.storage, published.measurements
    )
    if not different and same_children:
        return []
    was_deleted = stored.deleted_at is not None
    Run.objects.filter(pk=stored.pk).update(**{name: columns[name] for name in different})
    if not same_children:
        for rows in (stored.factors, stored.storage, stored.measurements):
            rows.all().delete()
        _write(published)
    return ["restored" if was_deleted and different == ["deleted_at"] and same_children else "updated"]


def _write(published: PublishedRun) -> None:
    RunFactor.objects.bulk_create(published.factors)
    RunStorage.objects.bulk_create(published.storage)
    Measurement.objects.bulk_create(published.measurements)


def _marks(
    factors: Iterable[RunFactor], storage: Iterable[RunStorage], measurements: Iterable[Measurement]
) -> list[set[tuple[Any, ...]]]:
    """What makes them the same, stored or not."""
    return [
        {(row.name, row.number, row.text, row.unit, row.role) for row in factors},
        {(row.role, row.device_id) for row in storage},
        {
            (row.metric_id, row.phase, float(row.value), row.as_printed, row.provenance, row.note)
            for row in measurements
        },
    ]
