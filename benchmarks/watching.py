"""CPU that the watching of a run takes, read from the kernel's accounts in nanoseconds."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

PROC = Path("/proc")
# The thread of the load generator that asks the server each second (Sampled.java).
THREAD = "sampled"
POLL_S = 0.2


@dataclass(frozen=True)
class Taken:
    """CPU in ms for each second of the run: the agent's process, the asking thread, the backend that answers it."""

    agent: float
    thread: float
    backend: float

    @property
    def total(self) -> float:
        return self.agent + self.thread + self.backend


class CpuAccounts(threading.Thread):
    """Reads the accounts once asking has begun, and again `for_s` later."""

    def __init__(
        self, generator_pid: Callable[[], int | None], backend_pid: Callable[[], int | None], for_s: float
    ) -> None:
        super().__init__(name="accounts", daemon=True)
        self._generator_pid, self._backend_pid, self._for_s = generator_pid, backend_pid, for_s
        self.taken: Taken | None = None

    def run(self) -> None:
        thread, backend = self._wait_for_both()
        begun, before = time.monotonic(), self._read(thread, backend)
        time.sleep(self._for_s)
        took_s, after = time.monotonic() - begun, self._read(thread, backend)
        self.taken = Taken(*(1000 * (late - early) / took_s for late, early in zip(after, before, strict=True)))

    def _wait_for_both(self) -> tuple[Path, Path]:
        while True:
            generator = self._generator_pid()
            tasks = (PROC / str(generator) / "task").glob("*") if generator else ()
            thread = next((task for task in tasks if (task / "comm").read_text().strip() == THREAD), None)
            backend = thread and self._backend_pid()
            if thread and backend:
                return thread, PROC / str(backend)
            time.sleep(POLL_S)

    @staticmethod
    def _read(thread: Path, backend: Path) -> tuple[float, float, float]:
        return time.process_time(), _cpu_s(thread), _cpu_s(backend)


def _cpu_s(task: Path) -> float:
    """Time on a CPU (Documentation/scheduler/sched-stats of the kernel)."""
    return int((task / "schedstat").read_text().split()[0]) / 1e9
