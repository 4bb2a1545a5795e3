"""Memory of the server while the warm-up queries run: the curve of the 2015 article."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from types import TracebackType

from benchagent.machine.usage import ProcessTable

INTERVAL_S = 0.1


class MemoryCurve:
    """Samples while it is entered. `points`: seconds since the epoch, bytes; pages that processes share count once."""

    def __init__(self, server_pids: Callable[[], Sequence[int]]) -> None:
        self.points: list[tuple[float, int]] = []
        self._pids = server_pids
        self._table = ProcessTable()
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._sample, name="memory-curve", daemon=True)

    def __enter__(self) -> MemoryCurve:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stop.set()
        self._thread.join()

    def _sample(self) -> None:
        while True:
            self._table.look()
            size = self._table.memory_bytes(self._pids())
            if size is not None:
                self.points.append((time.time(), size))
            if self._stop.wait(INTERVAL_S):
                return
