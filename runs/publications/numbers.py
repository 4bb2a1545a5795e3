"""Every number that a publication holds, flat: what it is, how its source spells it, where it stands, its origin."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any

from runs.models import Claim, Config, IndexStat, Observation, Run, TableStat
from runs.models.choices import Provenance
from runs.publications.checks.model import Check
from runs.publications.checks.records import Material


@dataclass(frozen=True)
class Number:
    """`value` is None for a gap, whose reason is the note. `label` is the id of the row in the publication's data.

    `where` is the line or part of the source's text, as far as it is known.
    """

    kind: str
    label: str
    name: str
    value: float | None
    unit: str = ""
    as_printed: str = ""
    provenance: str = Provenance.PRINTED
    where: str = ""
    formula: str = ""
    note: str = ""


HEAD = [one.name for one in fields(Number)]
_STATS = {
    "records": "records", "record_length_bytes": "bytes", "data_pages": "pages", "table_size_mb": "MB",
    "indices_size_mb": "MB", "total_percent": "%", "depth": "levels", "keys": "keys", "key_length_bytes": "bytes",
    "unique_keys": "keys", "size_mb": "MB",
}  # fmt: skip
TABLE_COLUMNS = ("records", "record_length_bytes", "data_pages", "table_size_mb", "indices_size_mb", "total_percent")
INDEX_COLUMNS = ("depth", "keys", "key_length_bytes", "unique_keys", "size_mb")


def numbers_of(material: Material, checks: Sequence[Check]) -> list[Number]:
    return [
        *_stated(material.publication.details.get("stated", [])),
        *(one for run in material.runs for one in _of_run(run)),
        *_aggregates(material),
        *(one for seen in material.observations for one in _of_observation(seen)),
        *(one for claim in material.claims for one in _of_claim(claim)),
        *(one for row in material.table_stats for one in _of_stat("table statistic", row.table, row, TABLE_COLUMNS)),
        *(one for row in material.index_stats for one in _of_stat("index statistic", row.index, row, INDEX_COLUMNS)),
        *_queries(material),
        *(one for config in material.configs for one in _of_config(config)),
        *_facts(material),
        *_machines(material),
        *(one for check in checks for one in _of_check(check)),
    ]


def row_of(number: Number) -> list[str]:
    """As a line of a CSV file, in the order of HEAD: the shortest text that reads back as the same number."""
    return ["" if one is None else repr(one).removesuffix(".0") if isinstance(one, float) else str(one)
            for one in astuple(number)]  # fmt: skip


def _stated(rows: Iterable[Mapping[str, Any]]) -> Iterator[Number]:
    for row in rows:
        value = row.get("value")
        yield Number(
            "statement", str(row.get("id")), str(row.get("what", "")), float(value) if value is not None else None,
            unit=str(row.get("unit", "")), as_printed=str(row.get("as_printed", "")), where=str(row.get("where", "")),
        )  # fmt: skip


def _of_run(run: Run) -> Iterator[Number]:
    for factor in run.factors.all():
        if isinstance(factor.value, int | float):
            yield Number("factor", run.source_id, factor.name, float(factor.value), factor.unit, str(factor.value))
    for one in run.measurements.all():
        yield Number(
            "measurement", run.source_id, one.metric.name, one.value, one.metric.unit, one.as_printed, one.provenance,
            note=one.note or run.note,
        )  # fmt: skip
    if run.missing_reason:
        yield Number(
            "measurement", run.source_id, run.missing_metric, None, provenance=run.provenance, note=run.missing_reason
        )


def _aggregates(material: Material) -> Iterator[Number]:
    units = {one.metric_id: one.metric.unit for run in material.runs for one in run.measurements.all()}
    for one in material.aggregates:
        yield Number(
            "aggregate", one.source_id, one.statistic, one.value, units.get(one.metric_id, ""), one.as_printed,
            one.provenance,
        )  # fmt: skip


def _of_observation(seen: Observation) -> Iterator[Number]:
    where, label = (
        str(seen.details.get("where", "")),
        ", ".join(f"{name} {value}" for name, value in seen.factors.items()),
    )
    ends = [("", seen.value)] if seen.value is not None else [
        (" from", seen.details.get("value_min")), (" to", seen.details.get("value_max")),
    ]  # fmt: skip
    for end, value in ends:
        if value is not None:
            yield Number(
                "observation", label, f"{seen.metric}{end}", float(value), seen.unit,
                str(seen.details.get("as_printed", "")), seen.provenance, where, note=seen.qualifier,
            )  # fmt: skip


def _of_claim(claim: Claim) -> Iterator[Number]:
    """What the claim states, bounds and ranges by their ends; without an amount one row that says so."""
    where = str(claim.details.get("where", ""))
    found: list[tuple[str, Any, str, str]] = [
        ("percent", claim.percent, "%", ""), ("ratio", claim.ratio, "×", ""),
        ("size ratio", claim.details.get("size_ratio"), "×", ""),
        ("points of A", claim.details.get("points_a"), "", ""), ("points of B", claim.details.get("points_b"), "", ""),
    ]  # fmt: skip
    found += [(f"percent, {end}", value, "%", "") for end, value in
              zip(("from", "to"), claim.details.get("percent_range") or (), strict=False)]  # fmt: skip
    for name, unit in (("ratio_as_printed", "×"), ("percent_as_printed", "%")):
        if printed := str(claim.details.get(name, "")):
            found.append((name.partition("_")[0], float(printed.lstrip("<>=")), unit, printed))
    valued = [one for one in found if one[1] is not None]
    for name, value, unit, printed in valued:
        yield Number("claim", claim.source_id, name, float(value), unit, printed, where=where, note=claim.summary)
    if not valued:
        yield Number("claim", claim.source_id, claim.metric, None, where=where, note=f"no amount: {claim.summary}")


def _of_stat(kind: str, label: str, row: TableStat | IndexStat, columns: Sequence[str]) -> Iterator[Number]:
    for column in columns:
        value = getattr(row, column)
        printed = getattr(row, f"{column}_as_printed", "")
        if value is not None:
            yield Number(kind, label, column, float(value), _STATS[column], printed)


def _queries(material: Material) -> Iterator[Number]:
    for query in material.query_stats:
        for one in query.metrics:
            if one.get("value") is not None:
                yield Number(
                    "query", f"query {query.number}", str(one["name"]), float(one["value"]), str(one.get("unit", "")),
                    str(one.get("as_printed", "")),
                )  # fmt: skip
        if query.count_result is not None:
            yield Number("query", f"query {query.number}", "count", float(query.count_result), "records")


def _of_config(config: Config) -> Iterator[Number]:
    for one in config.parameters.all():
        try:
            value: float | None = float(one.value or "")
        except ValueError:
            value = None
        yield Number(
            "parameter", config.source_id, one.name, value, one.unit, one.value or "", one.provenance,
            f"{config.file_name or 'text'}, line {one.position}", note=one.comment,
        )  # fmt: skip
    for name, value in _leaves(config.details):
        yield Number("database", config.source_id, name, value)


def _facts(material: Material) -> Iterator[Number]:
    for fact in material.facts:
        for name, value in _leaves(fact.details):
            yield Number("fact", fact.title, name, value, provenance=fact.provenance, where=fact.how)


def _machines(material: Material) -> Iterator[Number]:
    for one in material.hardware:
        if one.ram_bytes:
            yield Number("machine", one.source_id, "memory", float(one.ram_bytes), "bytes")


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, float]]:
    """(path, number) of every number of a JSON document."""
    if isinstance(value, dict):
        for name, one in value.items():
            yield from _leaves(one, f"{path} {name}".strip().replace("_", " "))
    elif isinstance(value, list):
        for position, one in enumerate(value, 1):
            yield from _leaves(one, f"{path} {position}")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, float(value)


def _of_check(check: Check) -> Iterator[Number]:
    for one in check.computed:
        yield Number(
            "check", check.number, one.label or check.title, one.value, one.unit, provenance=Provenance.COMPUTED,
            formula=one.formula, note=f"{check.result}: {check.explanation}",
        )  # fmt: skip
