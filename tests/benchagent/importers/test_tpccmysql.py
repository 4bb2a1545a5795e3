"""tpcc-mysql cannot be fetched here: the data is written by hand after the output of its sources."""

from __future__ import annotations

import re

import pytest
from benchagent.importers import Status

from tests.benchagent.importers.samples import DATA, report_of, reports, sample, values

TOOL = "tpccmysql"
FILES = sorted((DATA / TOOL).iterdir())


def read(text: str):
    (report,) = reports("x", text.encode())
    return report


def test_it_reads_a_run():
    report = report_of(TOOL, "percona.txt")
    assert (report.tool, report.status, report.subject.workload) == ("tpcc-mysql", Status.COMPLETE, "tpcc-tpcc-mysql")
    assert report.parameters == {"warehouses": 20, "terminals": 16, "ramp_up_s": 10, "duration_s": 60}
    told = values(report)
    assert (told["tpmc"], told["transactions"], told["new_order_late_transactions"]) == (5124, 11785, 213)
    assert (told["delivery_latency_avg_ms"], told["retries"], told["failed_transactions"]) == (67.0, 3, 0)
    assert report.warnings == ("TPC-C's constraints do not hold of New-Order",)


def test_it_reads_the_intervals():
    series = {series.name: series for series in report_of(TOOL, "percona.txt").series}
    assert [*series] == ["tpmc", "new_order_latency_p95_ms", "new_order_latency_p99_ms"]
    assert (series["tpmc"].interval_s, series["tpmc"].t0_s, sum(series["tpmc"].values) / 6) == (10, 0, 5124)
    assert [series.name for series in report_of(TOOL, "v2010.txt").series] == ["tpmc"]


def test_it_reads_a_load_and_the_run_behind_it():
    text = sample(TOOL, "load.txt").decode()
    load, run = reports("x", (text + sample(TOOL, "percona.txt").decode()).encode())
    assert (load.status, load.parameters, values(load)) == (Status.COMPLETE, {"warehouses": 20}, {"load_s": 372.418})
    assert run == report_of(TOOL, "percona.txt")
    assert "sw0rdf1sh" not in str(load)
    untimed = read(text.partition("real")[0])
    assert (untimed.status, untimed.metrics) == (Status.COMPLETE, ())
    assert "run it as `time tpcc_load" in untimed.warnings[0]
    assert read(text.partition("...DATA")[0]).reason == "the output ends before the data is loaded"


def test_a_heading_behind_a_constraint_changes_nothing():
    text = sample(TOOL, "percona.txt").decode()
    joined = re.sub(r"(Stock-Level: [^\n]*\[OK\])\s+(\[response time)", r"\1\2", text, count=1)
    assert joined != text and read(joined) == read(text)


def test_it_keeps_no_password():
    assert "sw0rdf1sh" not in str(report_of(TOOL, "percona.txt"))
    text = "# ./tpcc_start -h127.0.0.1 -dtpcc -uroot -psw0rdf1sh -w 20 -c16 -r10 -l60\n<Raw Results>\n"
    report = read(text + sample(TOOL, "percona.txt").decode().partition("<Raw Results>\n")[2])
    assert report.command_lines == ("tpcc_start -h127.0.0.1 -dtpcc -uroot -p[redacted] -w 20 -c16 -r10 -l60",)
    assert report.parameters == {"warehouses": 20, "terminals": 16, "ramp_up_s": 10, "duration_s": 60}


def test_it_takes_a_run_without_its_result_for_aborted():
    report = read(sample(TOOL, "percona.txt").decode().partition("STOPPING")[0])
    assert (report.status, report.metrics, report.parameters["warehouses"]) == (Status.ABORTED, (), 20)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("5124.000 TpmC", "6124.000 TpmC", "are not 6124.0 a minute"),
        ("[3] sc:511 lt:0  rt:0  fl:0 avg_rt: 67.0 (80)\n", "", "the five transactions are not all there"),
        ("<Raw Results2(sum ver.)>\n", "", "out of order"),
        ("5124.000 TpmC", "5124,000 TpmC", "a decimal comma may mean two things"),
    ],
)
def test_it_refuses_what_contradicts_itself(old: str, new: str, why: str):
    text = sample(TOOL, "percona.txt").decode()
    assert old in text
    assert why in read(text.replace(old, new, 1)).reason
