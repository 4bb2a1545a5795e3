"""A publication's rows, as checks ask for them. Whatever is not there raises MissingInputError."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, TypeVar

from runs.models import (
    Aggregate,
    Claim,
    Config,
    Fact,
    HardwareProfile,
    IndexStat,
    Measurement,
    Observation,
    Publication,
    QueryStat,
    Run,
    TableStat,
)
from runs.publications.checks.model import Check, Input, MissingInputError, Result, Stated

T = TypeVar("T")


class Material(Protocol):
    """What runs.charts.publications.parts.Material has read already."""

    @property
    def publication(self) -> Publication: ...
    @property
    def runs(self) -> list[Run]: ...
    @property
    def aggregates(self) -> list[Aggregate]: ...
    @property
    def claims(self) -> list[Claim]: ...
    @property
    def observations(self) -> list[Observation]: ...
    @property
    def facts(self) -> list[Fact]: ...
    @property
    def configs(self) -> list[Config]: ...
    @property
    def hardware(self) -> list[HardwareProfile]: ...
    @property
    def table_stats(self) -> list[TableStat]: ...
    @property
    def index_stats(self) -> list[IndexStat]: ...
    @property
    def query_stats(self) -> list[QueryStat]: ...


@dataclass(frozen=True)
class Point:
    """One value of a series over database size."""

    size_gb: float
    value: float
    run: Run

    @property
    def test_no(self) -> int | None:
        number = self.run.factor("test_no")
        return int(number) if isinstance(number, int | float) else None


@dataclass(frozen=True)
class Rule:
    """A check, and the result that its explanation was written for; None where it follows the result itself."""

    check: Callable[[Rows], Check]
    written_for: Result | None = None


class Rows:
    def __init__(self, material: Material) -> None:
        self.material = material

    @cached_property
    def _stated(self) -> dict[str, dict[str, Any]]:
        return {str(one.get("id")): one for one in self.material.publication.details.get("stated", [])}

    def stated(self, key: str) -> Stated:
        """What the text says beside runs and claims."""
        if key not in self._stated:
            raise MissingInputError(f"the statement {key}")
        one = self._stated[key]
        value = one.get("value")
        return Stated(
            text=str(one.get("what", "")), where=str(one.get("where", "")), printed=str(one.get("as_printed", "")),
            value=float(value) if value is not None else None, unit=str(one.get("unit", "")),
        )  # fmt: skip

    def stated_input(self, key: str) -> Input:
        one = self.stated(key)
        return Input(one.text, one.number, one.unit)

    def claim(self, source_id: str) -> Claim:
        return _only(self.material.claims, lambda one: one.source_id == source_id, f"the claim {source_id}")

    def claimed(self, source_id: str) -> Stated:
        claim = self.claim(source_id)
        return Stated(text=claim.summary, where=str(claim.details.get("where", "")))

    def percent(self, source_id: str) -> float:
        return _number(self.claim(source_id).percent, f"the percentage of {source_id}")

    def ratio(self, source_id: str) -> float:
        return _number(self.claim(source_id).ratio, f"the ratio of {source_id}")

    def observation(self, metric: str, **factors: Any) -> Observation:
        def fits(one: Observation) -> bool:
            given = all(one.factors.get(name) == value for name, value in factors.items())
            return one.metric == metric and given

        return _only(self.material.observations, fits, f"the observation {metric}")

    def observed(self, metric: str, **factors: Any) -> Input:
        one = self.observation(metric, **factors)
        return Input(one.metric, _number(one.value, f"the value of {metric}"), one.unit, one.provenance)

    def bounds(self, metric: str) -> tuple[Input, Input]:
        """The lower and the upper end of an observation that is a range."""
        one = self.observation(metric)
        low, high = (_number(one.details.get(name), f"the range of {metric}") for name in ("value_min", "value_max"))
        return Input(f"{metric}, from", low, one.unit), Input(f"{metric}, to", high, one.unit)

    def measured(self, source_id: str, metric: str) -> Measurement:
        run = _only(self.material.runs, lambda one: one.source_id == source_id, f"the run {source_id}")
        return _only(list(run.measurements.all()), lambda one: one.metric.name == metric, f"{metric} of {source_id}")

    def repeats(self, version: str, **factors: Any) -> list[float]:
        """Throughput of every repeat of a system. A commit group that is not asked for is another cell."""
        found = [
            one.value
            for run in self.material.runs
            if run.dbms_version.source_id == version and run.factor("commit_group") == factors.get("commit_group")
            for one in run.measurements.all()
            if one.metric.name == "tps"
        ]
        if not found:
            raise MissingInputError(f"the repeats of {version}")
        return found

    def aggregates(self, statistic: str, version: str) -> list[Aggregate]:
        """Printed statistics of a system's repeats."""
        ids = {run.dbms_version_id for run in self.material.runs if run.dbms_version.source_id == version}
        return [
            one for one in self.material.aggregates if one.statistic == statistic and one.dbms_version_id in ids
        ]  # fmt: skip

    def points(self, metric: str, disk: str = "SATA RAID1") -> list[Point]:
        """A series over size, smallest first."""
        found = [
            Point(float(size), one.value, run)
            for run in self.material.runs
            if run.factor("disk") == disk and isinstance(size := run.factor("size_gb"), int | float)
            for one in run.measurements.all()
            if one.metric.name == metric
        ]
        if len(found) < 2:
            raise MissingInputError(f"the series of {metric}")
        return sorted(found, key=lambda point: point.size_gb)

    def config(self, source_id: str) -> Config:
        return _only(self.material.configs, lambda one: one.source_id == source_id, f"the configuration {source_id}")

    def parameters(self, source_id: str, name: str) -> list[str]:
        """Every value that a configuration gives a parameter, in order."""
        found = [one.value or "" for one in self.config(source_id).parameters.all() if one.name == name]
        if not found:
            raise MissingInputError(f"{name} in {source_id}")
        return found

    def database(self, source_id: str, *path: str) -> float:
        """A number of the described database, kept with its configuration."""
        at: Any = self.config(source_id).details.get("database", {})
        for name in path:
            at = at.get(name) if isinstance(at, dict) else None
        return _number(at, " ".join(path).replace("_", " "))

    def machine(self, source_id: str) -> HardwareProfile:
        return _only(self.material.hardware, lambda one: one.source_id == source_id, f"the machine {source_id}")

    def fact(self, title: str) -> Fact:
        return _only(self.material.facts, lambda one: one.title.startswith(title), f"the fact {title}")

    def workload(self, source_id: str) -> dict[str, Any]:
        found = {run.workload.source_id: run.workload for run in self.material.runs}
        if source_id not in found:
            raise MissingInputError(f"the workload {source_id}")
        details: dict[str, Any] = found[source_id].details
        return details

    def of_workload(self, source_id: str, name: str) -> Input:
        return Input(name.replace("_", " "), _number(self.workload(source_id).get(name), f"{name} of {source_id}"))

    def table(self, name: str) -> TableStat:
        return _only(self.material.table_stats, lambda one: one.table == name, f"the table {name}")

    def index(self, name: str) -> IndexStat:
        return _only(self.material.index_stats, lambda one: one.index == name, f"the index {name}")

    def query(self, number: int) -> QueryStat:
        return _only(self.material.query_stats, lambda one: one.number == number, f"query {number}")

    def query_number(self, number: int, metric: str) -> Input:
        found = [one for one in self.query(number).metrics if one.get("name") == metric]
        if not found:
            raise MissingInputError(f"{metric} of query {number}")
        value = _number(found[0].get("value"), f"{metric} of query {number}")
        return Input(f"{metric.replace('_', ' ')} of query {number}", value, str(found[0].get("unit", "")))


def _only(rows: Sequence[T], fits: Callable[[T], bool], name: str) -> T:
    for row in rows:
        if fits(row):
            return row
    raise MissingInputError(name)


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise MissingInputError(name)
    return float(value)


def number_of(value: Any, name: str) -> float:
    """A number of a row that may be null. Raises MissingInputError."""
    return _number(value, name)
