"""redis-benchmark 7.0 was run here; what versions 2 to 6 print is written by hand after their published wording."""

from __future__ import annotations

import pytest
from benchagent.importers import Status

from tests.benchagent.importers.samples import DATA, reports, sample, values

TOOL = "redisbench"
FILES = sorted((DATA / TOOL).iterdir())


def text_of(name: str) -> str:
    return sample(TOOL, name).decode()


def test_it_reads_every_test_of_a_report():
    first, second = reports("x", sample(TOOL, "v7_report.txt"))
    assert (first.tool, first.status, first.subject.workload) == (
        "redis-benchmark", Status.COMPLETE, "redis-benchmark-set",
    )  # fmt: skip
    assert values(first) == {
        "requests_per_s": 44943.82, "latency_avg_ms": 1.49, "latency_min_ms": 0.08, "latency_p50_ms": 0.503,
        "latency_p95_ms": 5.007, "latency_p99_ms": 8.887, "latency_max_ms": 9.815, "elapsed_s": 0.44,
    }  # fmt: skip
    assert first.parameters == {"terminals": 20, "requests": 20000, "payload_bytes": 64, "keep_alive": True}
    assert first.subject.settings == (("save", ""), ("appendonly", "no"))
    assert (second.subject.workload_name, values(second)["requests_per_s"]) == ("redis-benchmark GET", 43383.95)


def test_it_reads_csv_with_and_without_headings():
    told = {report.subject.workload_name: values(report) for report in reports("x", sample(TOOL, "v7.csv"))}
    assert [*told] == [f"redis-benchmark {test}" for test in ("SET", "GET", "LPUSH", "MSET (10 keys)")]
    assert (told["redis-benchmark GET"]["requests_per_s"], told["redis-benchmark GET"]["latency_p99_ms"]) == (
        22471.91, 10.487,
    )  # fmt: skip
    assert [values(report) for report in reports("x", sample(TOOL, "v5.csv"))] == [
        {"requests_per_s": 85251.49}, {"requests_per_s": 82644.63}, {"requests_per_s": 51203.28},
    ]  # fmt: skip


def test_it_reads_quiet_output_and_commands_of_the_user():
    told = reports("x", sample(TOOL, "v7_quiet.txt"))
    assert [report.subject.workload_name.removeprefix("redis-benchmark ") for report in told] == [
        "SET", "GET", "set key:__rand_int__ value",
    ]  # fmt: skip
    assert values(told[2]) == {"requests_per_s": 19607.84, "latency_p50_ms": 0.119}


def test_it_keeps_the_command_line_of_all_tests_without_the_password():
    told = reports("x", sample(TOOL, "v5_report.txt"))
    assert [values(report)["requests_per_s"] for report in told] == [82644.63, 91743.12]
    for report in told:
        assert report.command_lines == ("redis-benchmark -t set,get -n 100000 -c 40 -d 256 -a [redacted]",)
    piped = text_of("v5_report.txt").replace("-d 256", "-d 256 -P 16 -r 1000000")
    assert reports("x", piped.encode())[1].parameters["pipeline"] == 16


def test_it_takes_what_was_interrupted_for_aborted():
    (report,) = reports("x", sample(TOOL, "v7_interrupted.txt"))
    assert (report.status, report.metrics) == (Status.ABORTED, ())
    assert report.reason == "the output ends before the result of SET"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("44943.82", "24943.82", "requests by time are not 24943.82 a second"),
        ("50.000% <= 0.503", "50.000% <= 0.513", "the summary contradicts the distribution"),
        ("87.500% <= 3.919 milliseconds (cumulative count 17508)\n", "", ""),
        ("100.000% <= 9.815 milliseconds (cumulative count 20000)\n", "", "the distribution is not all there"),
        ("     5.007     8.887", "     9.007     8.887", "latency_p99_ms = 8.887 is below latency_p95_ms"),
        ("====== SET ======", "====== SET", "not a wording or number"),
    ],
)  # fmt: skip
def test_it_refuses_a_test_that_contradicts_itself_and_reads_the_others(old: str, new: str, why: str):
    text = text_of("v7_report.txt")
    assert old in text
    first, *_, last = reports("x", text.replace(old, new).encode())
    assert (why in first.reason) if why else first.status is Status.COMPLETE
    assert values(last)["requests_per_s"] == 43383.95


def test_a_damaged_test_costs_the_others_of_its_call_no_factor():
    damaged = text_of("v5_report.txt").replace("82644.63 requests", "82644,63 requests").replace("-d 256", "-P 16")
    told = reports("x", damaged.encode())
    assert [report.status for report in told] == [Status.NOT_UNDERSTOOD, Status.COMPLETE]
    assert (told[1].parameters["pipeline"], len(told[1].command_lines)) == (16, 1)


def test_how_many_masters_a_cluster_has_and_how_many_threads_ask_it_are_factors():
    """In a cluster each node's configuration stands in place of the host's (redis-benchmark.c, showLatencyReport)."""
    text = sample(TOOL, "v7_report.txt").decode()
    nodes = "".join(f"  node [{at}] configuration:\n    save: \n    appendonly: no\n" for at in range(3))
    host = '  host configuration "save": \n  host configuration "appendonly": no\n  multi-thread: no\n'
    assert host in text
    in_cluster = f"  cluster mode: yes (3 masters)\n{nodes}  multi-thread: yes\n  threads: 4\n"
    for report in reports("x", text.replace(host, in_cluster).encode()):
        assert report.parameters["cluster_masters"] == 3 and report.parameters["client_threads"] == 4
