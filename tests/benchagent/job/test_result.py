"""The metrics of a result, from what was collected."""

from __future__ import annotations

import time
from typing import Any

import pytest
from benchagent.catalog import METRICS
from benchagent.job.collect import Collector, Listener, PhaseWatch
from benchagent.job.result import error_share, metrics
from benchagent.link.spool import Spool
from benchagent.protocol import Claimed, MetricValue

from tests.benchagent.fake_server import job_spec, wait_until
from tests.benchagent.link.test_spool import sent

SUMMARY: dict[str, Any] = {
    "event": "summary",
    "tps": 50.0,
    "transactions": 100,
    "retries": 3,
    "errors": 0,
    "measured_errors": 0,
    "tail_transactions": 2,
    "warm_up_transactions": 40,
    **{f"{name}_us": 1000.0 for name in ("mean", "p50", "p95", "p99", "max")},
    "per_terminal": [50, 50],
    "histogram": "",
}


class Values:
    """A sampler that gives one line after the other."""

    def __init__(self, *lines: dict[str, float | None]) -> None:
        self._lines = iter(lines)
        self.divided_by: list[float | None] = []

    def sample(self, elapsed_s: float | None = None) -> dict[str, float | None]:
        self.divided_by.append(elapsed_s)
        return next(self._lines)


@pytest.fixture
def collector(spool: Spool) -> Collector:
    claimed: Claimed = {"job": job_spec("run-1"), "job_token": "x", "lease_s": 600}
    spool.add_job(claimed, time.time())
    silent = Listener(lambda _: None, lambda _: None, lambda _: None, Values)
    return Collector(spool, "run-1", silent, warm_up_s=1)


def by_name(found: list[MetricValue]) -> dict[str, float]:
    assert {one["name"] for one in found} <= set(METRICS)
    assert len({(one["name"], one["phase"]) for one in found}) == len(found)
    return {one["name"]: one["value"] for one in found}


def test_a_backup_has_the_figures_of_its_timed_phase_only(collector: Collector, spool: Spool):
    """Each second for the series; its means are those of the whole steps, of 3 and 1 s. A tool that has ended has no
    CPU any more: of it there are the seconds."""
    watch = PhaseWatch(spool, "run-1", collector)
    idle: dict[str, float | None] = {"tool_cpu_cores": 9.0, "disk_write_mb_per_s": 900.0, "tool_rss_bytes": 9e9}
    watch.add("dense", Values(idle))
    watch.take_whole("dense", Values(idle), 5.0)
    watch.add("backup", Values({"tool_cpu_cores": 0.5, "disk_write_mb_per_s": 10.0, "tool_rss_bytes": 5e6}))
    watch.add("backup", Values({"tool_cpu_cores": 1.5, "disk_write_mb_per_s": None, "tool_rss_bytes": 7e6}))
    watch.take_whole("backup", Values({"tool_cpu_cores": None, "disk_write_mb_per_s": 20.0}), 3.0)
    watch.take_whole("backup", Values({"tool_cpu_cores": None, "disk_write_mb_per_s": 40.0}), 1.0)
    watch.add("count", Values({**idle, "server_cpu_cores": 0.8}))
    watch.add("restore", Values(idle))
    found = by_name(metrics(collector, {}, 2, 5_000_000))
    assert found == {
        "db_size_bytes": 5_000_000,
        "tool_cpu_cores": 1.0,
        "disk_write_mb_per_s": 25.0,
        "tool_rss_bytes": 7e6,
    }
    items = [item for batch in sent(spool, "run-1") for item in batch["items"]]
    assert {item["metric"]: (item["t0_s"], item["values"]) for item in items} == {
        "tool_cpu_cores": (0, [0.5, 1.5]),
        "disk_write_mb_per_s": (0, [10.0, None]),
        "tool_rss_bytes": (0, [5e6, 7e6]),
        "count_server_cpu_cores": (0, [0.8]),
        "count_tool_cpu_cores": (0, [9.0]),
    }


def phase(name: str, **more: Any) -> dict[str, Any]:
    return {"event": "phase", "phase": name, "state": "end" if more else "begin", **more}


@pytest.mark.parametrize(("elapsed_s", "told"), [(0.5, True), (0.09, False)])
def test_a_count_has_the_cpu_and_the_disk_of_the_query_alone(
    collector: Collector, spool: Spool, elapsed_s: float, told: bool
):
    """Not of the JVM that starts before it and ends after it; of less than a tenth of a second nothing is told."""
    busy: dict[str, float | None] = {"server_cpu_cores": 9.0, "tool_cpu_cores": 9.0, "disk_read_mb_per_s": 900.0}
    counting: dict[str, float | None] = {"server_cpu_cores": 0.8, "tool_cpu_cores": 0.1, "disk_read_mb_per_s": 40.0}
    whole = Values(busy, counting, busy)
    samplers = iter([whole, Values(busy)])
    watch = PhaseWatch(spool, "run-1", collector)
    with watch.following("count", lambda: next(samplers)) as tell:
        for event in (
            phase("setup"),
            phase("setup", elapsed_s=3.0),
            phase("count"),
            phase("count", elapsed_s=elapsed_s),
        ):
            tell(event)
        tell(phase("later"))
    assert whole.divided_by == [None, elapsed_s]
    found = by_name(metrics(collector, {}, 2, None))
    expected = {f"count_{name}": value for name, value in counting.items()}
    assert found == (expected if told else {})
    assert collector.samples == [], "of half a second there is no second"


