"""Figures that pgbench prints twice, or that follow from others: where they contradict each other, none is trusted."""

from __future__ import annotations

import re

from benchagent.importers.base import NotUnderstood, agree
from benchagent.importers.pgbench.lines import REPORT
from benchagent.importers.pgbench.run import Run, Script


def count(run: Run, key: str) -> int:
    return int(run.value(key) or 0)


def total(run: Run) -> int:
    """Transactions that were done, failed or left out."""
    return count(run, "transactions") + count(run, "failed") + count(run, "skipped")


def check(run: Run) -> None:
    """Raises NotUnderstood where the report contradicts itself."""
    _complete_lines(run)
    _counts(run)
    _percentages(run)
    if "tps" in run.figures and count(run, "transactions"):
        _rate(run)
    for script in run.scripts:
        if "script" in script.figures:
            _script(run, script)


def _complete_lines(run: Run) -> None:
    """No line is missing before one that is there, unless the report's head is: then it is an extract."""
    if run.headless:
        if "tps" not in run.figures:
            raise NotUnderstood(f"line {run.line}: a report without its beginning and its end")
        run.warnings.append("an extract: the beginning of the report is missing")
        return
    needed = ["scale_factor", "query_mode", "terminals", "transactions"]
    last = max(found.rank for found in run.figures.values())
    missing = [key for key in needed if key not in run.figures and last > _rank(key)]
    if last > _rank("transactions") and not {"duration_s", "transactions_per_client"} & set(run.figures):
        missing.append("duration_s")
    old = (run.value("tps", 1) or "").startswith("excluding")
    if old and "tps_including" not in run.figures:
        missing.append("tps including connections establishing")
    if missing:
        raise NotUnderstood(f"line {run.line}: the report has no {', '.join(missing)}")


def _rank(key: str) -> int:
    return next(rank for rank, (name, _, _) in enumerate(REPORT) if name == key)


def _counts(run: Run) -> None:
    told = run.value("transactions", 1)
    if told and run.value("transactions_per_client"):
        if int(told) != count(run, "terminals") * count(run, "transactions_per_client"):
            raise NotUnderstood(f"line {run.line}: {told} transactions are not clients × transactions per client")
        if total(run) > int(told):
            raise NotUnderstood(f"line {run.line}: more transactions than the {told} asked for")
    if count(run, "threads") > count(run, "terminals") > 0:
        raise NotUnderstood(f"line {run.line}: more threads than clients")
    detailed = count(run, "serialization_failures") + count(run, "deadlock_failures")
    if detailed > count(run, "failed") and "failed" in run.figures:
        raise NotUnderstood(f"line {run.line}: more serialization and deadlock failures than failures")


def _percentages(run: Run) -> None:
    """The counts against the percentages printed beside them; before 15 the percentage has its own basis."""
    every = total(run)
    for key in ("failed", "serialization_failures", "deadlock_failures", "retried", "skipped"):
        found = run.figures.get(key)
        if found is None or not every:
            continue
        if not agree(100 * int(found.values[0]) / every, float(found.values[1]), relative=0, absolute=0.0011):
            raise NotUnderstood(f"line {run.line}: {found.values[0]} of {every} are not {found.values[1]} %")


def measured_s(run: Run) -> list[float]:
    """How long the run was, by each of the ways in which the report says it."""
    found = []
    for key in ("tps", "tps_including"):
        value = float(run.value(key) or 0)
        if value > 0:
            found.append(count(run, "transactions") / value)
    if told := run.value("duration_s"):
        found.append(float(told))
    return found


def _rate(run: Run) -> None:
    """tps against duration, the two tps against each other, the latency against clients and time."""
    tps, including = float(run.value("tps") or 0), float(run.value("tps_including") or 0)
    if tps <= 0 or (including and not 0 < including <= tps * 1.000001):
        raise NotUnderstood(f"line {run.line}: {tps} tps contradicts {including} tps with connections")
    elapsed = count(run, "transactions") / (including or tps)
    told = run.value("duration_s")
    if told and elapsed < 0.9 * float(told) and not run.problems:
        raise NotUnderstood(f"line {run.line}: {elapsed:.1f} s by tps and transactions, {told} s as told")
    if told and elapsed > 1.5 * float(told) + 5:
        run.warnings.append(f"{elapsed:.1f} s by tps and transactions, {told} s as told")
    if "latency_avg" not in run.figures or run.problems:
        return
    latency, clients = float(run.value("latency_avg") or 0), count(run, "terminals")
    if not clients:
        return
    if "latency_stddev" in run.figures:
        busy = latency * count(run, "transactions") / 1000
        if busy > 1.05 * clients * elapsed + clients and "lag" not in run.figures:
            raise NotUnderstood(
                f"line {run.line}: {latency} ms on average is more than {clients} clients have time for"
            )
        return
    expected = [1000 * time_s * clients / total(run) for time_s in measured_s(run)]
    if latency and not any(agree(latency, one, relative=0.02, absolute=0.001) for one in expected):
        raise NotUnderstood(f"line {run.line}: a latency of {latency} ms contradicts {tps} tps by {clients} clients")


def _script(run: Run, script: Script) -> None:
    share = script.figures.get("share")
    if share is None:
        return
    counted, percent, tps = share.values
    every = total(run)
    if every and not agree(100 * int(counted) / every, float(percent), relative=0, absolute=0.11):
        raise NotUnderstood(f"line {run.line}: {counted} transactions are not {percent} % of {every}")
    # Each transaction draws its script by the weights.
    target = float(script.figures["weight"].values[1] or 0) / 100 if "weight" in script.figures else 0.0
    spread = 100 * (target * (1 - target) / every) ** 0.5 if every else 0.0
    if target and abs(float(percent) - 100 * target) > 8 * spread + 0.2:
        raise NotUnderstood(f"line {run.line}: {percent} % of the transactions, by weight {100 * target:.1f} %")
    processed = script.figures.get("processed")
    own, rate = (processed.values[0], processed.values[1]) if processed else (counted, tps)
    skipped = script.figures.get("skipped")
    failed = script.figures.get("failed")
    if not processed:
        own = str(int(own) - int(skipped.values[0] if skipped else 0))
    elif int(own) + sum(int(one.values[0]) for one in (skipped, failed) if one) != int(counted):
        raise NotUnderstood(f"line {run.line}: the parts of a script's {counted} transactions do not add up")
    elapsed = measured_s(run)
    if rate and float(rate) and not any(agree(int(own) / float(rate), one, relative=0.02) for one in elapsed):
        raise NotUnderstood(f"line {run.line}: {own} transactions of a script contradict its {rate} tps")


def statements_fit(latency_ms: float | None, latencies_ms: list[float]) -> bool:
    """Whether the statements' latencies add up to the transaction's, within rounding and what lies between them."""
    if latency_ms is None or not latencies_ms:
        return True
    rounding = 0.0006 * len(latencies_ms) + 0.002
    return latency_ms * 0.8 - rounding <= sum(latencies_ms) <= latency_ms * 1.05 + rounding


_SLUG = re.compile(r"[^a-z0-9]+")


def slug(text: str, length: int = 40) -> str:
    return _SLUG.sub("_", text.lower()).strip("_")[:length].strip("_")
