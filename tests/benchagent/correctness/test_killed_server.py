"""A server that is killed while it is measured: a failed run that keeps everything measured so far."""

from __future__ import annotations

import pytest
from benchagent.dbms.postgresql.discovery import installations
from benchagent.link.spool import Spool
from benchagent.paths import AgentDirs

from tests.benchagent.correctness.during import run_with
from tests.benchagent.durability import kill_9
from tests.benchagent.jobs import MakeJob, series, values
from tests.benchagent.link.test_spool import sent

pytestmark = [pytest.mark.engines, pytest.mark.skipif(not installations(), reason="no PostgreSQL on this machine")]
AFTER_S = 3


def test_the_run_fails_and_keeps_every_second_until_then(make_job: MakeJob, spool: Spool, dirs: AgentDirs):
    job = make_job("postgresql", warm_up_s=1, duration_s=30)
    item = run_with(job, spool, AFTER_S, kill_9)
    assert item["outcome"] == "failed"
    assert item["message"].startswith("2 terminals died; terminal ")
    assert "SQLSTATE" in item["message"]

    seconds = spool.seconds(job.run_id)
    assert [second["t"] for second in seconds] == list(range(len(seconds)))
    assert AFTER_S <= len(seconds) < 25  # it did not wait for the end of its window
    assert sum(second["n"] for second in seconds) > 0
    assert sum(second["errors"] for second in seconds) == 2
    assert series(sent(spool, job.run_id), "tps") == [second["n"] for second in seconds]

    found = values(item)
    assert found["transactions"] == sum(second["n"] for second in seconds if not second["warm_up"])
    assert found["transactions_warm_up"] == seconds[0]["n"]
    assert found["latency_p50_ms"] > 0
    assert found["load_s"] > 0
    assert "tps" not in found  # divided by a window that was not over, it would be no rate
    assert item["result"]["effective_settings"]
    assert list(dirs.jobs.iterdir()) == []
