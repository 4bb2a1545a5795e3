"""Reports of importers and what a person said about them, as documents of the upload schema."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from benchagent.catalog import METRICS, WORKLOADS
from benchagent.importers import Metric, Report, Series, Status

from runs.results.document import SCHEMA_VERSION

# The catalogue's word for what tools call the average.
_CATALOGUE_NAMES = {"latency_avg_ms": "latency_mean_ms"}
_OUTCOMES = {Status.COMPLETE: "finished", Status.ABORTED: "aborted", Status.FAILED: "failed"}
_FROM_SUBJECT = ("config", "storage", "durability", "visibility", "note", "context")


@dataclass
class Cell:
    """Reports that are repeats of each other: one document."""

    reports: list[Report] = field(default_factory=list)
    files: list[str] = field(default_factory=list)


def cells(wanted: Iterable[tuple[str, Report]]) -> list[Cell]:
    """Repeats put together, in the order of the files. What did not end well stands alone."""
    found: dict[str, Cell] = {}
    for number, (name, report) in enumerate(wanted):
        alone = number if report.status is not Status.COMPLETE else None
        subject = report.subject
        key = json.dumps(
            [alone, report.tool, report.tool_version, subject.workload, subject.dbms, subject.dbms_version,
             report.parameters],
            sort_keys=True,
        )  # fmt: skip
        cell = found.setdefault(key, Cell())
        cell.reports.append(report)
        cell.files.append(name)
    return list(found.values())


def document(cell: Cell, subject: dict[str, Any], *, upload_id: uuid.UUID) -> dict[str, Any]:
    """One document; whatever is still missing is missing in it too, and named when it is stored."""
    first = cell.reports[0]
    made: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "id": str(upload_id),
        "workload": _workload(first, subject),
        "dbms": dbms_of(first, subject),
        "factors": _factors(first) | subject.get("factors", {}),
        "outcome": _OUTCOMES[first.status],
        "message": first.reason,
        "driver": {"name": first.tool, "version": first.tool_version},
        "command_lines": list(dict.fromkeys(line for report in cell.reports for line in report.command_lines)),
        "warnings": list(dict.fromkeys(text for report in cell.reports for text in report.warnings)),
        "info": {**subject.get("info", {}), "files": cell.files},
        "repeats": [_repeat(report) for report in cell.reports],
    }
    made |= {name: subject[name] for name in _FROM_SUBJECT if name in subject}
    if "hardware" in subject:
        made["hardware"] = subject["hardware"]
    return made | _config(first, made) | _when(first, subject)


def dbms_of(report: Report, subject: dict[str, Any]) -> dict[str, str]:
    """The file's own words first; a storage benchmark that knows no DBMS stands under the tool's name."""
    given = subject.get("dbms", {})
    name, version = report.subject.dbms or given.get("name", ""), report.subject.dbms_version
    if not version and given.get("name", name).casefold() in (name.casefold(), ""):
        # A version belongs to the DBMS that it was said of.
        version = given.get("version", "")
    if report.subject.workload.startswith("fio"):
        name, version = report.tool, report.tool_version or "not stated"
    made = {"name": name, "version": version}
    return made | ({"architecture": given["architecture"]} if given.get("architecture") else {})


def _workload(report: Report, subject: dict[str, Any]) -> dict[str, str]:
    """The file's own words first, then what the person says."""
    slug = report.subject.workload
    if not slug:
        return {"kind": report.tool, **subject.get("workload", {})}
    if slug in WORKLOADS:
        entry = WORKLOADS[slug]
        return {"slug": slug, "name": entry.name, "version": entry.version}
    return {"slug": slug, "name": report.subject.workload_name or slug, "kind": report.tool}


def _factors(report: Report) -> dict[str, Any]:
    return {
        name: ("on" if value else "off") if isinstance(value, bool) else value
        for name, value in report.parameters.items()
        if value != ""
    }


def _config(report: Report, made: dict[str, Any]) -> dict[str, Any]:
    if "config" in made or not report.subject.settings:
        return {}
    return {"config": [{"name": name, "value": value} for name, value in report.subject.settings]}


def _when(report: Report, subject: dict[str, Any]) -> dict[str, str]:
    """A time with a zone is a time; without one only its date is certain."""
    if "measured_on" in subject:
        return {"measured_on": subject["measured_on"]}
    text = report.started_at
    if len(text) > 10 and (text.endswith("Z") or "+" in text[10:] or "-" in text[10:]):
        return {"started_at": text}
    return {"measured_on": text[:10]} if text else {}


def _repeat(report: Report) -> dict[str, Any]:
    repeat: dict[str, Any] = {
        "metrics": [_metric(metric) for metric in report.metrics],
        "series": [_series(one) for one in report.series],
    }
    return repeat | ({"histogram": report.histogram} if report.histogram else {})


def _metric(metric: Metric) -> dict[str, Any]:
    name = _CATALOGUE_NAMES.get(metric.name, metric.name)
    made = {"name": name, "unit": metric.unit, "value": metric.value, "phase": metric.phase}
    # The catalogue knows the direction of its own.
    return made | ({"better": metric.better} if metric.better and name not in METRICS else {})


def _series(one: Series) -> dict[str, Any]:
    return {
        "name": _CATALOGUE_NAMES.get(one.name, one.name), "unit": one.unit, "t0_s": one.t0_s,
        "interval_s": one.interval_s, "values": list(one.values),
    }  # fmt: skip
