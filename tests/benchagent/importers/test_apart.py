"""What tells the results of one file apart is not lost, and figures that deny each other are not kept."""

from __future__ import annotations

import re

import pytest
from benchagent.importers import Report, Status
from benchagent.importers.apart import agreeing
from benchagent.importers.report import all_measured

from tests.benchagent.importers.samples import reports, sample, values

STRESS = sample("described", "cassandra-stress.txt").decode()
# Without what it says of itself.
RESULT = re.sub(r"(?s).*(?=Results:)| *\[WRITE:[^\n]*", "", STRESS)


def factors(text: str, *names: str) -> list[tuple]:
    told = reports("x", text.encode())
    assert [report.status for report in told] == [Status.COMPLETE] * len(told)
    return [tuple(report.parameters.get(name) for name in names) for report in told]


@pytest.mark.parametrize(
    ("headings", "name", "told"),
    [
        (("### 4 threads", "### 8 threads"), "terminals", [4, 8]),
        (("## Threads: 4", "## Threads: 8"), "terminals", [4, 8]),
        (("## m5a.large\n### 4 threads", "### 8 threads"), "terminals", [4, 8]),
        (("## m5a.large", "## m6g.large"), "heading", ["m5a.large", "m6g.large"]),
        (("# Results\n## m5a.large", "## m6g.large"), "heading", ["m5a.large", "m6g.large"]),
        (("## m5a.large, 4 threads", "## m6g.large, 4 threads"), "heading", ["m5a.large", "m6g.large"]),
        (("h3. m5a.large", "h3. m6g.large"), "heading", ["m5a.large", "m6g.large"]),
        (("h2. m5a.large\nh3. 4 threads", "h3. 8 threads"), "terminals", [4, 8]),
        (("Instance: m5a.large\n", "\nInstance: m6g.large\n"), "instance", ["m5a.large", "m6g.large"]),
        (("=== 4 threads ===", "=== 8 threads ==="), "terminals", [4, 8]),
        (("--- m5a.large", "--- m6g.large"), "heading", ["m5a.large", "m6g.large"]),
        (("[m5a.large]", "[m6g.large]"), "heading", ["m5a.large", "m6g.large"]),
        (("4 threads:", "8 threads:"), "terminals", [4, 8]),
        (("threads=4", "threads=8"), "terminals", [4, 8]),
        (("=== io-threads 1 ===", "=== io-threads 4 ==="), "terminals", [None, None]),
        (("=== io-threads 1 ===", "=== io-threads 4 ==="), "heading", ["io-threads 1", "io-threads 4"]),
        (
            ("x\nInstance: m5a.large\nKernel: 6.1", "Instance: m6g.large\nKernel: 6.1"),
            "instance",
            ["m5a.large", "m6g.large"],
        ),
        (("Date: 2026-01-01 10:00:00", "Date: 2026-01-01 11:00:00"), "date", [None, None]),
        (("=== Run 1 ===", "=== Run 2 ==="), "heading", [None, None]),
        (("## Run 1", "## Run 2"), "heading", [None, None]),
        (("# cassandra-stress -rate x", "# cassandra-stress -rate y"), "heading", [None, None]),
        (("# Results", "# Results"), "heading", [None, None]),
    ],
)
def test_headings_above_results_that_nothing_else_tells_apart_are_factors(headings, name, told):
    text = "".join(f"{heading}\n\n{RESULT}\n" for heading in headings)
    assert factors(text, name) == [(value,) for value in told]


@pytest.mark.parametrize(
    ("headings", "name", "told"),
    [
        (("### 4 threads", "### 8 threads"), "terminals", [4, 8]),
        (("## m5a.large", "## m6g.large"), "heading", ["m5a.large", "m6g.large"]),
    ],
)
def test_headings_above_documents_in_a_text_are_factors_too(headings, name, told):
    document = '{"metrics": {"iterations": {"count": %d, "rate": %d.5}}}'
    parts = (f"{heading}\n\n```json\n{document % (at, at)}\n```\n" for at, heading in enumerate(headings, 4))
    assert factors("What was measured:\n\n" + "\n".join(parts), name) == [(value,) for value in told]


