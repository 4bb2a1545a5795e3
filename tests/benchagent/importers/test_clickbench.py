"""DuckDB 1.0 was run here: 43 queries as ClickBench's, the result in its form; one of them is told as failed."""

from __future__ import annotations

import json

from benchagent.importers import Status

from tests.benchagent.importers.samples import report_of, reports, sample, values

TOOL = "clickbench"
FAILED = sample(TOOL, "duckdb.json").decode()
WHOLE = FAILED.replace("[null, null, null]", "[0.09, 0.021, 0.02]")


def test_it_reads_a_result():
    (report,) = reports("x", WHOLE.encode())
    assert (report.tool, report.status, report.subject.workload) == ("ClickBench", Status.COMPLETE, "clickbench")
    told, rows = values(report), json.loads(WHOLE)["result"]
    assert report.metrics[0].name == "hot_total_s"
    assert told["hot_total_s"] == round(sum(min(row[1:]) for row in rows), 6)
    assert told["cold_total_s"] == round(sum(row[0] for row in rows), 6)
    assert (told["query_28_s"], told["query_28_cold_s"], told["load_s"]) == (0.02, 0.09, 5.042)
    assert (report.subject.dbms, report.started_at) == ("duckdb", "2026-11-23")
    assert report.parameters["machine"] == "2 cores, 24 GiB"


def test_a_query_that_failed_makes_the_run_failed_and_leaves_the_others():
    report = report_of(TOOL, "duckdb.json")
    assert (report.status, report.reason) == (Status.FAILED, "queries 28 failed")
    assert not {"hot_total_s", "query_28_s"} & values(report).keys()
    assert len(values(report)) == 2 + 2 * 42


def test_a_system_keeps_what_stands_behind_its_name():
    (report,) = reports("x", WHOLE.replace('"DuckDB"', '"PostgreSQL (tuned)"').encode())
    assert (report.subject.dbms, report.parameters["system"]) == ("postgresql", "PostgreSQL (tuned)")


def test_it_refuses_other_numbers_of_queries_and_tries():
    for old, new in (("        [0.001, 0.0, 0.0],\n", ""), ("[0.001, 0.0, 0.0]", "[0.001, 0.0]"), ("0.338", '"0.338"')):
        assert old in WHOLE
        (report,) = reports("x", WHOLE.replace(old, new, 1).encode())
        assert report.status is Status.NOT_UNDERSTOOD
