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
from runs.results.rows import FactorValue, factor_row
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
    factors: dict[str, tuple[FactorValue, str]] = field(default_factory=dict)
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
        return cell_key(run, storage=self.storage, factors={row.name: row.value for row in self.factor_rows(run)})

    def factor_rows(self, run: Run) -> list[RunFactor]:
        return [factor_row(run, name, value, unit) for name, (value, unit) in self.factors.items()]


def store_published(wanted: Sequence[PublishedRun], *, keep_deleted: bool = False) -> Counter[str]:
    """Create, correct and restore these runs. Returns how many were `created`, `updated`, `restored`.

    Call it inside a transaction. A run that is as wanted is not written. `keep_deleted`: what somebody deleted
    stays deleted.
    """
    found = Run.objects.prefetch_related("factors", "storage", "measurements").in_bulk([run.id for run in wanted])
    changes: Counter[str] = Counter()
    new = [one for one in wanted if one.id not in found]
    created = Run.objects.bulk_create(Run(id=one.id, **one.columns()) for one in new)
    for one, run in zip(new, created, strict=True):
        _write_children(run, one)
        changes["created"] += 1
    for one in wanted:
        if one.id in found:
            changes.update(_correct(found[one.id], one, keep_deleted=keep_deleted))
    primary.refresh(Run.objects.filter(pk__in=[one.id for one in wanted]))
    return changes


def _correct(run: Run, one: PublishedRun, *, keep_deleted: bool) -> list[str]:
    columns = one.columns()
    if keep_deleted:
        del columns["deleted_at"]
    different = [name for name, value in columns.items() if getattr(run, name) != value]
    same_children = _children_of(run) == _children_wanted(one)
    if not different and same_children:
        return []
    was_deleted = run.deleted_at is not None
    Run.objects.filter(pk=run.pk).update(**{name: columns[name] for name in different})
    if not same_children:
        for rows in (run.factors, run.storage, run.measurements):
            rows.all().delete()
        _write_children(run, one)
    return ["restored" if was_deleted and different == ["deleted_at"] and same_children else "updated"]


def _write_children(run: Run, one: PublishedRun) -> None:
    RunFactor.objects.bulk_create(one.factor_rows(run))
    RunStorage.objects.bulk_create(
        RunStorage(run=run, role=role, device=device) for role, device in one.storage.items()
    )
    Measurement.objects.bulk_create(
        Measurement(
            run=run, metric=number.metric, value=number.value, as_printed=number.as_printed,
            provenance=number.provenance, note=number.note,
        )
        for number in one.numbers
    )  # fmt: skip


def _children_of(run: Run) -> list[set[tuple[Any, ...]]]:
    return [
        {_factor_key(row) for row in run.factors.all()},
        {(row.role, row.device_id) for row in run.storage.all()},
        {
            (row.metric_id, row.phase, row.value, row.as_printed, row.provenance, row.note)
            for row in run.measurements.all()
        },
    ]


def _children_wanted(one: PublishedRun) -> list[set[tuple[Any, ...]]]:
    return [
        _keys(one.factor_rows(Run())),
        {(role, device.id) for role, device in one.storage.items()},
        {
            (number.metric.id, "run", float(number.value), number.as_printed, number.provenance, number.note)
            for number in one.numbers
        },
    ]


def _keys(rows: Iterable[RunFactor]) -> set[tuple[Any, ...]]:
    return {_factor_key(row) for row in rows}


def _factor_key(row: RunFactor) -> tuple[Any, ...]:
    return (row.name, row.number, row.text, row.unit)
