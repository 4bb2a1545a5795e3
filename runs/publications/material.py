"""Everything a publication's rows hold, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from django.db.models import Model, QuerySet

from runs.models import (
    Aggregate,
    Claim,
    Config,
    DataSchema,
    DbmsVersion,
    Fact,
    HardwareProfile,
    IndexStat,
    Metric,
    MissingItem,
    Observation,
    Publication,
    QueryStat,
    Run,
    TableStat,
    Workload,
)
from runs.publications.check import Check, checks_of

M = TypeVar("M", bound=Model)
_QUANTIFIERS = ("all", "any", "both")
_QUANTIFIED = {"dbms": "systems", "method": "method", "disk": "disks"}


@dataclass(frozen=True)
class Material:
    """`chosen` is what the reader has chosen on the page: parameter -> value."""

    publication: Publication
    runs: list[Run]
    workloads: list[Workload]
    aggregates: list[Aggregate]
    claims: list[Claim]
    observations: list[Observation]
    missing: list[MissingItem]
    facts: list[Fact]
    configs: list[Config]
    hardware: list[HardwareProfile]
    schemas: list[DataSchema]
    table_stats: list[TableStat]
    index_stats: list[IndexStat]
    query_stats: list[QueryStat]
    chosen: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, publication: Publication, chosen: Mapping[str, str] | None = None) -> Material:
        def rows(model: type[M]) -> QuerySet[M]:
            return model._default_manager.filter(publication=publication)

        runs = Run.objects.present().filter(publication=publication).for_lists()
        return cls(
            publication=publication,
            runs=sorted(
                (run.leave_out_if_invalid() for run in runs),
                key=lambda run: (run.order_index is None, run.order_index or 0, run.source_id),
            ),
            workloads=list(rows(Workload)),
            aggregates=list(rows(Aggregate).prefetch_related("of")),
            claims=list(rows(Claim)),
            observations=list(rows(Observation).select_related("workload")),
            missing=list(rows(MissingItem)),
            facts=list(rows(Fact)),
            configs=list(rows(Config).select_related("dbms").prefetch_related("parameters", "applies_to__dbms")),
            hardware=list(rows(HardwareProfile).prefetch_related("storage")),
            schemas=list(rows(DataSchema)),
            table_stats=list(rows(TableStat)),
            index_stats=list(rows(IndexStat)),
            query_stats=list(rows(QueryStat)),
            chosen=chosen or {},
        )

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
