"""The [Current] rows -> throughput over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from benchagent.importers.gotpc.rows import Row
from benchagent.importers.report import Series
from benchagent.importers.source import NotUnderstood

_DEFAULT_INTERVALS_S = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600)


def series_of(current: Sequence[Row], summary: Mapping[str, Row]) -> tuple[Series, ...]:
    """tpm and tpmc for each interval of `--interval`.

    The rows carry no time: an interval is a group of rows in the order of their names. One in which a type is missing
    is a gap for the total. Raises NotUnderstood where the groups do not add up to the run.
    """
    blocks: list[list[Row]] = []
    for row in current:
        if "tpm" not in row.values:
            continue
        before = blocks[-1][-1] if blocks else None
        if before and (before.operation, before.values) == (row.operation, row.values):
            continue  # the same line twice
        if not before or row.operation <= before.operation:
            blocks.append([])
        blocks[-1].append(row)
    if len(blocks) < 2:
        return ()
    # Takes runs from a type's first transaction in the interval to its end: a bit less than the interval.
    takes = sorted(max(row.values["takes_s"] for row in block) for block in blocks)
    usual = takes[len(takes) // 2]
    interval_s = next((s for s in _DEFAULT_INTERVALS_S if s * 0.95 - 0.1 <= usual <= s * 1.02 + 0.05), 0)
    if not interval_s or takes[-1] > interval_s * 1.05 + 0.1:
        raise NotUnderstood("the [Current] rows are of intervals of different length")
    rates = [
        {row.operation: row.values["tpm"] for row in block if not row.operation.endswith("_ERR")} for block in blocks
    ]
    types = {operation for block in rates for operation in block}
    if not {"NEW_ORDER", "PAYMENT"} <= types or (not summary and len(types) < 5):
        raise NotUnderstood("the [Current] rows lack transaction types")
    # No interval of a run that moves is without these two: one gap is a lost line, more are lines out of order.
    if any(sum(common not in block for block in rates) > 1 for common in ("NEW_ORDER", "PAYMENT")):
        raise NotUnderstood("the [Current] rows are out of order")
    _check_against_summary(blocks, summary, interval_s)
    total = [round(sum(block.values()), 1) if set(block) == types else None for block in rates]
    if total.count(None) > len(total) / 4:
        raise NotUnderstood("too many intervals lack a transaction type")
    new_orders = tuple(block.get("NEW_ORDER") for block in rates)
    return (
        Series("tpm", "TPM", float(interval_s), tuple(total)),
        Series("tpmc", "tpmC", float(interval_s), new_orders),
    )


def _check_against_summary(blocks: Sequence[Sequence[Row]], summary: Mapping[str, Row], interval_s: float) -> None:
    takes_s = max((row.values.get("takes_s", 0.0) for row in summary.values()), default=0.0)
    if takes_s and len(blocks) < int((takes_s - 0.5) / interval_s):
        raise NotUnderstood("the [Current] rows of some intervals are missing")
    if takes_s and len(blocks) * interval_s > takes_s + interval_s / 2 + 1:
        raise NotUnderstood(f"{len(blocks)} intervals of {interval_s:g} s do not fit into {takes_s:g} s")
    for operation, row in summary.items():
        counts = [part.values["count"] for block in blocks for part in block if part.operation == operation]
        total = row.values.get("count", sum(counts))
        if sum(counts) > total:
            raise NotUnderstood(f"the [Current] rows count more of {operation} than the summary")
        if operation == "NEW_ORDER" and total - sum(counts) > 2 * max(counts, default=0) + 2:
            raise NotUnderstood("the [Current] rows are not all there")
