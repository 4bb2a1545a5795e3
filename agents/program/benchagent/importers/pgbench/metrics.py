"""The metrics of a final report: of the run, of its scripts and of their statements."""

from __future__ import annotations

import re

from benchagent.importers.base import Metric
from benchagent.importers.pgbench.checks import count, slug, statements_fit
from benchagent.importers.pgbench.run import Run, Script, Statement
from benchagent.redaction import redact_text

BUILTIN = {
    "tpc-b (sort of)": "tpcb-like", "simple update": "simple-update", "select only": "select-only",
    "update only pgbench_accounts": "simple-update", "update only accounts": "simple-update",
}  # fmt: skip


def script_name(text: str) -> str:
    """`<builtin: TPC-B (sort of)>` and `TPC-B (sort of)` are one script; a file keeps its name without its path."""
    inner = re.sub(r"^<builtin: (.*)>$", r"\1", text.strip())
    known = BUILTIN.get(inner.lower())
    if known or inner != text.strip():
        return known or inner
    return redact_text(re.split(r"[/\\]", inner)[-1])


_STATEMENTS = {
    "tpcb-like": (
        "BEGIN;", "UPDATE pgbench_accounts", "SELECT abalance", "UPDATE pgbench_tellers", "UPDATE pgbench_branches",
        "INSERT INTO pgbench_history", "END;",
    ),
    "simple-update": ("BEGIN;", "UPDATE pgbench_accounts", "SELECT abalance", "INSERT INTO pgbench_history", "END;"),
    "select-only": ("SELECT abalance",),
}  # fmt: skip


# What their \\set and \\setrandom lines set.
_VARIABLES = {
    "tpcb-like": {"nbranches", "ntellers", "naccounts", "aid", "bid", "tid", "delta"},
    "simple-update": {"nbranches", "ntellers", "naccounts", "aid", "bid", "tid", "delta"},
    "select-only": {"naccounts", "aid"},
}


def metrics_of(run: Run) -> list[Metric]:
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
    _without_misplaced(run)
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
    if run.several_files:
        run.warnings.append(
            "the latencies of the statements of several files are left out: the files are not told apart"
        )
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
    # Since 16 the share counts the failed and skipped ones too, and shows no tps.
    counted = "share" in script.figures and bool(script.figures["share"].values[2])
    if processed or counted:
        add("processed" if processed else "share", "transactions", "transactions", 0, "none")
    add("failed", "failed_transactions", "transactions", 0, "lower")
    add("retried", "retried_transactions", "transactions", 0, "lower")
    add("retries", "retries", "retries", 0, "lower")
    add("skipped", "skipped_transactions", "transactions", 0, "lower")
    add("latency_avg", "latency_avg_ms", "ms", 0, "lower")
    add("latency_stddev", "latency_stddev_ms", "ms", 0, "lower")
    latency = script.figures.get("latency_avg")
    failed = script.figures.get("failed")
    lag = run.value("lag") or "0"
    measured = latency and "nan" not in lag and not (failed and int(failed.values[0]))
    known = max(float(latency.values[0]) - float(lag), 0.0) if latency and measured else None
    return found + _statements(run, script.statements, prefix, known)


def _without_misplaced(run: Run) -> None:
    """Statements of a builtin script that are not its own, or not in its order, say that lines were moved."""
    tables = [(run.value("script") or "", run.statements)]
    tables += [(script.figures["script"].values[1], script.statements) for script in run.scripts if script.figures]
    for name, statements in tables:
        if name and not _of_builtin(script_name(name), [statement.text for statement in statements]):
            run.warnings.append(
                f"line {statements[0].line}: not the statements of {name}; their latencies are left out"
            )
            run.statements = []
            for script in run.scripts:
                script.statements = []
            return


def _of_builtin(script: str, texts: list[str]) -> bool:
    """Whether the statements can be those of the script; those of a file can be any."""
    expected = _STATEMENTS.get(script)
    if expected is None:
        return True
    places = [
        next((at for at, head in enumerate(expected) if text.startswith(head)), -1)
        for text in texts
        if not text.startswith("\\")
    ]
    variables = {text.split()[1] for text in texts if " " in text and text.startswith("\\")}
    return places == sorted(set(places)) and -1 not in places and variables <= _VARIABLES[script]


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
