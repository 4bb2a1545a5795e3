"""A server that is paused for four seconds: what the series and the percentiles make of it."""

from __future__ import annotations

import re
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from benchagent.dbms.postgresql.discovery import installations
from benchagent.job.job import Job
from benchagent.link.spool import Spool
from benchagent.machine import process

from tests.benchagent.correctness.during import run_with
from tests.benchagent.jobs import MakeJob, series, values
from tests.benchagent.link.test_spool import sent
from tests.benchagent.small import FULL_SPEED, RATE_PER_S

pytestmark = [pytest.mark.engines, pytest.mark.skipif(not installations(), reason="no PostgreSQL on this machine")]
PAUSE_S, WINDOW_S = 4.0, 10
# The load generator may itself have to wait for a CPU, and then begins late what meets the pause.
CLEARLY_MS = 2500
# Commits that do not wait: only the pause shall be slow.
SETTINGS = {"synchronous_commit": "off"}

# Asks for little of the machine in a closed loop, too.
UNHURRIED = """
[setup]
CREATE TABLE nothing (n INTEGER);
[transaction wait]
SELECT pg_sleep(0.02);
"""


def pause(pids: Sequence[int]) -> float:
    """Every process of the server, at once, so that none answers for another. How long it took, in ms."""
    members = [member for pid in pids for member in process.family(pid)]
    begun = time.monotonic()
    for member in members:
        member.send_signal(signal.SIGSTOP)
    time.sleep(PAUSE_S)
    for member in members:
        member.send_signal(signal.SIGCONT)
    return 1000 * (time.monotonic() - begun)


def test_a_pause_is_seen_by_every_transaction_that_was_due_in_it(make_job: MakeJob, spool: Spool):
    job = make_job("postgresql", settings=SETTINGS, warm_up_s=0, duration_s=WINDOW_S, arrivals="even")
    paused_ms: list[float] = []
    item = run_with(job, spool, 1, lambda pids: paused_ms.append(pause(pids)))
    assert (item["outcome"], item["message"]) == ("finished", "")
    found = values(item)
    # Four of ten transactions were due in the pause: the last percent of all waited for nearly the whole of it.
    assert CLEARLY_MS <= found["latency_p99_ms"] <= found["latency_max_ms"] < 2 * paused_ms[0]
    assert found["latency_p95_ms"] > 2000
    # Their own work was short beside it. Only those under way, one of each terminal, were held up in it.
    assert found["service_p50_ms"] < 300
    assert found["service_p95_ms"] < 1000
    assert found["service_max_ms"] >= CLEARLY_MS

    seconds = spool.seconds(job.run_id)
    assert [second["t"] for second in seconds] == list(range(WINDOW_S))
    assert stalled(seconds) >= 2
    batches = sent(spool, job.run_id)
    assert series(batches, "tps").count(0) == stalled(seconds)
    backlog = [value or 0 for value in series(batches, "backlog")]
    assert max(backlog) > 1.5 * RATE_PER_S  # of those that fall due each second, none was begun
    # On a machine that is slow enough some end after the window.
    assert found["transactions"] + found["transactions_tail"] + found["unstarted"] == WINDOW_S * RATE_PER_S


def test_a_closed_loop_shows_a_pause_in_its_series_and_its_maximum_alone(make_job: MakeJob, spool: Spool):
    """No terminal asks for anything while it waits: two slow transactions among hundreds move no percentile."""
    loop: dict[str, Any] = {"workload": "script", "script_text": UNHURRIED, "terminals": 2, "rate_per_s": FULL_SPEED}
    job = make_job("postgresql", settings=SETTINGS, duration_s=WINDOW_S, **loop)
    item = run_with(job, spool, 1, pause)
    assert (item["outcome"], item["message"]) == ("finished", "")
    found = values(item)
    assert stalled(spool.seconds(job.run_id)) >= 2
    assert found["latency_max_ms"] >= CLEARLY_MS
    assert found["latency_p99_ms"] < 500
    assert found["transactions"] > 2 * 100  # so that those of the two terminals are less than a percent
    # The mean holds the pause, as the throughput does. Without it there would be 1.2 transactions at a time.
    assert found["tps"] * found["latency_mean_ms"] / 1000 == pytest.approx(2, rel=0.25)


def stalled(seconds: Sequence[dict[str, float]]) -> int:
    return sum(second["n"] == 0 for second in seconds)


def test_a_checkpoint_is_told_in_its_second(make_job: MakeJob, spool: Spool):
    """As many as the engine counts over the whole window."""
    job = make_job("postgresql", settings=SETTINGS, warm_up_s=1, duration_s=WINDOW_S)
    item = run_with(job, spool, 4, lambda pids: checkpoint(job, pids[0]))
    assert (item["outcome"], item["message"]) == ("finished", "")
    told = [value or 0 for value in series(sent(spool, job.run_id), "checkpoints")]
    assert sum(told) == values(item)["checkpoints"] == 1
    assert told.index(1) + 1 >= 4  # the first second, of the warm-up, has none before it


def checkpoint(job: Job, pid: int) -> None:
    connection = job.instance.connection
    address = re.search(r"//([^:/]+):(\d+)/", connection.url)
    psql = [
        Path(psutil.Process(pid).exe()).with_name("psql"),
        "-X",
        "-h",
        address[1],
        "-p",
        address[2],
        "-d",
        "postgres",
    ]
    account = ["-U", connection.properties["user"], "-c", "CHECKPOINT"]
    subprocess.run([*psql, *account], env={"PGPASSWORD": connection.properties["password"]}, check=True, timeout=60)
