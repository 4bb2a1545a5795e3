"""From the lines of one run to its report: checked, with status, parameters, metrics, series, subject."""

from __future__ import annotations

import math
import re

from benchagent.importers.pgbench.load import Load, load_report
from benchagent.importers.pgbench.reader import Run, Script
from benchagent.importers.pgbench.tables import REPORT, options_of_command
from benchagent.importers.report import Report, Scalar, Series, Subject, all_measured, entries, utc
from benchagent.importers.series import Samples, check_sum, grid_of
from benchagent.importers.source import NotUnderstood, slug
from benchagent.redaction import redact_text

# Figures that pgbench prints twice, or that follow from others: where they contradict each other, none is trusted.


def _nothing_missing(run: Run) -> None:
    """No line is missing before one that is there, unless the report's head is: then it is an extract."""
    if "script" not in run.rows:
        if "tps" not in run.rows:
            raise NotUnderstood("a report without its beginning and its end")
        run.warnings.append("an extract: the beginning of the report is missing")
        return
    rank = REPORT.rank
    needed = ("scale_factor", "query_mode", "terminals", "transactions")
    missing = [key for key in needed if key not in run.rows and run.rank > rank[key]]
    if run.rank > rank["transactions"] and not {"duration_s", "transactions_per_client"} & set(run.rows):
        missing.append("duration_s")
    if run.values.get("kind", "").startswith("excluding") and "tps_including" not in run.rows:
        missing.append("tps including connections establishing")
    if missing:
        raise NotUnderstood(f"the report has no {', '.join(missing)}")


def _every(run: Run) -> int:
    """Transactions that were done, failed or left out."""
    return sum(run.values.get(name, 0) for name in ("transactions", "failed_transactions", "skipped_transactions"))


def _counts(run: Run) -> None:
    values, every = run.values, _every(run)
    asked, clients = values.get("asked", 0), values.get("terminals", 0)
    if asked and "transactions_per_client" in values:
        if asked != clients * values["transactions_per_client"]:
            raise NotUnderstood(f"{asked} transactions are not clients × transactions per client")
        if every > asked:
            raise NotUnderstood(f"more transactions than the {asked} asked for")
    if values.get("threads", 0) > clients > 0:
        raise NotUnderstood("more threads than clients")
    detailed = sum(values.get(f"{kind}_failures", 0) for kind in ("serialization", "deadlock", "other"))
    if "failed" in run.rows and detailed > values["failed_transactions"]:
        raise NotUnderstood("more failures of some kind than failures")
    # Counts beside their percentage of all transactions; before 15 that of the late ones has its own basis.
    for name in (name for name in values if every and name.endswith("_share")):
        counted, share = values[name.removesuffix("_share")], values[name]
        if share is None or abs(100 * counted / every - share) > 0.0011:
            raise NotUnderstood(f"{counted} of {every} are not {share} %")


def _lengths_s(run: Run) -> list[float]:
    """How long the run was, by each of the ways in which the report says it."""
    rates = [run.values.get(name, 0) for name in ("tps", "tps_with_connections")]
    lengths = [run.values.get("transactions", 0) / rate for rate in rates if rate > 0]
    return lengths + ([run.values["duration_s"]] if "duration_s" in run.values else [])


def _rate(run: Run) -> None:
    """tps against duration, the two tps against each other, the latency against clients and time."""
    values = run.values
    tps, including, done = values["tps"], values.get("tps_with_connections", 0), values["transactions"]
    if tps <= 0 or (including and not 0 < including <= tps * 1.000001):
        raise NotUnderstood(f"{tps} tps contradicts {including} tps with connections")
    elapsed_s, duration_s = done / (including or tps), values.get("duration_s", 0)
    # From 14 on the time to connect is in the duration that is told, and in no rate.
    connect_s = 0.0 if including else values.get("connect_ms", 0.0) / 1000
    if duration_s and elapsed_s + connect_s < 0.9 * duration_s and not run.problems:
        raise NotUnderstood(f"{elapsed_s:.1f} s by tps and transactions, {duration_s} s as told")
    if duration_s and elapsed_s > 1.5 * duration_s + 5:
        run.warnings.append(f"{elapsed_s:.1f} s by tps and transactions, {duration_s} s as told")
    latency, clients = values.get("latency_avg_ms", 0), values.get("terminals")
    if not latency or run.problems or not clients:
        return
    if "latency_stddev" in run.rows:
        if latency * done / 1000 > 1.05 * clients * elapsed_s + clients and "lag" not in run.rows:
            raise NotUnderstood(f"{latency} ms on average is more than {clients} clients have time for")
        return
    expected = [1000 * time_s * clients / _every(run) for time_s in _lengths_s(run)]
    if not any(math.isclose(latency, value, rel_tol=0.02, abs_tol=0.001) for value in expected):
        raise NotUnderstood(f"a latency of {latency} ms contradicts {tps} tps by {clients} clients")


