"""JSON of the jobs database: `hammerdb-job-report-v1`, and the answers `jobs … result|timing|tcount|output`."""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Any

from benchagent.importers.base import Metric, NotUnderstood, Report, Scalar, Series, SourceFile, Status, Subject, number
from benchagent.importers.hammerdb.counter import counted, spaced
from benchagent.importers.hammerdb.dates import sqlite_time
from benchagent.importers.hammerdb.names import dbms_of
from benchagent.importers.hammerdb.profile import check_mix, check_procedure, check_ratios, procedure_metrics
from benchagent.redaction import redact_text

TOOL = "hammerdb"
SCHEMA = "hammerdb-job-report-v1"
NO_ZONE = "HammerDB's times carry no time zone"
_TIMING = {
    "calls": "CALLS", "min_ms": "MIN", "avg_ms": "AVG", "max_ms": "MAX", "total_ms": "TOTAL", "p99_ms": "P99",
    "p95_ms": "P95", "p75_ms": "P75", "p50_ms": "P50", "p25_ms": "P25", "ratio_pct": "RATIO",
}  # fmt: skip
_COUNTER = re.compile(r"^(?P<dbms>[\w ]+?) (?P<unit>tpm|qph)$")
_HARDWARE = ("cpumodel", "cpucount", "memory", "system_vendor", "system_type", "os_name", "storage", "nic")


def json_of(file: SourceFile) -> Any:
    """The JSON of a file that is HammerDB's; None for any other file. Raises NotUnderstood for a cut one."""
    text = file.text.strip()
    if not text.startswith(("{", "[")):
        return None
    ours = SCHEMA in text[:400] or "TEST RESULT : System achieved" in text or '"Geometric mean of query times' in text
    ours = ours or re.search(r'^\[\s*"[^"]*"\s*,[^\x00]*"Vuser \d+:(?:RUNNING|FINISHED)', text) is not None
    ours = ours or re.search(r'^\{\s*"[\w ]+ (?:tpm|qph)":\s*\{', text) is not None
    ours = ours or re.search(r'^\{\s*"[A-Z]+":\s*\{\s*"elapsed_ms"', text) is not None
    if not ours:
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
        if all(_COUNTER.match(name) for name in content):
            return [_counter(name, points) for name, points in content.items()]
        return [_timing(content)]
    raise NotUnderstood("JSON of HammerDB of an unknown form")


def _result(lines: list[str]) -> list[Report]:
    """[jobid, timestamp, "4 Active Virtual Users configured", "TEST RESULT : …"], or all output as pairs."""
    from benchagent.importers.hammerdb.log import log_reports

    text: list[str] = []
    for place, line in enumerate(lines):
        if re.fullmatch(r"\d{1,4}", line):
            continue
        speaker = lines[place - 1] if place else ""
        said_by = re.fullmatch(r"[1-9]\d{0,3}", speaker)
        text.append(f"Vuser {speaker}:{line}" if said_by and not line.startswith("Vuser") else line)
    found = log_reports(SourceFile("jobs", ("\n".join(text) + "\n").encode()))
    if len(found) != 1:
        raise NotUnderstood("an answer of jobs without one result")
    return found


def _counter(name: str, points: dict[str, Any]) -> Report:
    match = _COUNTER.match(name)
    if match is None or not points:
        raise NotUnderstood("an empty transaction counter")
    samples = [(sqlite_time(stamp), number(str(value))) for stamp, value in points.items()]
    series, warnings = counted(samples, match["unit"])
    return Report(
        tool=TOOL, status=Status.COMPLETE, series=(series,), warnings=(*warnings, NO_ZONE),
        subject=Subject("tprocc" if match["unit"] == "tpm" else "tproch", "transaction counter (HammerDB)",
                        dbms=dbms_of(match["dbms"])),
        started_at=samples[0][0].isoformat(),
    )  # fmt: skip


def _figures(row: dict[str, Any]) -> dict[str, float]:
    return {word: number(str(row[name])) for name, word in _TIMING.items() if row.get(name) not in (None, "")}


