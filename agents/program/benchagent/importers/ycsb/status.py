"""The status lines of `-s`: what was done so far, every `status.interval` seconds."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from benchagent.importers.report import Series
from benchagent.importers.series import sampled
from benchagent.importers.source import NotUnderstood, number

_STATUS = re.compile(
    r"(?:^|\s)(?P<second>\d+) sec: (?P<operations>\d+) operations;(?: (?P<rate>[\d.,]+) current ops/sec;)?(?P<rest>.*)$"
)
_OPERATION = re.compile(r"\[(?P<name>[A-Z][\w-]*): Count=(?P<count>\d+), (?P<figures>[^\]]*)\]")
_OLD_OPERATION = re.compile(r"\[(?P<name>[A-Z][\w-]*) AverageLatency\((?P<unit>us|ms)\)=(?P<average>[\d.]+)\]")


class _Line(NamedTuple):
    """Since the start, in the interval, and average latencies in ms by operation."""

    second: int
    operations: int
    ops_per_s: float
    latencies_ms: dict[str, float]


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
        self.lines.append(_Line(int(match["second"]), int(match["operations"]), rate, latencies))

    def series(self, warnings: list[str]) -> tuple[Series, ...]:
        try:
            if self.comma:
                raise NotUnderstood("they have decimal commas")
            return _series(self.lines) if len(self.lines) > 2 else ()
        except NotUnderstood as error:
            warnings.append(f"the status lines are not read as a series: {error}")
            return ()


def _series(lines: Sequence[_Line]) -> tuple[Series, ...]:
    _check(lines)
    # The first is of second 0, the last may be the rest of an interval.
    lines = lines[1:-1] if lines[-1].second == lines[-2].second else lines[1:]
    times = [float(line.second) for line in lines]
    if len(times) > 2 and times[-1] - times[-2] < times[-2] - times[-3]:
        times, lines = times[:-1], lines[:-1]
    # The first line too tells the interval, since a run begins at second 0.
    interval_s = min(times[0], *(later - earlier for earlier, later in itertools.pairwise(times)))
    if interval_s <= 0 or times[-1] / interval_s > 1_000_000:
        raise NotUnderstood("the times do not rise")
    columns: dict[str, list[float | None]] = {"ops_per_s": [line.ops_per_s for line in lines]}
    for name in sorted({name for line in lines for name in line.latencies_ms}):
        columns[f"{name.lower().replace('-', '_')}_latency_avg_ms"] = [
            round(line.latencies_ms[name], 9) if name in line.latencies_ms else None for line in lines
        ]
    return sampled(times, columns, interval_s)


def _check(lines: Sequence[_Line]) -> None:
    """Lines begin at second 0, times and totals rise, and the rate is that of the totals."""
    if lines[0].second != 0:
        raise NotUnderstood("the first is missing")
    pairs = list(itertools.pairwise(lines))
    steps = [later.second - earlier.second for earlier, later in pairs]
    interval = min((step for step in steps if step > 0), default=0)
    for number_, (step, (earlier, later)) in enumerate(zip(steps, pairs, strict=True), start=1):
        if step < 0 or (step == 0 and number_ < len(steps)) or later.operations < earlier.operations:
            raise NotUnderstood(f"those at {earlier.second} and {later.second} s are out of order")
        mean = (later.operations - earlier.operations) / (step or 1)
        if step == interval > 0 and abs(mean - later.ops_per_s) > 0.2 * max(mean, later.ops_per_s) + 20:
            raise NotUnderstood(f"{later.ops_per_s:g} ops/s at {later.second} s is not what the totals say")
