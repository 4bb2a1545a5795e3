"""DBT-3 cannot be fetched here: the data is written by hand after the output of its scripts."""

from __future__ import annotations

import math
import re

import pytest
from benchagent.importers import SourceFile, Status, inspect

from tests.benchagent.importers.samples import DATA, report_of, reports, sample, values

TOOL = "dbt3"
FILES = sorted((DATA / TOOL).iterdir())


def read(text: str):
    (report,) = reports("x", text.encode())
    return report


def test_it_reads_the_scores_of_the_report_and_of_the_post_process():
    report = report_of(TOOL, "report.rst")
    assert (report.tool, report.status, report.parameters) == ("DBT-3", Status.COMPLETE, {"scale_factor": 1})
    assert (report.subject.workload, report.subject.dbms, report.subject.dbms_version) == (
        "tpch-dbt3", "postgresql", "16.2",
    )  # fmt: skip
    told = values(report)
    assert [*told] == ["composite_qphh", "power_qphh", "throughput_qphh", "load_s"]
    assert told["composite_qphh"] == pytest.approx(math.sqrt(told["power_qphh"] * told["throughput_qphh"]), abs=0.02)
    assert values(report_of(TOOL, "post_process.txt")) == told


def test_a_score_that_was_not_measured_is_none():
    """`N/A`, and 0.00 where printf was given it."""
    text = sample(TOOL, "post_process.txt").decode()
    power = re.findall(r"Power Test Score: +(\S+)", text)[0]
    for nothing in ("N/A", "0.00"):
        part = re.sub(r"((?:Composite|Throughput Test) Score): +\S+", rf"\1: {nothing}", text)
        assert values(read(part)) == {"power_qphh": float(power), "load_s": 36.0}


def test_it_reads_the_times_of_all_queries_and_tells_streams_apart():
    report = report_of(TOOL, "q_time.csv")
    told = values(report)
    assert report.parameters == {"streams": 2}
    assert (told["query_1_s"], told["stream_1_query_1_s"], told["stream_2_refresh_2_s"]) == (1.542857, 2.468571, 1.4)
    assert (
        told["load_s"] == 41.25 and told["throughput_elapsed_s"] > told["stream_2_elapsed_s"] > told["power_elapsed_s"]
    )
    assert len(told) == 1 + 22 + 2 + 1 + 2 * 25 + 1


def test_the_files_of_one_run_are_one():
    files = [SourceFile(name, sample(TOOL, name)) for name in ("q_time.csv", "report.rst")]
    (_, (part,)), (_, (whole,)) = inspect(files)
    told = values(whole)
    assert part.part_of == "report.rst" and part.metrics == ()
    assert (told["load_s"], told["stream_1_query_1_s"], whole.metrics[0].name) == (41.25, 2.468571, "composite_qphh")
    assert whole.parameters == {"streams": 2, "scale_factor": 1}
    other = SourceFile("report.rst", files[1].data.replace(b"Size: 1 GB", b"Size: 10 GB"))
    assert all("not those of this score" in each.reason for _, (each,) in inspect([files[0], other]))


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        ("post_process.txt", "Composite Score: ", "Composite Score: 9", "is not the mean of power and throughput"),
        ("q_time.csv", r"PERF\.POWER\.Q7,.*\n", "", "power lacks Q7"),
        ("q_time.csv", r"PERF\.THRUPUT\.QS2\.Q7,.*\n", "", "thruput, stream 2 lacks Q7"),
        ("q_time.csv", r"(PERF\.POWER\.Q7,.*\n)", r"\1\1", "stands there twice"),
    ],
)
def test_it_refuses_what_contradicts_itself_or_is_not_whole(name: str, old: str, new: str, why: str):
    text = sample(TOOL, name).decode()
    changed = re.sub(old + (" +" if "Composite" in old else ""), new, text)
    assert changed != text
    assert why in read(changed).reason
