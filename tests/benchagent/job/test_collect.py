"""From the load generator's events to spool and result, event by event."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest
from benchagent.dbms.counters import by_column
from benchagent.job.collect import Collector, Listener
from benchagent.link.spool import Spool
from benchagent.protocol import Claimed

from tests.benchagent.fake_server import job_spec
from tests.benchagent.link.test_spool import sent


class Told:
    def __init__(self) -> None:
        self.states: list[str] = []
        self.lines: list[str] = []
        self.queries: list[str] = []

    def sample(self) -> dict[str, float | None]:
        return {"machine_cpu_percent": 50.0}


@pytest.fixture
def told() -> Told:
    return Told()


@pytest.fixture
def make(spool: Spool, told: Told) -> Callable[..., Collector]:
    claimed: Claimed = {"job": job_spec("run-1"), "job_token": "x", "lease_s": 600}
    spool.add_job(claimed, time.time())

    def made(*, warm_up_s: int = 0) -> Collector:
        listener = Listener(told.states.append, told.lines.append, told.queries.append, lambda: told)
        return Collector(spool, "run-1", listener, warm_up_s=warm_up_s)

    return made


def second(t: int, **changes: Any) -> dict[str, Any]:
    micros = {f"{name}_us": 1000 for name in ("mean", "p50", "p95", "p99", "max")}
    event = {"event": "second", "t": t, "warm_up": False, "n": 5, "errors": 0, "retries": 1, "cpu_s": 0.5, **micros}
    return {**event, **changes}


def progress(t: float, rows: int, size: int) -> dict[str, Any]:
    return {"event": "progress", "phase": "load", "t": t, "table": "a", "rows": rows, "of": 900, "bytes": size}


def phase(name: str, state: str, **more: Any) -> dict[str, Any]:
    return {"event": "phase", "phase": name, "state": state, "at": 1.0, **more}


def pieces(spool: Spool, metric: str) -> list[tuple[float, list[float]]]:
    """Where each unbroken piece of a series begins, and its values."""
    items = [item for batch in sent(spool, "run-1") for item in batch["items"]]
    found = [(item["t0_s"], item["values"]) for item in items if item.get("metric") == metric]
    return [(t0_s, [round(value, 3) for value in values]) for t0_s, values in found]


def test_a_load_is_a_curve_of_rows_and_megabytes_a_second(make, spool: Spool):
    collector = make()
    collector.add(phase("load", "begin"))
    for event in (progress(1.0, 100, 4_000_000), progress(2.0, 350, 9_000_000), progress(3.0, 900, 10_000_000)):
        collector.add(event)
    collector.add(phase("load", "end", elapsed_s=3.1, rows=900, bytes=10_000_000))
    assert [event["rows"] for event in collector.session.progress] == [100, 350, 900]
    items = [item for batch in sent(spool, "run-1") for item in batch["items"]]
    curves = {item["metric"]: (item["t0_s"], item["values"]) for item in items if item["kind"] == "samples"}
    assert curves == {"load_rows_per_s": (0, [100, 250, 550]), "load_mb_per_s": (0, [4, 5, 1])}


def test_seconds_without_progress_are_a_gap_and_rates_hold_for_the_time_that_passed(make, spool: Spool):
    collector = make()
    for t, rows in ((1.0, 100), (4.5, 450), (4.6, 455), (5.5, 550), (6.002, 600)):
        collector.add(progress(t, rows, 0))
    assert pieces(spool, "load_rows_per_s") == [(0, [100]), (3, [100, 100, 99.602])]


def test_a_second_goes_to_the_spool_with_everything_that_was_sampled_in_it(make, spool: Spool):
    collector = make(warm_up_s=1)
    collector.add(phase("run", "begin"))
    collector.add(second(0, warm_up=True, n=3))
    collector.add(second(1, n=8, service_p99_us=700, backlog=4))
    collector.add(second(2, n=0, p50_us=None, p95_us=None, p99_us=None, max_us=None, backlog=0))
    assert [row["n"] for row in spool.seconds("run-1")] == [3, 8, 0]
    items = [item for batch in sent(spool, "run-1") for item in batch["items"]]
    curves = {item["metric"]: item["values"] for item in items if item["kind"] == "samples"}
    assert curves["tps"] == [3, 8, 0]
    assert curves["latency_p99_ms"] == [1, 1, None]
    assert curves["backlog"] == [4, 0]
    assert curves["service_p99_ms"] == [0.7]
    assert curves["machine_cpu_percent"] == [50, 50, 50]
    assert collector.measured("tps") == [8, 0]
    assert collector.has_seconds


def test_it_tells_how_far_the_run_is(make, told: Told):
    collector = make(warm_up_s=1)
    steps = [phase("load", "begin"), phase("load", "end", elapsed_s=1.0, rows=7), phase("run", "begin")]
    for event in [*steps, second(0, warm_up=True), second(1), phase("run", "end", elapsed_s=2.0)]:
        collector.add(event)
    assert told.states == ["loading", "warming_up", "measuring", "collecting"]
    assert told.lines == ["load: 1.00 s, 7 rows", "run: 2.00 s"]


def test_only_what_was_sampled_in_the_measured_window_counts(make, told: Told):
    collector = make(warm_up_s=2)
    for t in range(4):
        collector.add({"event": "sampled", "t": t, "name": "waits:now", "columns": [], "rows": [["lock", t]]})
    collector.add({"event": "sampled", "t": 4, "name": "waits:now", "error": "permission denied"})
    assert collector.sampled == {"waits:now": [[["lock", 2]], [["lock", 3]]]}
    assert told.lines == ["waits:now is not sampled any more: permission denied"]


def test_what_a_counter_grows_by_is_a_sample_of_its_second(make, spool: Spool):
    collector = make(warm_up_s=1)
    collector.begin_session()
    for t, counted in enumerate((7, 7, 8, 8, 10)):
        collector.add(
            {"event": "sampled", "t": t, "name": "growing:checkpoints", "columns": ["n"], "rows": [[counted]]}
        )
    assert pieces(spool, "checkpoints") == [(1, [0, 1, 0, 2])]
    assert collector.sampled == {}


def test_a_query_that_failed_has_no_rows_but_its_error(make, told: Told):
    collector = make()
    session = collector.begin_session()
    collector.add({"event": "query", "name": "a", "columns": ["Num_hit"], "rows": [[1]], "elapsed_s": 0.5})
    collector.add({"event": "query", "name": "b", "error": "no such table"})
    assert session.rows == {"a": [[1]]}
    assert by_column(session.rows["a"]) == [{"num_hit": 1}]
    assert session.queries["b"]["error"] == "no such table"
    assert told.queries == ["a", "b"]


def test_the_sessions_of_a_job_share_summary_and_phases(make):
    collector = make()
    first = collector.begin_session()
    collector.add(phase("load", "end", elapsed_s=1.0, rows=7))
    collector.add({"event": "mark", "name": "slow_part", "rows": 5, "t": 1})
    second_one = collector.begin_session()
    collector.add({"event": "summary", "transactions": 9})
    assert (first.summary, second_one.summary) == (None, {"event": "summary", "transactions": 9})
    assert collector.summary == second_one.summary
    assert (list(first.phases), list(second_one.phases), list(collector.phases)) == (["load"], [], ["load"])
    assert [mark["name"] for mark in collector.marks] == ["slow_part"]


def test_latencies_over_time_are_counted_and_a_long_run_has_coarser_intervals(make):
    collector = make()
    collector.add(second(0, buckets=[10, 4, 20, 1]))
    collector.add(second(2, buckets=[10, 5]))
    assert collector.latencies.as_json() == {"interval_s": 1, "counts": [[10, 4, 20, 1], [], [10, 5]]}
    for t in range(3, 1000):
        collector.add(second(t, buckets=[10, 1, 30, 2]))
    told = collector.latencies.as_json()
    assert (told["interval_s"], len(told["counts"])) == (8, 125)
    assert told["counts"][0] == [10, 14, 20, 1, 30, 10]
    assert sum(sum(counts[1::2]) for counts in told["counts"]) == 10 + 997 * 3
    assert len(str(told)) < 64_000
