"""YCSB and go-ycsb of several versions, written by hand after `Client.java`, its exporters and go-ycsb's histogram."""

from __future__ import annotations

import json
import re

import pytest
from benchagent.importers import Report, Status

from tests.benchagent.importers.samples import DATA, report_of, reports, sample, values

TOOL = "ycsb"
FILES = sorted((DATA / TOOL).iterdir())


def text_of(name: str) -> str:
    return sample(TOOL, name).decode()


def read(text: str) -> list[Report]:
    return reports("x", text.encode())


def test_it_reads_a_run():
    report = report_of(TOOL, "run_0_17_jdbc.txt")
    assert (report.tool, report.tool_version, report.status) == ("ycsb", "0.17.0", Status.COMPLETE)
    assert report.parameters == {"terminals": 8, "table_size_rows": 100000, "operations": 600000}
    found = values(report)
    assert found["ops_per_s"] == pytest.approx(600000 / 60.512)
    assert (found["elapsed_s"], found["read_operations"]) == (60.512, 300121)
    assert found["update_latency_p99_ms"] == 4.253
    assert (report.subject.workload, report.subject.dbms) == ("ycsb-a", "postgresql")
    assert {metric.phase for metric in report.metrics} == {"run"}
    assert not any(name.startswith(("cleanup", "total_gc")) for name in found)


def test_it_reads_status_lines_as_series():
    series = {one_.name: one_ for one_ in report_of(TOOL, "run_0_17_jdbc.txt").series}
    rates = series["ops_per_s"]
    assert (rates.interval_s, rates.t0_s, rates.points) == (10, 0, 6)
    assert rates.values[:2] == (9918.5, 10368.4)
    assert series["read_latency_avg_ms"].values[0] == 0.77418


def test_it_reads_old_status_lines_of_a_run_without_its_summary_as_aborted():
    report = report_of(TOOL, "old_status.txt")
    assert (report.status, report.metrics) == (Status.ABORTED, ())
    assert {one_.name: one_.points for one_ in report.series}["read_latency_avg_ms"] == 4
    assert report.parameters["rate_limit_ops_per_s"] == 1000


def test_it_reads_a_load_phase_with_failed_operations():
    report = report_of(TOOL, "load_0_17.txt")
    assert {metric.phase for metric in report.metrics} == {"load"}
    assert (values(report)["insert_operations"], values(report)["insert_errors"]) == (990, 10)
    assert values(report)["insert_latency_p999_ms"] == 90


def test_it_takes_inserts_alone_for_a_load_and_says_so():
    text = text_of("load_0_17.txt").partition("YCSB Client")[2].partition("\n")[2]
    report = read(text)[0]
    assert {metric.phase for metric in report.metrics} == {"load"}
    assert any("load phase" in warning for warning in report.warnings)


def test_it_keeps_the_units_of_old_versions_apart():
    mixed = values(report_of(TOOL, "run_0_1_4.txt"))
    assert (mixed["read_latency_avg_ms"], mixed["read_latency_p95_ms"]) == (1.3405, 3)
    assert values(report_of(TOOL, "run_old_ms.txt"))["update_latency_avg_ms"] == 2.0549
    # As pages show it.
    (shown,) = read(text_of("run_old_ms.txt").replace("[OVERALL], ", "[OVERALL],"))
    assert values(shown) == values(report_of(TOOL, "run_old_ms.txt"))


def test_it_does_not_guess_an_unknown_unit():
    (report,) = read(text_of("run_old_ms.txt").replace("AverageLatency(ms)", "AverageLatency(ticks)"))
    assert (report.status, report.metrics) == (Status.NOT_UNDERSTOOD, ())


def test_it_does_not_take_histogram_rows_for_a_time_series():
    report = report_of(TOOL, "run_0_1_4.txt")
    assert report.series == ()
    assert any("histogram" in warning for warning in report.warnings)


def test_it_reads_a_time_series():
    (series,) = report_of(TOOL, "run_timeseries.txt").series
    assert (series.name, series.unit, series.interval_s, series.t0_s, series.points) == (
        "read_latency_avg_ms", "ms", 1, 0, 12,
    )  # fmt: skip
    assert series.values[0] == pytest.approx(1.039741183)


def test_it_takes_a_run_in_which_everything_failed_for_failed():
    text = text_of("run_old_ms.txt").replace("Return=0", "Return=ERROR")
    report = read(text)[0]
    assert report.status is Status.FAILED
    assert values(report)["update_errors"] == 1000


def test_it_reads_counts_that_are_printed_as_decimals():
    text = (
        "[OVERALL], RunTime(ms), 437086.0\n[OVERALL], Throughput(ops/sec), 22878.792731865124\n"
        "[CLEANUP], Operations, 8.0\n[INSERT], Operations, 1.0E7\n[INSERT], Return=OK, 10000000\n"
    )
    assert values(read(text)[0])["insert_operations"] == 10_000_000
    assert read(text.replace("1.0E7", "1.5"))[0].status is Status.NOT_UNDERSTOOD


