"""The status lines of `-s`: what was done so far, every `status.interval` seconds."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchagent.importers.report import Series, unit_of
from benchagent.importers.series import evenly
from benchagent.importers.source import NotUnderstood, number

_STATUS = re.compile(
    r"(?:^|\s)(?P<second>\d+) sec: (?P<operations>\d+) operations;(?: (?P<rate>[\d.,]+) current ops/sec;)?(?P<rest>.*)$"
)
_OPERATION = re.compile(r"\[(?P<name>[A-Z][\w-]*): Count=(?P<count>\d+), (?P<figures>[^\]]*)\]")
_OLD_OPERATION = re.compile(r"\[(?P<name>[A-Z][\w-]*) AverageLatency\((?P<unit>us|ms)\)=(?P<average>[\d.]+)\]")


# Second, operations so far, operations a second, average latencies by operation in ms.
_Line = tuple[int, int, float, dict[str, float]]


@dataclass
class StatusLines:
    lines: list[_Line] = field(default_factory=list)
    comma: bool = False

    @staticmethod
    def is_status(line: str) -> bool:
        return _STATUS.search(line) is not None

    def take(self, line: str) -> None:
        match = _STATUS.search(line)
        if match is None:
            return
        if "," in (match["rate"] or ""):
            self.comma = True
            return
        latencies: dict[str, float] = {}
        for told in _OPERATION.finditer(match["rest"]):
            figures = dict(part.split("=", 1) for part in told["figures"].split(", ") if "=" in part)
            if re.fullmatch(r"[\d.]+", figures.get("Avg", "")):
                latencies[told["name"]] = number(figures["Avg"]) / 1000
        for told in _OLD_OPERATION.finditer(match["rest"]):
            latencies[told["name"]] = number(told["average"]) * (0.001 if told["unit"] == "us" else 1)
        latencies.pop("CLEANUP", None)
        rate = number(match["rate"]) if match["rate"] else 0.0
        self.lines.append((int(match["second"]), int(match["operations"]), rate, latencies))

    def series(self, warnings: list[str]) -> list[Series]:
        if self.comma:
            warnings.append("the status lines have decimal commas: not read as a series")
            return []
        lines = list(self.lines)
        if len(lines) < 3:
            return []
        problem = _contradiction(lines)
        if problem:
            warnings.append(f"{problem}: the status lines are not read as a series")
            return []
        if lines[-1][0] == lines[-2][0]:
            lines.pop()  # the rest of the last interval
        lines = lines[1:]
        try:
            return _series(lines)
        except NotUnderstood as error:
            warnings.append(f"the status lines are not read as a series: {error}")
            return []


def _series(lines: Sequence[_Line]) -> list[Series]:
    times = [float(second) for second, _, _, _ in lines]
    # The last line of a run may come before its interval is over.
    if len(times) > 2 and times[-1] - times[-2] < times[-2] - times[-3]:
        times, lines = times[:-1], lines[:-1]
    # The first line too tells the interval, since a run begins at second 0.
    interval_s = min(times[0], *(later - earlier for earlier, later in itertools.pairwise(times)))
    if interval_s <= 0 or times[-1] / interval_s > 1_000_000:
        raise NotUnderstood("the times do not rise")
    columns: dict[str, list[float | None]] = {"ops_per_s": [rate for _, _, rate, _ in lines]}
    for name in sorted({name for _, _, _, latencies in lines for name in latencies}):
        values = [latencies.get(name) for _, _, _, latencies in lines]
        rounded = [None if value is None else round(value, 9) for value in values]
        columns[f"{name.lower().replace('-', '_')}_latency_avg_ms"] = rounded
    series: list[Series] = []
    for name, values in columns.items():
        start_s, _, grid = evenly(times, values, interval_s=interval_s)
        series.append(Series(name, unit_of(name)[0], interval_s, grid, t0_s=start_s))
    return series


def _contradiction(lines: Sequence[_Line]) -> str:
    """Lines begin at second 0, times and totals rise, and the rate is that of the totals."""
    if lines[0][0] != 0:
        return "the first status line is missing"
    steps = [later[0] - earlier[0] for earlier, later in itertools.pairwise(lines)]
    interval = min((step for step in steps if step > 0), default=0)
    for number_, (step, (earlier, later)) in enumerate(zip(steps, itertools.pairwise(lines), strict=True), start=1):
        last = number_ == len(steps)
        if step < 0 or (step == 0 and not last) or later[1] < earlier[1]:
            return f"the lines at {earlier[0]} and {later[0]} s are out of order"
        mean = (later[1] - earlier[1]) / step if step else later[2]
        if step == interval and abs(mean - later[2]) > 0.2 * max(mean, later[2]) + 20:
            return f"{later[2]:g} ops/s at {later[0]} s is not what the totals say"
    return ""
