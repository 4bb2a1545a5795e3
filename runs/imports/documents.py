"""What a person said about files, and with it the importers' reports as documents of the upload schema."""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC
from types import MappingProxyType
from typing import Annotated, Any

from benchagent.catalog import METRICS, NO_RESULT, WORKLOADS
from benchagent.importers import Report, Status
from benchagent.importers.report import DRIVER, VISIBILITIES, Item, Subject, becomes_a_run, dbms_of, headline, speaks_to
from django.utils.dateparse import parse_datetime
from pydantic import Field
from rest_framework.exceptions import ValidationError

from runs.access.rules import default_visibility
from runs.formatting import joined
from runs.incoming.reading import parse_json, read
from runs.incoming.values import Day, Given, Labels, NewSlug, Prose, Strict, Text
from runs.results.document import (
    CATALOGUE_NAMES,
    SCHEMA_VERSION,
    Config,
    Durability,
    Factors,
    HardwareOrSlug,
    UploadStorage,
    WhoMaySee,
)
from runs.results.remarks import are_far_apart, far_apart_words, other_driver_words

_FROM_SUBJECT = (
    "hardware", "config", "storage", "durability", "visibility", "note", "context", "label", "tags", "tested",
)  # fmt: skip
_SLUG = re.compile(r"[-a-z0-9_]{1,100}")


class DbmsSubject(Strict):
    """Fills in what the files do not say."""

    name: Annotated[str, Text(200, least=0)] = ""
    version: Annotated[str, Text(120, least=0)] = ""
    architecture: Annotated[str, Text(60, least=0)] = ""


class WorkloadSubject(Strict):
    slug: NewSlug
    name: Given[Annotated[str, Text(200)]] = None


class FileSubject(Strict):
    """What is said of one file."""

    dbms: DbmsSubject = DbmsSubject()
    factors: Factors = {}
    measured_on: Given[Day] = None


class ImportSubject(Labels):
    """Everything optional: what is missing is told when the import is stored."""

    hardware: Given[HardwareOrSlug] = None
    dbms: Given[DbmsSubject] = None
    workload: Given[WorkloadSubject] = None
    config: Given[Config] = None
    storage: Annotated[list[UploadStorage], Field(max_length=20)] = []
    factors: Factors = {}
    durability: Given[Durability] = None
    measured_on: Given[Day] = None
    visibility: Given[WhoMaySee] = None
    commit_numbers: Annotated[
        dict[str, str], Field(max_length=20_000, description="for commits that the files name: commit -> its number")
    ] = {}
    note: Prose = ""
    context: dict[str, Any] = {}
    info: dict[str, Any] = {}
    mapping: Annotated[
        dict[str, dict[str, Any]], Field(description="for CSV: name of the file -> which column is what")
    ] = {}
    files: Annotated[
        dict[str, FileSubject],
        Field(description="what is said of one file alone, by its name: its DBMS and version, its factors, its day"),
    ] = {}
    leave_out: Annotated[
        list[Annotated[int, Field(ge=0)]], Field(description="`index` of items that are not wanted")
    ] = []
    failures_expected: Annotated[
        list[Annotated[int, Field(ge=0)]],
        Field(description="`index` of items of YCSB whose failures belong to the workload, as reads of missing keys"),
    ] = []


def checked(given: Any, *, before: dict[str, Any] | None = None) -> dict[str, Any]:
    """What was said before with what is said now, as JSON that can be kept. Raises ValidationError naming the field."""
    if not isinstance(given, dict):
        raise ValidationError({"subject": ["An object is required."]})
    subject = (before or {}) | given
    read(ImportSubject, subject)
    return subject


def from_text(text: str) -> Any:
    """A subject that came as a field of a form. Raises ValidationError when it is not JSON."""
    if not text.strip():
        return {}
    try:
        return parse_json(text)
    except ValueError as error:
        raise ValidationError({"subject": [f"Not JSON: {error}"]}) from error


# Names of files with what was read of each: reports that are repeats of each other are one document.
Repeats = list[tuple[str, Report]]


