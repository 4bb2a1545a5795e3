"""NoSQLBench is in no package registry: log after its documentation, CSV after Dropwizard's, both written by hand."""

from __future__ import annotations

import re

import pytest
from benchagent.importers import Status

from tests.benchagent.importers.samples import report_of, reports, sample, values

TOOL = "nosqlbench"


def test_it_reads_what_holds_of_the_whole_run():
    report = report_of(TOOL, "scenario.log")
    assert (report.tool, report.status, report.subject.workload) == (
        "NoSQLBench", Status.COMPLETE, "nosqlbench-cql-keyvalue",
    )  # fmt: skip
    assert values(report) == {"ops_per_s": 4024.0234405430424, "operations": 100000, "errors": 9}
    assert report.parameters == {
        "cyclerate": 5000, "burstrate": 5500.0, "driver": "cql", "tags": "phase:main", "cycles": 100000,
        "terminals": 50,
    }  # fmt: skip
    assert "last interval only" in report.warnings[0]


def test_it_reads_the_csv_of_a_timer():
    report = report_of(TOOL, "result.csv")
    assert values(report) == {"ops_per_s": 4025.0, "operations": 241500}
    series = {series.name: series for series in report.series}
    assert series["ops_per_s"].values == (None, 3950.0, 4000.0, 4050.0, 4100.0, 4150.0)
    assert (series["latency_p99_ms"].values[1], series["latency_p99_ms"].interval_s) == (6.00175, 10)


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        ("scenario.log", "events/second", "events/millisecond", "not a rate a second"),
        ("scenario.log", "count=99991", "count=199991", "more operations succeeded"),
        ("scenario.log", "mean_rate=4024.0", "mean_rate=4024,0", "not a plain number"),
        ("scenario.log", r"keyvalue\.result", "keyvalue.other", "no timer called result"),
        ("result.csv", "calls/second", "calls/minute", "units that are unknown"),
        ("result.csv", ",241500,", ",41500,", "do not rise"),
        ("result.csv", r",calls/second,microseconds\n", "\n", "is not whole"),
    ],
)
def test_it_refuses_what_it_cannot_be_sure_of(name: str, old: str, new: str, why: str):
    text = sample(TOOL, name).decode()
    changed = re.sub(old, new, text, count=1 if name == "result.csv" else 0)
    assert changed != text
    (report,) = reports("x", changed.encode())
    assert why in report.reason


def test_a_log_that_ends_before_its_metrics_do_is_aborted():
    text = sample(TOOL, "scenario.log").decode()
    for end in ("-- END", "type=TIMER"):
        (report,) = reports("x", (text.partition(end)[0].rpartition("\n")[0] + "\n").encode())
        assert (report.status, report.metrics) == (Status.ABORTED, ())


def test_several_scenarios_of_one_log_are_runs_of_their_own():
    text = sample(TOOL, "scenario.log").decode()
    other = text.replace("threads=50", "threads=100").replace("mean_rate=4024.0", "mean_rate=8024.0")
    told = reports("x", (text + other).encode())
    assert [(report.parameters["terminals"], int(values(report)["ops_per_s"])) for report in told] == [
        (50, 4024), (100, 8024),
    ]  # fmt: skip
    # A second one that was cut, or is damaged, spoils the first one as little as one that has no command line.
    (first, cut) = reports("x", (text + other.partition("-- END")[0]).encode())
    assert (first.status, cut.status, cut.metrics) == (Status.COMPLETE, Status.ABORTED, ())
    (first, damaged) = reports("x", (text + other.replace("mean_rate=8024.0", "mean_rate=8024,0")).encode())
    assert (first.status, damaged.status) == (Status.COMPLETE, Status.NOT_UNDERSTOOD)
    (_, bare) = reports("x", (text + "".join(other.splitlines(keepends=True)[1:])).encode())
    assert int(values(bare)["ops_per_s"]) == 8024 and "terminals" not in bare.parameters


def test_a_log_of_histograms_says_what_to_send():
    text = "#[Histogram log format version 1.3]\n#[StartTime: 1441812279.474 (seconds since epoch)]\n"
    (report,) = reports("x.hdr", f"{text}Tag=a.result,0.127,1.007,2.769,HISTFAAAA\n".encode())
    assert report.status is Status.NOT_UNDERSTOOD
    assert "send what the tool prints beside it" in report.reason
