"""JSON of the jobs database: `hammerdb-job-report-v1`, and the answers `jobs … result|timing|tcount|output`."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from benchagent.importers.hammerdb.log import counted, log_reports
from benchagent.importers.hammerdb.profile import RANKS, SEEN_BY_USERS, SUBJECT, checked_metrics, procedure_metrics
from benchagent.importers.hammerdb.run import result_metrics
from benchagent.importers.hammerdb.times import spaced, time_of
from benchagent.importers.report import Metric, Report, Series, Subject, dbms_called, rising
from benchagent.importers.source import NotUnderstood, SourceFile, number, object_in, once, whole
from benchagent.redaction import redact_text

SCHEMA = "hammerdb-job-report-v1"
NO_ZONE = "HammerDB's times carry no time zone"
_TIMING = {
    "calls": "CALLS", "min_ms": "MIN", "avg_ms": "AVG", "max_ms": "MAX", "total_ms": "TOTAL", "p99_ms": "P99",
    "p95_ms": "P95", "p75_ms": "P75", "p50_ms": "P50", "p25_ms": "P25", "ratio_pct": "RATIO",
}  # fmt: skip
_PARAMETERS = {
    "warehouses": ("warehouses", 1), "rampup_minutes": ("ramp_up_s", 60), "duration_minutes": ("duration_s", 60),
    "active_virtual_users": ("terminals", 1),
}  # fmt: skip
_MACHINE = {
    ("cpu_percent", "usr_pct"): "cpu_user_percent", ("cpu_percent", "sys_pct"): "cpu_system_percent",
    ("cpu_percent", "irq_pct"): "cpu_irq_percent", ("cpu_percent", "idle_pct"): "cpu_idle_percent",
    ("iops", "value"): "iops", ("mbps", "value"): "disk_mb_per_s",
}  # fmt: skip
_COUNTER = re.compile(r"^(?P<dbms>[\w ]+?) (?P<unit>tpm|qph)$")
_HARDWARE = ("cpumodel", "cpucount", "memory", "system_vendor", "system_type", "os_name", "storage", "nic")
_MARKS = (
    r'^\[\s*"[^"]*"\s*,[^\x00]*"Vuser \d+:(?:RUNNING|FINISHED)',
    r'^\{\s*"[\w ]+ (?:tpm|qph)":\s*\{',
    r'^\{\s*"[A-Z]+":\s*\{\s*"elapsed_ms"',
)


@once
def json_of(file: SourceFile) -> Any:
    """The JSON of a file that is HammerDB's; None for any other file. Raises NotUnderstood for a cut one."""
    text = file.text.strip()
    if not text.startswith(("{", "[")):
        return None
    ours = SCHEMA in text[:400] or "TEST RESULT : System achieved" in text or '"Geometric mean of query times' in text
    if not ours and not any(re.search(mark, text) for mark in _MARKS):
        return None
    try:
        return json.loads(text)
    except ValueError as error:
        if text.count("\n") and not text.endswith(("}", "]")) and SCHEMA not in text[:400] and "hammerdb>" in text:
            return None
        raise NotUnderstood(f"broken JSON: {error}") from error


def job_reports(content: Any) -> list[Report]:
    if isinstance(content, dict) and content.get("schema") == SCHEMA:
        return [_job_report(content)]
    if isinstance(content, list) and all(isinstance(item, str) for item in content):
        return _result(content)
    if isinstance(content, dict) and content and all(isinstance(value, dict) for value in content.values()):
        counters = [match for name in content if (match := _COUNTER.match(name))]
        if len(counters) == len(content):
            return [*map(_counter, counters, content.values())]
        metrics = checked_metrics({name: _figures(row) for name, row in content.items()})
        return [Report("hammerdb", metrics=metrics, warnings=(SEEN_BY_USERS,), subject=SUBJECT)]
    raise NotUnderstood("JSON of HammerDB of an unknown form")


def _result(lines: list[str]) -> list[Report]:
    """[jobid, timestamp, "4 Active Virtual Users configured", "TEST RESULT : …"], or all output as pairs."""
    text: list[str] = []
    for speaker, line in zip(["", *lines], lines, strict=False):
        if not re.fullmatch(r"\d{1,4}", line):
            is_user = re.fullmatch(r"[1-9]\d{0,3}", speaker)
            text.append(f"Vuser {speaker}:{line}" if is_user and not line.startswith("Vuser") else line)
    reports = log_reports(SourceFile("jobs", ("\n".join(text) + "\n").encode()))
    if len(reports) != 1:
        raise NotUnderstood("an answer of jobs without one result")
    return reports


def _counter(counter: re.Match[str], points: dict[str, Any]) -> Report:
    if not points:
        raise NotUnderstood("an empty transaction counter")
    samples = [(time_of(stamp)[0], number(str(value))) for stamp, value in points.items()]
    report = counted(samples, counter["unit"], counter["dbms"], samples[0][0].isoformat())
    return replace(report, warnings=(*report.warnings, NO_ZONE))


