"""Scripts and their statements: names, latencies of each, and whether they are those of the script."""

from __future__ import annotations

import re

from benchagent.importers.pgbench.run import Run, Script, Statement
from benchagent.importers.report import Metric, measured
from benchagent.importers.source import slug
from benchagent.redaction import redact_text

_BUILTIN = {
    "tpc-b (sort of)": "tpcb-like", "simple update": "simple-update", "select only": "select-only",
    "update only pgbench_accounts": "simple-update", "update only accounts": "simple-update",
}  # fmt: skip
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
_OF_SCRIPT = ("failed_transactions", "retried_transactions", "retries", "skipped_transactions", "latency_avg_ms",
              "latency_stddev_ms")  # fmt: skip


def script_name(text: str) -> str:
    """`<builtin: TPC-B (sort of)>` and `TPC-B (sort of)` are one script; a file keeps its name without its path."""
    inner = re.sub(r"^<builtin: (.*)>$", r"\1", text.strip())
    known = _BUILTIN.get(inner.lower())
    if known or inner != text.strip():
        return known or inner
    return redact_text(re.split(r"[/\\]", inner)[-1])


def statement_metrics(run: Run) -> list[Metric]:
    """Of the statements, and of the scripts where there are several."""
    tables: list[tuple[str, list[Statement]]] = [(run.text("script"), run.statements)]
    tables += [(script.text("script"), script.statements) for script in run.scripts]
    for name, statements in tables:
        if name and not _of_builtin(script_name(name), [statement.text for statement in statements]):
            # Statements of a builtin script that are not its own, or not in its order, say that lines were moved.
            run.warnings.append(
                f"line {statements[0].line}: not the statements of {name}; their latencies are left out"
            )
            for _, misplaced in tables:
                misplaced.clear()
    of_failures = "nan" in run.text("lag_avg_ms") or run.count("failed_transactions")
    metrics = _of_statements(run, run.statements, "", None if of_failures else _busy_ms(run, run))
    of_scripts: list[Metric] = []
    for number, script in enumerate(run.scripts, start=1):
        of_scripts += _of_script(run, script, f"script_{number}_")
    targets = [script.text("target_percent") for script in run.scripts if "weight" in script]
    if targets and all(targets) and abs(sum(map(float, targets)) - 100) > 0.1 * len(targets):
        run.warnings.append("parts of some scripts are missing at the end of the report")
    if run.scripts and not _latencies_add_up(run):
        run.warnings.append("the scripts' latencies do not add up to the run's: those of the scripts are left out")
        of_scripts = [metric for metric in of_scripts if "latency" not in metric.name]
    return metrics + of_scripts


def _of_builtin(script: str, texts: list[str]) -> bool:
    """Whether the statements can be those of the script; those of a file can be any."""
    expected = _STATEMENTS.get(script)
    if expected is None:
        return True
    positions = [
        next((at for at, head in enumerate(expected) if text.startswith(head)), -1)
        for text in texts
        if not text.startswith("\\")
    ]
    variables = {text.split()[1] for text in texts if " " in text and text.startswith("\\")}
    return positions == sorted(set(positions)) and -1 not in positions and variables <= _VARIABLES[script]


def _busy_ms(run: Run, part: Run | Script) -> float | None:
    """The latency of a transaction without its wait for the schedule."""
    return max(part.number("latency_avg_ms") - run.number("lag_avg_ms"), 0.0) if "latency_avg" in part else None


def _of_statements(run: Run, statements: list[Statement], prefix: str, latency_ms: float | None) -> list[Metric]:
    """One metric per statement, named by its text: its number in the list would shift when a line is lost."""
    if not statements:
        return []
    if run.several_files:
        run.warnings.append(
            "the latencies of the statements of several files are left out: the files are not told apart"
        )
        return []
    took_ms = sum(statement.latency_ms for statement in statements)
    # What is printed is rounded, and something lies between the statements.
    rounding = 0.0006 * len(statements) + 0.002
    if latency_ms is not None and not latency_ms * 0.8 - rounding <= took_ms <= latency_ms * 1.05 + rounding:
        run.warnings.append(
            f"line {statements[0].line}: the latencies of the statements do not add up to the transaction's; left out"
        )
        return []
    metrics: list[Metric] = []
    texts = [statement.text for statement in statements]
    for statement in statements:
        name, long = (slug(statement.text, longest=longest).strip("_") for longest in (40, 90))
        if sum(slug(text, longest=40).strip("_") == name for text in texts) > 1:
            name = long
        if sum(slug(text, longest=90).strip("_") == long for text in texts) > 1:
            run.warnings.append(f"line {statement.line}: the statement occurs more than once; its latency is left out")
            continue
        name = f"{prefix}statement_{name}"
        metrics.append(measured(f"{name}_latency_avg_ms", statement.latency_ms))
        if statement.failures:
            metrics.append(measured(f"{name}_failures", statement.failures, unit="errors"))
        if statement.retries:
            metrics.append(measured(f"{name}_retries", statement.retries))
    return metrics


def _of_script(run: Run, script: Script, prefix: str) -> list[Metric]:
    metrics: list[Metric] = []
    tps, done = script.text("tps") or script.text("share_tps"), script.text("transactions")
    if tps:
        metrics.append(measured(f"{prefix}tps", float(tps)))
        # Since 16 the share counts the failed and skipped ones too, and shows no tps.
        metrics.append(measured(f"{prefix}transactions", float(done or script.text("counted"))))
    metrics += [measured(prefix + name, script.number(name)) for name in _OF_SCRIPT if script.text(name)]
    of_failures = "nan" in run.text("lag_avg_ms") or script.count("failed_transactions")
    return metrics + _of_statements(run, script.statements, prefix, None if of_failures else _busy_ms(run, script))


def _latencies_add_up(run: Run) -> bool:
    """The mean of the scripts' latencies, weighted by their transactions, is the run's; so with the squares."""
    parts: list[tuple[int, float, float]] = []
    for script in run.scripts:
        if not {"share", "latency_avg", "latency_stddev"} <= set(script.rows):
            return "share" not in script or script.count("counted") == 0 or not run.ended or run.cut
        done = script.count("transactions") if "processed" in script else script.count("counted")
        parts.append((done, script.number("latency_avg_ms"), script.number("latency_stddev_ms")))
    counted = sum(done for done, _, _ in parts)
    if "latency_stddev" not in run or not counted or abs(counted - run.count("transactions")) > 0.01 * counted:
        return True
    average, deviation = run.number("latency_avg_ms"), run.number("latency_stddev_ms")
    mean = sum(done * latency for done, latency, _ in parts) / counted
    square = (sum(done * (latency**2 + spread**2) for done, latency, spread in parts) / counted) ** 0.5
    square_fits = abs(square - (average**2 + deviation**2) ** 0.5) <= 0.003 + 0.02 * square
    return abs(mean - average) <= 0.002 + 0.02 * average and square_fits
