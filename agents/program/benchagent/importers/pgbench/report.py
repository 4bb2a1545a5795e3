"""From the lines of one run to its report: checked, with status, parameters, metrics, series, subject."""

from __future__ import annotations

import datetime
import re

from benchagent.importers.pgbench.run import Run, Script, script_name, statement_metrics
from benchagent.importers.pgbench.tables import REPORT, parameters
from benchagent.importers.report import Metric, Report, Scalar, Series, Status, Subject, evenly, measured, unit_of
from benchagent.importers.source import NotUnderstood, agree

# Figures that pgbench prints twice, or that follow from others: where they contradict each other, none is trusted.

# Counts beside their percentage of all transactions.
_SHARES = (
    ("failed_transactions", "failed_percent"),
    ("serialization_failures", "serialization_percent"),
    ("deadlock_failures", "deadlock_percent"),
    ("retried_transactions", "retried_percent"),
    ("skipped_transactions", "skipped_percent"),
)


def check(run: Run) -> None:
    """Raises NotUnderstood where the report contradicts itself."""
    _nothing_missing(run)
    _counts(run)
    if "tps" in run and run.count("transactions"):
        _rate(run)
    for script in run.scripts:
        if "share" in script:
            _script(run, script)


def _nothing_missing(run: Run) -> None:
    """No line is missing before one that is there, unless the report's head is: then it is an extract."""
    if run.headless:
        if "tps" not in run:
            raise NotUnderstood(f"line {run.line}: a report without its beginning and its end")
        run.warnings.append("an extract: the beginning of the report is missing")
        return
    needed = ("scale_factor", "query_mode", "terminals", "transactions")
    missing = [key for key in needed if key not in run and run.rank > REPORT.rank[key]]
    if run.rank > REPORT.rank["transactions"] and "duration_s" not in run and "transactions_per_client" not in run:
        missing.append("duration_s")
    if run.text("kind").startswith("excluding") and "tps_including" not in run:
        missing.append("tps including connections establishing")
    if missing:
        raise NotUnderstood(f"line {run.line}: the report has no {', '.join(missing)}")


def _counts(run: Run) -> None:
    asked, every = run.text("asked"), run.total
    if asked and "transactions_per_client" in run:
        if int(asked) != run.count("terminals") * run.count("transactions_per_client"):
            raise NotUnderstood(f"line {run.line}: {asked} transactions are not clients × transactions per client")
        if every > int(asked):
            raise NotUnderstood(f"line {run.line}: more transactions than the {asked} asked for")
    if run.count("threads") > run.count("terminals") > 0:
        raise NotUnderstood(f"line {run.line}: more threads than clients")
    detailed = run.count("serialization_failures") + run.count("deadlock_failures")
    if "failed" in run and detailed > run.count("failed_transactions"):
        raise NotUnderstood(f"line {run.line}: more serialization and deadlock failures than failures")
    for name, percent in _SHARES:
        # Before 15 the percentage has its own basis.
        told = run.text(percent)
        if told and every and not agree(100 * run.count(name) / every, float(told), relative=0, absolute=0.0011):
            raise NotUnderstood(f"line {run.line}: {run.text(name)} of {every} are not {told} %")


def measured_s(run: Run) -> list[float]:
    """How long the run was, by each of the ways in which the report says it."""
    rates = [run.number(name) for name in ("tps", "tps_with_connections")]
    lengths = [run.count("transactions") / rate for rate in rates if rate > 0]
    return lengths + ([run.number("duration_s")] if "duration_s" in run else [])


def _rate(run: Run) -> None:
    """tps against duration, the two tps against each other, the latency against clients and time."""
    tps, including = run.number("tps"), run.number("tps_with_connections")
    if tps <= 0 or (including and not 0 < including <= tps * 1.000001):
        raise NotUnderstood(f"line {run.line}: {tps} tps contradicts {including} tps with connections")
    elapsed_s, told_s = run.count("transactions") / (including or tps), run.number("duration_s")
    if told_s and elapsed_s < 0.9 * told_s and not run.problems:
        raise NotUnderstood(f"line {run.line}: {elapsed_s:.1f} s by tps and transactions, {told_s:g} s as told")
    if told_s and elapsed_s > 1.5 * told_s + 5:
        run.warnings.append(f"{elapsed_s:.1f} s by tps and transactions, {told_s:g} s as told")
    latency, clients = run.number("latency_avg_ms"), run.count("terminals")
    if "latency_avg" not in run or run.problems or not clients:
        return
    if "latency_stddev" in run:
        busy_s = latency * run.count("transactions") / 1000
        if busy_s > 1.05 * clients * elapsed_s + clients and "lag" not in run:
            raise NotUnderstood(
                f"line {run.line}: {latency} ms on average is more than {clients} clients have time for"
            )
        return
    expected = [1000 * time_s * clients / run.total for time_s in measured_s(run)]
    if latency and not any(agree(latency, value, relative=0.02, absolute=0.001) for value in expected):
        raise NotUnderstood(f"line {run.line}: a latency of {latency} ms contradicts {tps} tps by {clients} clients")


