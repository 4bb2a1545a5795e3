"""A publication with all that belongs to it, as its page, its answers and its checks read it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from django.db.models import Prefetch

from runs.models import (
    Aggregate,
    Config,
    DbmsVersion,
    HardwareProfile,
    Measurement,
    Metric,
    Publication,
    Run,
    Workload,
)
from runs.models.choices import RunState
from runs.publications.check import Check, checks_of
from runs.publications.document import Statements, statements_of

_QUANTIFIERS = ("all", "any", "both")
_QUANTIFIED = {"dbms": "systems", "method": "method", "disk": "disks"}


@dataclass(frozen=True)
class Material:
    """A publication with what belongs to it, each kind read once, when it is first asked for.

    `chosen` is what the reader has chosen on the page: parameter -> value.
    """

    publication: Publication
    chosen: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def statements(self) -> Statements:
        return statements_of(self.publication)

    @cached_property
    def runs(self) -> list[Run]:
        """In the order of the source. An invalid one is a gap with its reason: it has no measurements here."""
        rows = Run.objects.present().filter(publication=self.publication).for_lists()
        counted = Prefetch("measurements", Measurement.objects.filter(run__invalid_at=None).select_related("metric"))
        rows = rows.prefetch_related(None).prefetch_related("factors", "storage__device", counted)
        runs = sorted(rows, key=lambda run: (run.order_index is None, run.order_index or 0, run.source_id))
        for run in (run for run in runs if run.invalid_at is not None):
            run.state, run.missing_reason = RunState.VALUE_MISSING, run.invalid_words
        return runs

    @cached_property
    def workloads(self) -> list[Workload]:
        return list(Workload.objects.filter(publication=self.publication))

    @cached_property
    def aggregates(self) -> list[Aggregate]:
        rows = Aggregate.objects.filter(publication=self.publication)
        return list(rows.select_related("metric", "workload", "dbms_version").prefetch_related("of"))

    @cached_property
    def alone(self) -> list[Aggregate]:
        """Printed means and medians whose repeats the article does not print: all that is known of these cells."""
        return [row for row in self.aggregates if not row.of.all()]

    @cached_property
    def configs(self) -> list[Config]:
        rows = Config.objects.filter(publication=self.publication)
        return list(rows.select_related("dbms").prefetch_related("parameters", "applies_to__dbms"))

    @cached_property
    def hardware(self) -> list[HardwareProfile]:
        return list(HardwareProfile.objects.filter(publication=self.publication).prefetch_related("storage"))

    @cached_property
    def names(self) -> dict[str, str]:
        """The ids of the publication's data, spelt out: "fb-1.5.3" -> "Firebird 1.5.3 SuperServer"."""
        names = {row.source_id: row.name for row in DbmsVersion.objects.exclude(source_id="")}
        names |= {metric.name: str(metric) for metric in Metric.objects.all()}
        names |= {workload.source_id: workload.name for workload in self.workloads}
        for method in self.methods:
            names[str(method.get("id"))] = str(method.get("label"))
        return names

    @property
    def methods(self) -> list[dict[str, Any]]:
        """Those of all workloads."""
        return [method for workload in self.workloads for method in workload.details.get("methods") or []]

    @cached_property
    def checks(self) -> list[Check]:
        """The consistency checks, as computed when the article was made."""
        return checks_of(self.publication)

    def checks_of_claim(self, source_id: str) -> list[Check]:
        return [check for check in self.checks if source_id in check.claims]

    def words(self, side: dict[str, Any]) -> str:
        """A side of a claim or the factors of an observation, as people say it."""
        return ", ".join(self._word(name, value) for name, value in side.items())

    def name(self, source_id: str) -> str:
        """A system, workload, method or metric by its name; what has none stays as it is."""
        return self.names.get(source_id, source_id)

    def _word(self, name: str, value: Any) -> str:
        if isinstance(value, list | tuple):
            return " and ".join(self._word("", inner) for inner in value)
        if value in _QUANTIFIERS and name in _QUANTIFIED:
            return f"{value} {_QUANTIFIED[name]}"
        text = self.names.get(str(value), str(value))
        if name.startswith("size_") and isinstance(value, int | float | str):
            return f"{text} {name.removeprefix('size_').upper()}"
        speaks = str(value) in self.names or name in ("", "dbms", "disk", "method", "process", "size", "database")
        text = text.replace(">=", "≥").replace("<=", "≤")
        return text if speaks else f"{name.replace('_', ' ')} {text}"
