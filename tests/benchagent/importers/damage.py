"""The promise of an importer under damage: right values, fewer values, or "not understood". Never another number."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from itertools import chain

from benchagent.importers import Report, Series, Status

from tests.benchagent.importers.mutations import HARMLESS, mutations
from tests.benchagent.importers.samples import reports

# Another byte may make another digit of a digit: there only that nothing is thrown.
BLIND = frozenset({"noise", "binary"})
# What a percentile is called whose rank stood in the part that was cut off.
RANK_UNKNOWN = "latency_percentile_ms"


def wrong_answers(name: str, data: bytes, *, seed: int, count: int, beside: frozenset[str] = frozenset()) -> list[str]:
    """What reports of damaged copies say that the file does not say, a line each: `file: damage: words (copy)`.

    `beside`: kinds of damage that leave no trace in this file.
    """
    told, wrong = reports(name, data), []
    for number, (kind, damaged) in enumerate(mutations(data, seed=seed, count=count)):
        answers = reports(name, damaged)
        words = ["not the same report"] if kind in HARMLESS and answers != told else []
        if kind not in BLIND | beside:
            words += chain.from_iterable(_invented(report, told) for report in answers)
        wrong += [f"{name}: {kind}: {said} (copy {number})" for said in words]
    return wrong


def _invented(report: Report, told: Sequence[Report]) -> list[str]:
    """What no single report of the undamaged file says: a run must not get another run's figures."""
    if report.status is Status.NOT_UNDERSTOOD:
        return ["numbers without being understood"] if report.metrics or report.series else []
    return min((list(_differences(report, before)) for before in told), key=len, default=["a report of nothing"])


def _differences(report: Report, before: Report) -> Iterator[str]:
    known = {(metric.name, metric.unit, metric.value, metric.phase) for metric in before.metrics}
    for metric in report.metrics:
        if (metric.name, metric.unit, metric.value, metric.phase) not in known:
            yield f"{metric.name} = {metric.value:g} {metric.unit}"
    for name, value in report.parameters.items():
        if before.parameters.get(name) != value:
            yield f"parameter {name} = {value}"
    for series in report.series:
        whole = [known for known in before.series if _same_kind(series, known)]
        points = {point for known in whole for point in _points(before, known)}
        stretches = any(_is_stretch(series.values, known.values) for known in whole)
        if not (stretches and points.issuperset(_points(report, series))):
            yield f"series {series.name}: {series.values[:6]}"
    if report.histogram not in ("", before.histogram):
        yield "another histogram"


def _same_kind(series: Series, known: Series) -> bool:
    named = known.name == series.name or (series.name == RANK_UNKNOWN and known.name.startswith("latency_p"))
    return named and known.interval_s == series.interval_s


def _points(report: Report, series: Series) -> Iterator[tuple[float, float]]:
    """The samples with the time at which their interval begins."""
    start = datetime.datetime.fromisoformat(report.started_at).timestamp() if report.started_at else 0.0
    for number, value in enumerate(series.values):
        if value is not None:
            yield round(start + series.t0_s + number * series.interval_s, 2), value


def _is_stretch(short: tuple[float | None, ...], long: tuple[float | None, ...]) -> bool:
    """Whether `short` is a stretch of `long`, where some samples may be gaps."""
    return any(
        all(value is None or value == long[at + number] for number, value in enumerate(short))
        for at in range(len(long) - len(short) + 1)
    )
