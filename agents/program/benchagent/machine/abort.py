"""One request to end the running job early, shared by the threads that may make it."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Aborted(Exception):
    """The job was asked to end; `Abort` knows why."""


class Abort:
    """The first request counts; callbacks run in the thread that makes it, and at once if it was made before."""

    def __init__(self) -> None:
        self._event = threading.Event()
        self._lock = threading.Lock()
        self._callbacks: list[Callable[[], None]] = []
        self.outcome = ""
        self.message = ""

    @property
    def requested(self) -> bool:
        return self._event.is_set()

    def request(self, outcome: str, message: str) -> None:
        with self._lock:
            if self._event.is_set():
                return
            self.outcome, self.message = outcome, message
            self._event.set()
            callbacks = list(self._callbacks)
        for callback in callbacks:
            callback()

    def on_request(self, callback: Callable[[], None]) -> None:
        with self._lock:
            self._callbacks.append(callback)
            late = self._event.is_set()
        if late:
            callback()

    def check(self) -> None:
        if self._event.is_set():
            raise Aborted(self.message)

    def sleep(self, duration_s: float) -> None:
        """Wait; raises `Aborted` as soon as the job is asked to end."""
        if self._event.wait(duration_s):
            raise Aborted(self.message)
