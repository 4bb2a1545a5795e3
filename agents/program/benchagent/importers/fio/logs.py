"""The logs of `write_bw_log`, `write_iops_log` and `write_lat_log`: `ms, value, direction, block size[, offset …]`.

Their content does not say what the value is; the end of the name that fio gives them (`_bw.1.log`) does.
"""

from __future__ import annotations

import math
import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from benchagent.importers.report import ReadFile, Report, Series, Status, as_part_of
from benchagent.importers.series import MAX_SECONDS, drifting
from benchagent.importers.source import Lines, NotUnderstood, SourceFile, once

_ROW = re.compile(r"(\d{1,18}), (\d{1,18}), ([012]), (\d{1,18})(?:, (?:0x[0-9a-f]+|\d+))*\s*")
_NAME = re.compile(r"(?P<stem>.*?)_(?P<kind>bw|iops|lat|clat|slat)(?:\.(?P<job>\d+))?\.log(?:\.gz)?", re.IGNORECASE)
_DIRECTIONS = ("read", "write", "trim")
# Both sides are averages of the same run, taken in different ways.
FITS_WITHIN = 0.25
# More rows are of single operations, which are kept by the second only.
MAX_ROWS = 500_000
# Kinds of logs that are kept: name and factor of the series.
_KINDS = {"bw": ("mb_per_s", 1024 / 1e6), "iops": ("iops", 1.0), "lat": ("latency_avg_ms", 1e-6)}
# What the logs of a run are called after: its jobs, or what an option says.
_LOG_NAMES = (
    re.compile(r'"(?:jobname|write_(?:bw|iops|lat)_log)"\s*:\s*"([^"]+)"'),
    re.compile(r"(?m)^\s*(\S.*?)\s*: \(groupid=\d+, jobs="),
    re.compile(r"--write_(?:bw|iops|lat)_log[= ](\S+)"),
)
_WHOSE = (
    "several runs came with this log, and neither its name nor its figures tell of which it is: "
    "put the files of each run into a folder of its own"
)