def _script(run: Run, script: Script) -> None:
    counted, percent, every = script.count("counted"), script.number("share_percent"), run.total
    if every and not agree(100 * counted / every, percent, relative=0, absolute=0.11):
        raise NotUnderstood(f"line {run.line}: {counted} transactions are not {percent} % of {every}")
    # Each transaction draws its script by the weights.
    target = script.number("target_percent") / 100
    spread = 100 * (target * (1 - target) / every) ** 0.5 if every else 0.0
    if target and abs(percent - 100 * target) > 8 * spread + 0.2:
        raise NotUnderstood(f"line {run.line}: {percent} % of the transactions, by weight {100 * target:.1f} %")
    left_out = script.count("skipped_transactions")
    if "processed" in script:
        own, rate = script.count("transactions"), script.number("tps")
        if own + left_out + script.count("failed_transactions") != counted:
            raise NotUnderstood(f"line {run.line}: the parts of a script's {counted} transactions do not add up")
    else:
        own, rate = counted - left_out, script.number("share_tps")
    if rate and not any(agree(own / rate, time_s, relative=0.02) for time_s in measured_s(run)):
        raise NotUnderstood(f"line {run.line}: {own} transactions of a script contradict its {rate} tps")


_WORKLOADS = {
    "tpcb-like": ("tpcb", "TPC-B (sort of), pgbench's builtin"),
    "simple-update": ("pgbench-simple-update", "pgbench simple update"),
    "select-only": ("pgbench-select-only", "pgbench select only"),
}
_PRINTED = (
    "tps", "tps_with_connections", "latency_avg_ms", "latency_stddev_ms", "transactions", "failed_transactions",
    "serialization_failures", "deadlock_failures", "retried_transactions", "retries", "skipped_transactions",
    "connect_ms", "connect_avg_ms", "late_transactions", "lag_avg_ms", "lag_max_ms",
)  # fmt: skip
_WHOLE = ("scale_factor", "terminals", "threads", "max_tries", "duration_s", "transactions_per_client", "partitions")
_PROGRESS = ("tps", "latency_avg_ms", "latency_stddev_ms", "lag_avg_ms", "failed_transactions", "skipped_transactions",
             "retried_transactions", "retries")  # fmt: skip
# Times beyond this are seconds since 1970 (--progress-timestamp), not since the run's begin.
_EPOCH_S = 1_000_000_000


def report_of(run: Run) -> Report:
    """Raises NotUnderstood where the run's figures contradict each other."""
    if run.bad_progress:
        if not run.reported:
            raise NotUnderstood(run.bad_progress)
        run.progress = []
        run.warnings.append(f"the progress is left out: {run.bad_progress}")
    if run.reported:
        check(run)
    status, reason = _status(run)
    metrics = _metrics(run) if run.reported else []
    series, started_at = _series(run)
    if status is not Status.COMPLETE and any(metric.name == "tps" for metric in metrics):
        run.warnings.append("the tps are those that pgbench printed for the part that ran")
    told = _parameters(run)
    script = str(told.get("script", ""))
    slug, name = _WORKLOADS.get(script, ("pgbench-script", f"pgbench script {script}") if script else ("", ""))
    # Forks speak pgbench's protocol too and say so in their version ("11.2-YB-2.18").
    postgresql = re.fullmatch(r"(\d[\w.]*)(?: \(.*\))?", run.server_version or run.version)
    return Report(
        tool="pgbench", status=status, tool_version=run.version.partition(" ")[0], parameters=told,
        metrics=tuple(metrics), series=series, warnings=tuple(run.warnings), reason=reason,
        subject=Subject(
            workload=slug, workload_name=name, dbms="postgresql" if postgresql else "",
            dbms_version=postgresql[1] if postgresql else "",
        ),
        started_at=started_at, command_lines=tuple(run.command_lines),
    )  # fmt: skip