def test_it_leaves_the_rows_of_another_tool_alone():
    text = "$ go-ycsb load mysql\n" + GO_RUN.format(takes="10.01s", name="READ", count=500, rate=50)
    more = "$ go-tpc tpcc run\nNEW_ORDER - Takes(s): 9.7, Count: 691, TPM: 4274.7, Sum(ms): 77505\n"
    report, other = read(text + more)
    assert (other.tool, other.metrics) == ("go-tpc", ())
    assert {metric.phase for metric in report.metrics} == {"run"}
    assert any("neither reads nor updates" in warning for warning in report.warnings)


def test_it_tells_a_load_by_its_inserts_only_where_they_are_all_operations():
    head = "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 100.0\n"
    assert read(head)[0].status is Status.NOT_UNDERSTOOD
    assert {metric.phase for metric in read(head + "[INSERT], Operations, 100\n")[0].metrics} == {"load"}
    assert {metric.phase for metric in read(head + "[INSERT], Operations, 5\n")[0].metrics} == {"run"}


def test_it_does_not_take_the_row_of_another_run():
    text = GO_RUN.format(takes="9.1s", name="READ", count=500, rate=50)
    assert read(text)[0].status is Status.NOT_UNDERSTOOD


def test_it_counts_failed_operations_once():
    text = (
        "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 100.0\n[UPDATE], Operations, 19\n"
        "[UPDATE], Return=OK, 19\n[UPDATE], Return=ERROR, 81\n[UPDATE-FAILED], Operations, 81\n"
    )
    (report,) = read(text)
    assert report.status is Status.FAILED
    assert [metric.value for metric in report.metrics if metric.name == "update_errors"] == [81]


def test_it_reads_ports_that_print_no_word_for_good_a_variance_or_a_histogram():
    text = (
        "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 100.0\n[READ], Operations, 100\n"
        "[READ], AverageLatency(us), 3.9\n[READ], LatencyVariance(us), 1.2E10\n[READ], Return=, 100\n"
        "[READ], 1, 60.000000\n[READ], 2, 40.000000\n"
    )
    (report,) = read(text)
    assert (report.status, report.series) == (Status.COMPLETE, ())
    assert values(report)["read_latency_avg_ms"] == 0.0039
    assert "read_errors" not in values(report)


GO_RUN = "Run finished, takes {takes}\n{name} - Takes(s): 10.0, Count: {count}, OPS: {rate}, Avg(us): 6, Max(us): 61\n"


def test_it_gives_every_run_of_go_ycsb_its_own_command():
    text = "".join(
        f"$ bin/go-ycsb {phase} mysql -P workloads/workload{letter} --threads {threads}\n"
        + GO_RUN.format(takes="10.01s", name="INSERT", count=10 * at, rate=at)
        for at, (phase, letter, threads) in enumerate((("load", "a", "4"), ("run", "d", "xxx")), start=1)
    )
    first, second, third = read(text + GO_RUN.format(takes="10.02s", name="READ", count=500, rate=50))
    assert (first.subject.workload, {metric.phase for metric in first.metrics}) == ("ycsb-a", {"load"})
    assert first.parameters == {"terminals": 4}
    assert (second.subject.workload, {metric.phase for metric in second.metrics}) == ("ycsb-d", {"run"})
    assert second.parameters == {}
    assert (third.command_lines, values(third)["read_ops_per_s"]) == ((), 50)


def test_it_warns_where_operations_and_throughput_differ():
    report = read(text_of("run_old_ms.txt").replace("Operations, 1000", "Operations, 100"))[0]
    assert any("add up to 100" in warning for warning in report.warnings)


def test_what_failed_is_a_share_of_what_was_counted():
    """Seen: 96 of 100 reads failed beside a headline of a million operations, and the run was complete."""
    text = "[OVERALL], RunTime(ms), 1000\n[OVERALL], Throughput(ops/sec), 1000000\n[READ], Operations, 100\n"
    latencies = "[READ], AverageLatency(us), 7030\n[READ], MinLatency(us), 2110\n[READ], MaxLatency(us), 988159\n"
    (report,) = read(f"{text}{latencies}[READ], Return=OK, 4\n[READ], Return=ERROR, 96\n")
    assert report.status is Status.FAILED and report.reason.startswith("96 of 100 transactions failed")
    (few,) = read(f"{text}{latencies}[READ], Return=OK, 100\n")
    assert few.status is Status.COMPLETE


def test_it_does_not_understand_a_throughput_that_is_no_whole_number_of_operations():
    (report,) = read(text_of("run_old_ms.txt").replace("98.91196834817013", "98.91296834817013"))
    assert (report.status, report.metrics) == (Status.NOT_UNDERSTOOD, ())


