"""Figures that pgbench prints twice, or that follow from others: where they contradict each other, none is trusted."""

from __future__ import annotations

from benchagent.importers.pgbench.run import Run, Script
from benchagent.importers.pgbench.tables import REPORT
from benchagent.importers.source import NotUnderstood, agree

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
