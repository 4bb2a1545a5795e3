"""The [Current] rows -> throughput and latency over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchagent.importers.base import Series
from benchagent.importers.gotpc.rows import Row

_DEFAULT_INTERVALS_S = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600)


def series_of(current: Sequence[Row], summary: Mapping[str, Row]) -> tuple[tuple[Series, ...], tuple[str, ...]]:
    """tpm and tpmc for each interval of `--interval`.

    The rows carry no time: an interval is a group of rows in the order of their names. One in which a type is missing
    is a gap for the total. Where the groups do not add up to the run, there is no series.
    """
    rows = [row for row in current if "tpm" in row.values]
    blocks = _blocks(rows)
    if len(blocks) < 2:
        return (), ()
    interval = _interval_s(blocks)
    if interval is None:
        return (), ("the [Current] rows are of intervals of different length: not read as a series",)
    problem = _contradiction(blocks, summary, interval)
    if problem:
        return (), (problem,)
    types = {row.operation for block in blocks for row in block if not row.operation.endswith("_ERR")}
    total: list[float | None] = []
    new_orders: list[float | None] = []
    for block in blocks:
        values = {row.operation: row.values["tpm"] for row in block if not row.operation.endswith("_ERR")}
        total.append(round(sum(values.values()), 1) if set(values) == types else None)
        new_orders.append(values.get("NEW_ORDER"))
    if sum(1 for value in total if value is None) > len(total) / 4:
        return (), ("too many intervals lack a transaction type: not read as a series",)
    series = [Series("tpm", "TPM", interval, tuple(total))]
    if "NEW_ORDER" in types:
        series.append(Series("tpmc", "tpmC", interval, tuple(new_orders)))
    return tuple(series), ()


def _blocks(rows: Sequence[Row]) -> list[list[Row]]:
    blocks: list[list[Row]] = []
    for row in rows:
        if blocks and blocks[-1][-1].operation == row.operation and blocks[-1][-1].values == row.values:
            continue  # the same line twice
        if not blocks or row.operation <= blocks[-1][-1].operation:
            blocks.append([])
        blocks[-1].append(row)
    return blocks


def _interval_s(blocks: Sequence[Sequence[Row]]) -> float | None:
    """Takes runs from a type's first transaction in the interval to its end: a bit less than the interval."""
    longest = sorted(max(row.values["takes_s"] for row in block) for block in blocks)
    middle = longest[len(longest) // 2]
    interval = next((candidate for candidate in _DEFAULT_INTERVALS_S if agree_up(middle, candidate)), None)
    if interval is None or longest[-1] > interval * 1.05 + 0.1:
        return None
    return float(interval)


def agree_up(takes_s: float, interval_s: float) -> bool:
    return interval_s * 0.95 - 0.1 <= takes_s <= interval_s * 1.02 + 0.05


def _contradiction(blocks: Sequence[Sequence[Row]], summary: Mapping[str, Row], interval_s: float) -> str:
    """Why the groups of rows are not the intervals of one run; empty where they are."""
    return _disorder(blocks, summary) or _wrong_length(blocks, summary, interval_s) or _wrong_counts(blocks, summary)


def _disorder(blocks: Sequence[Sequence[Row]], summary: Mapping[str, Row]) -> str:
    seen = {row.operation for block in blocks for row in block if not row.operation.endswith("_ERR")}
    if not {"NEW_ORDER", "PAYMENT"} <= seen or (not summary and len(seen) < 5):
        return "the [Current] rows lack transaction types: not read as a series"
    # No interval of a run that moves is without these two: one gap is a lost line, more are lines out of order.
    for common in ("NEW_ORDER", "PAYMENT"):
        if sum(1 for block in blocks if all(row.operation != common for row in block)) > 1:
            return "the [Current] rows are out of order: not read as a series"
    return ""


def _wrong_length(blocks: Sequence[Sequence[Row]], summary: Mapping[str, Row], interval_s: float) -> str:
    takes = max((row.values.get("takes_s", 0.0) for row in summary.values()), default=0.0)
    if takes and len(blocks) < int((takes - 0.5) / interval_s):
        return "the [Current] rows of some intervals are missing: not read as a series"
    if takes and len(blocks) * interval_s > takes + interval_s / 2 + 1:
        return f"{len(blocks)} intervals of {interval_s:g} s do not fit into {takes:g} s: not read as a series"
    return ""


def _wrong_counts(blocks: Sequence[Sequence[Row]], summary: Mapping[str, Row]) -> str:
    for operation, row in summary.items():
        counts = [one.values["count"] for block in blocks for one in block if one.operation == operation]
        total = row.values.get("count")
        if total is None:
            continue
        if sum(counts) > total:
            return f"the [Current] rows count more of {operation} than the summary: not read as a series"
        if operation == "NEW_ORDER" and total - sum(counts) > 2 * max(counts, default=0) + 2:
            return "the [Current] rows are not all there: not read as a series"
    return ""
