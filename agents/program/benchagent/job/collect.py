"""Takes in the load generator's events: the seconds go to the spool at once, the rest is kept for the result."""

from __future__ import annotations

import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

from benchagent.catalog import METRICS
from benchagent.dbms import probes
from benchagent.dbms.counters import Answer
from benchagent.latency_map import LatencyMap
from benchagent.link.spool import Spool
from benchagent.machine.process import ProcessFailed
from benchagent.machine.sampling import repeated
from benchagent.workloads.base import SessionResult

Event = Mapping[str, Any]
LATENCIES = ("p50", "p95", "p99", "max")
MEGABYTE = 1_000_000
SHORTEST_SECOND_S = 0.5
# Ten ticks of the kernel's clock of CPU: in less there is nothing to be told of it.
SHORTEST_PHASE_S = 0.1
# What a job without a run measures; neither loads anything.
TIMED_PHASE, COUNT_PHASE = "backup", "count"


class Samples(Protocol):
    def sample(self, elapsed_s: float | None = None) -> dict[str, float | None]: ...


@dataclass
class Listener:
    """Who is told about progress. `make_sampler()` is called when a run begins."""

    on_state: Callable[[str], None]
    on_log: Callable[[str], None]
    on_query: Callable[[str], None]
    make_sampler: Callable[[], Samples]


class Collector:
    """Collects the output of one job over all its sessions. `phases`, `summary` and `samples` hold the whole job's."""

    def __init__(self, spool: Spool, run_id: str, listener: Listener, *, warm_up_s: int) -> None:
        self._spool = spool
        self._run_id = run_id
        self._listener = listener
        self._warm_up_s = warm_up_s
        self._sampler: Samples | None = None
        self._load = _LoadCurve()
        self.started: Event = {}
        self.connected: Event = {}
        self.phases: dict[str, Event] = {}
        self.samples: list[tuple[bool, dict[str, float | None]]] = []
        # Phases that were sampled as a whole: seconds and values of each of their steps.
        self.wholes: dict[str, list[tuple[float, dict[str, float | None]]]] = {}
        # Rows of the queries that were run each measured second, by name.
        self.sampled: dict[str, list[list[list[Any]]]] = {}
        # Counters that are asked each second, as they were last.
        self._counted: dict[str, float] = {}
        self.summary: Event | None = None
        # Moments of a phase that have a name, as the begin of the slow part of a load.
        self.marks: list[Event] = []
        self.latencies = LatencyMap()
        self.session = SessionResult()

    def begin_session(self) -> SessionResult:
        self.session = SessionResult()
        self._counted.clear()
        return self.session

    def add(self, event: Event) -> None:
        handler = getattr(self, f"_{event['event']}", None)
        if handler:
            handler(event)

    def _started(self, event: Event) -> None:
        if not self.started:
            self._listener.on_log(f"load generator {event.get('version')} on Java {event.get('java')}")
        self.started = event

    def _connected(self, event: Event) -> None:
        self.connected = event
        self._listener.on_log(
            f"{event.get('terminals')} terminals connected in {event.get('elapsed_s'):.2f} s to "
            f"{event.get('product')} {event.get('product_version')} with {event.get('driver_name')} "
            f"{event.get('driver_version')}"
        )

    def _phase(self, event: Event) -> None:
        name, begins = event["phase"], event["state"] == "begin"
        if name == probes.PHASE:
            return
        if not begins:
            self.phases[name] = self.session.phases[name] = event
            amount = f", {event['rows']} rows" if event.get("rows") else ""
            self._listener.on_log(f"{name}: {event['elapsed_s']:.2f} s{amount}")
        elif name == "load":
            self._load = _LoadCurve()
        if name == "run" and begins:
            # First: the time of the state is that of second 0.
            self._listener.on_state("warming_up" if self._warm_up_s else "measuring")
            self._sampler = self._listener.make_sampler()
        elif name == "run":
            self._listener.on_state("collecting")
        elif begins and self.summary is None and name not in (TIMED_PHASE, COUNT_PHASE):
            self._listener.on_state("loading")

    def _second(self, event: Event) -> None:
        values = _samples(event)
        if self._sampler:
            values.update(self._sampler.sample())
        self._spool.add_second(self._run_id, event, values)
        self.latencies.add(event["t"], event.get("buckets", ()))
        self.samples.append((event["warm_up"], values))
        if event["t"] == self._warm_up_s - 1:
            self._listener.on_state("measuring")

    def _progress(self, event: Event) -> None:
        self.session.progress.append(event)
        point = self._load.add(event)
        if point:
            self._spool.add_samples(self._run_id, *point)

    def _mark(self, event: Event) -> None:
        self.marks.append(event)

    def _summary(self, event: Event) -> None:
        self.summary = self.session.summary = event

    def _query(self, event: Event) -> None:
        self.session.queries[event["name"]] = event
        if "error" not in event:
            self.session.rows[event["name"]] = _answer(event)
        self._listener.on_query(event["name"])

    def _sampled(self, event: Event) -> None:
        if "error" in event:
            self._listener.on_log(f"{event['name']} is not sampled any more: {event['error']}")
        elif event["name"].startswith(probes.GROWING):
            # Since it was asked last, which is a second ago, or several where the engine was slow to answer.
            metric, now = event["name"].removeprefix(probes.GROWING), float(event["rows"][0][0])
            if metric in self._counted:
                self._spool.add_samples(self._run_id, event["t"], {metric: now - self._counted[metric]})
            self._counted[metric] = now
        elif event["t"] >= self._warm_up_s:
            self.sampled.setdefault(event["name"], []).append(_answer(event))

    def _error(self, event: Event) -> None:
        self.session.error = event

    @property
    def has_seconds(self) -> bool:
        """True once a run has reported a second."""
        return any("tps" in values for _, values in self.samples)

    def measured(self, metric: str) -> list[float]:
        """Values of the measured seconds, gaps left out."""
        measured = (values.get(metric) for warm_up, values in self.samples if not warm_up)
        return [value for value in measured if value is not None]

    def mean(self, phase: str, metric: str) -> float | None:
        """Over all steps of a phase that was sampled as a whole; None where one of them lacks it."""
        steps = [(elapsed_s, values.get(metric)) for elapsed_s, values in self.wholes.get(phase, [])]
        sampled = [(elapsed_s, value) for elapsed_s, value in steps if value is not None]
        total_s = sum(elapsed_s for elapsed_s, _ in sampled)
        if len(sampled) < len(steps) or total_s < SHORTEST_PHASE_S:
            return None
        return sum(elapsed_s * value for elapsed_s, value in sampled) / total_s


