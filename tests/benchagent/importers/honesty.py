"""The promise of every importer under damage: right values, fewer values, or an honest status. Never another number."""

from __future__ import annotations

from pathlib import Path

from benchagent.importers import Report, SourceFile, Status, inspect

from .mutations import HARMLESS, mutations

DATA = Path(__file__).parent / "data"
# A byte of noise may turn a digit into another one, which nothing can tell.
MAY_CHANGE_DIGITS = frozenset({"noise", "binary"})


def reports(name: str, data: bytes) -> list[Report]:
    return inspect([SourceFile(name, data)])[0][1]


def sample(tool: str, name: str) -> bytes:
    return (DATA / tool / name).read_bytes()


def one(tool: str, name: str) -> Report:
    found = reports(name, sample(tool, name))
    assert len(found) == 1, [report.reason for report in found]
    return found[0]


def values(report: Report) -> dict[str, float]:
    return {metric.name: metric.value for metric in report.metrics}


def wrong_numbers(file: Path, *, seed: int, count: int) -> list[str]:
    """What damaged copies of a file say that the file itself does not; empty when the importer keeps its promise."""
    data = file.read_bytes()
    original = reports(file.name, data)
    found = []
    for kind, damaged in mutations(data, seed=seed, count=count):
        after = reports(file.name, damaged)
        if kind in MAY_CHANGE_DIGITS:
            continue
        if kind in HARMLESS and after != original:
            found.append(f"{file.name}: {kind} changed the report")
        found += [f"{file.name}: {kind}: {words}" for report in after for words in _invented(report, original)]
    return found


def _invented(report: Report, original: list[Report]) -> list[str]:
    if report.status is Status.NOT_UNDERSTOOD:
        return ["numbers without being understood"] if report.metrics or report.series else []
    known = {(metric.name, metric.unit, metric.value, metric.phase) for one in original for metric in one.metrics}
    told = {item for one in original for item in one.parameters.items()}
    wrong = [
        f"{metric.name} = {metric.value:g}"
        for metric in report.metrics
        if (metric.name, metric.unit, metric.value, metric.phase) not in known
    ]
    wrong += [f"parameter {name} = {value}" for name, value in report.parameters.items() if (name, value) not in told]
    for series in report.series:
        same = [one for before in original for one in before.series if one.name == series.name]
        if not any(_within(series.values, one.values) and series.interval_s == one.interval_s for one in same):
            wrong.append(f"series {series.name}: {series.values[:6]}")
    return wrong


def _within(short: tuple[float | None, ...], long: tuple[float | None, ...]) -> bool:
    """Whether `short` is a stretch of `long`, where some samples may be gaps."""
    return any(
        all(value is None or value == long[at + place] for place, value in enumerate(short))
        for at in range(len(long) - len(short) + 1)
    )