def test_rows_of_ycsb_are_no_headings_but_what_stands_above_them_is_one():
    rows = "[OVERALL], RunTime(ms), {}000\n[OVERALL], Throughput(ops/sec), 100\n[READ], Operations, {}00\n"
    text = "".join(f"--- workload {letter}\n{rows.format(s, s)}\n" for letter, s in (("a", 10), ("c", 20)))
    assert factors(text, "heading") == [("workload a",), ("workload c",)]


def test_lines_of_the_tool_itself_are_no_headings():
    one = sample("redisbench", "v7_report.txt").decode()
    for report in reports("x", (one + "\n" + one).encode()):
        assert "heading" not in report.parameters


def test_headings_are_no_factors_where_the_tool_tells_the_results_apart():
    text = "## a\n" + STRESS + "\n## b\n" + STRESS.replace("WRITE", "READ")
    assert factors(text, "operation", "heading") == [("WRITE", None), ("READ", None)]


def test_the_operation_of_cassandra_stress_is_a_factor_without_its_first_lines():
    one = STRESS[STRESS.index("Results:") :]
    assert factors(one + "\n" + one.replace("WRITE", "READ"), "operation") == [("WRITE",), ("READ",)]


def test_virtual_users_that_a_transcript_of_hammerdb_sets_are_its_terminals():
    result = "Vuser 1:TEST RESULT : System achieved {} MySQL TPM at {} NOPM\n"
    text = "".join(f"vuset vu {users}\n{result.format(3000 * users, 1000 * users)}\n" for users in (1, 2, 4))
    assert factors(text, "terminals") == [(1,), (2,), (4,)]


def test_the_binding_of_ycsb_names_the_dbms():
    text = sample("ycsb", "run_0_17_jdbc.txt").decode()
    for call in ("-db com.yahoo.ycsb.db.CassandraCQLClient -t", "bin/ycsb run cassandra-cql -P x"):
        one = re.sub(r"(?m)^Command line: .*$", f"Command line: {call}" if call[0] == "-" else call, text)
        (report,) = reports("x", re.sub(r"(?m)^.*java .*\n", "", one).encode())
        assert report.subject.dbms == "cassandra"


def test_block_sizes_told_twice_are_one():
    text = sample("sysbench", "v10_fileio_rndrw.txt").decode()
    for size in ("16K", "16384", "16KiB"):
        (report,) = reports("x", f"$ sysbench fileio --file-block-size={size} run\n{text}".encode())
        assert {name for name in report.parameters if "block" in name} == {"block_size_bytes"}
        assert report.parameters["block_size_bytes"] == 16384


def test_results_that_share_all_factors_and_differ_several_fold_say_so():
    slow = RESULT.replace("3,341 op/s", "1,341 op/s")
    told = reports("x", f"{RESULT}\n{slow}".encode())
    assert [len([w for w in report.warnings if "2.5-fold" in w]) for report in told] == [1, 1]
    near = RESULT.replace("3,341 op/s", "3,041 op/s")
    assert not any(report.warnings for report in reports("x", f"{RESULT}\n{near}".encode()))


def report_with(**figures: float) -> Report:
    return agreeing(Report("x", metrics=all_measured(figures)))


def test_a_percentile_above_the_greatest_latency_is_left_out():
    report = report_with(ops_per_s=10, read_latency_p99_ms=1, read_latency_max_ms=0.028, read_latency_p50_ms=0.02)
    assert set(values(report)) == {"ops_per_s", "read_latency_max_ms", "read_latency_p50_ms"}
    assert len(report.warnings) == 1 and report.status is Status.COMPLETE
    # Histograms round.
    assert "latency_p99_ms" in values(report_with(latency_p99_ms=29.492, latency_max_ms=29.455))


