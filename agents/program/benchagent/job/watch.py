"""Samples of phases that report no seconds themselves: a tool at work, a backup or a count by SQL."""

from __future__ import annotations

import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from benchagent.catalog import METRICS
from benchagent.job.collect import TIMED_PHASE, Collector, Event, Samples
from benchagent.link.spool import Spool
from benchagent.machine.process import ProcessFailed
from benchagent.machine.sampling import repeated

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

    def take(self, phase: str, sampler: Samples) -> None:
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
                self.take(phase, sampler)
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
                    sampling.enter_context(repeated(partial(self.take, phase, seconds), every_s=1))
                else:
                    self.take_whole(phase, whole, event["elapsed_s"])
                    sampling.close()

            yield tell
