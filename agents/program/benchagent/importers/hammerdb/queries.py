"""TPROC-H: the times of queries, by virtual user."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from benchagent.importers.base import Metric, NotUnderstood, agree, number

_QUERY = re.compile(r"^query (?P<query>\d+) completed in (?P<seconds>\d+(?:\.\d+)?(?:e-?\d+)?) seconds$")
_EXECUTING = re.compile(r"^Executing Query \d+ \((?P<place>\d+) of \d+\)$")
_SET = re.compile(r"^Completed (?P<sets>\d+) query set\(s\) in (?P<seconds>\d+) seconds$")
_MEAN = re.compile(r"^Geometric mean of query times returning rows \((?P<rows>\d+)\) is \"?(?P<seconds>\d+\.\d{5})\"?$")
_REFRESH = re.compile(r"^(?P<kind>New|Old) Sales refresh complete in (?P<seconds>\d+(?:\.\d+)?) seconds$")


@dataclass
class Stream:
    queries: dict[int, list[float]] = field(default_factory=dict)
    sets: int | None = None
    elapsed_s: float | None = None
    place: int = 0
    mean: tuple[int, float] | None = None


@dataclass
class Queries:
    streams: dict[int, Stream] = field(default_factory=dict)
    refresh: dict[str, float] = field(default_factory=dict)

    @property
    def found(self) -> bool:
        return bool(self.streams)

    def take(self, vuser: int, text: str, *, cut: bool) -> bool:
        if match := _EXECUTING.match(text):
            stream = self.streams.setdefault(vuser, Stream())
            place = int(match["place"])
            if place < stream.place and place != 1:
                raise NotUnderstood(f"virtual user {vuser}'s queries are out of order")
            stream.place = place
        elif match := _QUERY.match(text):
            times = self.streams.setdefault(vuser, Stream()).queries.setdefault(int(match["query"]), [])
            value = number(match["seconds"])
            if value not in times:
                times.append(value)
        elif match := _SET.match(text):
            stream = self.streams.setdefault(vuser, Stream())
            found = (int(match["sets"]), float(match["seconds"]))
            if stream.elapsed_s is not None and found != (stream.sets, stream.elapsed_s):
                raise NotUnderstood("one virtual user completed its query sets twice")
            stream.sets, stream.elapsed_s = found
        elif match := _MEAN.match(text):
            stream = self.streams.setdefault(vuser, Stream())
            mean = (int(match["rows"]), number(match["seconds"]))
            if stream.mean not in (None, mean):
                raise NotUnderstood("one virtual user has two geometric means")
            stream.mean = mean
        elif match := _REFRESH.match(text):
            self.refresh[match["kind"].lower()] = number(match["seconds"])
        else:
            return False
        return True

    def metrics(self, warnings: list[str], users: int) -> tuple[tuple[Metric, ...], bool]:
        """Metrics, and whether every stream came to its end; no metrics before it did."""
        done = all(stream.elapsed_s is not None for stream in self.streams.values())
        if not done or users > len(self.streams):
            return (), False
        several = len(self.streams) > 1 or set(self.streams) != {1}
        metrics: list[Metric] = []
        for vuser, stream in sorted(self.streams.items()):
            _check(vuser, stream)
            prefix = f"stream_{vuser}_" if several else ""
            if stream.elapsed_s is not None:
                metrics.append(Metric(f"{prefix}elapsed_s", "s", stream.elapsed_s, "query", "lower"))
            if stream.mean is not None:
                metrics.append(Metric(f"{prefix}geometric_mean_s", "s", stream.mean[1], "query", "lower"))
            if any(len(times) > 1 for times in stream.queries.values()):
                warnings.append(f"virtual user {vuser} ran queries several times: the times of each are left out")
                continue
            metrics += [
                Metric(f"{prefix}query_{query}_s", "s", times[0], "query", "lower")
                for query, times in sorted(stream.queries.items())
            ]
        metrics += [
            Metric(f"refresh_{kind}_sales_s", "s", seconds, "query", "lower") for kind, seconds in self.refresh.items()
        ]
        return tuple(metrics), done


def _check(vuser: int, stream: Stream) -> None:
    """The printed mean is of the queries that returned rows, the elapsed time of all, in whole seconds."""
    once = [times[0] for times in stream.queries.values() if len(times) == 1]
    if stream.mean is not None and stream.sets == 1 and len(once) == stream.mean[0] and min(once, default=0) > 0:
        mean = math.exp(sum(map(math.log, once)) / len(once))
        if not agree(mean, stream.mean[1], relative=0.01, absolute=0.001):
            raise NotUnderstood(f"virtual user {vuser}: the geometric mean is not that of its queries")
    if stream.elapsed_s is not None and sum(once) > stream.elapsed_s * 1.02 + 2:
        raise NotUnderstood(f"virtual user {vuser}: its queries took longer than the {stream.elapsed_s:g} s of the set")
