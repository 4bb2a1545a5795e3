"""The logs of `write_bw_log`, `write_iops_log` and `write_lat_log`: `ms, value, direction, block size[, offset …]`.

Their content does not say what the value is; the end of the name that fio gives them (`_bw.1.log`) does.
"""

from __future__ import annotations

import math
import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from benchagent.importers.report import ReadFile, Report, Series, Status, as_part_of
from benchagent.importers.series import MAX_SECONDS, drifting
from benchagent.importers.source import NotUnderstood, SourceFile, once

_ROW = re.compile(r"(\d{1,18}), (\d{1,18}), ([012]), (\d{1,18})(?:, (?:0x[0-9a-f]+|\d+))*")
_NAME = re.compile(r"(?P<stem>.*?)_(?P<kind>bw|iops|lat|clat|slat)(?:\.(?P<job>\d+))?\.log(?:\.gz)?", re.IGNORECASE)
_DIRECTIONS = ("read", "write", "trim")
# Both sides are averages of the same run, taken in different ways.
FITS_WITHIN = 0.25


# More rows are of single operations, which are kept by the second only.
MAX_ROWS = 500_000


@dataclass
class _Samples:
    """The rows of one direction, and by the second their number, bytes and sum of values.

    A row without a block size is an average over a window.
    """

    times_s: array[float] = field(default_factory=lambda: array("d"))
    values: array[float] = field(default_factory=lambda: array("d"))
    seconds: dict[int, tuple[int, int, float]] = field(default_factory=dict)
    last_s: float = 0.0
    of_operations: bool = True

    def add(self, time_s: float, value: float, size: int) -> None:
        if time_s < self.last_s:
            raise NotUnderstood("the time goes back: lines are out of order")
        if time_s > MAX_SECONDS:
            raise NotUnderstood("longer than a week")
        self.last_s, self.of_operations = time_s, self.of_operations and size > 0
        if len(self.values) < MAX_ROWS:
            self.times_s.append(time_s)
            self.values.append(value)
        elif not self.of_operations:
            raise NotUnderstood(f"more than {MAX_ROWS:,} windows")
        if size:
            count, moved, total = self.seconds.get(int(time_s), (0, 0, 0.0))
            self.seconds[int(time_s)] = (count + 1, moved + size, total + value)


@dataclass(frozen=True)
class _Log:
    folder: str
    stem: str
    kind: str
    samples: dict[str, _Samples]


def claims(text: str) -> bool:
    head = text[:4000].split("\n")[:10]
    head = head[:-1] if len(head) > 1 else head
    return bool(head) and all(_ROW.fullmatch(line.rstrip()) for line in head)


def read(file: SourceFile) -> Report:
    log = _log(file)
    words = "a log without the output of its run: the totals and the settings are not known"
    return _joined(Report("fio", warnings=(words,)), [log])


def combine(files: list[ReadFile]) -> None:
    """Logs go to the one run of their folder, or to the run of the same stem."""
    logs = {at: _log(file) for at, (file, _) in enumerate(files) if claims(file.head.text)}
    runs = [
        (at, number)
        for at, (_, reports) in enumerate(files)
        for number, report in enumerate(reports)
        if at not in logs and report.status is not Status.NOT_UNDERSTOOD
    ]
    owned: dict[tuple[int, int], list[int]] = {}
    families: dict[tuple[str, str], list[int]] = {}
    for at, log in logs.items():
        families.setdefault((log.folder, log.stem), []).append(at)
    for (folder, stem), family in families.items():
        beside = [run for run in runs if str(PurePosixPath(files[run[0]][0].name).parent) == folder]
        own = beside if len(beside) == 1 else _named(stem, beside, files)
        own = own or _fitting([logs[at] for at in family], [(run, files[run[0]][1][run[1]]) for run in beside])
        if len(own) == 1:
            owned.setdefault(own[0], []).extend(family)
        elif beside:
            for at in family:
                log_report = files[at][1][0]
                files[at][1][0] = replace(log_report, warnings=(*log_report.warnings, _WHOSE))
    for (at, number), family in owned.items():
        run_file, reports = files[at]
        reports[number] = _joined(reports[number], [logs[other] for other in family])
        for other in family:
            files[other] = (files[other][0], [as_part_of(reports[number], run_file)])


_WHOSE = (
    "several runs came with this log, and neither its name nor its figures tell of which it is: "
    "put the files of each run into a folder of its own"
)
# What the logs of a run are called after: its jobs, or what an option says.
_LOG_NAMES = (
    re.compile(r'"(?:jobname|write_(?:bw|iops|lat)_log)"\s*:\s*"([^"]+)"'),
    re.compile(r"(?m)^\s*(\S.*?)\s*: \(groupid=\d+, jobs="),
    re.compile(r"--write_(?:bw|iops|lat)_log[= ](\S+)"),
)


def _named(stem: str, runs: Sequence[tuple[int, int]], files: Sequence[ReadFile]) -> list[tuple[int, int]]:
    """The runs whose file, job or option has the name of the logs; only of files that hold one run."""
    own = list[tuple[int, int]]()
    for at, number in runs:
        file, reports = files[at]
        names = {PurePosixPath(name).name for pattern in _LOG_NAMES for name in pattern.findall(file.text)}
        if len(reports) == 1 and stem in {*names, PurePosixPath(file.name).name.split(".")[0]}:
            own.append((at, number))
    return own