def test_it_does_not_start_without_a_database():
    text = (
        "YCSB Client 0.17.0\nCommand line: -t -db nosuch\nUnknown DB nosuch\nError initializing datastore bindings.\n"
    )
    (report,) = read(text)
    assert (report.status, report.metrics) == (Status.FAILED, ())


def test_it_reads_load_and_run_of_one_file():
    found = read(text_of("load_0_17.txt") + "=== run ===\n" + text_of("run_0_17_jdbc.txt"))
    assert [{metric.phase for metric in report.metrics} for report in found] == [{"load"}, {"run"}]
    assert [report.parameters["terminals"] for report in found] == [4, 8]


def test_it_leaves_out_status_lines_with_decimal_commas():
    text = text_of("run_0_17_jdbc.txt").replace("9918.5 current", "9918,5 current")
    report = read(text)[0]
    assert report.series == ()
    assert values(report)["read_operations"] == 300121


@pytest.mark.parametrize("array", [True, False])
def test_it_reads_the_json_exporters(array: bool):
    rows = [
        {"metric": section, "measurement": key, "value": json.loads(value)}
        for section, key, value in re.findall(r"^\[(.+?)\], (.+), ([\d.]+)$", text_of("run_old_ms.txt"), re.MULTILINE)
    ]
    text = json.dumps(rows) if array else "".join(map(json.dumps, rows))
    assert values(read(text)[0]) == values(report_of(TOOL, "run_old_ms.txt"))
    assert read(text[:-1])[0].status is Status.NOT_UNDERSTOOD


def test_it_reads_go_ycsb():
    report = report_of(TOOL, "go_ycsb.txt")
    assert report.parameters == {
        "terminals": 16, "table_size_rows": 10000, "operations": 60000, "read_proportion": 0.95,
    }  # fmt: skip
    found = values(report)
    assert (found["ops_per_s"], found["read_operations"], found["update_errors"]) == (2000, 57001, 4)
    assert found["update_latency_p999_ms"] == 13.608


def test_it_reads_an_early_go_ycsb():
    report = report_of(TOOL, "go_ycsb_2019.txt")
    assert values(report)["insert_latency_p95_ms"] == 13
    assert {metric.phase for metric in report.metrics} == {"load"}


def test_it_takes_go_ycsb_without_its_end_for_aborted():
    report = read(text_of("go_ycsb.txt").partition("Run finished")[0])[0]
    assert (report.status, report.metrics) == (Status.ABORTED, ())


def test_it_counts_operations_of_go_ycsb_once_where_a_total_is_printed():
    """1,500 of 101,500 failed, which is too many: the total says again what the operations say."""
    rows = (("READ", 100_000), ("READ_ERROR", 1500), ("TOTAL", 100_000))
    text = "Run finished, takes 10s\n" + "".join(
        f"{name} - Takes(s): 10.0, Count: {count}, OPS: {count / 10:.1f}, Avg(us): 6\n" for name, count in rows
    )
    (report,) = read(text)
    assert (report.status, "1,500 of 101,500" in report.reason) == (Status.FAILED, True)


RAW = "READ latency raw data: op, timestamp(ms), latency(us)\n" + "".join(
    f"READ,{1_763_700_000_500 + 250 * number},{1000 + number}\n" for number in range(16)
)
SUMMARY = """[OVERALL], RunTime(ms), 4000
[OVERALL], Throughput(ops/sec), 4.0
[READ], Total Operations, 16
[READ], Below is a summary of latency in microseconds:, -1
[READ], Average, 1007.5
[READ], Min, 1000
[READ], Max, 1015
[READ], p50, 1008
[READ], p99.9, 1015
[READ], Return=OK, 16
"""


def test_it_reads_raw_latencies():
    (report,) = read(RAW + SUMMARY)
    assert values(report) == {
        "ops_per_s": 4, "elapsed_s": 4, "read_operations": 16, "read_latency_avg_ms": 1.0075,
        "read_latency_min_ms": 1, "read_latency_max_ms": 1.015, "read_latency_p50_ms": 1.008,
        "read_latency_p999_ms": 1.015,
    }  # fmt: skip
    rates, latencies = report.series
    assert (rates.name, rates.values) == ("read_ops_per_s", (None, 4, 4, 4, None))
    assert (latencies.name, latencies.values) == ("read_latency_avg_ms", (None, 1.0035, 1.0075, 1.0115, None))
    assert report.started_at == "2025-11-21T04:40:00+00:00"
    # What the summary counts must be there; without one there are no totals, and an output may be cut.
    (missing,) = read(RAW.replace("READ,1763700001500,1004\n", "") + SUMMARY)
    assert not missing.series and "15 lines of READ, its summary counts 16: they are left out" in missing.warnings
    (alone,) = read(RAW)
    assert alone.status is Status.COMPLETE and alone.series == report.series and not alone.metrics
    assert read("YCSB Client 0.17.0\n\n" + RAW)[0].status is Status.ABORTED
    assert [len(each.series) for each in read(2 * (RAW + SUMMARY))] == [2, 2]