def _timing(content: dict[str, dict[str, Any]]) -> Report:
    metrics: list[Metric] = []
    summary = {name: _figures(row) for name, row in content.items()}
    for name, figures in summary.items():
        check_procedure(name, figures)
        metrics += procedure_metrics(name, figures)
    check_ratios(summary)
    check_mix(summary)
    return Report(
        tool=TOOL, status=Status.COMPLETE, metrics=tuple(metrics),
        warnings=("latencies as HammerDB's virtual users saw the procedures, rampup included",),
        subject=Subject("tprocc", "time profile (HammerDB)"),
    )  # fmt: skip


def _object(content: dict[str, Any], name: str) -> dict[str, Any]:
    value = content.get(name)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise NotUnderstood(f"{name} is not an object")
    return value


def _count(content: dict[str, Any], name: str) -> int | None:
    value = content.get(name)
    if value in (None, ""):
        return None
    if isinstance(value, bool) or not isinstance(value, int | str) or not str(value).isdecimal():
        raise NotUnderstood(f"{name} is not a whole number: {str(value)[:40]!r}")
    return int(value)


def _job_report(content: dict[str, Any]) -> Report:
    job, result, config = (_object(content, name) for name in ("job", "result", "benchmark_config"))
    warnings = [NO_ZONE]
    query_run = str(job.get("benchmark")) == "TPROC-H"
    metrics, status, reason = (_query_metrics if query_run else _headline)(result, warnings)
    metrics += _response_times(_object(content, "response_times"), warnings)
    series = [
        *_counts(_object(content, "transaction_count"), warnings),
        *_machine(_object(content, "metrics"), warnings),
    ]
    started_at = sqlite_time(str(job["timestamp"])).isoformat() if job.get("timestamp") else ""
    hints = _object(_object(content, "analysis_hints"), "active_window")
    if hints.get("available") and hints.get("start") and hints.get("end"):
        warnings.append(f"HammerDB takes {hints['start']} to {hints['end']} for the active window")
    return Report(
        tool=TOOL, tool_version=str(job.get("hdb_version", "")).removeprefix("v"), status=status, reason=reason,
        parameters=_parameters(config, result), metrics=tuple(metrics), series=tuple(series), warnings=tuple(warnings),
        subject=_subject(job, _object(content, "system"), query_run=query_run), started_at=started_at,
    )  # fmt: skip


def _headline(result: dict[str, Any], warnings: list[str]) -> tuple[list[Metric], Status, str]:
    nopm, tpm = _count(result, "nopm"), _count(result, "tpm")
    charted = {
        str(row.get("metric")): row.get("value") for row in result.get("chart_data") or () if isinstance(row, dict)
    }
    if charted.get("NOPM", nopm) != result.get("nopm", nopm) or charted.get("TPM", tpm) != result.get("tpm", tpm):
        raise NotUnderstood("result and its chart_data say different figures")
    if nopm is None:
        return [], Status.ABORTED, "the job has no result"
    if tpm and nopm > tpm:
        raise NotUnderstood(f"{nopm} new orders a minute are more than {tpm} transactions a minute")
    metrics = [Metric("nopm", "NOPM", float(nopm), better="higher")] if nopm else []
    if tpm:
        metrics.append(Metric("tpm", "TPM", float(tpm), better="higher"))
        warnings.append("TPM counts the transactions as the DBMS does: compare NOPM between systems")
    return metrics, Status.COMPLETE if nopm else Status.FAILED, "" if nopm else "no new orders in the whole test"


def _query_metrics(result: dict[str, Any], warnings: list[str]) -> tuple[list[Metric], Status, str]:
    names = {
        "geomean": "geometric_mean_s", "geometric_mean": "geometric_mean_s",
        "geometric_mean_seconds": "geometric_mean_s",
        "query_set_seconds": "elapsed_s", "elapsed_seconds": "elapsed_s",
    }  # fmt: skip
    metrics = [
        Metric(names[name], "s", number(str(value)), "query", "lower")
        for name, value in result.items()
        if name in names and isinstance(value, int | float | str)
    ]
    if not metrics:
        raise NotUnderstood("a TPROC-H result without a known figure")
    return metrics, Status.COMPLETE, ""


