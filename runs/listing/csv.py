"""Runs as a table: one row a run, a column for each factor and each metric that any of them has."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any

from django.db.models import QuerySet

from runs.listing import csv_text
from runs.models import Measurement, Run, RunFactor

PER_FETCH = 500
COLUMNS = (
    "id", "workload", "workload_version", "dbms", "dbms_version", "architecture", "hardware", "config", "status",
    "invalid_reason", "provenance", "demonstration", "durability", "durability_doubt", "visibility", "owner", "repeat",
    "order_index", "cell_key", "experiment", "publication", "created_at", "started_at", "finished_at", "measured_on",
    "missing_reason",
)  # fmt: skip


def stream(runs: QuerySet[Run]) -> Iterator[str]:
    """The lines of the file; rows are fetched a few hundred at a time. `runs` are ordered and `for_rows`."""
    ids = runs.order_by().values("pk")
    factors = sorted(RunFactor.objects.filter(run__in=ids).order_by().values_list("name", flat=True).distinct())
    measured = Measurement.objects.filter(run__in=ids).order_by()
    metrics = sorted(measured.values_list("metric__name", "metric__unit", "phase").distinct())
    head = [*COLUMNS, *(f"factor.{name}" for name in factors), *(_heading(*metric) for metric in metrics)]
    rows = (_row(run, factors, metrics) for run in runs.iterator(chunk_size=PER_FETCH))
    return csv_text.lines(chain([head], rows))


def _heading(name: str, unit: str, phase: str) -> str:
    words = name if phase == "run" else f"{phase}.{name}"
    return f"{words} [{unit}]" if unit else words


def _row(run: Run, factors: list[str], metrics: list[tuple[str, str, str]]) -> list[Any]:
    values = {factor.name: factor.value for factor in run.factors.all()}
    numbers = {(row.metric.name, row.metric.unit, row.phase): row.value for row in run.measurements.all()}
    version = run.dbms_version
    return [
        run.id, run.workload.slug, run.workload.version, version.dbms.slug, version.version, version.architecture,
        run.hardware and run.hardware.slug, run.config and run.config.slug, run.state,
        run.invalid_reason if run.invalid_at else "", run.provenance, "yes" if run.demonstration else "no",
        run.durability, run.durability_doubt, run.visibility, run.owner and run.owner.username, run.repeat,
        run.order_index, run.cell_key, run.experiment and run.experiment.slug,
        run.publication and run.publication.slug, run.created_at.isoformat(),
        run.started_at and run.started_at.isoformat(), run.finished_at and run.finished_at.isoformat(),
        run.measured_on, run.missing_reason,
        *(values.get(name) for name in factors), *(numbers.get(metric) for metric in metrics),
    ]  # fmt: skip