def _script(run: Run, script: Script) -> None:
    values, every = script.values, _every(run)
    counted, percent = values["counted"], values["share_percent"]
    if every and not math.isclose(100 * counted / every, percent, rel_tol=0, abs_tol=0.11):
        raise NotUnderstood(f"{counted} transactions are not {percent} % of {every}")
    # Each transaction draws its script by the weights.
    target = values.get("target_percent", 0) / 100
    spread = 100 * (target * (1 - target) / every) ** 0.5 if every else 0.0
    if target and abs(percent - 100 * target) > 8 * spread + 0.2:
        raise NotUnderstood(f"{percent} % of the transactions, by weight {100 * target:.1f} %")
    left_out = values.get("skipped_transactions", 0)
    own = values.get("transactions", counted - left_out)
    if "transactions" in values and own + left_out + values.get("failed_transactions", 0) != counted:
        raise NotUnderstood(f"the parts of a script's {counted} transactions do not add up")
    rate = values.get("tps", values.get("share_tps", 0))
    if rate and not any(math.isclose(own / rate, time_s, rel_tol=0.02) for time_s in _lengths_s(run)):
        raise NotUnderstood(f"{own} transactions of a script contradict its {rate} tps")


_WORKLOADS = {
    "tpcb-like": ("tpcb", "TPC-B (sort of), pgbench's builtin"),
    "simple-update": ("pgbench-simple-update", "pgbench simple update"),
    "select-only": ("pgbench-select-only", "pgbench select only"),
}
_PRINTED = (
    "tps", "tps_with_connections", "latency_avg_ms", "latency_stddev_ms", "transactions", "failed_transactions",
    "serialization_failures", "deadlock_failures", "other_failures", "retried_transactions", "retries",
    "skipped_transactions", "connect_ms", "connect_avg_ms", "late_transactions", "lag_avg_ms", "lag_max_ms",
)  # fmt: skip
_PARAMETERS = (
    "scale_factor", "terminals", "threads", "max_tries", "duration_s", "transactions_per_client", "partitions",
    "query_mode", "partition_method", "latency_limit_ms",
)  # fmt: skip
_PROGRESS = ("tps", "latency_avg_ms", "latency_stddev_ms", "lag_avg_ms", "failed_transactions", "skipped_transactions",
             "retried_transactions", "retries")  # fmt: skip


def report_of(run: Run | Load) -> Report:
    """Raises NotUnderstood where the run's figures contradict each other."""
    if isinstance(run, Load):
        return load_report(run)
    if run.bad_progress:
        if not run.rows:
            raise NotUnderstood(run.bad_progress)
        run.progress = Samples()
        run.warnings.append(f"the progress is left out: {run.bad_progress}")
    if run.rows:
        _nothing_missing(run)
        _counts(run)
        if "tps" in run.rows and run.values.get("transactions"):
            _rate(run)
        for part in run.scripts:
            if "share" in part.rows:
                _script(run, part)
    failure, reason = _ending(run)
    figures = _figures(run) if run.rows else {}
    series, started_at = _series(run)
    if (failure or reason) and "tps" in figures:
        run.warnings.append("the tps are those that pgbench printed for the part that ran")
    parameters = _parameters(run)
    script = str(parameters.get("script", ""))
    workload, name = _WORKLOADS.get(script, ("pgbench-script", f"pgbench script {script}") if script else ("", ""))
    # Forks speak pgbench's protocol too and say so in their version ("11.2-YB-2.18").
    postgresql = re.fullmatch(r"(\d[\w.]*)(?: \(.*\))?", run.server_version or run.version)
    return Report(
        tool="pgbench", tool_version=run.version.partition(" ")[0], parameters=parameters,
        metrics=all_measured(figures), series=series, warnings=tuple(run.warnings), reason=reason, failure=failure,
        subject=Subject(workload, name, "postgresql" if postgresql else "", postgresql[1] if postgresql else ""),
        started_at=started_at, command_lines=tuple(run.command_lines),
    )  # fmt: skip


