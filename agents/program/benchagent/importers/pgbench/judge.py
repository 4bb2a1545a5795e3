"""From the lines of one run to its report: status, parameters, metrics, series."""

from __future__ import annotations

import datetime
import re

from benchagent.importers.base import (
    Metric,
    NotUnderstood,
    Report,
    Scalar,
    Series,
    Status,
    Subject,
    evenly,
)  # fmt: skip
from benchagent.importers.pgbench import commands
from benchagent.importers.pgbench.checks import check, count, slug, statements_fit, total
from benchagent.importers.pgbench.run import Run, Script, Statement
from benchagent.redaction import redact_text

TOOL = "pgbench"
# Times beyond this are seconds since 1970 (--progress-timestamp), not since the run's begin.
EPOCH_S = 1_000_000_000
_WORKLOADS = {
    "tpcb-like": ("tpcb", "TPC-B (sort of), pgbench's builtin"),
    "simple-update": ("pgbench-simple-update", "pgbench simple update"),
    "select-only": ("pgbench-select-only", "pgbench select only"),
}
_BUILTIN = {
    "tpc-b (sort of)": "tpcb-like", "simple update": "simple-update", "select only": "select-only",
    "update only pgbench_accounts": "simple-update", "update only accounts": "simple-update",
}  # fmt: skip
_PROGRESS_UNITS = {"tps": "TPS", "latency_avg_ms": "ms", "latency_stddev_ms": "ms", "lag_avg_ms": "ms",
                   "failed_transactions": "transactions", "skipped_transactions": "transactions",
                   "retried_transactions": "transactions", "retries": "retries"}  # fmt: skip


def judged(run: Run) -> Report:
    """Raises NotUnderstood where the run's figures contradict each other."""
    if run.reported:
        check(run)
    status, reason = _status(run)
    metrics = _metrics(run) if run.reported else []
    series, started_at = _series(run)
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


def script_name(text: str) -> str:
    """`<builtin: TPC-B (sort of)>` and `TPC-B (sort of)` are one script; a file keeps its name without its path."""
    inner = re.sub(r"^<builtin: (.*)>$", r"\1", text.strip())
    known = _BUILTIN.get(inner.lower())
    if known or inner != text.strip():
        return known or inner
    return redact_text(re.split(r"[/\\]", inner)[-1])


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


def _metrics(run: Run) -> list[Metric]:
    found: list[Metric] = []
    kind = run.value("tps", 1)
    for key, name, unit, better in (
        ("tps", "tps", "TPS", "higher"), ("tps_including", "tps_with_connections", "TPS", "higher"),
        ("latency_avg", "latency_avg_ms", "ms", "lower"), ("latency_stddev", "latency_stddev_ms", "ms", "lower"),
        ("transactions", "transactions", "transactions", "none"),
        ("failed", "failed_transactions", "transactions", "lower"),
        ("serialization_failures", "serialization_failures", "transactions", "lower"),
        ("deadlock_failures", "deadlock_failures", "transactions", "lower"),
        ("retried", "retried_transactions", "transactions", "lower"), ("retries", "retries", "retries", "lower"),
        ("skipped", "skipped_transactions", "transactions", "lower"),
        ("initial_connect", "connect_ms", "ms", "lower"), ("average_connect", "connect_avg_ms", "ms", "lower"),
    ):  # fmt: skip
        if (value := run.value(key)) is not None and (key != "tps" or kind):
            found.append(Metric(name, unit, float(value), better=better))
    if late := run.figures.get("late"):
        found.append(Metric("late_transactions", "transactions", float(late.values[1]), better="lower"))
    if lag := run.figures.get("lag"):
        for name, value in (("lag_avg_ms", lag.values[0]), ("lag_max_ms", lag.values[2])):
            if "nan" not in value:
                found.append(Metric(name, "ms", float(value), better="lower"))
    found = _without_bogus_latency(run, found)
    if run.value("latency_avg", 1):
        run.warnings.append("the average latency includes failed transactions")
    return found + _statements(run, run.statements, "", _busy_ms(run)) + _script_metrics(run)


def _busy_ms(run: Run) -> float | None:
    """The latency of a transaction without its wait for the schedule; None where failures are in it."""
    latency, lag = run.value("latency_avg"), run.value("lag") or "0"
    if not latency or count(run, "failed") or "nan" in lag:
        return None
    return max(float(latency) - float(lag), 0.0)


def _without_bogus_latency(run: Run, metrics: list[Metric]) -> list[Metric]:
    """9.4 to 9.6 computed the average from -T even where -t was given: it prints 0.000 ms."""
    if run.value("latency_avg") not in ("0.000", "0") or "latency_stddev" in run.figures:
        return metrics
    tps = float(run.value("tps") or run.value("tps_including") or 0)
    if tps and 1000 * count(run, "terminals") / tps < 0.002:
        return metrics
    run.warnings.append("the latency of 0.000 ms is left out: this pgbench does not compute it for -t")
    return [metric for metric in metrics if metric.name != "latency_avg_ms"]


