"""Everything a publication's rows hold, read once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

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
)
from runs.publications.checks.model import Check
from runs.publications.checks.rows import checks_of

_QUANTIFIERS = ("all", "any", "both")
_QUANTIFIED = {"dbms": "systems", "method": "method", "disk": "disks"}


@dataclass(frozen=True)
class Material:
    """Everything a publication's rows hold, read once."""

    publication: Publication
    runs: list[Run]
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
    # The ids of the publication's data, spelt out: "fb-1.5.3" -> "Firebird 1.5.3 SuperServer".
    names: dict[str, str]
    # What the reader has chosen on the page: parameter -> value.
    chosen: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, publication: Publication, chosen: Mapping[str, str] | None = None) -> Material:
        runs = Run.objects.present().filter(publication=publication).for_lists()
        return cls(
            publication=publication,
            runs=sorted(
                (run.leave_out_if_invalid() for run in runs),
                key=lambda run: (run.order_index is None, run.order_index or 0, run.source_id),
            ),
            aggregates=list(Aggregate.objects.filter(publication=publication).prefetch_related("of")),
            claims=list(Claim.objects.filter(publication=publication)),
            observations=list(Observation.objects.filter(publication=publication).select_related("workload")),
            missing=list(MissingItem.objects.filter(publication=publication)),
            facts=list(Fact.objects.filter(publication=publication)),
            configs=list(
                Config.objects.filter(publication=publication)
                .select_related("dbms")
                .prefetch_related("parameters", "applies_to__dbms")
            ),
            hardware=list(HardwareProfile.objects.filter(publication=publication).prefetch_related("storage")),
            schemas=list(DataSchema.objects.filter(publication=publication)),
            table_stats=list(TableStat.objects.filter(publication=publication)),
            index_stats=list(IndexStat.objects.filter(publication=publication)),
            query_stats=list(QueryStat.objects.filter(publication=publication)),
            names=_names(publication),
            chosen=chosen or {},
        )

    @cached_property
    def checks(self) -> list[Check]:
        """The consistency checks, as computed at the import."""
        return checks_of(self.publication)

    def checks_of_claim(self, source_id: str) -> list[Check]:
        return [one for one in self.checks if source_id in one.claims]

    def runs_of(self, workload_id: Any) -> list[Run]:
        return [run for run in self.runs if run.workload_id == workload_id]

    def words(self, side: dict[str, Any]) -> str:
        """A side of a claim or the factors of an observation, as people say it."""
        return ", ".join(self._word(name, value) for name, value in side.items())

    def name(self, source_id: str) -> str:
        """A system, workload, method or metric by its name; what has none stays as it is."""
        return self.names.get(source_id, source_id)

    def _word(self, name: str, value: Any) -> str:
        if isinstance(value, list | tuple):
            return " and ".join(self._word("", one) for one in value)
        if value in _QUANTIFIERS and name in _QUANTIFIED:
            return f"{value} {_QUANTIFIED[name]}"
        text = self.names.get(str(value), str(value))
        if name.startswith("size_") and isinstance(value, int | float | str):
            return f"{text} {name.removeprefix('size_').upper()}"
        speaks = str(value) in self.names or name in ("", "dbms", "disk", "method", "process", "size", "database")
        text = text.replace(">=", "≥").replace("<=", "≤")
        return text if speaks else f"{name.replace('_', ' ')} {text}"


def _names(publication: Publication) -> dict[str, str]:
    names = {row.source_id: row.name for row in DbmsVersion.objects.exclude(source_id="")}
    names |= {metric.name: str(metric) for metric in Metric.objects.all()}
    for workload in publication.workloads.all():
        names[workload.source_id] = workload.name
        for method in workload.details.get("methods") or []:
            names[str(method.get("id"))] = str(method.get("label"))
    return names
