"""From the lines of one run to its report: status, parameters, subject."""

from __future__ import annotations

import re

from benchagent.importers.base import NotUnderstood, Report, Scalar, Status, Subject
from benchagent.importers.pgbench import commands
from benchagent.importers.pgbench.checks import check, total
from benchagent.importers.pgbench.metrics import metrics_of, script_name
from benchagent.importers.pgbench.run import Run
from benchagent.importers.pgbench.series import series_of
from benchagent.redaction import redact_text

TOOL = "pgbench"
_WORKLOADS = {
    "tpcb-like": ("tpcb", "TPC-B (sort of), pgbench's builtin"),
    "simple-update": ("pgbench-simple-update", "pgbench simple update"),
    "select-only": ("pgbench-select-only", "pgbench select only"),
}


def judged(run: Run) -> Report:
    """Raises NotUnderstood where the run's figures contradict each other."""
    if run.bad_progress:
        if not run.reported:
            raise NotUnderstood(run.bad_progress)
        run.progress = []
        run.warnings.append(f"the progress is left out: {run.bad_progress}")
    if run.reported:
        check(run)
    status, reason = _status(run)
    metrics = metrics_of(run) if run.reported else []
    series, started_at = series_of(run)
    if status is not Status.COMPLETE and any(metric.name == "tps" for metric in metrics):
        run.warnings.append("the tps are those that pgbench printed for the part that ran")
    return Report(
        tool=TOOL,
        status=status,
        tool_version=_plain_version(run.version),
        parameters=_parameters(run),
        metrics=tuple(metrics),
        series=series,
        warnings=tuple(redact_text(warning) for warning in run.warnings),
        reason=redact_text(reason),
        subject=_subject(run),
        started_at=started_at,
        command_lines=tuple(redact_text(command) for command in run.command_lines),
    )


def _status(run: Run) -> tuple[Status, str]:
    if not run.reported and not run.progress:
        reason = run.problems[0] if run.problems else "pgbench began and printed nothing of a run"
        return (Status.FAILED if run.problems else Status.ABORTED), reason
    if run.problems or not run.ended:
        nothing = "the report ends before its tps" if run.reported else "progress, but no report at the end"
        return Status.ABORTED, run.problems[0] if run.problems else nothing
    asked = run.value("transactions", 1)
    if asked and total(run) < int(asked):
        return Status.ABORTED, f"{total(run)} of {asked} transactions were done: clients stopped early"
    if run.value("transactions") == "0":
        return Status.FAILED, "no transaction was done"
    return Status.COMPLETE, ""


def _parameters(run: Run) -> dict[str, Scalar]:
    found: dict[str, Scalar] = {}
    for command in run.command_lines:
        found |= commands.parameters(command)
    if "script" in found:
        found["script"] = script_name(str(found["script"]).partition("@")[0])
    for key in (
        "scale_factor",
        "terminals",
        "threads",
        "max_tries",
        "duration_s",
        "transactions_per_client",
        "partitions",
    ):
        if value := run.value(key):
            found[key] = int(value)
    for key in ("query_mode", "partition_method"):
        if value := run.value(key):
            found[key] = value
    if limit := run.value("late"):
        found["latency_limit_ms"] = float(limit)
    if script := run.value("script"):
        found["script"] = script_name(script)
    if run.value("tps", 1) == "including reconnection times":
        found["connect_per_transaction"] = True
    return found


def _subject(run: Run) -> Subject:
    script = str(_parameters(run).get("script", ""))
    slug_, name = _WORKLOADS.get(script, ("pgbench-script", f"pgbench script {script}") if script else ("", ""))
    server = run.server_version or run.version
    # Forks speak pgbench's protocol too and say so in their version ("11.2-YB-2.18").
    postgresql = re.fullmatch(r"(\d[\w.]*)(?: \(.*\))?", server)
    return Subject(
        workload=slug_,
        workload_name=name,
        dbms="postgresql" if postgresql else "",
        dbms_version=postgresql[1] if postgresql else "",
    )


def _plain_version(version: str) -> str:
    return version.partition(" ")[0]
