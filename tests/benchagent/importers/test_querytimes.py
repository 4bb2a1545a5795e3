"""TPC-H of DuckDB 1.0 (scale factor 0.05), run here, its times written as lists are."""

from __future__ import annotations

import math
import re

import pytest
from benchagent.importers import Status

from tests.benchagent.importers.samples import DATA, report_of, reports, sample, values

TOOL = "querytimes"
FILES = sorted((DATA / TOOL).iterdir())
TEXT = sample(TOOL, "duckdb_tpch.txt").decode()


def test_it_reads_a_list():
    report = report_of(TOOL, "duckdb_tpch.txt")
    assert (report.tool, report.status, report.subject.workload) == ("query-times", Status.COMPLETE, "tpch-queries")
    told = values(report)
    times = [told[f"query_{query}_s"] for query in range(1, 23)]
    assert times[:3] == [0.0464, 0.0086, 0.0319]
    assert told["queries_total_s"] == pytest.approx(sum(times))
    assert told["queries_geomean_s"] == pytest.approx(math.prod(times) ** (1 / 22), abs=1e-6)
    assert report.parameters == {"scale_factor": 0.05}


@pytest.mark.parametrize(
    ("change", "written"),
    [
        ("Q", "Query "), ("Q", "q0"), (": ", " | "), (": ", ", "), (" s\n", "s\n"), (" s\n", " sec\n"), ("Q", "| Q"),
    ],
)  # fmt: skip
def test_it_reads_other_ways_to_write_it(change: str, written: str):
    (report,) = reports("x", TEXT.replace(change, written).encode())
    assert values(report) == values(report_of(TOOL, "duckdb_tpch.txt"))


def test_it_reads_csv_whose_heading_says_the_unit_and_asks_for_the_workload():
    report = report_of(TOOL, "duckdb.csv")
    assert values(report) == values(report_of(TOOL, "duckdb_tpch.txt"))
    assert report.subject.workload == ""
    (report,) = reports("x", sample(TOOL, "duckdb.csv").replace(b"time_s", b"time_ms"))
    assert values(report)["query_1_s"] == 0.0000464
    (seconds,) = reports("x", sample(TOOL, "duckdb.csv").replace(b"time_s", b"seconds"))
    assert values(seconds) == values(report_of(TOOL, "duckdb.csv"))
    assert reports("x", sample(TOOL, "duckdb.csv").replace(b"time_s", b"time"))[0].tool != "query-times"


def test_it_reads_several_lists_as_repeats():
    again = TEXT.partition("\n")[2].replace("0.0464", "0.0564")
    first, second = reports("x", (TEXT + again).encode())
    assert [values(report)["query_1_s"] for report in (first, second)] == [0.0464, 0.0564]


STREAMS = "".join(f"stream {stream} Q{query}: {stream}.{query:02} s\n" for query in range(1, 23) for stream in (1, 2))


def test_streams_of_a_throughput_test_are_one_run_and_told_apart():
    (report,) = reports("x", f"TPC-H, SF = 10\n{STREAMS}".encode())
    told = values(report)
    assert report.parameters == {"scale_factor": 10, "streams": 2}
    assert (told["stream_1_query_14_s"], told["stream_2_query_14_s"]) == (1.14, 2.14)
    assert told["longest_stream_s"] == told["stream_2_queries_total_s"] == pytest.approx(22 * 2 + 2.53)
    # Under titles, and as CSV.
    titled = "".join(
        f"--- Stream {stream} ---\n" + re.sub(f"stream [^{stream}].*\n|stream {stream} ", "", STREAMS)
        for stream in (1, 2)
    )
    assert values(reports("x", f"TPC-H\n{titled}".encode())[0]) == told
    rows = re.sub(r"stream (\d) Q(\d+): (\S+) s", r"\1,\2,\3", STREAMS)
    (table,) = reports("x", f"stream,query,time_s\n{rows}".encode())
    assert values(table) == told and table.parameters == {"queries": 22, "streams": 2}


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("stream 2 Q7: 2.07 s\n", "", "different numbers of queries"),
        (
            "stream 2 Q7: 2.07 s\n",
            "stream 2 Q7: 2.07 s\nstream 2 Q7: 2.08 s\n",
            "query 7 stands there twice in stream 2",
        ),
        ("stream 2 Q7: 2.07 s\n", "Q7: 2.07 s\n", "some are not"),
    ],
)
def test_streams_that_are_not_whole_are_refused(old: str, new: str, why: str):
    (report,) = reports("x", STREAMS.replace(old, new).encode())
    assert why in report.reason