class _LoadCurve:
    """Rows/s and MB/s of a load from its progress events, which come once a second, or late."""

    def __init__(self) -> None:
        self._last: Event = {"t": 0.0, "rows": 0, "bytes": 0}

    def add(self, event: Event) -> tuple[int, dict[str, float | None]] | None:
        """The second that has ended, counted from the begin of the load, and its samples.

        None for an event that follows a late one at once: what it has goes to the next.
        """
        elapsed_s = event["t"] - self._last["t"]
        if elapsed_s < SHORTEST_SECOND_S:
            return None
        values: dict[str, float | None] = {
            "load_rows_per_s": (event["rows"] - self._last["rows"]) / elapsed_s,
            "load_mb_per_s": (event["bytes"] - self._last["bytes"]) / elapsed_s / MEGABYTE,
        }
        self._last = event
        return max(0, int(event["t"]) - 1), values


def _answer(event: Event) -> Answer:
    return Answer(event["rows"], event.get("columns", ()))


def _samples(event: Event) -> dict[str, float | None]:
    """The second as samples of the catalogue's metrics, unchanged but for the unit of latencies."""
    values: dict[str, float | None] = {
        "tps": float(event["n"]),
        "retries": float(event["retries"]),
        "driver_cpu_cores": event.get("cpu_s"),
        "driver_gc_ms": event.get("gc_ms"),
    }
    for name in LATENCIES:
        for kind in ("latency", "service"):
            micros = event.get(f"{'service_' if kind == 'service' else ''}{name}_us")
            if kind == "latency" or micros is not None:
                values[f"{kind}_{name}_ms"] = None if micros is None else micros / 1000
    if event.get("backlog") is not None:
        values["backlog"] = float(event["backlog"])
    return values


# Samples of phases that report no seconds themselves: a tool at work, a backup or a count by SQL.

# How late the end of a tool is noticed at most.
POLL_S = 0.01
# A tool is looked at for the first time so long after its start: it has connected by then.
FIRST_LOOK_S = 0.2


class PhaseWatch:
    """Samples of `collect.TIMED_PHASE` have the names of a run's. Those of other phases are kept under names with the
    phase in front, as far as the catalogue has such. Time goes on from one step of a phase to the next."""

    def __init__(self, spool: Spool, run_id: str, collector: Collector) -> None:
        self._spool = spool
        self._run_id = run_id
        self._collector = collector
        self._t: dict[str, int] = defaultdict(int)

    def add(self, phase: str, sampler: Samples) -> None:
        """To be called once a second."""
        values = sampler.sample()
        if phase != TIMED_PHASE:
            values = {f"{phase}_{name}": value for name, value in values.items() if f"{phase}_{name}" in METRICS}
        if values:
            self._spool.add_samples(self._run_id, self._t[phase], values)
            self._collector.samples.append((False, values))
        self._t[phase] += 1

    def take_whole(self, phase: str, sampler: Samples, elapsed_s: float) -> None:
        """At the end of a step of a phase, since whose begin `sampler` has not been asked."""
        self._collector.wholes.setdefault(phase, []).append((elapsed_s, sampler.sample(elapsed_s)))

    def attend(
        self,
        child: subprocess.Popen[Any],
        phase: str,
        sampler: Samples,
        *,
        timeout_s: float,
        sleep: Callable[[float], None],
        observe: Callable[[int], None] | None,
    ) -> None:
        """Until a tool has ended. `sleep` may raise. Raises `ProcessFailed` when it takes too long."""
        begun = time.monotonic()
        sample_at, look_at = begun + 1, begun + FIRST_LOOK_S
        while child.poll() is None:
            sleep(POLL_S)
            now = time.monotonic()
            if now > begun + timeout_s:
                raise ProcessFailed(f"{phase} did not end within {timeout_s:g} s")
            if now >= sample_at:
                self.add(phase, sampler)
                sample_at += 1
            if observe is not None and now >= look_at:
                observe(child.pid)
                look_at = now + 1

    @contextmanager
    def following(self, phase: str, make_sampler: Callable[[], Samples]) -> Iterator[Callable[[Event], None]]:
        """Gives what is to be told the events of a session: it samples the phase from its begin to its end, as a whole
        and each second, and nothing of what the load generator does before and after it."""
        whole, seconds = make_sampler(), make_sampler()
        with ExitStack() as sampling:

            def tell(event: Event) -> None:
                if event["event"] != "phase" or event["phase"] != phase:
                    return
                if event["state"] == "begin":
                    whole.sample()
                    seconds.sample()
                    sampling.enter_context(repeated(partial(self.add, phase, seconds), every_s=1))
                else:
                    self.take_whole(phase, whole, event["elapsed_s"])
                    sampling.close()

            yield tell
