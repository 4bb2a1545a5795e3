from __future__ import annotations

import json

import pytest
from benchagent.importers import Report, SourceFile, Status, inspect

from tests.benchagent.importers.samples import DATA

COMMIT = "02addad336ba19a654f9c857ede546331be7b631"
CONBENCH, CODESPEED, ASV, BENCHER = (
    json.loads((DATA / "histories" / f"{name}.json").read_text())
    for name in ("conbench", "codespeed", "asv", "bencher")
)


def read(content: object) -> list[Report]:
    ((_, reports),) = inspect([SourceFile("a.json", json.dumps(content).encode())])
    return reports


def told(report: Report) -> tuple[object, ...]:
    (metric,) = report.metrics
    return report.subject.workload, metric.name, metric.unit, metric.value, metric.better, report.started_at


def test_it_reads_results_of_conbench_a_run_a_value():
    first, second = read({"data": [CONBENCH], "metadata": {}})
    assert told(first) == ("file-read", "ops_per_s", "ops/s", 150.0, "higher", "2026-11-09T10:00:00+00:00")
    assert second.metrics[0].value == 160.0
    assert first.parameters == second.parameters == {"format": "parquet", "machine": "bench-1"}
    assert first.tested == {"commit": COMMIT, "branch": "wal"}
    (dated,) = read({**CONBENCH, "stats": {"mean": 1, "unit": "s"}, "commit": {"sha": "ab", "timestamp": "2026-11-01"}})
    assert (dated.started_at, dated.tested["commit"]) == ("2026-11-01", "ab")


def test_a_branch_of_the_repository_itself_is_told_without_its_organisation():
    commit = {"sha": "ab", "repository": "https://github.com/apache/arrow"}
    rows = [
        {**CONBENCH, "github": None, "commit": commit | {"branch": branch}, "tags": CONBENCH["tags"] | {"id": "c1"}}
        for branch in ("apache:main", "somebody:main", "main", None)
    ]
    reports = read(rows)[::2]
    assert [report.tested.get("branch", "") for report in reports] == ["main", "somebody:main", "main", ""]
    assert "id" not in reports[0].parameters


def test_it_reads_results_of_codespeed():
    lower, higher = read([*CODESPEED, CODESPEED[0] | {"lessisbetter": False, "units": "TPS", "commitid": "15"}])
    assert told(lower) == ("float", "time_s", "s", 4.5, "lower", "2026-11-02T10:00:00+00:00")
    assert told(higher)[1:5] == ("tps", "TPS", 4.5, "higher")
    assert (lower.subject.dbms, lower.tested, higher.tested) == ("postgresql", {"commit": "14"}, {"commit": "15"})
    assert lower.parameters == {"executable": "pg", "machine": "Dual Core"}


def test_it_reads_results_of_asv_by_parameter_and_dates_them_by_their_commit():
    fast, failed, tracked = read(ASV)
    assert told(fast) == ("b-time-read", "time_s", "s", 0.5, "lower", "2014-10-31T14:11:12+00:00")
    assert (fast.parameters["parameter_1"], failed.parameters["parameter_1"]) == ("'a'", "'b'")
    assert (failed.status, tracked.metrics[0].better) == (Status.FAILED, "none")
    assert {report.tested["commit"] for report in (fast, failed, tracked)} == {COMMIT}


def test_environments_of_asv_are_told_apart_and_its_first_format_is_read():
    old = {"time_a": 0.5, "time_b": {"params": [["1", "2"]], "result": [0.1, None]}, "time_c": None}
    read_now = read({**ASV, "version": 1, "env_name": "py3.12", "results": old})
    assert [len(report.metrics) for report in read_now] == [1, 1, 0, 0]
    assert {report.parameters["environment"] for report in read_now} == {"py3.12"}


def test_what_asv_keeps_beside_its_results_is_known_and_no_result():
    machine = {"arch": "x86_64", "cpu": "Example 9", "machine": "bench-1", "num_cpu": "8", "os": "Linux", "ram": "32GB"}
    benchmark = {"code": "def time_read(self): …", "name": "b.time_read", "param_names": [], "type": "time"}
    for content in (machine | {"version": 1}, {"b.time_read": benchmark | {"unit": "seconds"}, "version": 2}):
        (report,) = read(content)
        assert (report.tool, report.status, report.metrics) == ("histories", Status.COMPLETE, ())


def test_it_reads_the_metric_format_of_bencher():
    oltp, other = read(BENCHER)
    assert [(each.name, each.unit, each.better) for each in oltp.metrics] == [
        ("latency", "ns", "lower"), ("throughput", "ops/s", "higher")
    ]  # fmt: skip
    assert (oltp.started_at, oltp.tested, other.metrics[0].better) == ("", {}, "none")


@pytest.mark.parametrize("wrong", [
    CODESPEED[0] | {"result_value": "fast"}, CODESPEED[0] | {"revision_date": "yesterday"},
    CODESPEED[0] | {"benchmark": ""},
    {**CONBENCH, "stats": {"data": [True], "unit": "s"}}, {"a": {"b": {"value": "1x"}}},
])  # fmt: skip
def test_it_refuses_what_it_cannot_trust(wrong):
    assert [report.status for report in read(wrong)] == [Status.NOT_UNDERSTOOD]


def test_a_commit_of_a_table_is_what_was_tested_and_no_factor():
    table = b"date,commit,branch,tps\n2026-11-01,abc1234,main,100\n2026-11-02,12345e4,,101\n"
    ((_, (first, second)),) = inspect([SourceFile("a.csv", table)])
    assert (first.tested, first.parameters) == ({"commit": "abc1234", "branch": "main"}, {})
    assert (second.tested, second.started_at) == ({"commit": "12345e4"}, "2026-11-02")