def test_power_needs_the_refresh_functions():
    (report,) = reports("x", (TEXT + "RF1: 0.5 s\nRF2: 0.4 s\n").encode())
    times = [value for name, value in values(report).items() if name.startswith(("query_", "refresh_"))]
    assert len(times) == 24
    assert report.metrics[0].name == "power_qphh"
    assert values(report)["power_qphh"] == pytest.approx(3600 * 0.05 / math.prod(times) ** (1 / 24), rel=1e-5)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("Q7: 0.0696 s\n", "", "the list lacks queries 7"),
        ("Q7: 0.0696 s\n", "Q7: 0.0696 s\nQ7: 0.0696 s\n", "twice with the same time"),
        ("0.0696 s", "0,0696 s", "a decimal comma may mean two things"),
        ("0.0696 s", "0.0696", "not a wording or number"),
        ("Q7: 0.0696 s\n", "Q7: 0.0696 s\nQ7: 0.07 s\n", "different numbers of queries"),
    ],
)
def test_it_refuses_a_list_that_is_not_whole(old: str, new: str, why: str):
    assert old in TEXT
    (report,) = reports("x", TEXT.replace(old, new, 1).encode())
    assert why in report.reason


def test_it_reads_a_list_whose_columns_are_aligned():
    (plain,), (aligned,) = reports("x", TEXT.encode()), reports("x", TEXT.replace(": ", "   :   ").encode())
    assert values(aligned) == values(plain)


def test_a_total_belongs_to_its_number_of_queries_and_a_cut_list_is_aborted():
    data = sample(TOOL, "duckdb.csv")
    assert reports("x", data)[0].parameters == {"queries": 22}
    (report,) = reports("x", data[:-3])
    assert (report.status, report.parameters, "query_22_s" in values(report)) == (
        Status.ABORTED,
        {"queries": 21},
        False,
    )


def test_a_query_that_failed_takes_itself_and_the_total_only():
    text = sample(TOOL, "duckdb_tpch.txt").decode()
    (plain,) = reports("x", text.encode())
    (failed,) = reports("x", re.sub(r"(Q7: ).*", r"\1timeout", text).encode())
    assert (failed.status, failed.reason) == (Status.FAILED, "query 7: timeout")
    lost = {"query_7_s", "queries_total_s", "queries_geomean_s"}
    assert values(failed) == {name: value for name, value in values(plain).items() if name not in lost}
    (damaged,) = reports("x", re.sub(r"(Q7: ).*", r"\1 0,12 s", text).encode())
    assert damaged.status is Status.NOT_UNDERSTOOD
    (headed,) = reports("x", b"query,time_s\n1,0.5\n2,timeout\n3,0.75\n4,0.8\n")
    assert (headed.status, headed.reason) == (Status.FAILED, "query 2: timeout")
    assert values(headed)["query_4_s"] == 0.8


@pytest.mark.parametrize("heading", ["", "## TPC-H\n\n"])
def test_a_list_beside_the_output_of_another_tool_loses_neither(heading: str):
    other = sample("pgbench", "v15_tpcb_progress_statements.txt").decode()
    alone = {report.tool: values(report) for text in (TEXT, other) for report in reports("x", text.encode())}
    for text in (f"{other}\n{heading}{TEXT}", f"{TEXT}\n{heading}{other}"):
        told = reports("x", text.encode())
        assert {report.tool: values(report) for report in told} == alone and len(told) == 2