def _ending(run: Run) -> tuple[str, str]:
    """Why the run failed, and why it did not come to its end."""
    problem, every, asked = next(iter(run.problems), ""), _every(run), run.values.get("asked", 0)
    if not run.rows and not run.progress:
        return problem, "pgbench began and printed nothing of a run"
    if problem or not run.ended:
        nothing = "the report ends before its tps" if run.rows else "progress, but no report at the end"
        return "", problem or nothing
    if every < asked:
        return "", f"{every} of {asked} transactions were done: clients stopped early"
    return "no transaction was done" if run.values.get("transactions") == 0 else "", ""


def _parameters(run: Run) -> dict[str, Scalar]:
    parameters = options_of_command(run.command_lines)
    if "script" in parameters:
        parameters["script"] = script_name(str(parameters["script"]).partition("@")[0])
    parameters |= entries(run.values, *_PARAMETERS)
    if script := run.values.get("script"):
        parameters["script"] = script_name(script)
    # Several scripts with their weights, where all of them are there: `tpcb-like@9, select-only@1`.
    parts = [part.values for part in run.scripts]
    weight = sum(part.get("target_percent", 0) for part in parts)
    if len(parts) > 1 and math.isclose(weight, 100, abs_tol=0.1 * len(parts)):
        mix = (f"{script_name(part.get('script', ''))}@{part['weight']}" for part in parts)
        parameters["scripts"] = ", ".join(mix)
    if run.values.get("kind") == "including reconnection times":
        parameters["connect_per_transaction"] = True
    return parameters


def _figures(run: Run) -> dict[str, float]:
    values = run.values
    figures = {name: float(value) for name, value in entries(values, *_PRINTED).items()}
    if figures.get("latency_avg_ms") == 0 and "latency_stddev" not in run.rows:
        # 9.4 to 9.6 computed the average from -T even where -t was given: it prints 0.000 ms.
        tps = values.get("tps") or values.get("tps_with_connections")
        if not tps or 1000 * values.get("terminals", 0) / tps >= 0.002:
            run.warnings.append("the latency of 0.000 ms is left out: this pgbench does not compute it for -t")
            del figures["latency_avg_ms"]
    if "of_failures" in values:
        run.warnings.append("the average latency includes failed transactions")
    return figures | (_of_scripts(run) if run.statements or run.scripts else {})


def _series(run: Run) -> tuple[tuple[Series, ...], str]:
    """The progress lines, and when the run began where they tell it."""
    if not run.progress:
        return (), ""
    times, lines = run.progress.times_s, run.progress.lines
    # Seconds since 1970 (--progress-timestamp), not since the run's begin.
    is_since_epoch = times[0] > 1e9
    printed = {name: values for name in _PROGRESS if (values := run.progress.column(name)) is not None}
    try:
        grid = grid_of(times, tolerance=0.4)
        _check_progress(run, grid.interval_s, is_since_epoch=is_since_epoch)
    except NotUnderstood as error:
        run.warnings.append(f"lines {lines[0]}–{lines[-1]}: the progress is left out: {error}")
        return (), ""
    begin_s, interval_s = 0.0 if is_since_epoch else round(max(grid.t0_s, 0.0), 3), round(grid.interval_s, 3)
    series = (Series.called(name, interval_s, grid.values(values), begin_s) for name, values in printed.items())
    return tuple(series), utc(round(grid.t0_s, 3)) if is_since_epoch else ""


def _check_progress(run: Run, interval_s: float, *, is_since_epoch: bool) -> None:
    """The interval is not printed: it must fit the begin and the told duration, and hold no more than the report."""
    times, told_s = run.progress.times_s, run.values.get("duration_s", 0)
    if not is_since_epoch and times[0] < 0.6 * interval_s:
        raise NotUnderstood(f"the first is at {times[0]:g} s, the others come every {interval_s:g} s")
    slack_s = 0.3 * interval_s + 0.2 if is_since_epoch else 0.6 * interval_s + 1
    if told_s and times[-1] - times[0] + interval_s > told_s + slack_s:
        raise NotUnderstood(f"lines every {interval_s:g} s do not fit a run of {told_s:g} s")
    if len(times) == 1:
        raise NotUnderstood("one line only, which does not show its interval")
    if run.ended and "transactions" in run.rows:
        check_sum(run.progress.figures("tps"), interval_s, run.values["transactions"], "transactions")


_BUILTIN = {
    "tpc-b (sort of)": "tpcb-like", "simple update": "simple-update", "select only": "select-only",
    "update only pgbench_accounts": "simple-update", "update only accounts": "simple-update",
}  # fmt: skip
_OF_SCRIPT = ("failed_transactions", "retried_transactions", "retries", "skipped_transactions", "latency_avg_ms",
              "latency_stddev_ms")  # fmt: skip


