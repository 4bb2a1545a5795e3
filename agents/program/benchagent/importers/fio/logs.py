"""The logs of `write_bw_log`, `write_iops_log` and `write_lat_log`: `ms, value, direction, block size[, offset …]`.

Their content does not say what the value is; the end of the name that fio gives them (`_bw.1.log`) does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath

from benchagent.importers.base import (
    NotUnderstood,
    Report,
    Series,
    SourceFile,
    Status,
    agree,
    as_part_of,
    evenly,
    whole,
)

_ROW = re.compile(r"(\d+), (\d+), ([012]), (\d+)(?:, (?:0x[0-9a-f]+|\d+))*")
_NAME = re.compile(r"(?P<stem>.*?)_(?P<kind>bw|iops|lat|clat|slat)(?:\.(?P<job>\d+))?\.log(?:\.gz)?", re.IGNORECASE)
_DIRECTIONS = ("read", "write", "trim")
# Both sides are averages of the same run, taken in different ways.
FITS_WITHIN = 0.25


@dataclass(frozen=True)
class _Log:
    file: SourceFile
    folder: str
    stem: str
    kind: str
    # direction -> (seconds, values) as they stand in the file
    samples: dict[str, tuple[list[float], list[float]]]


def claims(text: str) -> bool:
    head = text[:4000].split("\n")[:10]
    head = head[:-1] if len(head) > 1 else head
    return bool(head) and all(_ROW.fullmatch(line.rstrip()) for line in head)


def read(file: SourceFile) -> Report:
    log = _log(file)
    words = "a log without the output of its run: the totals and the settings are not known"
    return _joined(Report(tool="fio", status=Status.COMPLETE, warnings=(words,)), [log])


def combine(found: Sequence[tuple[SourceFile, Sequence[Report]]]) -> list[tuple[SourceFile, list[Report]]]:
    """Logs go to the one run of their folder, or to the run of the same stem."""
    result = [(file, list(reports)) for file, reports in found]
    logs = {place: _log(file) for place, (file, reports) in enumerate(found) if _is_log(file)}
    runs = [place for place, (_, reports) in enumerate(found) if place not in logs and len(reports) == 1]
    for run in runs:
        file, reports = result[run]
        own = {place: log for place, log in logs.items() if _belongs(log, file, [result[other][0] for other in runs])}
        if own:
            result[run] = (file, [_joined(reports[0], list(own.values()))])
            for place in own:
                result[place] = (result[place][0], [as_part_of(replace(reports[0], warnings=()), file)])
    return result


def _is_log(file: SourceFile) -> bool:
    try:
        return claims(file.text)
    except NotUnderstood:
        return False


def _belongs(log: _Log, run: SourceFile, runs: Sequence[SourceFile]) -> bool:
    folder = str(PurePosixPath(run.name).parent)
    beside = [other for other in runs if str(PurePosixPath(other.name).parent) == folder]
    if log.folder != folder:
        return False
    return len(beside) == 1 or PurePosixPath(run.name).name.split(".")[0] == log.stem


def _log(file: SourceFile) -> _Log:
    path = PurePosixPath(file.name)
    name = _NAME.fullmatch(path.name)
    if name is None:
        raise NotUnderstood("a log of fio whose name does not end in _bw.log, _iops.log or _lat.log")
    samples: dict[str, tuple[list[float], list[float]]] = {}
    lines = file.lines if file.last_line_is_whole else file.lines[:-1]
    for at, line in enumerate(lines, start=1):
        row = _ROW.fullmatch(line.rstrip())
        if row is None:
            raise NotUnderstood(f"line {at}: not a row of a fio log")
        times, values = samples.setdefault(_DIRECTIONS[int(row[3])], ([], []))
        times.append(whole(row[1]) / 1000)
        values.append(float(whole(row[2])))
        if len(times) > 1 and times[-1] < times[-2]:
            raise NotUnderstood(f"line {at}: the time goes back: lines are out of order")
    return _Log(file, str(path.parent), name["stem"], name["kind"].lower(), samples)


def _joined(report: Report, logs: Sequence[_Log]) -> Report:
    warnings, series = [*report.warnings], [*report.series]
    for kind in sorted({log.kind for log in logs}):
        try:
            for one in _series([log for log in logs if log.kind == kind], report.tool_version):
                if _fits(report, one):
                    series.append(one)
                else:
                    warnings.append(f"the {kind} log left out: it does not fit this run's {one.name}")
        except NotUnderstood as error:
            warnings.append(f"the {kind} log left out: {error}")
    return replace(report, series=tuple(series), warnings=tuple(warnings))


def _fits(report: Report, series: Series) -> bool:
    total = report.metric(series.name)
    known = [value for value in series.values if value is not None]
    return total is None or not known or agree(sum(known) / len(known), total, relative=FITS_WITHIN, absolute=0.01)


def _series(logs: Sequence[_Log], version: str) -> Iterable[Series]:
    """One series per direction; several jobs are added up, latencies of several jobs are not averaged."""
    kind = logs[0].kind
    if kind in ("clat", "slat"):
        return
    if kind == "lat" and (len(logs) > 1 or not version):
        raise NotUnderstood("latencies of several jobs, or of an unknown version (before 3.0 they are us, then ns)")
    for direction in _DIRECTIONS:
        lines = [log.samples[direction] for log in logs if direction in log.samples]
        if lines:
            yield _one(kind, direction, lines, version)


def _one(kind: str, direction: str, lines: Sequence[tuple[list[float], list[float]]], version: str) -> Series:
    grids = [evenly(times, values) for times, values in lines]
    if any(interval != grids[0][1] or start != grids[0][0] for start, interval, _ in grids):
        raise NotUnderstood("the logs of the jobs do not lie on one grid")
    length = min(len(values) for _, _, values in grids)
    if max(len(values) for _, _, values in grids) - length > 1:
        raise NotUnderstood("the logs of the jobs are not equally long")
    start_s, interval_s, _ = grids[0]
    values = tuple(_sum([grid[2][place] for grid in grids]) for place in range(length))
    name, unit, factor = {
        "bw": (f"{direction}_mb_per_s", "MB/s", 1024 / 1e6),
        "iops": (f"{direction}_iops", "IOPS", 1.0),
        "lat": (f"{direction}_latency_avg_ms", "ms", 1e-3 if version.startswith(("1.", "2.")) else 1e-6),
    }[kind]
    scaled = tuple(None if value is None else value * factor for value in values)
    return Series(name, unit, interval_s, scaled, round(start_s, 6))


def _sum(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if len(known) == len(values) else None