@dataclass
class _Samples:
    """The rows of one direction, and by the second their number, bytes and sum of values.

    A row without a block size is an average over a window.
    """

    times_s: array[float] = field(default_factory=lambda: array("d"))
    values: array[float] = field(default_factory=lambda: array("d"))
    seconds: dict[int, tuple[int, int, float]] = field(default_factory=dict)
    last_ms: int = 0
    of_operations: bool = True

    def add(self, time_ms: int, value: float, size: int) -> None:
        if time_ms < self.last_ms:
            raise NotUnderstood("the time goes back: lines are out of order")
        if time_ms > MAX_SECONDS * 1000:
            raise NotUnderstood("longer than a week")
        self.last_ms = time_ms
        if len(self.values) < MAX_ROWS:
            self.times_s.append(time_ms / 1000)
            self.values.append(value)
        elif not (size and self.of_operations):
            raise NotUnderstood(f"more than {MAX_ROWS:,} windows")
        if size:
            count, moved, total = self.seconds.get(second := time_ms // 1000, (0, 0, 0.0))
            self.seconds[second] = (count + 1, moved + size, total + value)
        else:
            self.of_operations = False


@dataclass(frozen=True)
class _Log:
    folder: str
    stem: str
    kind: str
    samples: dict[str, _Samples]


@dataclass(frozen=True)
class _Run:
    """A report where it stands: in a file, one of its reports."""

    file: SourceFile
    reports: list[Report]
    number: int
    # The places of its logs.
    logs: list[int] = field(default_factory=list)

    @property
    def report(self) -> Report:
        return self.reports[self.number]

    def is_called(self, stem: str) -> bool:
        """Whether the file, a job or an option has the name of the logs; only of a file that holds one run."""
        names = {name for pattern in _LOG_NAMES for name in pattern.findall(self.file.text)}
        stems = {PurePosixPath(name).name for name in names} | {PurePosixPath(self.file.name).name.split(".")[0]}
        return len(self.reports) == 1 and stem in stems


def claims(text: str) -> bool:
    head = text[:4000].split("\n")[:10]
    head = head[:-1] if len(head) > 1 else head
    return bool(head) and all(_ROW.fullmatch(line) for line in head)


def read(file: SourceFile) -> Report:
    log = _log(file)
    words = "a log without the output of its run: the totals and the settings are not known"
    return _joined(Report("fio", warnings=(words,)), [log])


@once
def _log(file: SourceFile) -> _Log:
    path = PurePosixPath(file.name)
    name = _NAME.fullmatch(path.name)
    if name is None:
        raise NotUnderstood("a log of fio whose name does not end in _bw.log, _iops.log or _lat.log")
    samples = defaultdict[str, _Samples](_Samples)
    with Lines(file) as lines:
        for _, text, _ in lines:
            if row := _ROW.fullmatch(text):
                time_ms, value, direction, size = row.groups()
                samples[_DIRECTIONS[int(direction)]].add(int(time_ms), float(value), int(size))
            elif text.strip():
                raise NotUnderstood("not a row of a fio log")
    return _Log(str(path.parent), name["stem"], name["kind"].lower(), samples)


def combine(files: list[ReadFile]) -> None:
    """Logs go to the one run of their folder, or to the run of the same stem."""
    logs = {at: _log(file) for at, (file, _) in enumerate(files) if claims(file.head.text)}
    runs = [
        _Run(file, reports, number)
        for at, (file, reports) in enumerate(files)
        for number, report in enumerate(reports)
        if at not in logs and report.status is not Status.NOT_UNDERSTOOD
    ]
    families: dict[tuple[str, str], list[int]] = {}
    for at, log in logs.items():
        families.setdefault((log.folder, log.stem), []).append(at)
    for (folder, stem), family in families.items():
        beside = [run for run in runs if str(PurePosixPath(run.file.name).parent) == folder]
        own = beside if len(beside) == 1 else [run for run in beside if run.is_called(stem)]
        own = own or _fitting([logs[at] for at in family], beside)
        if len(own) == 1:
            own[0].logs.extend(family)
        for at in family if beside and len(own) != 1 else ():
            log_report = files[at][1][0]
            files[at][1][0] = replace(log_report, warnings=(*log_report.warnings, _WHOSE))
    for run in (run for run in runs if run.logs):
        run.reports[run.number] = _joined(run.report, [logs[at] for at in run.logs])
        for at in run.logs:
            files[at] = (files[at][0], [as_part_of(run.report, run.file)])


def _fitting(logs: Sequence[_Log], runs: Sequence[_Run]) -> list[_Run]:
    """The runs whose totals the logs have, where they say of every run whether they do."""
    near = list[_Run]()
    for run in runs:
        distances: list[float | None] = []
        for kind in ("bw", "iops"):
            with suppress(NotUnderstood):
                distances += [_distance(series, run.report) for series in _series(logs, kind, run.report.tool_version)]
        if not distances:
            return []
        if all(share is not None and share <= FITS_WITHIN for share in distances):
            near.append(run)
    return near


def _distance(series: Series, report: Report) -> float | None:
    """How far the mean of a series is from the figure of the report, as a share; None where either is missing."""
    values, total = [value for value in series.values if value is not None], report.metric(series.name)
    if total is None or not values:
        return None
    mean = sum(values) / len(values)
    return abs(mean - total) / max(mean, total, 0.04)


def _joined(report: Report, logs: Sequence[_Log]) -> Report:
    warnings, series = [*report.warnings], [*report.series]
    for kind in _KINDS:
        try:
            for added in _series(logs, kind, report.tool_version):
                if (_distance(added, report) or 0.0) <= FITS_WITHIN:
                    series.append(added)
                else:
                    warnings.append(f"the {kind} log left out: it does not fit this run's {added.name}")
        except NotUnderstood as error:
            warnings.append(f"the {kind} log left out: {error}")
    return replace(report, series=tuple(series), warnings=tuple(warnings))


def _series(logs: Sequence[_Log], kind: str, version: str) -> Iterator[Series]:
    """One series per direction; several jobs are added up, latencies of several jobs are not averaged."""
    of_kind = [log for log in logs if log.kind == kind]
    if kind == "lat" and of_kind and (len(of_kind) > 1 or not version):
        raise NotUnderstood("latencies of several jobs, or of an unknown version (before 3.0 they are us, then ns)")
    name, factor = _KINDS[kind]
    factor = 1e-3 if kind == "lat" and version.startswith(("1.", "2.")) else factor
    for direction in _DIRECTIONS:
        jobs = [log.samples[direction] for log in of_kind if direction in log.samples]
        if not jobs:
            continue
        start_s, interval_s, values = 0.0, 1.0, _seconds(kind, jobs, factor)
        if not all(job.of_operations for job in jobs):
            start_s, interval_s, values = _windows(jobs, factor)
        yield Series.called(f"{direction}_{name}", interval_s, values, start_s)


def _seconds(kind: str, logs: Sequence[_Samples], factor: float) -> Iterable[float | None]:
    """Logs of single operations, second by second without the unfinished last one."""
    for second in range(max(log.last_ms // 1000 for log in logs)):
        of_logs = [log.seconds.get(second, (0, 0, 0.0)) for log in logs]
        count, moved, total = (sum(column) for column in zip(*of_logs, strict=True))
        if kind == "bw":
            yield moved / 1e6
        elif kind == "iops":
            yield float(count)
        else:
            yield round(total / count * factor, 9) if count else None


def _windows(logs: Sequence[_Samples], factor: float) -> tuple[float, float, Iterable[float | None]]:
    """Averages over windows on one grid, added up over the jobs. -> (t0_s, interval_s, values)"""
    grids: list[tuple[float, float, list[float | None]]] = []
    for log in logs:
        _, grid = drifting(log.times_s, log.values)
        interval_s = round((log.times_s[-1] - log.times_s[0]) / (len(grid) - 1), 3)
        grids.append((log.times_s[0] - interval_s, interval_s, grid))
    start_s, interval_s, _ = grids[0]
    lengths = [len(values) for _, _, values in grids]
    if max(lengths) - min(lengths) > 1 or not all(
        math.isclose(interval, interval_s, rel_tol=0.02) and abs(start - start_s) < interval_s / 2
        for start, interval, _ in grids
    ):
        raise NotUnderstood("the logs of the jobs do not lie on one grid")
    columns = zip(*(grid[: min(lengths)] for _, _, grid in grids), strict=True)
    values = [None if None in column else sum(filter(None, column)) * factor for column in columns]
    return round(start_s, 6), interval_s, values