def _response_times(content: dict[str, Any], warnings: list[str]) -> list[Metric]:
    rows = content.get("rows") or []
    if rows and content.get("unit") not in ("milliseconds", "ms"):
        raise NotUnderstood(f"response times in an unknown unit: {str(content.get('unit'))[:40]!r}")
    metrics: list[Metric] = []
    for row in rows:
        if not isinstance(row, dict) or not row.get("name"):
            raise NotUnderstood("a response time without a name")
        figures = _figures(row)
        if "CALLS" not in figures:
            raise NotUnderstood(f"response times of {str(row['name'])[:40]} without calls")
        ranks = [figures[word] for word in ("MIN", "P25", "P50", "P75", "P95", "P99", "MAX") if word in figures]
        if ranks != sorted(ranks):
            raise NotUnderstood(f"{str(row['name'])[:40]}: the ranks do not rise")
        metrics += procedure_metrics(str(row["name"]), figures)
    return metrics


def _points(rows: Any, *names: str) -> tuple[list[datetime], dict[str, list[float]]]:
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise NotUnderstood("samples of an unknown form")
    times = [sqlite_time(str(row.get("timestamp"))) for row in rows]
    columns = {name: [number(str(row[name])) for row in rows if name in row] for name in names}
    if any(len(column) not in (0, len(times)) for column in columns.values()):
        raise NotUnderstood("samples without a value")
    return times, columns


def _counts(content: dict[str, Any], warnings: list[str]) -> list[Series]:
    found: list[Series] = []
    for one in content.get("series") or ():
        unit = str(one.get("metric"))
        if unit not in ("tpm", "qph"):
            raise NotUnderstood(f"a transaction counter in an unknown unit: {unit[:40]!r}")
        if not one.get("points"):
            continue
        times, values = _points(one["points"], "value")
        if not values["value"]:
            raise NotUnderstood("a transaction counter without values")
        series, more = counted(list(zip(times, values["value"], strict=True)), unit)
        found.append(series)
        warnings += more
    return found


def _machine(content: dict[str, Any], warnings: list[str]) -> list[Series]:
    found: list[Series] = []
    wanted = {
        "cpu_percent": (("usr_pct", "cpu_user_percent", "%"), ("sys_pct", "cpu_system_percent", "%"),
                        ("irq_pct", "cpu_irq_percent", "%"), ("idle_pct", "cpu_idle_percent", "%")),
        "iops": (("value", "iops", "IOPS"),),
        "mbps": (("value", "disk_mb_per_s", "MB/s"),),
    }  # fmt: skip
    for group, columns in wanted.items():
        rows = content.get(group)
        if not rows:
            continue
        times, values = _points(rows, *(column for column, _, _ in columns))
        for column, name, unit in columns:
            if len(values[column]) == len(times):
                interval, spread, _ = spaced(times, values[column])
                found.append(Series(name, unit, interval, spread))
        if group == "mbps":
            warnings.append("HammerDB does not say whether a MB has 1000 or 1024 kB")
    return found


def _parameters(config: dict[str, Any], result: dict[str, Any]) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    for name, parameter, factor in (
        ("warehouses", "warehouses", 1), ("rampup_minutes", "ramp_up_s", 60), ("duration_minutes", "duration_s", 60),
        ("scale_factor", "scale_factor", 1), ("query_sets", "query_sets", 1),
        ("degree_of_parallelism", "degree_of_parallelism", 1),
    ):  # fmt: skip
        value = _count(config, name)
        if value is not None:
            found[parameter] = value * factor
    users = _count(result, "active_virtual_users")
    # "virtual_users" of the configuration may count the monitor too: only the active ones send load.
    if users is not None:
        found["terminals"] = users
    return found


def _subject(job: dict[str, Any], system: dict[str, Any], *, query_run: bool) -> Subject:
    hardware: dict[str, Scalar] = {
        name: redact_text(str(system[name])) for name in _HARDWARE if system.get(name) not in (None, "", "Not Detected")
    }
    return Subject(
        workload="tproch" if query_run else "tprocc",
        workload_name="TPROC-H (HammerDB)" if query_run else "TPROC-C (HammerDB)",
        dbms=dbms_of(str(job.get("database", ""))), dbms_version=redact_text(str(job.get("release") or "")),
        hardware=hardware,
    )  # fmt: skip
