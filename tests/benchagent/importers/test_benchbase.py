"""BenchBase. The files in data/benchbase are one small run, made up after the formats of its writers; those named
oltpbench follow the ancestor. Figures are consistent with each other: samples, raw lines and counts add up."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchagent.importers import Report, SourceFile, Status, inspect

from tests.benchagent.importers.samples import DATA, report_of, reports, sample, values

TOOL = "benchbase"
STEM = "tpcc_2025-11-21_08-05-45"
RUN = tuple(sorted(path.name for path in (DATA / TOOL).iterdir() if path.name.startswith("tpcc")))


def group(*names: str) -> dict[str, list[Report]]:
    found = inspect([SourceFile(f"r/{name}", sample(TOOL, name)) for name in names])
    return {Path(file.name).name: of_file for file, of_file in found}


def changed(**changes: Any) -> Report:
    document = json.loads(sample(TOOL, f"{STEM}.summary.json"))
    for key, value in changes.items():
        document.pop(key)
        if value is not None:
            document[key] = value
    (report,) = reports("x.summary.json", json.dumps(document).encode())
    return report


def test_it_reads_a_summary_in_milliseconds() -> None:
    report = report_of(TOOL, f"{STEM}.summary.json")
    assert report.status is Status.COMPLETE
    found = values(report)
    assert found["tps"] == found["requests_per_s"] == 203 / 12000004210 * 1e9
    assert found["goodput_per_s"] == 202 / 12000004210 * 1e9
    assert (found["transactions"], found["elapsed_s"]) == (203, 12.00000421)
    assert (found["latency_avg_ms"], found["latency_p95_ms"]) == (118.226, 237.022)
    assert report.parameters == {
        "isolation": "TRANSACTION_SERIALIZABLE", "scale_factor": 2, "terminals": 2, "warehouses": 2, "duration_s": 12.0,
    }  # fmt: skip
    assert (report.subject.dbms, report.subject.dbms_version) == ("postgresql", "15.14")
    assert report.started_at.startswith("2025-11-21T08:05:45.123")


@pytest.mark.parametrize(
    ("version", "told"),
    [
        ("16", "16"),
        ("PostgreSQL 17beta1 on x86_64, compiled by gcc, 64-bit", "17"),
        ("PostgreSQL 16.4, 64-bit", "16.4"),
    ],
)
def test_it_takes_no_other_number_for_the_version_of_the_dbms(version: str, told: str) -> None:
    assert changed(**{"DBMS Version": version}).subject.dbms_version == told


def test_it_reads_the_summary_of_oltpbench() -> None:
    report = report_of(TOOL, "oltpbench.summary")
    assert values(report)["tps"] == 10601.25
    assert values(report)["latency_p99_ms"] == 40.11
    assert report.parameters == {"isolation": "TRANSACTION_READ_COMMITTED", "scale_factor": 1.5, "terminals": 64}
    assert (report.subject.dbms, report.subject.dbms_version) == ("mysql", "5.6.27")
    assert report.warnings == ()


@pytest.mark.parametrize(
    ("state", "status"),
    [("ERROR", Status.FAILED), ("MEASURE", Status.ABORTED), ("DONE", Status.ABORTED), ("EXIT", Status.COMPLETE)],
)
def test_it_believes_the_final_state_more_than_the_figures(state: str, status: Status) -> None:
    report = changed(**{"Final State": state})
    assert report.status is status
    assert (status is Status.COMPLETE) or "the figures are those of the part that ran" in report.warnings


def test_it_says_when_the_final_state_is_missing() -> None:
    assert "final state is missing" in changed(**{"Final State": None}).warnings[0]


def test_it_calls_a_run_without_requests_failed() -> None:
    report = changed(**{
        "Measured Requests": 0, "Throughput (requests/second)": 0.0, "Goodput (requests/second)": 0.0,
        "Latency Distribution": {"Average Latency (microseconds)": -1},
    })  # fmt: skip
    assert (report.status, report.reason) == (Status.FAILED, "no request was measured")
    assert "latency_avg_ms" not in values(report)


@pytest.mark.parametrize(
    "changes",
    [
        {"Measured Requests": 303},
        {"Throughput (requests/second)": 26.916660731738194},
        {"Elapsed Time (nanoseconds)": 22000004210},
        {"Latency Distribution": {"Average Latency (fortnights)": 3}},
        {"Latency Distribution": {"95th Percentile Latency (microseconds)": 9, "Median Latency (microseconds)": 10}},
    ],
)
def test_it_does_not_read_a_summary_that_contradicts_itself(changes: dict[str, Any]) -> None:
    assert changed(**changes).status is Status.NOT_UNDERSTOOD


def test_it_reads_samples_of_one_second_in_microseconds() -> None:
    report = report_of(TOOL, f"{STEM}.samples.csv")
    series = {series.name: series for series in report.series}
    assert (series["tps"].points, series["tps"].interval_s, series["tps"].t0_s) == (12, 1.0, 0.0)
    assert sum(value or 0 for value in series["tps"].values) == 203
    assert 30 < min(value or 0 for value in series["latency_min_ms"].values) < 100
    assert report.metrics == ()


def test_it_reads_results_in_milliseconds_and_finds_their_window() -> None:
    series = {series.name: series for series in report_of(TOOL, f"{STEM}.results.csv").series}
    assert (series["tps"].points, series["tps"].interval_s) == (3, 5.0)
    assert series["latency_p95_ms"].unit == "ms"
    old = {series.name: series for series in report_of(TOOL, "oltpbench.res").series}
    assert old["tps"].values == (101.2, 99.8, 100.4)
    assert old["latency_avg_ms"].values == (9.801, 9.95, 9.911)


def test_it_shows_a_window_without_requests_as_a_gap() -> None:
    lines = sample(TOOL, f"{STEM}.results.csv").decode().splitlines()
    lines[2] = "5,0.000" + ",-0.001" * 9 + ",-1000.000"
    (report,) = reports("x.csv", "\n".join([*lines, ""]).encode())
    series = {series.name: series for series in report.series}
    assert series["tps"].values[1] == 0
    assert series["latency_avg_ms"].values[1] is None


def test_it_names_the_series_of_a_transaction_type() -> None:
    names = {
        one.name for one in reports("a.results.NewOrder.csv", sample(TOOL, f"{STEM}.results.NewOrder.csv"))[0].series
    }
    assert {"new_order_tps", "new_order_latency_p95_ms"} <= names


def test_it_proves_by_magnitude_that_raw_start_times_are_seconds() -> None:
    report = report_of(TOOL, f"{STEM}.raw.csv")
    series = {series.name: series for series in report.series}
    assert (series["tps"].points, series["tps"].interval_s) == (11, 1.0)
    samples = {series.name: series for series in report_of(TOOL, f"{STEM}.samples.csv").series}
    assert series["tps"].values == samples["tps"].values[:11]
    assert report.started_at == "2025-11-21T08:05:45.123456+00:00"
    odd = sample(TOOL, f"{STEM}.raw.csv").replace(b",1763712", b",17")
    assert [report.status for report in reports("x", odd)] == [Status.NOT_UNDERSTOOD]


def test_it_reads_real_microseconds_as_microseconds() -> None:
    lines = sample(TOOL, f"{STEM}.raw.csv").decode().splitlines()
    cells = [line.split(",") for line in lines[1:]]
    for row in cells:
        row[2] = row[2].replace(".", "")
    (report,) = reports("x", "\n".join([lines[0], *(",".join(row) for row in cells), ""]).encode())
    assert report.series == report_of(TOOL, f"{STEM}.raw.csv").series


def test_it_reads_the_settings_without_secrets() -> None:
    report = report_of(TOOL, f"{STEM}.params.json")
    settings = dict(report.subject.settings)
    assert (settings["shared_buffers"], settings["password_encryption"]) == ("1GB", "scram-sha-256")
    assert "swordfish" not in repr(report)
    assert (report.subject.dbms, report.subject.dbms_version) == ("postgresql", "15.14")
    assert "not a result by itself" in report.warnings[0]


def test_it_reads_the_configuration() -> None:
    report = report_of(TOOL, f"{STEM}.config.xml")
    assert report.parameters == {
        "isolation": "TRANSACTION_SERIALIZABLE", "scale_factor": 2, "terminals": 2, "batch_size": 128,
        "duration_s": 12, "rate_limit_tps": 10000, "transaction_mix": "45,43,4,4,4",
        "reconnect_on_connection_failure": "true",
    }  # fmt: skip


def test_it_reads_a_configuration_with_its_connection_without_keeping_the_password() -> None:
    text = """<?xml version="1.0"?>
