"""The threads that speak with the server while a job runs: the heartbeat keeps its lease, the sender empties the spool.

A benchmark starves its own machine, so the heartbeat asks for a high priority, the lease is long and renewed at a
third. It asks more often than that, because a cancelled job should end within seconds.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import threading
from collections.abc import Callable

from benchagent.link.client import Backoff, Client, ClientError, Refused, Unreachable
from benchagent.link.spool import Spool, SpooledJob
from benchagent.protocol import Claimed

log = logging.getLogger(__name__)
CANCEL_POLL_S = 3.0
PRIORITY = -10


class Heartbeat(threading.Thread):
    """`on_cancel(run_id, outcome, message)` is called at most a few times; the receiver takes the first."""

    def __init__(
        self,
        client: Client,
        claimed: Claimed,
        on_cancel: Callable[[str, str, str], None],
        poll_s: float = CANCEL_POLL_S,
    ) -> None:
        super().__init__(name="heartbeat", daemon=True)
        self._client = client
        self._run_id, self._job_token = claimed["job"]["run_id"], claimed["job_token"]
        self._interval_s = min(claimed["lease_s"] / 3, poll_s)
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


INTERVAL_S = 1.0
# Answers to a batch after which sending the same again is useless: bad batch, token or run gone, and 409, since
# the oldest batch not acknowledged is sent first: a server that waits for an older one has lost what it took.
FINAL_ANSWERS = (400, 401, 403, 404, 409, 413)


class Sender(threading.Thread):
    """`on_cancel(run_id, outcome, message)` is called when the server wants a job ended or no longer takes it."""

    def __init__(
        self, client: Client, spool: Spool, on_cancel: Callable[[str, str, str], None], interval_s: float = INTERVAL_S
    ) -> None:
        super().__init__(name="sender", daemon=True)
        self._client = client
        self._spool = spool
        self._on_cancel = on_cancel
        self._interval_s = interval_s
        self._stop_asked = threading.Event()
        self._wake = threading.Event()
        self._pass_done = threading.Condition()
        self._passes = 0
        self._backoff = Backoff()

    def run(self) -> None:
        while not self._stop_asked.is_set():
            wait_s = self._interval_s
            try:
                self.send_all()
                self._backoff.reset()
            except Unreachable as error:
                wait_s = self._backoff.wait_s()
                log.warning("not sent, next try in %.1f s: %s", wait_s, error)
            except Exception:  # this thread must outlive anything: without it nothing is ever delivered
                log.exception("sending failed")
                wait_s = self._backoff.wait_s()
            with self._pass_done:
                self._passes += 1
                self._pass_done.notify_all()
            self._wake.wait(wait_s)
            self._wake.clear()

    def send_all(self) -> None:
        """Send until nothing is left. Raises `Unreachable`."""
        for job in self._spool.undelivered():
            while not self._stop_asked.is_set() and self._send_one(job):
                pass

    def flush(self, timeout_s: float) -> bool:
        """Try now; True when everything is acknowledged within the time."""
        with self._pass_done:
            seen = self._passes
            self._wake.set()
            # A pass may be under way that began before the last item was written: wait for the one after it.
            self._pass_done.wait_for(lambda: self._passes > seen + 1 or not self._spool.undelivered(), timeout_s)
        return not self._spool.undelivered()

    def stop(self) -> None:
        self._stop_asked.set()
        self._wake.set()

    def _send_one(self, job: SpooledJob) -> bool:
        """Send the next batch of this job; False when there is none or the server does not take it."""
        batch = self._spool.next_batch(job.run_id)
        if batch is None:
            return False
        seq, body = batch
        try:
            send = self._client.observed if "observation" in job.spec else self._client.batch
            answer = send(job.run_id, job.token, json.loads(body))
        except Refused as error:
            if error.status not in FINAL_ANSWERS:
                raise Unreachable(str(error)) from error
            log.error("the server does not take the results of run %s: %s", job.run_id, error)
            self._spool.refuse(job.run_id, str(error))
            self._on_cancel(job.run_id, "cancelled", f"the server does not take this run's results: {error.detail}")
            return False
        self._spool.acknowledge(job.run_id, seq)
        if answer.get("cancel"):
            self._on_cancel(job.run_id, "cancelled", "cancelled on the server")
        # One new batch a second is enough; a queue of old ones is emptied at once.
        return self._spool.holds(job.run_id, seq + 1) or job.finished
