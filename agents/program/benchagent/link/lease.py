"""The heartbeat: keeps the lease of a running job and learns that it was cancelled.

A benchmark starves its own machine, so the thread asks for a high priority, the lease is long and renewed at a
third. It asks more often than that, because a cancelled job should end within seconds.
"""

from __future__ import annotations

import contextlib
import logging
import os
import threading
from collections.abc import Callable

from benchagent.link.client import Backoff, Client, ClientError, Refused

log = logging.getLogger(__name__)
CANCEL_POLL_S = 3.0
PRIORITY = -10


class Heartbeat(threading.Thread):
    """`on_cancel(run_id, outcome, message)` is called at most a few times; the receiver takes the first."""

    def __init__(
        self,
        client: Client,
        *,
        run_id: str,
        job_token: str,
        lease_s: float,
        on_cancel: Callable[[str, str, str], None],
        poll_s: float = CANCEL_POLL_S,
    ) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self._client = client
        self._run_id = run_id
        self._job_token = job_token
        self._interval_s = min(lease_s / 3, poll_s)
        self._on_cancel = on_cancel
        self._done = threading.Event()

    def run(self) -> None:
        with contextlib.suppress(OSError):  # only root may
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), PRIORITY)
        backoff = Backoff(limit_s=self._interval_s)
        wait_s = 0.0
        while not self._done.wait(wait_s):
            try:
                lease = self._client.heartbeat(self._run_id, self._job_token)
            except Refused as error:
                if error.status in (401, 403, 404):
                    self._on_cancel(self._run_id, "cancelled", f"the server no longer knows this run: {error.detail}")
                log.warning("heartbeat refused: %s", error)
                wait_s = self._interval_s
            except ClientError as error:
                log.warning("no heartbeat: %s", error)
                wait_s = backoff.wait_s()
            else:
                backoff.reset()
                wait_s = self._interval_s
                if lease["cancel"]:
                    self._on_cancel(self._run_id, "cancelled", "cancelled on the server")

    def stop(self) -> None:
        self._done.set()