<parameters>
  <dbtype>mysql</dbtype> <DBUrl>jdbc:mysql://root:swordfish@h/b</DBUrl> <username>root</username>
  <password>swordfish</password> <terminals>8</terminals> <scalefactor>0.5</scalefactor>
  <works><work><warmup>5</warmup><time>60</time><rate>unlimited</rate><weights>100</weights></work>
         <work><time>30</time><rate>50</rate><weights>100</weights></work></works>
</parameters>
"""
    (report,) = reports("x", text.encode())
    assert report.parameters == {"scale_factor": 0.5, "terminals": 8, "duration_s": 90, "phases": 2}
    assert report.subject.dbms == "mysql"
    assert "swordfish" not in repr(report)
    (bomb,) = reports("x", text.replace("<parameters>", '<!DOCTYPE a [<!ENTITY b "c">]><parameters>').encode())
    assert bomb.status is Status.NOT_UNDERSTOOD


def test_it_reads_the_console_load_and_run() -> None:
    load, run = reports("x", sample(TOOL, "console.log"))
    assert values(load) == {"load_s": 12.25}
    assert load.metrics[0].phase == "load"
    found = values(run)
    assert found["tps"] == 203 / 12000004210 * 1e9
    assert (found["new_order_completed_transactions"], found["errors"]) == (98, 0)
    assert run.parameters == {
        "isolation": "TRANSACTION_SERIALIZABLE", "scale_factor": 2, "terminals": 2, "batch_size": 128,
        "new_connection_per_transaction": False, "warehouses": 2, "duration_s": 12, "warm_up_s": 0,
        "rate_limit_tps": 10000,
    }  # fmt: skip
    assert [(series.name, series.points, series.interval_s) for series in run.series] == [("tps", 6, 2.0)]
    assert "swordfish" not in repr((load, run))
    assert run.command_lines[0].startswith("java -jar benchbase.jar")


def test_it_reads_a_console_in_colours() -> None:
    plain = sample(TOOL, "console.log").decode()
    coloured = plain
    for words in ("PHASE START", "MEASURE", "Completed Transactions:", "Unexpected SQL Errors:"):
        coloured = coloured.replace(words, f"\x1b[0;1m{words}\x1b[0m")
    assert reports("x", coloured.encode()) == reports("x", plain.encode())


def test_it_reads_the_console_of_older_versions() -> None:
    text = sample(TOOL, "console.log").decode().replace("state=EXIT, ", "")
    assert values(reports("x", text.encode())[1])["transactions"] == 203
    report = report_of(TOOL, "oltpbench_tpcc.log")
    assert values(report)["tpmc"] == 127
    grouped = (
        sample(TOOL, "oltpbench_tpcc.log").replace(b": 3822", b": 376892").replace(b"TPM-C: 127", b"TPM-C: 12,563.07")
    )
    assert values(reports("x", grouped)[0])["tpmc"] == 12563.07
    wrong = grouped.replace(b"12,563.07", b"1,563.07")
    (report,) = reports("x", wrong)
    assert (report.status, report.metric("tpmc"), report.metric("tps")) == (Status.COMPLETE, None, 4.752221526539232)
    assert "TPM-C left out" in " ".join(report.warnings)


def test_it_reads_what_the_descendants_of_oltpbench_print() -> None:
    log = b"$ ./tpccbenchmark --execute=true \\\n  --warehouses=10\n" + sample(TOOL, "oltpbench_tpcc.log")
    log += (
        b"21:09:23,593 (DBWorkload.java:983) INFO  - NewOrder, Avg Latency: 66.286 msecs, p99 Latency: 212.47 msecs\n"
    )
    (report,) = reports("x", log)
    assert (report.parameters["warehouses"], report.subject.workload) == (10, "tpcc-benchbase")
    found = values(report)
    assert (found["efficiency_pct"], found["new_order_latency_p99_ms"]) == (98.75, 212.47)
    table = b"===RESULTS===\n     TPM-C |  1283.11\n  Efficiency |  99.78%\nThroughput (req/s) |  47.53\n"
    (report,) = reports("x", table)
    assert values(report) == {"tps": 47.53, "tpmc": 1283.11, "efficiency_pct": 99.78}


def test_it_knows_the_benchmark_from_the_launch_or_the_command() -> None:
    line = b"10:00:00,1 (DBWorkload.java:861) INFO  - Rate limited reqs/s: Results("
    line += b"nanoSeconds=2000000000, measuredRequests=3) = 1.5 requests/sec\n"
    launch = b"10:00:00,1 (DBWorkload.java:854) INFO  - Launching the YCSB Benchmark with 1 Phase...\n"
    command = b"$ java -jar benchbase.jar -b ycsb -c c.xml --execute=true\n"
    for before in (launch, command):
        assert reports("x", before + line)[0].subject.workload == "ycsb-benchbase"


def test_it_takes_a_summary_with_few_percentiles() -> None:
    latencies = {"Average Latency (microseconds)": 2000, "95th Percentile Latency (microseconds)": 5000}
    document = {"Throughput (requests/second)": 100.0, "Latency Distribution": latencies}
    (report,) = reports("x", json.dumps(document).encode())
    assert values(report)["latency_p95_ms"] == 5.0


def test_it_calls_a_console_without_its_result_aborted() -> None:
    data = sample(TOOL, "console.log")
    load, run = reports("x", data[: data.index(b"[INFO ] 2025-11-21 08:05:57,200")])
    assert (load.status, run.status, run.metrics) == (Status.COMPLETE, Status.ABORTED, ())
    state = reports("x", data.replace(b"state=EXIT", b"state=ERROR"))[1]
    assert state.status is Status.FAILED
    died = (
        data[: data.index(b"[INFO ] 2025-11-21 08:05:44,350")]
        + b"[ERROR] 2025 - Unexpected error when loading benchmark\n"
    )
    assert [(report.status, report.metrics) for report in reports("x", died)] == [(Status.FAILED, ())]


def test_it_leaves_out_counts_that_are_not_the_goodput() -> None:
    lines = [line for line in sample(TOOL, "console.log").decode().splitlines() if "Delivery/04" not in line]
    run = reports("x", "\n".join([*lines, ""]).encode())[1]
    assert run.status is Status.COMPLETE
    assert not any("completed" in name for name in values(run))


def test_it_makes_one_report_of_the_files_of_a_run() -> None:
    found = group(*RUN, "histograms.json")
    summary = found.pop(f"{STEM}.summary.json")[0]
    assert {report.part_of for of_file in found.values() for report in of_file} == {f"r/{STEM}.summary.json"}
    assert not any(report.metrics or report.series for of_file in found.values() for report in of_file)
    assert summary.parameters["rate_limit_tps"] == 10000
    assert values(summary)["payment_completed_transactions"] == 80
    series = {series.name: series for series in summary.series}
    assert (series["tps"].interval_s, series["tps"].points) == (1.0, 12)
    assert series["new_order_tps"].interval_s == 5.0
    assert ("shared_buffers", "1GB") in summary.subject.settings
    assert summary.warnings == ()


def test_it_adds_the_console_to_its_run_and_keeps_the_load() -> None:
    found = group(f"{STEM}.summary.json", "console.log")
    load, run = found["console.log"]
    assert values(load) == {"load_s": 12.25}
    assert run.part_of == f"r/{STEM}.summary.json"
    assert values(found[f"{STEM}.summary.json"][0])["completed_transactions"] == 202


def test_it_finds_the_run_of_a_console_among_several() -> None:
    names = (f"{STEM}.summary.json", "oltpbench.summary", "console.log", "histograms.json", "oltpbench_tpcc.log")
    found = group(*names)
    assert found["console.log"][1].part_of == found["histograms.json"][0].part_of == f"r/{STEM}.summary.json"
    assert found["oltpbench_tpcc.log"][0].part_of == ""


def test_it_leaves_out_a_file_that_is_not_of_this_run() -> None:
    raw = sample(TOOL, f"{STEM}.raw.csv").splitlines(keepends=True)
    files = [
        SourceFile(f"{STEM}.summary.json", sample(TOOL, f"{STEM}.summary.json")),
        SourceFile(f"{STEM}.raw.csv", b"".join(raw[:-1])),
        SourceFile(f"{STEM}.config.xml", sample(TOOL, f"{STEM}.config.xml").replace(b"<terminals>2", b"<terminals>4")),
    ]
    summary, raw_report, _ = [of_file[0] for _, of_file in inspect(files)]
    assert "raw left out: it tells 202 requests, the run 203" in summary.warnings
    assert "config left out: its terminals is 4, the run's 2" in summary.warnings
    assert raw_report.part_of == f"{STEM}.summary.json"


def test_it_keeps_two_runs_of_a_folder_apart() -> None:
    files = [
        SourceFile(f"{stem}.{kind}", sample(TOOL, f"{STEM}.{kind}"))
        for stem in ("one", "two")
        for kind in ("summary.json", "samples.csv")
    ]
    found = [of_file[0] for _, of_file in inspect(files)]
    assert [report.part_of for report in found] == ["", "one.summary.json", "", "two.summary.json"]


def test_an_indented_console_has_its_empty_histograms_too() -> None:
    text = sample(TOOL, "console.log").decode()
    (_, plain), (_, indented) = (
        reports("x", f"stdout: |\n{each}".encode())
        for each in (text, "".join(f"  {line}\n" for line in text.splitlines()))
    )
    assert values(indented) == values(plain) and "retries" in values(plain)


def test_settings_of_mariadb_are_not_those_of_postgresql() -> None:
    settings = {"shared_buffers": "0", "max_connections": "151", "server_version": "10.11.6-MariaDB-log"}
    (report,) = reports("x.params.json", json.dumps(settings).encode())
    assert (report.subject.dbms, report.subject.dbms_version) == ("mariadb", "10.11.6")


def test_it_reads_histograms_alone() -> None:
    report = report_of(TOOL, "histograms.json")
    assert values(report)["completed_transactions"] == 202
    damaged = sample(TOOL, "histograms.json").replace(b'"NUM_SAMPLES": 202', b'"NUM_SAMPLES": 203')
    assert [report.status for report in reports("x", damaged)] == [Status.NOT_UNDERSTOOD]
