"""How far the server's clock is from this machine's, from the exchanges that there are anyway (as in NTP, RFC 5905)."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable

from benchagent.protocol import ClockFacts

# The shortest of so many exchanges counts: about the last minute of a waiting agent, less of a busy one.
EXCHANGES = 32


class Clock:
    """Safe to use from several threads. `wall` is this machine's time in seconds since 1970."""

    def __init__(self, wall: Callable[[], float] = time.time) -> None:
        self.wall = wall
        self._lock = threading.Lock()
        self._exchanges: deque[ClockFacts] = deque(maxlen=EXCHANGES)

    def take(self, sent_at: float, elapsed_s: float, server_received_at: float, server_answered_at: float) -> None:
        """One exchange: sent at this machine's time, answered after `elapsed_s`; times of the server in between.

        What the server took for the answer is no part of the way; nobody knows how the rest is split.
        """
        way_s = elapsed_s - (server_answered_at - server_received_at)
        if way_s < 0:  # the server's clock was set meanwhile
            return
        middle = (server_received_at + server_answered_at) / 2 - (sent_at + elapsed_s / 2)
        with self._lock:
            self._exchanges.append({"offset_s": middle, "uncertainty_s": way_s / 2})

    def best(self) -> ClockFacts | None:
        """To be added to this machine's time for the server's; None while the server has not told its time."""
        with self._lock:
            return min(self._exchanges, key=lambda facts: facts["uncertainty_s"], default=None)
