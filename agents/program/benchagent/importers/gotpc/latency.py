"""Latencies of the summary, checked against Sum and Count."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from benchagent.importers.base import NotUnderstood, agree
from benchagent.importers.gotpc.rows import Row

_RISING = ("p50_ms", "p90_ms", "p95_ms", "p99_ms", "p999_ms", "max_ms")


def checked_latencies(rows: Sequence[Row]) -> tuple[dict[str, dict[str, float]], list[str]]:
    """Trustworthy latencies by operation, and warnings.

    The histogram behind Avg and the percentiles has one significant figure, starts at 1 ms and ends at 16 s; Sum is
    exact. A build of 2021 printed averages and percentiles a thousand times too small: where most rows disagree, Sum
    and Count are right; where one does, nobody knows which of its figures is wrong.
    """
    doubtful = [row for row in rows if not _fits(row)]
    checkable = [row for row in rows if "sum_ms" in row.values and not row.operation.endswith("_ERR")]
    systematic = len([row for row in doubtful if row in checkable]) > max(1, len(checkable) // 2)
    found: dict[str, dict[str, float]] = {}
    warnings: list[str] = []
    for row in rows:
        values = {name: row.values[name] for name in ("avg_ms", *_RISING) if name in row.values}
        if row in doubtful:
            values = {}
            if systematic and row.values["count"]:
                values = {"avg_ms": round(row.values["sum_ms"] / row.values["count"], 3)}
        elif any(later < earlier for earlier, later in _pairs(row)):
            raise NotUnderstood(f"line {row.line}: the percentiles of {row.operation} do not rise")
        found[row.operation] = values
    if doubtful and systematic:
        warnings.append(
            "Avg and the percentiles contradict Sum and Count (a defect of some builds of 2021): "
            "averages computed from Sum / Count, percentiles left out"
        )
    elif doubtful:
        names = ", ".join(row.operation for row in doubtful)
        warnings.append(f"latencies of {names} left out: Avg is not Sum / Count")
    return found, warnings


def _pairs(row: Row) -> list[tuple[float, float]]:
    return list(itertools.pairwise([row.values[name] for name in _RISING if name in row.values]))


def _fits(row: Row) -> bool:
    values = row.values
    if not {"sum_ms", "count", "avg_ms"} <= set(values) or not values["count"]:
        return True
    exact, printed = values["sum_ms"] / values["count"], values["avg_ms"]
    # Latencies over the histogram's end (16 s, or --max-measure-latency) count as its end.
    if values.get("max_ms", values.get("p999_ms", 0.0)) >= 15_000 and printed <= exact:
        return True
    return agree(exact, printed, relative=0.12, absolute=1.1)
