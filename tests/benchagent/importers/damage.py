"""What a damaged copy may say: what the file itself says, less of it, or "not understood"; never another number."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence

from benchagent.importers import Report, Series, SourceFile, Status, inspect

from tests.benchagent.importers.mutations import HARMLESS, mutations

# Another byte may make another digit of a digit: there only that nothing is thrown.
BLIND = frozenset({"noise", "binary"})


def judged(files: Sequence[SourceFile]) -> list[Report]:
    return [report for _, reports in inspect(files) for report in reports]


def wrong_answers(name: str, data: bytes, *, seed: int, count: int) -> Iterator[str]:
    """One line for every damaged copy whose report says what the file does not say."""
    told = judged([SourceFile(name, data)])
    for number, (kind, damaged) in enumerate(mutations(data, seed=seed, count=count)):
        reports = judged([SourceFile(name, damaged)])
        if kind in BLIND:
            continue
        where = f"{name} #{number} {kind}"
        if kind in HARMLESS and reports != told:
            yield f"{where}: not the same report"
        for report in reports:
            if report.status is not Status.NOT_UNDERSTOOD and not any(_part_of(report, one) for one in told):
                yield f"{where}: {_difference(report, told)}"


def _part_of(report: Report, told: Report) -> bool:
    return not _differences(report, told)


def _difference(report: Report, told: Sequence[Report]) -> str:
    return min((_differences(report, one) for one in told), key=len, default="no report")


def _differences(report: Report, told: Report) -> str:
    known = {(metric.name, metric.phase): metric.value for metric in told.metrics}
    wrong = [
        f"{metric.name} {metric.value} for {known.get((metric.name, metric.phase))}"
        for metric in report.metrics
        if known.get((metric.name, metric.phase)) != metric.value
    ]
    wrong += [
        f"{name} {value} for {told.parameters.get(name)}"
        for name, value in report.parameters.items()
        if told.parameters.get(name) != value
    ]
    points = {series.name: set(_points(told, series)) for series in told.series}
    # The rank of a percentile that only a cut-off end states.
    ranked = [ones for name, ones in points.items() if name.startswith("latency_p")]
    points["latency_percentile_ms"] = set().union(*ranked)
    for series in report.series:
        if not set(_points(report, series)) <= points.get(series.name, set()):
            wrong.append(f"series {series.name} {series.values[:5]}")
    if report.histogram not in ("", told.histogram):
        wrong.append("another histogram")
    return "; ".join(wrong)


def _points(report: Report, series: Series) -> Iterator[tuple[float, float]]:
    """The samples with the time at which their interval begins."""
    start = datetime.datetime.fromisoformat(report.started_at).timestamp() if report.started_at else 0.0
    for place, value in enumerate(series.values):
        if value is not None:
            yield round(start + series.t0_s + place * series.interval_s, 2), value
