"""The progress lines of a run as series."""

from __future__ import annotations

import datetime

from benchagent.importers.base import NotUnderstood, Series, evenly
from benchagent.importers.pgbench.checks import count
from benchagent.importers.pgbench.run import Run

# Times beyond this are seconds since 1970 (--progress-timestamp), not since the run's begin.
EPOCH_S = 1_000_000_000
_UNITS = {"tps": "TPS", "latency_avg_ms": "ms", "latency_stddev_ms": "ms", "lag_avg_ms": "ms",
                   "failed_transactions": "transactions", "skipped_transactions": "transactions",
                   "retried_transactions": "transactions", "retries": "retries"}  # fmt: skip


def series_of(run: Run) -> tuple[tuple[Series, ...], str]:
    if not run.progress:
        return (), ""
    times = [progress.time_s for progress in run.progress]
    names = [name for name in _UNITS if all(name in progress.values for progress in run.progress)]
    try:
        t0_s, interval_s, _ = evenly(times, [None] * len(times), tolerance=0.4)
        columns = {name: evenly(times, [p.values[name] for p in run.progress], tolerance=0.4)[2] for name in names}
        columns["tps"] = evenly(times, [progress.values["tps"] for progress in run.progress], tolerance=0.4)[2]
        _regular(run, times, interval_s)
        _fits(run, interval_s, columns["tps"])
    except NotUnderstood as error:
        run.warnings.append(f"lines {run.progress[0].line}–{run.progress[-1].line}: the progress is left out: {error}")
        return (), ""
    started_at = ""
    if times[0] > EPOCH_S:
        started_at = datetime.datetime.fromtimestamp(round(t0_s, 3), tz=datetime.UTC).isoformat()
        t0_s = 0.0
    series = [
        Series(name, _UNITS[name], round(interval_s, 3), columns[name], round(max(t0_s, 0.0), 3)) for name in columns
    ]
    return tuple(series), started_at


def _regular(run: Run, times: list[float], interval_s: float) -> None:
    """The interval is not printed: what is found must fit the begin and the told duration."""
    since_epoch = times[0] > EPOCH_S
    if not since_epoch and times[0] < 0.6 * interval_s:
        raise NotUnderstood(f"the first is at {times[0]:g} s, the others come every {interval_s:g} s")
    told = float(run.value("duration_s") or 0)
    slack = 0.3 * interval_s + 0.2 if since_epoch else 0.6 * interval_s + 1
    if told and times[-1] - times[0] + interval_s > told + slack:
        raise NotUnderstood(f"lines every {interval_s:g} s do not fit a run of {told:g} s")
    if len(times) == 1:
        raise NotUnderstood("one line only, which does not show its interval")


def _fits(run: Run, interval_s: float, tps: tuple[float | None, ...]) -> None:
    """The progress cannot hold more transactions than the report, nor miss more than its gaps and its end."""
    if not run.ended or "transactions" not in run.figures:
        return
    done = count(run, "transactions")
    seen = sum(value * interval_s for value in tps if value is not None)
    if seen > done * 1.05 + 2 * interval_s * max((value or 0 for value in tps), default=0) + 2:
        raise NotUnderstood(f"it holds {seen:.0f} transactions, the report {done}")