def repeats_of(reports: Repeats, said: Mapping[str, Any] = MappingProxyType({})) -> list[Repeats]:
    """Repeats put together, in the order of the files. What did not end well stands alone. `said`: the subject."""
    by_key: dict[str, Repeats] = {}
    for number, (name, report) in enumerate(reports):
        alone = f"{number} " if report.status is not Status.COMPLETE else ""
        by_key.setdefault(alone + _cell(name, report, said), []).append((name, report))
    return list(by_key.values())


def _cell(file: str, report: Report, said: Mapping[str, Any]) -> str:
    """Equal for repeats of each other: those of one day."""
    dbms = dbms_of(report.subject, report.tool, report.tool_version, said, file)
    of_file = said.get("files", {}).get(file, {})
    day = _day(report.started_at) or of_file.get("measured_on", "")
    subject = report.subject
    told = [
        report.tool, report.tool_version, subject.workload, subject.machine, dbms, report.parameters, report.tested,
        of_file.get("factors", {}), report.visibility, day,
    ]  # fmt: skip
    return json.dumps(told, sort_keys=True)


def _day(started_at: str) -> str:
    """In UTC, by which days are told; empty where it is not said."""
    moment = parse_datetime(started_at)
    return str(moment.astimezone(UTC).date()) if moment and moment.tzinfo else started_at[:10]


_OF_CELL = ("workload", "dbms", "dbms_version", "machine")


def repeated(items: Iterable[Item], said: Mapping[str, Any]) -> list[list[Item]]:
    """Entries of a preview that would be stored as repeats of each other, of each cell that has several."""
    by_key: dict[str, list[Item]] = {}
    for item in items:
        if item["status"] == Status.COMPLETE and becomes_a_run(item, said):
            workload, dbms, version, machine = (item["subject"].get(name) or "" for name in _OF_CELL)
            told = Report(
                item["tool"] or "", tool_version=item["tool_version"] or "", parameters=item["parameters"],
                subject=Subject(workload, dbms=dbms, dbms_version=version, machine=machine),
                tested=item["tested"], visibility=item.get("visibility") or "", started_at=item["started_at"] or "",
            )  # fmt: skip
            by_key.setdefault(_cell(item["file"], told, said), []).append(item)
    return [cell for cell in by_key.values() if len(cell) > 1]


def remarks(items: Iterable[Item], said: Mapping[str, Any]) -> list[str]:
    """What a person is told before they are stored: repeats that lie several times apart, entries of several tools."""
    kept = [item for item in items if becomes_a_run(item, said)]
    tools = sorted({item["tool"] or "" for item in kept})
    mixed = f"The entries are of {joined(tools)}: what is said of configuration, disks and label counts for all of them"
    words = [mixed] if len(tools) > 1 else []
    for cell in repeated(kept, said):
        rates = [first[0] for item in cell if (first := headline(item["metrics"]))]
        values = [metric["value"] for metric in rates]
        if len({metric["name"] for metric in rates}) == 1 and are_far_apart(values):
            words.append(far_apart_words(len(cell), min(values), max(values), rates[0]["name"]))
    for item in kept:
        driver, own = str(item["parameters"].get(DRIVER, "")), Subject(dbms=item["subject"]["dbms"] or "")
        name, _ = dbms_of(own, item["tool"] or "", "", said, item["file"])
        if not speaks_to(driver, name):
            words.append(f"{item['file']}: {other_driver_words(driver, name)}")
    return words


def may_fail_by_intent(tool: str | None, reason: str | None) -> bool:
    """Whether only the rule of 1 % fails it, and a person may know better: YCSB reads keys that do not exist."""
    return tool == "ycsb" and (reason or "").endswith(NO_RESULT)


def with_failures_expected(report: Report) -> Report:
    """A report that only the rule of 1 % failed, as one of a run that came to its end."""
    if not may_fail_by_intent(report.tool, report.reason):
        return report
    words = f"{report.reason}; whoever sent it says that they belong to the workload"
    return replace(report, status=Status.COMPLETE, reason="", warnings=(*report.warnings, words))