def test_the_time_of_a_phase_goes_on_over_its_steps(collector: Collector, spool: Spool):
    watch = PhaseWatch(spool, "run-1", collector)
    taken: list[float] = []
    for value in (1.0, 2.0):
        values: dict[str, float | None] = {"tool_cpu_cores": value}
        with watch.following("backup", lambda values=values: Values(*[values] * 60)) as tell:
            tell(phase("backup"))
            wait_until(lambda: watch._t["backup"] > len(taken), 60)
            tell(phase("backup", elapsed_s=1.2))
        taken.extend([value] * (watch._t["backup"] - len(taken)))  # one, or more when this thread had to wait
    (item,) = [item for batch in sent(spool, "run-1") for item in batch["items"]]
    assert (item["t0_s"], item["values"]) == (0, taken)
    assert by_name(metrics(collector, {}, 2, None)) == {"tool_cpu_cores": pytest.approx(1.5)}


def test_the_means_of_a_run_leave_out_its_warm_up(collector: Collector):
    for warm_up, cores in ((True, 9.0), (False, 0.5), (False, 1.5)):
        collector.samples.append((warm_up, {"tps": 50.0, "server_cpu_cores": cores}))
    collector.summary = SUMMARY
    found = by_name(metrics(collector, {}, 2, None))
    assert (found["server_cpu_cores"], found["tps"], found["transactions"]) == (1.0, 50, 100)
    assert found["transactions_warm_up"] == 40
    assert "unstarted" not in found and "error_share_percent" not in found


def test_a_run_at_a_fixed_rate_has_service_times_beside_its_latencies(collector: Collector):
    service = {f"service_{name}_us": 400.0 for name in ("mean", "p50", "p95", "p99", "max")}
    collector.summary = {**SUMMARY, **service, "unstarted": 7}
    found = by_name(metrics(collector, {}, 2, None))
    assert (found["latency_p99_ms"], found["service_p99_ms"], found["service_max_ms"]) == (1.0, 0.4, 0.4)
    assert found["unstarted"] == 7


def test_a_run_that_ended_in_its_warm_up_has_counts_but_no_rate(collector: Collector):
    nothing = dict.fromkeys(("tps", "mean_us", "p50_us", "p95_us", "p99_us", "max_us"))
    collector.summary = {**SUMMARY, **nothing, "transactions": 0}
    found = by_name(metrics(collector, {"log_flushes": 5, "log_bytes": 10}, 2, None))
    assert "tps" not in found and "latency_p50_ms" not in found
    assert (found["transactions"], found["transactions_warm_up"]) == (0, 40)


def test_a_run_that_was_cut_short_has_counts_only(collector: Collector):
    collector.samples += [(True, {"tps": 9.0}), (False, {"tps": 50.0}), (False, {"tps": None})]
    assert by_name(metrics(collector, {}, 2, None)) == {"transactions": 50, "transactions_warm_up": 9}


def test_the_counters_of_the_engine_become_metrics(collector: Collector):
    collector.summary = SUMMARY
    counters = {
        "checkpoints": 0,
        "log_bytes": 5000,
        "log_flushes": 25,
        "buffer_hits": 9,
        "buffer_reads": 1,
        "commits": 7,
    }
    found = by_name(metrics(collector, counters, 2, None))
    assert (found["checkpoints"], found["log_bytes"], found["log_bytes_per_tx"]) == (0, 5000, 50)
    assert found["buffer_hit_percent"] == 90
    assert "lock_waits" not in found


def test_a_load_has_its_rate_in_rows_and_in_megabytes(collector: Collector):
    collector.phases["load"] = {"elapsed_s": 4.0, "rows": 1000, "bytes": 8_000_000}
    collector.phases["index"] = {"elapsed_s": 2.0}
    found = by_name(metrics(collector, {}, 2, None))
    assert found == {"load_s": 4, "load_rows_per_s": 250, "load_bytes": 8e6, "load_mb_per_s": 2, "index_s": 2}


def test_the_errors_are_those_of_the_measured_window_beside_all_of_them(collector: Collector):
    """As the retries and the errors of each type are."""
    collector.summary = {**SUMMARY, "errors": 8, "measured_errors": 5}
    found = by_name(metrics(collector, {}, 2, None))
    assert (found["errors"], found["errors_total"]) == (5, 8)
    assert found["error_share_percent"] == pytest.approx(100 * 8 / 150)


def test_the_share_of_errors_is_that_of_all_transactions():
    assert error_share({**SUMMARY, "errors": 0}) == 0
    assert error_share({**SUMMARY, "errors": 8}) == 8 / 150