def test_of_percentiles_in_the_wrong_order_a_word_is_said():
    """Seen: a median of 9 ms above a p95 of 3 ms was read without one; the import alone told that it counts nowhere."""
    report = report_with(tps=12000, latency_p50_ms=9.0, latency_p95_ms=3.0)
    assert report.warnings == (
        "latency_p50_ms = 9 is above latency_p95_ms = 3: one of them cannot be, and the run counts nowhere",
    )
    assert {"latency_p50_ms", "latency_p95_ms"} <= {*values(report)} and report.status is Status.COMPLETE
    # What is printed in whole milliseconds says no more.
    for p99, p999 in ((1, 0.4), (3.05, 3.0), (3.0, 3.0), (2.0, 3.0)):
        assert not report_with(latency_p99_ms=p99, latency_p999_ms=p999).warnings


def test_goodput_above_the_throughput_is_left_out():
    assert "goodput_per_s" not in values(report_with(tps=10, requests_per_s=10, goodput_per_s=30))
    assert "goodput_per_s" in values(report_with(tps=10, requests_per_s=10, goodput_per_s=9.9))


def test_no_operation_beside_a_latency_is_a_contradiction():
    assert report_with(ops_per_s=0, latency_avg_ms=19.7).status is Status.FAILED
    assert report_with(ops_per_s=1, latency_avg_ms=19.7).status is Status.COMPLETE


def test_reads_that_found_nothing_fail_a_run_of_ycsb():
    text = sample("ycsb", "run_0_17_jdbc.txt").decode()
    done = int(re.search(r"\[READ\], Return=OK, (\d+)", text)[1])
    for missing, status in ((done // 2, Status.FAILED), (0, Status.COMPLETE)):
        lines = f"[READ], Return=OK, {done - missing}\n[READ], Return=NOT_FOUND, {missing}"
        (report,) = reports("x", text.replace(f"[READ], Return=OK, {done}", lines).encode())
        assert report.status is status


def phoronix(value: str, tries: str) -> list[Report]:
    text = sample("phoronix", "composite.xml").decode()
    before = re.search(r"<Value>[\d.]+</Value>\s*<RawString>[\d.:]+</RawString>", text)[0]
    return reports("x", text.replace(before, f"<Value>{value}</Value><RawString>{tries}</RawString>", 1).encode())


def test_whole_means_of_phoronix_are_rounded():
    assert Status.NOT_UNDERSTOOD not in {report.status for report in phoronix("21", "21:21:22:22:21:21")}
    assert Status.NOT_UNDERSTOOD in {report.status for report in phoronix("25", "21:21:22:22:21:21")}


@pytest.mark.parametrize(("connect_ms", "status"), [("15000.000", Status.COMPLETE), ("1.000", None)])
def test_the_time_to_connect_is_in_the_duration_of_pgbench(connect_ms, status):
    text = "\n".join(
        [
            "transaction type: <builtin: select only>", "scaling factor: 1", "query mode: simple",
            "number of clients: 1000", "number of threads: 2", "duration: 60 s",
            "number of transactions actually processed: 450000", "latency average = 100.000 ms",
            f"initial connection time = {connect_ms} ms", "tps = 10000.000000 (without initial connection time)", "",
        ]
    )  # fmt: skip
    (report,) = reports("x", text.encode())
    assert report.status is (status or Status.NOT_UNDERSTOOD)


def test_the_rate_of_a_run_of_half_a_day_is_rounded():
    lines = {"tpmTOTAL = ": "10.00", "tpmC (NewOrders) = ": "4.50", "Session Start     = ": "2026-03-01 02:45:03"}
    text = sample("benchmarksql", "v5.txt").decode()
    for words, value in lines.items():
        text = re.sub(rf"(?m){re.escape(words)}.*$", words + value, text)
    for count, status in ((7203, Status.COMPLETE), (7300, Status.NOT_UNDERSTOOD)):
        (report,) = reports("x", re.sub(r"Transaction Count = \d+", f"Transaction Count = {count}", text).encode())
        assert report.status is status


def test_the_hundredth_percentile_is_the_greatest_and_below_none():
    """Was: p100 was read as the tenth percentile, so that a good run was told to contradict itself."""
    assert report_with(tps=12000, latency_p50_ms=9.0, latency_p100_ms=30.0).warnings == ()
