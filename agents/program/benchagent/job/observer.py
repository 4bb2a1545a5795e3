"""Samples the machine of a server for a run of another agent, second by second of that run.

The seconds are those of the run: its second 0 comes from the server, by the server's clock, and is turned into this
machine's by what is known of its own clock. From then on only the time that has passed counts, so that a clock that is
set meanwhile moves nothing.
"""

from __future__ import annotations

import logging
import math
import threading
import time

from benchagent.errors import JobError
from benchagent.link.client import Client, ClientError, Clock, Refused
from benchagent.link.spool import Spool
from benchagent.machine.observations import Observations, followed
from benchagent.machine.process import Abort
from benchagent.machine.sampling import DATA, Sampler
from benchagent.paths import AgentDirs
from benchagent.protocol import LEASE_S, OBSERVED_MAXIMA, OBSERVED_MEANS, ClockFacts, ObservedItem, Ordered

log = logging.getLogger(__name__)
# How often the server is asked: until the run has begun, and then whether it is over.
ASK_S, ASK_LATER_S = 0.5, 2.0
# Without an answer for so long the observation ends by itself.
GIVE_UP_S = float(LEASE_S)
# A look that comes so late is not that second's.
LATE_S = 0.5
NAMES = {"machine_cpu_percent": "server_machine_cpu_percent"}
KEPT = (*OBSERVED_MEANS, *OBSERVED_MAXIMA)


class Watching(threading.Thread):
    """Asks the server about the run: when it began, whether it is over."""

    def __init__(self, client: Client, order: Ordered, abort: Abort) -> None:
        super().__init__(name="watching", daemon=True)
        self._client, self._order, self._abort = client, order, abort
        self._heard_at = time.monotonic()
        self.begun = threading.Event()
        self.begun_at = 0.0
        self.over = threading.Event()
        self.problem = ""

    def run(self) -> None:
        while not self.over.is_set():
            try:
                answer = self._client.watch(self._order["job"]["run_id"], self._order["job_token"])
            except Refused as error:
                self._end(f"the server no longer wants this observation: {error.detail}")
            except ClientError as error:
                log.warning("no answer about the observed run: %s", error)
                if time.monotonic() - self._heard_at > GIVE_UP_S:
                    self._end("the server could not be reached")
            else:
                self._heard_at = time.monotonic()
                if answer["begun_at"] is not None and not self.begun.is_set():
                    self.begun_at = answer["begun_at"]
                    self.begun.set()
                if answer["over"]:
                    self._end("")
            self.over.wait(ASK_LATER_S if self.begun.is_set() else ASK_S)

    def _end(self, problem: str) -> None:
        self.problem = problem
        self.over.set()


class Observer:
    """One order. `run` never raises; when it returns, everything is in the spool."""

    def __init__(self, order: Ordered, *, dirs: AgentDirs, client: Client, spool: Spool, abort: Abort) -> None:
        self._spec = order["job"]
        self._dirs, self._spool, self._abort = dirs, spool, abort
        self._clock: Clock = client.clock
        self._watching = Watching(client, order, abort)
        self._facts: ClockFacts | None = None

    def run(self) -> str:
        """What went wrong, in words; empty when nothing did."""
        self._abort.on_request(self._watching.over.set)
        try:
            problem = self._observe() or self._watching.problem
        except JobError as error:
            problem = str(error)
        except Exception as error:
            log.exception("observing run %s", self._spec["run_id"])
            problem = f"{type(error).__name__}: {error}"
        self._watching.over.set()
        if self._abort.requested:
            problem = self._abort.message
        self._spool.finish(self._spec["run_id"], ended(problem, self._facts))
        return problem

    def _observe(self) -> str:
        observation = Observations(self._dirs.root).get(self._spec["observation"])
        if not observation.roots():
            return observation.problem()
        devices = {DATA: observation.device} if observation.device else {}
        sampler = Sampler({"server": followed(observation.roots)}, devices)
        self._watching.start()
        begun = self._begun()
        if begun is None:
            return self._watching.problem or "the run ended before it had a second to be sampled"
        self._sample(sampler, begun, self._spec["window_s"] or math.inf)
        return ""

    def _begun(self) -> float | None:
        """Second 0 of the run in this process's monotonic time; None when the run is over before."""
        while not self._watching.begun.wait(0.05):
            if self._watching.over.is_set():
                return None
        self._facts = self._clock.best()
        if self._facts is None:
            raise JobError("the server does not tell its time: its clock and this machine's cannot be compared")
        ago_s = self._clock.wall() + self._facts["offset_s"] - self._watching.begun_at
        return time.monotonic() - ago_s

    def _sample(self, sampler: Sampler, begun: float, window_s: float) -> None:
        """Whole seconds only, the first one that begins from now on."""
        second = max(0, math.ceil(time.monotonic() - begun))
        fresh = self._until(begun + second) and self._look(sampler, begun + second) is not None
        while second < window_s and self._until(begun + second + 1):
            values = self._look(sampler, begun + second + 1)
            if values is not None and fresh:
                self._spool.add_samples(self._spec["run_id"], second, values)
            fresh = values is not None
            second = max(second + 1, math.ceil(time.monotonic() - begun - LATE_S) - 1)

    def _until(self, due: float) -> bool:
        """False when the observation is over first."""
        return not self._watching.over.wait(max(0.0, due - time.monotonic()))

    def _look(self, sampler: Sampler, due: float) -> dict[str, float | None] | None:
        """None where it came too late: then the next one has no beginning either."""
        late = time.monotonic() - due > LATE_S
        values = {NAMES.get(name, name): value for name, value in sampler.sample().items()}
        return None if late else {name: value for name, value in values.items() if name in KEPT}


def ended(problem: str, clock: ClockFacts | None) -> ObservedItem:
    return {"kind": "observed", "problem": problem, "clock": clock}