def document(repeats: Repeats, subject: dict[str, Any], *, upload_id: uuid.UUID) -> dict[str, Any]:
    """One document; whatever is still missing is missing in it too, and named when it is stored."""
    files, reports = [file for file, _ in repeats], [report for _, report in repeats]
    first = reports[0]
    name, version = dbms_of(first.subject, first.tool, first.tool_version, subject, files[0])
    architecture = subject.get("dbms", {}).get("architecture")
    factors: dict[str, Any] = {
        factor: ("on" if value else "off") if isinstance(value, bool) else value
        for factor, value in first.parameters.items()
        if value != ""
    }
    for file in {*files}:
        for column in subject.get("mapping", {}).get(file, {}).get("columns", []):
            if column.get("compared_as") and column["name"] in factors:
                factors[column["name"]] = {"value": factors[column["name"]], "role": column["compared_as"]}
    made: dict[str, Any] = {
        "schema_version": SCHEMA_VERSION,
        "id": str(upload_id),
        "workload": _workload(first, subject),
        "dbms": {"name": name, "version": version} | ({"architecture": architecture} if architecture else {}),
        "factors": factors | subject.get("factors", {}) | subject.get("files", {}).get(files[0], {}).get("factors", {}),
        # No file tells whether a person or an error ended the run.
        "outcome": "finished" if first.status is Status.COMPLETE else "failed",
        "message": first.reason,
        "driver": {"name": first.tool, "version": first.tool_version},
        "command_lines": list(dict.fromkeys(line for report in reports for line in report.command_lines)),
        "warnings": list(dict.fromkeys(text for report in reports for text in report.warnings)),
        "info": {**subject.get("info", {}), "files": files},
        "repeats": [_repeat(report) for report in reports],
    }
    if first.subject.settings:
        made["config"] = [{"name": setting, "value": value} for setting, value in first.subject.settings]
    if first.started_at:
        made["started_at"] = first.started_at
    # Said for files that do not tell it.
    day = subject.get("files", {}).get(files[0], {}).get("measured_on") or subject.get("measured_on")
    if day and not any(report.started_at for report in reports):
        made["measured_on"] = day
    made |= {field: subject[field] for field in _FROM_SUBJECT if field in subject}
    if machine := first.subject.machine:
        made["hardware"] = {"name": machine, **({"slug": machine} if _SLUG.fullmatch(machine) else {})}
    if first.visibility:  # nobody else sees what its file keeps from them
        said = made.get("visibility") or default_visibility()
        made["visibility"] = max(first.visibility, said, key=VISIBILITIES.index)
    # What a person says, else what the file names; with the place of its commit in the list that was sent.
    tested = {**first.tested, **subject.get("tested", {})}
    number = subject.get("commit_numbers", {}).get(tested.get("commit", ""))
    if number and not tested.get("commit_number"):
        tested["commit_number"] = number
    return made | ({"tested": tested} if tested else {})


def _workload(report: Report, subject: dict[str, Any]) -> dict[str, str]:
    """The file's own words first, then what the person says."""
    slug = report.subject.workload
    if not slug:
        return {"kind": report.tool, **subject.get("workload", {})}
    if slug in WORKLOADS:
        entry = WORKLOADS[slug]
        return {"slug": slug, "name": entry.name, "version": entry.version}
    return {"slug": slug, "name": report.subject.workload_name or slug, "kind": report.tool}


def _repeat(report: Report) -> dict[str, Any]:
    metrics = []
    for metric in report.metrics:
        name = CATALOGUE_NAMES.get(metric.name, metric.name)
        # The catalogue knows the direction of its own.
        better = {"better": metric.better} if metric.better and name not in METRICS else {}
        metrics.append({"name": name, "unit": metric.unit, "value": metric.value, "phase": metric.phase, **better})
    series = [
        {
            "name": CATALOGUE_NAMES.get(row.name, row.name), "unit": row.unit, "t0_s": row.t0_s,
            "interval_s": row.interval_s, "values": list(row.values),
        }
        for row in report.series
    ]  # fmt: skip
    latencies = {"histogram": report.histogram, "latency_map": report.latency_map}
    fields = latencies | {"started_at": report.started_at}
    return {"metrics": metrics, "series": series, **{name: value for name, value in fields.items() if value}}