def _figures(row: dict[str, Any]) -> dict[str, float]:
    return {word: number(str(row[name])) for name, word in _TIMING.items() if row.get(name) not in (None, "")}


def _count(content: dict[str, Any], name: str) -> int | None:
    value = content.get(name)
    return None if value in (None, "") else whole(str(value))


def _job_report(content: dict[str, Any]) -> Report:
    job, result, config, system = (object_in(content, name) for name in ("job", "result", "benchmark_config", "system"))
    if job.get("benchmark") == "TPROC-H":
        raise NotUnderstood("a job report of TPROC-H; send the log of its virtual users, which has every query")
    warnings, nopm, tpm = [NO_ZONE], _count(result, "nopm"), _count(result, "tpm")
    for row in _rows(result, "chart_data"):
        figure = {"NOPM": nopm or 0, "TPM": tpm or 0}.get(str(row.get("metric")))
        if figure is not None and not math.isclose(number(str(row.get("value"))), figure, rel_tol=1e-6):
            raise NotUnderstood("result and its chart_data say different figures")
    metrics = () if nopm is None else result_metrics(nopm, tpm, "the DBMS", warnings)
    reason, failure = "" if metrics else "the job has no result", "no new orders in the whole test" if nopm == 0 else ""
    metrics += tuple(_response_times(object_in(content, "response_times")))
    series = [
        *_counts(object_in(content, "transaction_count"), warnings),
        *_machine(object_in(content, "metrics"), warnings),
    ]
    hints = object_in(object_in(content, "analysis_hints"), "active_window")
    if hints.get("available") and hints.get("start") and hints.get("end"):
        warnings.append(f"HammerDB takes {hints['start']} to {hints['end']} for the active window")
    # "virtual_users" of the configuration may count the monitor too: only the active ones send load.
    settings = config | {"active_virtual_users": result.get("active_virtual_users")}
    subject = Subject(
        "tprocc", "TPROC-C (HammerDB)",
        dbms=dbms_called(str(job.get("database", ""))), dbms_version=redact_text(str(job.get("release") or "")),
        hardware={
            name: redact_text(str(system[name]))
            for name in _HARDWARE
            if system.get(name) not in (None, "", "Not Detected")
        },
    )  # fmt: skip
    return Report(
        "hammerdb", tool_version=str(job.get("hdb_version", "")).removeprefix("v"), reason=reason, failure=failure,
        parameters={
            parameter: value * factor
            for name, (parameter, factor) in _PARAMETERS.items()
            if (value := _count(settings, name)) is not None
        },
        metrics=metrics, series=tuple(series), warnings=tuple(warnings), subject=subject,
        started_at=time_of(str(job["timestamp"]))[0].isoformat() if job.get("timestamp") else "",
    )  # fmt: skip


def _rows(content: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    rows = content.get(name) or []
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise NotUnderstood(f"{name} of an unknown form")
    return rows


def _response_times(content: dict[str, Any]) -> Iterator[Metric]:
    for row in _rows(content, "rows"):
        if content.get("unit") not in ("milliseconds", "ms"):
            raise NotUnderstood(f"response times in an unknown unit: {str(content.get('unit'))[:40]!r}")
        name, figures = str(row.get("name") or ""), _figures(row)
        if not name or "CALLS" not in figures:
            raise NotUnderstood(f"response times of {name[:40]} without calls" if name else "times without a name")
        rising(figures, *RANKS, of=name[:40])
        yield from procedure_metrics(name, figures)


def _samples(content: dict[str, Any], group: str, name: str) -> list[tuple[datetime, float]]:
    """The samples of the rows that have such a figure, which are all or none. Raises NotUnderstood."""
    rows = _rows(content, group)
    samples = [(time_of(str(row.get("timestamp")))[0], number(str(row[name]))) for row in rows if name in row]
    if len(samples) not in (0, len(rows)):
        raise NotUnderstood("samples without a value")
    return samples


def _counts(content: dict[str, Any], warnings: list[str]) -> Iterator[Series]:
    for counter in _rows(content, "series"):
        unit = str(counter.get("metric"))
        if unit not in ("tpm", "qph"):
            raise NotUnderstood(f"a transaction counter in an unknown unit: {unit[:40]!r}")
        if samples := _samples(counter, "points", "value"):
            report = counted(samples, unit, "", "")
            warnings += report.warnings
            yield from report.series


def _machine(content: dict[str, Any], warnings: list[str]) -> Iterator[Series]:
    for (group, column), name in _MACHINE.items():
        if samples := _samples(content, group, column):
            interval, values, _ = spaced(*zip(*samples, strict=True))
            yield Series.called(name, interval, values)
    if content.get("mbps"):
        warnings.append("HammerDB does not say whether a MB has 1000 or 1024 kB")
