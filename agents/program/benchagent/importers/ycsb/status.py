"""The status lines of `-s`: what was done so far, every `status.interval` seconds."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from benchagent.importers.base import NotUnderstood, Series, number

_STATUS = re.compile(
    r"(?:^|\s)(?P<second>\d+) sec: (?P<operations>\d+) operations;(?: (?P<rate>[\d.,]+) current ops/sec;)?(?P<rest>.*)$"
)
_OPERATION = re.compile(r"\[(?P<name>[A-Z][\w-]*): Count=(?P<count>\d+), (?P<figures>[^\]]*)\]")
_OLD_OPERATION = re.compile(r"\[(?P<name>[A-Z][\w-]*) AverageLatency\((?P<unit>us|ms)\)=(?P<average>[\d.]+)\]")


@dataclass
class StatusLines:
    lines: list[tuple[int, int, float, dict[str, float]]] = field(default_factory=list)
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
        for one in _OPERATION.finditer(match["rest"]):
            figures = dict(part.split("=", 1) for part in one["figures"].split(", ") if "=" in part)
            if "Avg" in figures and one["name"] != "CLEANUP" and re.fullmatch(r"[\d.]+", figures["Avg"]):
                latencies[one["name"]] = number(figures["Avg"]) / 1000
        for one in _OLD_OPERATION.finditer(match["rest"]):
            if one["name"] != "CLEANUP":
                latencies[one["name"]] = number(one["average"]) * (0.001 if one["unit"] == "us" else 1)
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


def _series(lines: list[tuple[int, int, float, dict[str, float]]]) -> list[Series]:
    times = [float(second) for second, _, _, _ in lines]
    # The last line of a run may come before its interval is over.
    if len(times) > 2 and times[-1] - times[-2] < times[-2] - times[-3]:
        times, lines = times[:-1], lines[:-1]
    start, interval, rates = _grid(times, [rate for _, _, rate, _ in lines])
    found = [Series("ops_per_s", "ops/s", interval, rates, t0_s=start)]
    for name in sorted({name for _, _, _, latencies in lines for name in latencies}):
        _, _, values = _grid(times, [latencies.get(name) for _, _, _, latencies in lines])
        rounded = tuple(None if value is None else round(value, 9) for value in values)
        prefix = name.lower().replace("-", "_")
        found.append(Series(f"{prefix}_latency_avg_ms", "ms", interval, rounded, t0_s=start))
    return found


def _grid(times: list[float], values: Sequence[float | None]) -> tuple[float, float, tuple[float | None, ...]]:
    """Like `evenly`; the first line too tells the interval, since a run begins at second 0."""
    interval = min(times[0], *(later - earlier for earlier, later in itertools.pairwise(times)))
    if interval <= 0 or times[-1] / interval > 1_000_000:
        raise NotUnderstood("the times do not rise")
    found: list[float | None] = []
    for time, value in zip(times, values, strict=True):
        place = (time - times[0]) / interval
        if abs(place - round(place)) > 0.25 or round(place) < len(found):
            raise NotUnderstood(f"the line at {time:g} s does not lie on a grid of {interval:g} s")
        found += [None] * (round(place) - len(found))
        found.append(value)
    return times[0] - interval, interval, tuple(found)


def _contradiction(lines: list[tuple[int, int, float, dict[str, float]]]) -> str:
    """Lines begin at second 0, times and totals rise, and the rate is that of the totals."""
    if lines[0][0] != 0:
        return "the first status line is missing"
    steps = [later[0] - earlier[0] for earlier, later in itertools.pairwise(lines)]
    interval = min((step for step in steps if step > 0), default=0)
    for place, (step, (earlier, later)) in enumerate(zip(steps, itertools.pairwise(lines), strict=True)):
        last = place == len(steps) - 1
        if step < 0 or (step == 0 and not last) or later[1] < earlier[1]:
            return f"the lines at {earlier[0]} and {later[0]} s are out of order"
        mean = (later[1] - earlier[1]) / step if step else later[2]
        if step == interval and abs(mean - later[2]) > 0.2 * max(mean, later[2]) + 20:
            return f"{later[2]:g} ops/s at {later[0]} s is not what the totals say"
    return ""
