"""Memory of the server while the warm-up queries run: the curve of the 2015 article."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from benchagent.machine.sampling import repeated
from benchagent.machine.usage import ProcessTable

INTERVAL_S = 0.1


@contextmanager
def memory_curve(server_pids: Callable[[], Sequence[int]]) -> Iterator[list[tuple[float, int]]]:
    """Seconds since the epoch and bytes, sampled while it is entered; pages that processes share count once."""
    points: list[tuple[float, int]] = []
    table = ProcessTable()

    def look() -> None:
        table.look()
        size = table.memory_bytes(server_pids())
        if size is not None:
            points.append((time.time(), size))

    look()
    with repeated(look, every_s=INTERVAL_S):
        yield points
