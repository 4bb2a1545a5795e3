"""Runs that a publication holds: brought to exactly what its data say, and counted where they differ."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from runs.models import (
    Config,
    DbmsVersion,
    HardwareProfile,
    Measurement,
    Metric,
    Publication,
    Run,
    RunFactor,
    RunStorage,
    StorageDevice,
    Workload,
    cell_key,
)
from runs.run import primary


@dataclass(frozen=True)
class PublishedNumber:
    metric: Metric
    value: float
    as_printed: str
    provenance: str
    note: str = ""


@dataclass(frozen=True)
class PublishedRun:
    """`factors` is name -> (value, unit); `storage` is role -> device."""

    id: uuid.UUID
    publication: Publication
    source_id: str
    workload: Workload
    dbms_version: DbmsVersion
    config: Config
    hardware: HardwareProfile
    state: str
    provenance: str
    repeat: int
    order_index: int
    durability: str
    durability_reason: str
    note: str
    missing_metric: str
    missing_reason: str
    factors: dict[str, tuple[float | str, str]] = field(default_factory=dict)
    storage: dict[str, StorageDevice] = field(default_factory=dict)
    numbers: list[PublishedNumber] = field(default_factory=list)

    def columns(self) -> dict[str, Any]:
        return {
            "publication_id": self.publication.id,
            "source_id": self.source_id,
            "workload_id": self.workload.id,
            "dbms_version_id": self.dbms_version.id,
            "config_id": self.config.id,
            "hardware_id": self.hardware.id,
            "state": self.state,
            "provenance": self.provenance,
            "repeat": self.repeat,
            "order_index": self.order_index,
            "durability": self.durability,
            "durability_reason": self.durability_reason,
            "note": self.note,
            "missing_metric": self.missing_metric,
            "missing_reason": self.missing_reason,
            "deleted_at": None,
            "cell_key": self._cell_key(),
        }

    def _cell_key(self) -> str:
        run = Run(workload=self.workload, dbms_version=self.dbms_version, config=self.config, hardware=self.hardware)
        factors = {name: RunFactor.of(run, name, value, unit).value for name, (value, unit) in self.factors.items()}
        return cell_key(run, storage=self.storage, factors=factors)

    def children(self, run: Run) -> tuple[list[RunFactor], list[RunStorage], list[Measurement]]:
        """Unsaved rows of `run`."""
        return (
            [RunFactor.of(run, name, value, unit) for name, (value, unit) in self.factors.items()],
            [RunStorage(run=run, role=role, device=device) for role, device in self.storage.items()],
            [
                Measurement(
                    run=run, metric=number.metric, value=number.value, as_printed=number.as_printed,
                    provenance=number.provenance, note=number.note,
                )
                for number in self.numbers
            ],
        )  # fmt: skip


def store_published(wanted: Sequence[PublishedRun], *, keep_deleted: bool = False) -> Counter[str]:
    """Create, correct and restore these runs. Returns how many were `created`, `updated`, `restored`.

    Call it inside a transaction. A run that is as wanted is not written. `keep_deleted`: what somebody deleted
    stays deleted.
    """
    known = Run.objects.prefetch_related("factors", "storage", "measurements").in_bulk([run.id for run in wanted])
    changes: Counter[str] = Counter()
    new = [published for published in wanted if published.id not in known]
    created = Run.objects.bulk_create(Run(id=published.id, **published.columns()) for published in new)
    for published, run in zip(new, created, strict=True):
        _write_children(run, published)
        changes["created"] += 1
    for published in wanted:
        if published.id in known:
            changes.update(_correct(known[published.id], published, keep_deleted=keep_deleted))
    primary.refresh(Run.objects.filter(pk__in=[published.id for published in wanted]))
    return changes


def _correct(run: Run, published: PublishedRun, *, keep_deleted: bool) -> list[str]:
    columns = published.columns()
    if keep_deleted:
        del columns["deleted_at"]
    different = [name for name, value in columns.items() if getattr(run, name) != value]
    stored = (run.factors.all(), run.storage.all(), run.measurements.all())
    same_children = _marks(*stored) == _marks(*published.children(run))
    if not different and same_children:
        return []
    was_deleted = run.deleted_at is not None
    Run.objects.filter(pk=run.pk).update(**{name: columns[name] for name in different})
    if not same_children:
        for rows in (run.factors, run.storage, run.measurements):
            rows.all().delete()
        _write_children(run, published)
    return ["restored" if was_deleted and different == ["deleted_at"] and same_children else "updated"]


def _write_children(run: Run, published: PublishedRun) -> None:
    factors, storage, measurements = published.children(run)
    RunFactor.objects.bulk_create(factors)
    RunStorage.objects.bulk_create(storage)
    Measurement.objects.bulk_create(measurements)


def _marks(
    factors: Iterable[RunFactor], storage: Iterable[RunStorage], measurements: Iterable[Measurement]
) -> list[set[tuple[Any, ...]]]:
    """What makes them the same, stored or not."""
    return [
        {(row.name, row.number, row.text, row.unit) for row in factors},
        {(row.role, row.device_id) for row in storage},
        {
            (row.metric_id, row.phase, float(row.value), row.as_printed, row.provenance, row.note)
            for row in measurements
        },
    ]