def _statements(run: Run, statements: list[Statement], prefix: str, latency_ms: float | None) -> list[Metric]:
    """One metric per statement, named by its text: a place in the list would shift when a line is lost."""
    if not statements:
        return []
    texts = [statement.text for statement in statements]
    if not statements_fit(latency_ms, [statement.latency_ms for statement in statements]):
        run.warnings.append(
            f"line {statements[0].line}: the latencies of the statements do not add up to the transaction's; left out"
        )
        return []
    found: list[Metric] = []
    for statement in statements:
        name = slug(statement.text)
        if sum(slug(text) == name for text in texts) > 1:
            name = slug(statement.text, 90)
        if sum(slug(text, 90) == slug(statement.text, 90) for text in texts) > 1:
            run.warnings.append(f"line {statement.line}: the statement occurs more than once; its latency is left out")
            continue
        name = f"{prefix}statement_{name}"
        found.append(Metric(f"{name}_latency_avg_ms", "ms", statement.latency_ms, better="lower"))
        if statement.failures:
            found.append(Metric(f"{name}_failures", "errors", statement.failures, better="lower"))
        if statement.retries:
            found.append(Metric(f"{name}_retries", "retries", statement.retries, better="lower"))
    return found


def _script_metrics(run: Run) -> list[Metric]:
    if not run.scripts:
        return []
    found: list[Metric] = []
    for place, script in enumerate(run.scripts, start=1):
        found += _one_script(run, script, f"script_{place}_")
    weights = [script.figures["weight"].values[1] for script in run.scripts if "weight" in script.figures]
    if weights and all(weights) and abs(sum(float(weight) for weight in weights) - 100) > 0.1 * len(weights):
        run.warnings.append("parts of some scripts are missing at the end of the report")
    if not _latencies_add_up(run):
        run.warnings.append("the scripts' latencies do not add up to the run's: those of the scripts are left out")
        found = [metric for metric in found if "latency" not in metric.name]
    return found


def _one_script(run: Run, script: Script, prefix: str) -> list[Metric]:
    found: list[Metric] = []

    def add(key: str, name: str, unit: str, place: int, better: str) -> None:
        figure = script.figures.get(key)
        if figure and figure.values[place]:
            found.append(Metric(prefix + name, unit, float(figure.values[place]), better=better))

    processed = "processed" in script.figures
    add("processed", "tps", "TPS", 1, "higher")
    add("share", "tps", "TPS", 2, "higher")
    add("processed" if processed else "share", "transactions", "transactions", 0, "none")
    add("failed", "failed_transactions", "transactions", 0, "lower")
    add("retried", "retried_transactions", "transactions", 0, "lower")
    add("retries", "retries", "retries", 0, "lower")
    add("skipped", "skipped_transactions", "transactions", 0, "lower")
    add("latency_avg", "latency_avg_ms", "ms", 0, "lower")
    add("latency_stddev", "latency_stddev_ms", "ms", 0, "lower")
    latency = script.figures.get("latency_avg")
    failed = script.figures.get("failed")
    measured = latency and "lag" not in run.figures and not (failed and int(failed.values[0]))
    known = float(latency.values[0]) if latency and measured else None
    return found + _statements(run, script.statements, prefix, known)


def _latencies_add_up(run: Run) -> bool:
    """The mean of the scripts' latencies, weighted by their transactions, is the run's; so with the squares."""
    parts = []
    for script in run.scripts:
        figures = script.figures
        if not {"share", "latency_avg", "latency_stddev"} <= set(figures):
            return "share" not in figures or int(figures["share"].values[0]) == 0 or not run.ended or run.cut
        done = figures.get("processed", figures["share"]).values[0]
        parts.append((int(done), float(figures["latency_avg"].values[0]), float(figures["latency_stddev"].values[0])))
    counted = sum(part[0] for part in parts)
    if "latency_stddev" not in run.figures or not counted or abs(counted - count(run, "transactions")) > 0.01 * counted:
        return True
    average, stddev = float(run.value("latency_avg") or 0), float(run.value("latency_stddev") or 0)
    mean = sum(n * latency for n, latency, _ in parts) / counted
    square = (sum(n * (latency**2 + spread**2) for n, latency, spread in parts) / counted) ** 0.5
    return abs(mean - average) <= 0.002 + 0.02 * average and abs(square - (average**2 + stddev**2) ** 0.5) <= (
        0.003 + 0.02 * square
    )


def _series(run: Run) -> tuple[tuple[Series, ...], str]:
    if not run.progress:
        return (), ""
    times = [progress.time_s for progress in run.progress]
    names = [name for name in _PROGRESS_UNITS if all(name in progress.values for progress in run.progress)]
    try:
        t0_s, interval_s, _ = evenly(times, [None] * len(times), tolerance=0.4)
        columns = {name: evenly(times, [p.values[name] for p in run.progress], tolerance=0.4)[2] for name in names}
        columns["tps"] = evenly(times, [progress.values["tps"] for progress in run.progress], tolerance=0.4)[2]
        _fits(run, interval_s, columns["tps"])
    except NotUnderstood as error:
        run.warnings.append(f"lines {run.progress[0].line}–{run.progress[-1].line}: the progress is left out: {error}")
        return (), ""
    started_at = ""
    if times[0] > EPOCH_S:
        started_at = datetime.datetime.fromtimestamp(round(t0_s, 3), tz=datetime.UTC).isoformat()
        t0_s = 0.0
    series = [
        Series(name, _PROGRESS_UNITS[name], round(interval_s, 3), columns[name], round(max(t0_s, 0.0), 3))
        for name in columns
    ]
    return tuple(series), started_at


def _fits(run: Run, interval_s: float, tps: tuple[float | None, ...]) -> None:
    """The progress cannot hold more transactions than the report, nor miss more than its gaps and its end."""
    if not run.ended or "transactions" not in run.figures:
        return
    done = count(run, "transactions")
    seen = sum(value * interval_s for value in tps if value is not None)
    if seen > done * 1.05 + 2 * interval_s * max((value or 0 for value in tps), default=0) + 2:
        raise NotUnderstood(f"it holds {seen:.0f} transactions, the report {done}")
