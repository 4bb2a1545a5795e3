"""A server that is paused for three seconds: what the series and the percentiles make of it."""

from __future__ import annotations

import signal
import time
from collections.abc import Sequence

import pytest
from benchagent import process
from benchagent.dbms.postgresql.discovery import installations
from benchagent.spool import Spool

from tests.benchagent.correctness.during import run_with
from tests.benchagent.jobs import MakeJob, checks, series, values
from tests.benchagent.test_spool import sent

pytestmark = [
    pytest.mark.engines,
    pytest.mark.skipif(not installations(), reason="no PostgreSQL on this machine"),
]
PAUSE_S = 3.0
# Commits that do not wait: only the pause shall be slow.
SETTINGS = {"synchronous_commit": "off"}


def pause(pids: Sequence[int]) -> None:
    """Every process of the server, at once, so that none answers for another."""
    members = [member for pid in pids for member in process.family(pid)]
    for member in members:
        member.send_signal(signal.SIGSTOP)
    time.sleep(PAUSE_S)
    for member in members:
        member.send_signal(signal.SIGCONT)


def test_a_pause_is_seen_by_every_transaction_that_was_due_in_it(make_job: MakeJob, spool: Spool):
    job = make_job("postgresql", settings=SETTINGS, warm_up_s=0, duration_s=6, rate_per_s=50)
    item = run_with(job, spool, 1, pause)
    assert (item["outcome"], item["message"]) == ("finished", "")
    found = values(item)
    # Half of the transactions were due in the pause: the last percent of all waited for nearly the whole of it.
    assert 2500 <= found["latency_p99_ms"] <= found["latency_max_ms"] < 1000 * PAUSE_S + 1500
    assert found["latency_p95_ms"] > 2000
    # Their own work took no longer than ever. Only those under way, one of each terminal, were held up in it.
    assert found["service_p50_ms"] < 50
    assert found["service_p95_ms"] < 500
    assert found["service_max_ms"] >= 2500

    seconds = spool.seconds(job.run_id)
    assert [second["t"] for second in seconds] == list(range(6))
    assert stalled(seconds) >= PAUSE_S - 1
    batches = sent(spool, job.run_id)
    assert series(batches, "tps").count(0) == stalled(seconds)
    backlog = [value or 0 for value in series(batches, "backlog")]
    assert max(backlog) > 75  # of 50 that fall due each second, none was begun
    # On a machine that is slow enough some end after the window.
    assert found["transactions"] + found["transactions_tail"] + found["unstarted"] == 6 * 50


def test_a_closed_loop_shows_a_pause_in_its_series_and_its_maximum_alone(make_job: MakeJob, spool: Spool):
    """No terminal asks for anything while it waits: two slow transactions among thousands move no percentile."""
    job = make_job("postgresql", settings=SETTINGS, warm_up_s=0, duration_s=6)
    item = run_with(job, spool, 1, pause)
    assert (item["outcome"], item["message"]) == ("finished", "")
    found = values(item)
    assert stalled(spool.seconds(job.run_id)) >= PAUSE_S - 1
    assert found["latency_max_ms"] >= 2500
    assert found["latency_p99_ms"] < 500
    assert found["transactions"] > 2 * 100  # so that those of the two terminals are less than a percent
    assert checks(item)["little_law"]  # the mean holds the pause, as the throughput does


def stalled(seconds: Sequence[dict[str, float]]) -> int:
    return sum(second["n"] == 0 for second in seconds)
