"""Data that go from run to run as each has left them, where the server is in a cgroup that ends with the job."""

from __future__ import annotations

import pytest
from benchagent.dbms.postgresql.discovery import installations
from benchagent.job.job import Job

from tests.benchagent.jobs import MakeJob, checks
from tests.benchagent.storages import needs_cgroups

pytestmark = [
    pytest.mark.engines,
    needs_cgroups,
    pytest.mark.skipif(not installations(), reason="no PostgreSQL on this machine"),
]
GIVEN = {"data_origin": "continued", "memory_limit_mb": 300, "warm_up_s": 0, "duration_s": 1}


def test_a_server_within_a_memory_limit_hands_its_data_on(make_job: MakeJob):
    first, second = (make_job("postgresql", run_id=f"run-{number}", **GIVEN).run() for number in (1, 2))
    assert [(item["outcome"], item["message"]) for item in (first, second)] == [("finished", "")] * 2
    assert second["result"]["dataset"]["origin"] == "continued"
    assert checks(second)["history_rows"]
    assert not [words for item in (first, second) for words in item["result"]["warnings"] if "handed on" in words]


def test_data_that_cannot_be_handed_on_are_told_of_and_the_run_stays(make_job: MakeJob, monkeypatch):
    def fails(job: Job, *arguments: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(Job, "_keep_data", fails)
    item = make_job("postgresql", **GIVEN).run()
    assert item["outcome"] == "finished"
    assert (
        "the data could not be handed on, so the next run loads them anew: no space left on device"
        in (item["result"]["warnings"])
    )