def script_name(text: str) -> str:
    """`<builtin: TPC-B (sort of)>` and `TPC-B (sort of)` are one script; a file keeps its name without its path."""
    inner = re.sub(r"^<builtin: (.*)>$", r"\1", text.strip())
    known = _BUILTIN.get(inner.lower())
    if known or inner != text.strip():
        return known or inner
    return redact_text(re.split(r"[/\\]", inner)[-1])


def _of_scripts(run: Run) -> dict[str, float]:
    """The figures of the statements, and of the scripts if there are several."""
    add_up = not run.scripts or _latencies_add_up(run)
    figures = _of_statements(run, run, "")
    for position, script in enumerate(run.scripts, start=1):
        values, prefix = script.values, f"script_{position}_"
        of_script: dict[str, float] = {f"{prefix}{name}": value for name, value in entries(values, *_OF_SCRIPT).items()}
        tps = values.get("tps", values.get("share_tps"))
        if tps is not None:
            # Since 16 the share counts the failed and skipped ones too, and shows no tps.
            done = values.get("transactions", values.get("counted", 0))
            of_script = {f"{prefix}tps": tps, f"{prefix}transactions": done} | of_script
        of_script |= _of_statements(run, script, prefix)
        figures |= {name: float(value) for name, value in of_script.items() if add_up or "latency" not in name}
    targets = [script.values.get("target_percent", math.nan) for script in run.scripts if "weight" in script.rows]
    if abs(sum(targets) - 100) > 0.1 * len(targets) and targets:
        run.warnings.append("parts of some scripts are missing at the end of the report")
    if not add_up:
        run.warnings.append("the scripts' latencies do not add up to the run's: those of the scripts are left out")
    return figures


def _of_statements(run: Run, part: Script, prefix: str) -> dict[str, float]:
    """One figure per statement, named by its text: its number in the list would shift when a line is lost."""
    statements = part.statements
    if statements and run.several_files:
        words = "the latencies of the statements of several files are left out: the files are not told apart"
        run.warnings.append(words)
        return {}
    # The latency of a transaction without its wait for the schedule, where none of them failed.
    lag_ms, latency_ms = run.values.get("lag_avg_ms", 0), None
    if lag_ms is not None and "latency_avg" in part.rows and not part.values.get("failed_transactions"):
        latency_ms = max(part.values["latency_avg_ms"] - lag_ms, 0.0)
    took_ms = sum(statement.latency_ms for statement in statements)
    # What is printed is rounded, and something lies between the statements.
    rounding = 0.0006 * len(statements) + 0.002
    fits = latency_ms is None or latency_ms * 0.8 - rounding <= took_ms <= latency_ms * 1.05 + rounding
    if statements and not fits:
        where = f"line {statements[0].line}: the latencies of the statements"
        run.warnings.append(f"{where} do not add up to the transaction's; left out")
        return {}
    figures: dict[str, float] = {}
    short, long = ([slug(each.text, longest=most).strip("_") for each in statements] for most in (40, 90))
    for at, statement in enumerate(statements):
        if long.count(long[at]) > 1:
            run.warnings.append(f"line {statement.line}: the statement occurs more than once; its latency is left out")
            continue
        name = f"{prefix}statement_{short[at] if short.count(short[at]) == 1 else long[at]}"
        counts = {f"{name}_failures": statement.failures, f"{name}_retries": statement.retries}
        figures[f"{name}_latency_avg_ms"] = statement.latency_ms
        figures |= {each: count for each, count in counts.items() if count}
    return figures


def _latencies_add_up(run: Run) -> bool:
    """The mean of the scripts' latencies, weighted by their transactions, is the run's; so with the squares."""
    counted, mean, square = 0, 0.0, 0.0
    for values, rows in ((script.values, script.rows) for script in run.scripts):
        if not {"share", "latency_avg", "latency_stddev"} <= set(rows):
            return not values.get("counted") or not run.ended or run.cut
        done = values["transactions"] if "processed" in rows else values["counted"]
        counted += done
        mean += done * values["latency_avg_ms"]
        square += done * (values["latency_avg_ms"] ** 2 + values["latency_stddev_ms"] ** 2)
    every: int = run.values.get("transactions", 0)
    if "latency_stddev" not in run.rows or not counted or abs(counted - every) > 0.01 * counted:
        return True
    average: float = run.values.get("latency_avg_ms", 0.0)
    of_run, of_scripts = math.hypot(average, run.values["latency_stddev_ms"]), math.sqrt(square / counted)
    square_fits = abs(of_scripts - of_run) <= 0.003 + 0.02 * of_scripts
    return abs(mean / counted - average) <= 0.002 + 0.02 * average and square_fits
