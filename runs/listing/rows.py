"""Runs as rows: of a list, and of a file with a column for each factor and each metric that any of them has."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import chain
from typing import Any

from django.db.models import QuerySet
from django.db.models.fields.json import KeyTransform

from runs.formatting import quantity
from runs.models import Measurement, Run, RunFactor
from runs.models.choices import StorageRole
from runs.run.durability import KEY, judgement
from runs.run.facets import TESTED, context_facets, device_words, facets, factor_facets, tested_words
from runs.run.number import headline_numbers, primary_number, why_no_number

# Of little use for telling rows apart.
_NOT_IN_ROWS = frozenset({"factor:warm_up_s"})
# What says which run it is.
_NAMING = frozenset({"workload", "dbms", "factor", "hardware", "storage", "config"})
# So many rows of the file are fetched at once.
PER_FETCH = 500
# What a row is given of the run's statistics, which are too long to be read for it.
STORED = "stored_durability"
COLUMNS = (
    "id", "workload", "workload_version", "dbms", "dbms_version", "architecture", "hardware", "config", "status",
    "invalid_reason", "provenance", "demonstration", "durability", "durability_doubt", "durability_promised",
    "durability_storage", "durability_observed", "visibility", "owner", "repeat",
    "order_index", "cell_key", "batch", "label", "tags", *TESTED, "experiment", "publication",
    "created_at", "started_at", "finished_at", "measured_on",
    "missing_reason", "measured_at", "measured_at_precision",
)  # fmt: skip


class RunRow:
    """A row of a list. Reads prefetched rows only (`Run.objects.for_lists()`)."""

    def __init__(self, run: Run) -> None:
        self.run = run

    @cached_property
    def numbers(self) -> list[Measurement]:
        """Its result in one line, the primary one first."""
        return headline_numbers(self.run)

    @property
    def measurement(self) -> Measurement | None:
        return next(iter(self.numbers), None)

    @cached_property
    def gap(self) -> str:
        """Why there is no number; empty when there is one or may still come."""
        return "" if self.measurement or self.run.is_open else why_no_number(self.run)

    @cached_property
    def batch_words(self) -> str:
        """What tells its batch from others beside its tags: version tested, label (not that of its experiment)."""
        label = self.run.effective_label
        named = self.run.experiment is not None and str(self.run.experiment) == label
        return " · ".join(filter(None, ("" if named else label, tested_words(self.run))))

    @cached_property
    def factors(self) -> str:
        stated = [facet for facet in factor_facets(self.run) if facet.field not in _NOT_IN_ROWS]
        return " · ".join(facet.text for facet in (*stated, *context_facets(self.run)))

    @cached_property
    def setup_words(self) -> str:
        """The disks, the one of the data first, and the configuration: two rows may differ in nothing else."""
        uses = sorted(self.run.storage.all(), key=lambda use: (use.role != StorageRole.DATA, use.role))
        config = [self.run.config.name] if self.run.config else []
        return " · ".join(dict.fromkeys([*map(device_words, uses), *config]))


def exported(runs: QuerySet[Run]) -> Iterator[list[Any]]:
    """The names of the columns, then a row of each run, fetched a few hundred at a time.

    `runs` are ordered and `for_rows`. What becomes of them is the exporter's.
    """
    ids = runs.order_by().values("pk")
    factors = sorted(RunFactor.objects.filter(run__in=ids).order_by().values_list("name", flat=True).distinct())
    measured = Measurement.objects.filter(run__in=ids).order_by()
    metrics = sorted(measured.values_list("metric__name", "metric__unit", "phase").distinct())
    headings = [
        f"{name if phase == 'run' else f'{phase}.{name}'}{f' [{unit}]' if unit else ''}"
        for name, unit, phase in metrics
    ]
    head = [*COLUMNS, *(f"factor.{name}" for name in factors), *headings]
    judged = runs.annotate(**{STORED: KeyTransform(KEY, "statistics")})
    return chain([head], (_row(run, factors, metrics) for run in judged.iterator(chunk_size=PER_FETCH)))


def _statements(run: Run) -> list[str]:
    """Class and reason of each."""
    judged = judgement(run, getattr(run, STORED) or {})
    statements = (judged.promised, judged.storage, judged.observed)
    return [f"{statement.durability or 'not known'}: {statement.reason}" for statement in statements]


def _row(run: Run, factors: list[str], metrics: list[tuple[str, str, str]]) -> list[Any]:
    values = run.factor_values
    numbers = {(row.metric.name, row.metric.unit, row.phase): row.value for row in run.measurements.all()}
    version = run.dbms_version
    return [
        run.id, run.workload.slug, run.workload.version, version.dbms.slug, version.version, version.architecture,
        run.hardware and run.hardware.slug, run.config and run.config.slug, run.state,
        run.invalid_reason if run.invalid_at else "", run.provenance, "yes" if run.demonstration else "no",
        run.durability, run.durability_doubt, *_statements(run), run.visibility, run.owner and run.owner.username,
        run.repeat, run.order_index, run.cell_key, run.batch_id, run.effective_label, " ".join(run.effective_tags),
        *(run.effective_tested.get(name) for name in TESTED), run.experiment and run.experiment.slug,
        run.publication and run.publication.slug, run.created_at.isoformat(),
        run.started_at and run.started_at.isoformat(), run.finished_at and run.finished_at.isoformat(),
        run.measured_on, run.missing_reason, run.measured_at and run.measured_at.isoformat(), run.measured_at_precision,
        *(values.get(name) for name in factors), *(numbers.get(metric) for metric in metrics),
    ]  # fmt: skip


def in_words(run: Run) -> str:
    """Which run it is, for who no longer sees it among its like. Reads what `for_lists` holds."""
    named = (facet.text for facet in facets(run).values() if facet.field.partition(":")[0] in _NAMING)
    value = primary_number(run)
    number = quantity(value.value, value.metric.unit) if value else ""
    day = f"measured {run.measured_at:%Y-%m-%d}" if run.measured_at else ""
    return " · ".join(filter(None, [*named, f"repeat {run.repeat}", day, number]))
