"""TPROC-H: the times of queries, by virtual user."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from benchagent.importers.report import Metric, measured
from benchagent.importers.source import NotUnderstood, agree

# By the keys of `Queries.take`.
ROWS = (
    ("position", "Executing Query {:N} ({position:N} of {:N})"),
    ("query", "query {query:N} completed in {seconds:E} seconds"),
    ("sets", "Completed {count:N} query set(s) in {seconds:N} seconds"),
    ("mean", 'Geometric mean of query times returning rows ({count:N}) is ["]{seconds:X}["]'),
    ("refresh", "{kind:New|Old} Sales refresh complete in {seconds:X} seconds"),
)


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

    def take(self, vuser: int, what: str, said: dict[str, str]) -> None:
        seconds = float(said.get("seconds", 0))
        if what == "refresh":
            self.refresh[said["kind"].lower()] = seconds
            return
        stream = self.streams.setdefault(vuser, Stream())
        if what == "position":
            position = int(said["position"])
            if position < stream.position and position != 1:
                raise NotUnderstood(f"virtual user {vuser}'s queries are out of order")
            stream.position = position
        elif what == "query":
            times = stream.queries.setdefault(int(said["query"]), [])
            times += [seconds] if seconds not in times else []
        else:
            told = (int(said["count"]), seconds)
            if getattr(stream, what) not in (None, told):
                raise NotUnderstood(f"virtual user {vuser} told its {what} twice, with different figures")
            setattr(stream, what, told)

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
