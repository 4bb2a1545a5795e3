"""JMeter 5.6.3, run here against SQLite: raw results, the report made of them, console and log.

The tables of its window (aggregate and summary report) are written by hand after their form, with that run's figures.
"""

from __future__ import annotations

import json
import re

import pytest
from benchagent.importers import SourceFile, Status
from benchagent.importers.jmeter import samples_of_csv
from benchagent.importers.source import STREAMED_BYTES

from tests.benchagent.importers.samples import report_of, reports, sample, values

TOOL = "jmeter"


def read(text: str):
    (report,) = reports("x", text.encode())
    return report


def test_raw_results_are_added_up_as_jmeter_itself_does():
    report, own = report_of(TOOL, "run.jtl"), json.loads(sample(TOOL, "statistics.json"))
    told = values(report)
    assert (report.tool, report.status, report.parameters) == ("JMeter", Status.COMPLETE, {"terminals": 2})
    assert (report.metrics[0].name, report.started_at) == ("requests_per_s", "2026-11-23T12:56:42.393000+00:00")
    of = {"": "Total", "select_": "select", "insert_small_": "insert, small", "basket_": "basket"}
    for front, label in of.items():
        for name, key in (("requests_per_s", "throughput"), ("latency_avg_ms", "meanResTime"), ("errors", "errorCount"),
                          ("requests", "sampleCount"), ("latency_max_ms", "maxResTime")):  # fmt: skip
            assert told[front + name] == pytest.approx(own[label][key]), (label, key)
    series = {series.name: series for series in report.series}
    assert [*series] == ["requests_per_s", "latency_avg_ms", "errors_per_s"]
    assert 40 <= sum(series["requests_per_s"].values) <= 48


def test_percentiles_are_the_smallest_time_that_so_many_percent_do_not_exceed():
    rows = "".join(f"{1795438600000 + ms},{ms},a,true\n" for ms in range(1, 201))
    told = values(read("timeStamp,elapsed,label,success\n" + rows))
    assert [told[f"latency_{rank}_ms"] for rank in ("p50", "p90", "p95", "p99", "max")] == [100, 180, 190, 198, 200]


def test_xml_is_read_without_the_samples_within_samples():
    report = report_of(TOOL, "run.xml")
    assert (values(report)["requests"], report.parameters, len(report.series)) == (48, {"terminals": 2}, 3)
    part = '<sample t="1" ts="1" s="true" lb="part"/>'
    nested = re.sub(r"(<sample [^>]*)/>", rf"\1>{part}</sample>", sample(TOOL, "run.xml").decode())
    assert values(read(nested)) == values(report)
    assert "document type" in read("<!DOCTYPE x []>\n" + sample(TOOL, "run.xml").decode().partition("\n")[2]).reason


def test_it_reads_the_report_of_jmeter_without_percentiles_that_have_no_name():
    report, raw = report_of(TOOL, "statistics.json"), values(report_of(TOOL, "run.jtl"))
    told = values(report)
    assert told["requests_per_s"] == pytest.approx(raw["requests_per_s"])
    assert not any("_p9" in name for name in told) and "which percentiles" in report.warnings[0]


@pytest.mark.parametrize(
    ("name", "rate"), [("aggregate.csv", 5.75333), ("synthesis.csv", 5.8), ("summary.csv", 2.87666)]
)
def test_it_reads_the_tables_of_the_window_and_of_the_plugin(name: str, rate: float):
    told = values(report_of(TOOL, name))
    assert (told["requests_per_s"], told["error_share_percent"]) == (rate, 0)
    if name != "summary.csv":
        assert (told["latency_p90_ms"], told["latency_p99_ms"], told["select_latency_avg_ms"]) == (602, 2640, 662)


def test_a_rate_is_a_second_or_says_what_else_it_is():
    text = sample(TOOL, "summary.csv").decode()
    assert values(read(text.replace("2.87666", "172.6/min")))["requests_per_s"] == pytest.approx(2.8767, rel=1e-4)


def test_console_and_log_end_as_the_test_did():
    for name, rate in (("console.txt", 5.3), ("jmeter.log", 4.1)):
        report = report_of(TOOL, name)
        assert (report.status, values(report)["requests_per_s"], values(report)["requests"]) == (
            Status.COMPLETE,
            rate,
            48,
        )
    text = sample(TOOL, "console.txt").decode()
    assert read(text.partition("Tidying")[0]).status is Status.ABORTED
    interval = text.replace("summary = ", "summary +     20 in 00:00:05 = 4.0/s Avg: 3 Min: 0 Max: 9 Err: 0 (0.00%) "
                            "Active: 2 Started: 2 Finished: 0\nsummary = ")  # fmt: skip
    assert values(read(interval)) == values(read(text))
    first, second = reports("x", (text + text).encode())
    assert first.status is second.status is Status.COMPLETE


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        ("run.jtl", "label", "lable", "a JTL without label"),
        ("run.jtl", ",true,", ",yes,", "line 2: neither true nor false"),
        ("run.jtl", "1795438602393", "2026/11/23 12:56:42", "not a whole number"),
        ("run.jtl", ",null,2581", "", "line 2: not 17 values"),
        ("aggregate.csv", "TOTAL,48", "TOTAL,58", "one is missing"),
        ("aggregate.csv", "TOTAL,.*\n", "", "needs a mapping of its columns"),
        ("statistics.json", '"Total"', '"Whole"', "without the line of all together"),
        ("aggregate.csv", "5.75333", '"5,75333"', "not a plain number"),
        ("console.txt", "5.3/s", "9.3/s", "are not 9.3 a second"),
        ("console.txt", r"0 \(0.00%\)", "0 (2.00%)", "the errors are not 2.0 %"),
    ],
)
def test_it_refuses_what_it_cannot_be_sure_of(name: str, old: str, new: str, why: str):
    text = sample(TOOL, name).decode()
    changed = re.sub(old, new, text, count=1)
    assert changed != text
    assert why in read(changed).reason


def test_a_run_whose_samples_fail_is_failed():
    text = sample(TOOL, "run.jtl").decode().replace(",true,", ",false,", 5)
    assert read(text).status is Status.FAILED


def test_a_large_one_is_read_as_a_stream():
    head, _, rows = sample(TOOL, "run.jtl").decode().partition("\n")
    many = f"{head}\n" + rows.replace("select", "wählen") * (STREAMED_BYTES // len(rows) + 1)
    file = SourceFile("x", many.encode())
    assert next(samples_of_csv(file)).label == "wählen" and "text" not in vars(file)
    assert values(read(many))["requests"] == 48 * (STREAMED_BYTES // len(rows) + 1)