def _apart(series: Series, report: Report) -> float | None:
    """How far the mean of a series is from the figure of the report, as a share; None where either is missing."""
    values, total = [value for value in series.values if value is not None], report.metric(series.name)
    if total is None or not values:
        return None
    mean = sum(values) / len(values)
    return abs(mean - total) / max(mean, total, 0.04)


def _fitting(logs: Sequence[_Log], runs: Sequence[tuple[tuple[int, int], Report]]) -> list[tuple[int, int]]:
    """The run whose totals the logs have, where no other's come near."""
    near, far = list[tuple[int, int]](), list[tuple[int, int]]()
    for run, report in runs:
        apart: list[float | None] = []
        for kind in sorted({log.kind for log in logs} & {"bw", "iops"}):
            try:
                series = _series([log for log in logs if log.kind == kind], report.tool_version)
                apart += [_apart(each, report) for each in series]
            except NotUnderstood:
                continue
        if apart:
            (far if any(share is None or share > FITS_WITHIN for share in apart) else near).append(run)
    return near if len(near) + len(far) == len(runs) else []


@once
def _log(file: SourceFile) -> _Log:
    path = PurePosixPath(file.name)
    name = _NAME.fullmatch(path.name)
    if name is None:
        raise NotUnderstood("a log of fio whose name does not end in _bw.log, _iops.log or _lat.log")
    samples: dict[str, _Samples] = {}
    for number, line, whole in file.streamed():
        if not whole:
            break
        if not (text := line.strip()):
            continue
        try:
            row = _ROW.fullmatch(text)
            if row is None:
                raise NotUnderstood("not a row of a fio log")
            time_ms, value, direction, size = row.groups()
            rows = samples.setdefault(_DIRECTIONS[int(direction)], _Samples())
            rows.add(int(time_ms) / 1000, float(value), int(size))
        except NotUnderstood as error:
            raise NotUnderstood(f"line {number}: {error}") from error
    return _Log(str(path.parent), name["stem"], name["kind"].lower(), samples)


def _joined(report: Report, logs: Sequence[_Log]) -> Report:
    warnings, series = [*report.warnings], [*report.series]
    for kind in sorted({log.kind for log in logs}):
        try:
            for added in _series([log for log in logs if log.kind == kind], report.tool_version):
                if (_apart(added, report) or 0.0) <= FITS_WITHIN:
                    series.append(added)
                else:
                    warnings.append(f"the {kind} log left out: it does not fit this run's {added.name}")
        except NotUnderstood as error:
            warnings.append(f"the {kind} log left out: {error}")
    return replace(report, series=tuple(series), warnings=tuple(warnings))


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
            yield _series_of(kind, direction, lines, version)


def _series_of(kind: str, direction: str, logs: Sequence[_Samples], version: str) -> Series:
    name, factor = {
        "bw": (f"{direction}_mb_per_s", 1024 / 1e6),
        "iops": (f"{direction}_iops", 1.0),
        "lat": (f"{direction}_latency_avg_ms", 1e-3 if version.startswith(("1.", "2.")) else 1e-6),
    }[kind]
    if all(log.of_operations for log in logs):
        return Series.called(name, 1.0, _seconds(kind, logs, factor))
    start_s, interval_s, values = _windows(logs)
    return Series.called(name, interval_s, (None if value is None else value * factor for value in values), start_s)


def _seconds(kind: str, logs: Sequence[_Samples], factor: float) -> Iterable[float | None]:
    """Logs of single operations, second by second without the unfinished last one."""
    for second in range(max(int(log.last_s) for log in logs)):
        of_logs = [log.seconds.get(second, (0, 0, 0.0)) for log in logs]
        count, moved, total = (sum(column) for column in zip(*of_logs, strict=True))
        if kind == "bw":
            yield moved / 1e6
        elif kind == "iops":
            yield float(count)
        else:
            yield round(total / count * factor, 9) if count else None


def _windows(logs: Sequence[_Samples]) -> tuple[float, float, tuple[float | None, ...]]:
    """Averages over windows on one grid, added up over the jobs. -> (t0_s, interval_s, values)"""
    grids: list[tuple[float, float, list[float | None]]] = []
    for log in logs:
        _, grid = drifting(log.times_s, log.values)
        interval_s = round((log.times_s[-1] - log.times_s[0]) / (len(grid) - 1), 3)
        grids.append((log.times_s[0] - interval_s, interval_s, grid))
    start_s, interval_s, _ = grids[0]
    same = all(
        math.isclose(interval, interval_s, rel_tol=0.02) and abs(start - start_s) < interval_s / 2
        for start, interval, _ in grids
    )
    lengths = [len(values) for _, _, values in grids]
    if not same or max(lengths) - min(lengths) > 1:
        raise NotUnderstood("the logs of the jobs do not lie on one grid")
    columns = zip(*(grid[: min(lengths)] for _, _, grid in grids), strict=True)
    values = tuple(None if None in column else sum(filter(None, column)) for column in columns)
    return round(start_s, 6), interval_s, values
