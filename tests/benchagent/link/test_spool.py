from __future__ import annotations

import json
import sqlite3
import stat
import time
from typing import Any

import pytest
from benchagent.job.result import empty_result
from benchagent.link.spool import Spool
from benchagent.paths import AgentDirs
from benchagent.protocol import Claimed, FinishItem

from tests.benchagent.fake_server import job_spec


def claimed(run_id: str) -> Claimed:
    return {"job": job_spec(run_id), "job_token": f"token-{run_id}", "lease_s": 600}


def second(t: int, n: int, *, warm_up: bool = False) -> dict[str, Any]:
    return {"t": t, "warm_up": warm_up, "n": n, "errors": 0, "retries": 0, "mean_us": 5.0, "cpu_s": 0.1}


def finish_item(outcome: str = "finished") -> FinishItem:
    return {"kind": "finish", "outcome": outcome, "message": "", "at": 1.0, "result": empty_result()}


@pytest.fixture
def run(spool: Spool) -> str:
    spool.add_job(claimed("run-1"), time.time())
    return "run-1"


def sent(spool: Spool, run_id: str) -> list[dict[str, Any]]:
    """Take every batch as the sender would, acknowledging each."""
    batches = []
    while (batch := spool.next_batch(run_id)) is not None:
        batches.append(json.loads(batch[1]))
        spool.acknowledge(run_id, batch[0])
    return batches


def test_it_can_be_read_by_its_owner_only(spool: Spool, dirs: AgentDirs):
    assert stat.S_IMODE(dirs.spool.stat().st_mode) == 0o600


def test_it_gives_the_same_batch_until_it_is_acknowledged(spool: Spool, run: str):
    spool.add_state(run, "preparing", 1.0)
    first = spool.next_batch(run)
    spool.add_state(run, "loading", 2.0)
    assert spool.next_batch(run) == first
    spool.acknowledge(run, 1)
    following = spool.next_batch(run)
    assert following[0] == 2
    assert [item["state"] for item in json.loads(following[1])["items"]] == ["loading"]


def test_it_keeps_everything_when_the_process_is_gone(spool: Spool, run: str, dirs: AgentDirs):
    spool.add_state(run, "preparing", 1.0)
    spool.next_batch(run)
    spool.add_second(run, second(0, 7), {"tps": 7.0})
    again = Spool(dirs.spool)  # no orderly close before
    assert [job.run_id for job in again.unfinished()] == [run]
    assert [batch["seq"] for batch in sent(again, run)] == [1, 2]
    again.close()


def test_it_numbers_chunks_per_metric_and_writes_gaps_as_null(spool: Spool, run: str):
    spool.add_second(run, second(0, 7), {"tps": 7.0, "latency_p50_ms": 0.5})
    spool.add_second(run, second(1, 0), {"tps": 0.0, "latency_p50_ms": None})
    (batch,) = sent(spool, run)
    spool.add_second(run, second(2, 9), {"tps": 9.0, "latency_p50_ms": 0.25})
    (later,) = sent(spool, run)
    assert {item["metric"]: item["values"] for item in batch["items"]} == {"tps": [7, 0], "latency_p50_ms": [0.5, None]}
    assert [(item["metric"], item["chunk"], item["t0_s"], item["values"]) for item in later["items"]] == [
        ("latency_p50_ms", 1, 2.0, [0.25]),
        ("tps", 1, 2.0, [9.0]),
    ]


def test_it_starts_a_new_chunk_where_a_second_is_missing(spool: Spool, run: str):
    for t in (0, 1, 3):
        spool.add_second(run, second(t, t), {"tps": float(t)})
    (batch,) = sent(spool, run)
    assert [(item["chunk"], item["t0_s"], item["values"]) for item in batch["items"]] == [(0, 0, [0, 1]), (1, 3, [3])]


def test_it_sends_the_end_after_the_last_sample(spool: Spool, run: str, monkeypatch):
    monkeypatch.setattr("benchagent.link.spool.SAMPLES_PER_BATCH", 2)
    for t in range(5):
        spool.add_second(run, second(t, t), {"tps": float(t)})
    spool.finish(run, finish_item())
    kinds = [[item["kind"] for item in batch["items"]] for batch in sent(spool, run)]
    assert kinds == [["samples"], ["samples"], ["samples", "finish"]]


def test_it_counts_log_offsets_in_bytes(spool: Spool, run: str):
    spool.add_log(run, "größer\n")
    spool.add_log(run, "x\n")
    (batch,) = sent(spool, run)
    assert [item["offset"] for item in batch["items"]] == [0, len("größer\n".encode())]


def test_it_keeps_the_raw_seconds_after_they_are_acknowledged(spool: Spool, run: str, dirs: AgentDirs):
    for t, n in enumerate((3, 4, 5)):
        spool.add_second(run, second(t, n, warm_up=t == 0), {"tps": float(n)})
    sent(spool, run)
    reader = sqlite3.connect(f"file:{dirs.spool}?mode=ro", uri=True)
    assert reader.execute("SELECT sum(n) FROM seconds WHERE run_id = ? AND NOT warm_up", (run,)).fetchone() == (9,)
    reader.close()


def test_it_never_spools_half_a_second(spool: Spool, run: str):
    spool.add_second(run, second(0, 3), {"tps": 3.0})
    with pytest.raises(sqlite3.IntegrityError):
        spool.add_second(run, second(0, 99), {"tps": 99.0, "retries": 1.0})
    (batch,) = sent(spool, run)
    assert [item["metric"] for item in batch["items"]] == ["tps"]


def test_it_begins_anew_when_the_same_run_is_claimed_again(spool: Spool, run: str):
    spool.add_second(run, second(0, 3), {"tps": 3.0})
    sent(spool, run)
    spool.add_job(claimed(run), time.time())
    assert spool.seconds(run) == []
    spool.add_state(run, "preparing", 1.0)
    assert [batch["seq"] for batch in sent(spool, run)] == [1]


def test_it_forgets_old_delivered_jobs_but_none_with_something_to_send(spool: Spool):
    for number in range(6):
        spool.add_job(claimed(f"run-{number}"), time.time())
        spool.add_second(f"run-{number}", second(0, 1), {"tps": 1.0})
        spool.finish(f"run-{number}", finish_item())
        if number != 1:
            sent(spool, f"run-{number}")
    spool.trim(keep=2)
    assert [number for number in range(6) if spool.seconds(f"run-{number}")] == [1, 4, 5]
    assert [job.run_id for job in spool.undelivered()] == ["run-1"]
