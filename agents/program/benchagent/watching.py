"""One-second samples of phases that report no seconds themselves: a tool at work, a backup or a count by SQL."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager

from benchagent.catalog import METRICS
from benchagent.collect import Collector, Samples
from benchagent.results import TIMED_PHASE
from benchagent.spool import Spool


class PhaseWatch:
    """Samples of `results.TIMED_PHASE` have the names of a run's. Those of other phases are kept under names with the
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

    @contextmanager
    def background(self, phase: str, sampler: Samples) -> Iterator[None]:
        """Each second until the block ends."""
        over = threading.Event()

        def watch() -> None:
            while not over.wait(1):
                self.take(phase, sampler)

        thread = threading.Thread(target=watch, name="watch", daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()