def _status(run: Run) -> tuple[Status, str]:
    if not run.reported and not run.progress:
        reason = run.problems[0] if run.problems else "pgbench began and printed nothing of a run"
        return (Status.FAILED if run.problems else Status.ABORTED), reason
    if run.problems or not run.ended:
        nothing = "the report ends before its tps" if run.reported else "progress, but no report at the end"
        return Status.ABORTED, run.problems[0] if run.problems else nothing
    if run.total < run.count("asked"):
        return Status.ABORTED, f"{run.total} of {run.text('asked')} transactions were done: clients stopped early"
    if run.text("transactions") == "0":
        return Status.FAILED, "no transaction was done"
    return Status.COMPLETE, ""


def _parameters(run: Run) -> dict[str, Scalar]:
    told: dict[str, Scalar] = {}
    for command in run.command_lines:
        told |= parameters(command)
    if "script" in told:
        told["script"] = script_name(str(told["script"]).partition("@")[0])
    told |= {name: run.count(name) for name in _WHOLE if run.text(name)}
    told |= {name: run.text(name) for name in ("query_mode", "partition_method") if run.text(name)}
    if "late" in run:
        told["latency_limit_ms"] = run.number("latency_limit_ms")
    if script := run.text("script"):
        told["script"] = script_name(script)
    if run.text("kind") == "including reconnection times":
        told["connect_per_transaction"] = True
    return told


def _metrics(run: Run) -> list[Metric]:
    metrics = [
        measured(name, run.number(name)) for name in _PRINTED if name in run.values and "nan" not in run.text(name)
    ]
    if run.text("latency_avg_ms") in ("0.000", "0") and "latency_stddev" not in run:
        # 9.4 to 9.6 computed the average from -T even where -t was given: it prints 0.000 ms.
        tps = run.number("tps") or run.number("tps_with_connections")
        if not tps or 1000 * run.count("terminals") / tps >= 0.002:
            run.warnings.append("the latency of 0.000 ms is left out: this pgbench does not compute it for -t")
            metrics = [metric for metric in metrics if metric.name != "latency_avg_ms"]
    if run.text("of_failures"):
        run.warnings.append("the average latency includes failed transactions")
    return metrics + statement_metrics(run)


def _series(run: Run) -> tuple[tuple[Series, ...], str]:
    """The progress lines, and when the run began where they tell it."""
    if not run.progress:
        return (), ""
    times = [progress.time_s for progress in run.progress]
    columns: dict[str, tuple[float | None, ...]] = {}
    try:
        for name in _PROGRESS:
            if all(name in progress.values for progress in run.progress):
                values = [progress.values[name] for progress in run.progress]
                t0_s, interval_s, columns[name] = evenly(times, values, tolerance=0.4)
        _check_progress(run, times, interval_s, [value or 0.0 for value in columns["tps"]])
    except NotUnderstood as error:
        run.warnings.append(f"lines {run.progress[0].line}–{run.progress[-1].line}: the progress is left out: {error}")
        return (), ""
    started_at = ""
    if times[0] > _EPOCH_S:
        started_at = datetime.datetime.fromtimestamp(round(t0_s, 3), tz=datetime.UTC).isoformat()
        t0_s = 0.0
    begin_s = round(max(t0_s, 0.0), 3)
    return tuple(
        Series(name, unit_of(name)[0], round(interval_s, 3), values, begin_s) for name, values in columns.items()
    ), started_at


def _check_progress(run: Run, times: list[float], interval_s: float, tps: list[float]) -> None:
    """The interval is not printed: it must fit the begin and the told duration, and hold no more than the report."""
    since_epoch = times[0] > _EPOCH_S
    if not since_epoch and times[0] < 0.6 * interval_s:
        raise NotUnderstood(f"the first is at {times[0]:g} s, the others come every {interval_s:g} s")
    told_s = run.number("duration_s")
    slack_s = 0.3 * interval_s + 0.2 if since_epoch else 0.6 * interval_s + 1
    if told_s and times[-1] - times[0] + interval_s > told_s + slack_s:
        raise NotUnderstood(f"lines every {interval_s:g} s do not fit a run of {told_s:g} s")
    if len(times) == 1:
        raise NotUnderstood("one line only, which does not show its interval")
    if run.ended and "transactions" in run:
        done, seen = run.count("transactions"), sum(tps) * interval_s
        if seen > done * 1.05 + 2 * interval_s * max(tps) + 2:
            raise NotUnderstood(f"it holds {seen:.0f} transactions, the report {done}")
