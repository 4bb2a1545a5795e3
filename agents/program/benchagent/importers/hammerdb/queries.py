"""TPROC-H: the times of queries, by virtual user."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from benchagent.importers.base import Metric, NotUnderstood, agree, measured, number

_QUERY = re.compile(r"^query (?P<query>\d+) completed in (?P<seconds>\d+(?:\.\d+)?(?:e-?\d+)?) seconds$")
_EXECUTING = re.compile(r"^Executing Query \d+ \((?P<position>\d+) of \d+\)$")
_SET = re.compile(r"^Completed (?P<sets>\d+) query set\(s\) in (?P<seconds>\d+) seconds$")
_MEAN = re.compile(r"^Geometric mean of query times returning rows \((?P<rows>\d+)\) is \"?(?P<seconds>\d+\.\d{5})\"?$")
_REFRESH = re.compile(r"^(?P<kind>New|Old) Sales refresh complete in (?P<seconds>\d+(?:\.\d+)?) seconds$")


@dataclass
class Stream:
    """The queries of one virtual user."""

    queries: dict[int, list[float]] = field(default_factory=dict)
    # Number of query sets and their seconds; number of queries that returned rows and their geometric mean.
    sets: tuple[int, float] | None = None
    mean: tuple[int, float] | None = None
    position: int = 0

    def check(self, vuser: int) -> None:
        """The printed mean is of the queries that returned rows, the elapsed time of all, in whole seconds."""
        once = [times[0] for times in self.queries.values() if len(times) == 1]
        if self.mean and self.sets and self.sets[0] == 1 and len(once) == self.mean[0] and min(once, default=0) > 0:
            mean = math.exp(sum(map(math.log, once)) / len(once))
            if not agree(mean, self.mean[1], relative=0.01, absolute=0.001):
                raise NotUnderstood(f"virtual user {vuser}: the geometric mean is not that of its queries")
        if self.sets and sum(once) > self.sets[1] * 1.02 + 2:
            raise NotUnderstood(f"virtual user {vuser}: its queries took longer than the {self.sets[1]:g} s of the set")


@dataclass
class Queries:
    streams: dict[int, Stream] = field(default_factory=dict)
    refresh: dict[str, float] = field(default_factory=dict)

    def take(self, vuser: int, text: str) -> bool:
        """Whether the line is about queries."""
        if match := _REFRESH.match(text):
            self.refresh[match["kind"].lower()] = number(match["seconds"])
            return True
        rows = ((_EXECUTING, "position"), (_QUERY, "query"), (_SET, "sets"), (_MEAN, "mean"))
        match, what = next(((match, what) for row, what in rows if (match := row.match(text))), (None, ""))
        if match is None:
            return False
        stream = self.streams.setdefault(vuser, Stream())
        if what == "position":
            position = int(match["position"])
            if position < stream.position and position != 1:
                raise NotUnderstood(f"virtual user {vuser}'s queries are out of order")
            stream.position = position
        elif what == "query":
            times, seconds = stream.queries.setdefault(int(match["query"]), []), number(match["seconds"])
            times += [seconds] if seconds not in times else []
        else:
            told = (int(match[1]), number(match["seconds"]))
            if getattr(stream, what) not in (None, told):
                raise NotUnderstood(f"virtual user {vuser} told its {what} twice, with different figures")
            setattr(stream, what, told)
        return True

    def metrics(self, warnings: list[str], users: int) -> tuple[tuple[Metric, ...], bool]:
        """Metrics, and whether every stream came to its end; no metrics before it did."""
        if users > len(self.streams) or not all(stream.sets for stream in self.streams.values()):
            return (), False
        alone = set(self.streams) == {1}
        metrics: list[Metric] = []
        for vuser, stream in sorted(self.streams.items()):
            stream.check(vuser)
            prefix = "" if alone else f"stream_{vuser}_"
            if stream.sets:
                metrics.append(measured(f"{prefix}elapsed_s", stream.sets[1], "query", better="lower"))
            if stream.mean:
                metrics.append(measured(f"{prefix}geometric_mean_s", stream.mean[1], "query"))
            if any(len(times) > 1 for times in stream.queries.values()):
                warnings.append(f"virtual user {vuser} ran queries several times: the times of each are left out")
                continue
            for query, times in sorted(stream.queries.items()):
                metrics.append(measured(f"{prefix}query_{query}_s", times[0], "query"))
        metrics += [measured(f"refresh_{kind}_sales_s", seconds, "query") for kind, seconds in self.refresh.items()]
        return tuple(metrics), True
