"""Something happens to the server of a real job while it is measured."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from benchagent.job.job import Job
from benchagent.link.spool import Spool
from benchagent.protocol import FinishItem

from tests.benchagent.fake_server import wait_until


def run_with(job: Job, spool: Spool, after_s: int, happening: Callable[[Sequence[int]], None]) -> FinishItem:
    """Run the job; once it has reported so many seconds, call `happening` with the root processes of its server."""
    result: list[FinishItem] = []
    thread = threading.Thread(target=lambda: result.append(job.run()))
    thread.start()
    try:
        wait_until(lambda: len(spool.seconds(job.run_id)) >= after_s or not thread.is_alive(), 60)
        assert job.instance is not None, result
        happening(job.instance.server_pids())
    finally:
        thread.join(60)
    (item,) = result
    return item
