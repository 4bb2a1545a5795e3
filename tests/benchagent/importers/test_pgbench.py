"""Files `v13_…` to `v18_…` are output of those versions; `old_…` and `v12_…` are written after the source's formats."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from benchagent.histogram import decode
from benchagent.importers import Report, SourceFile, Status, inspect

from tests.benchagent.importers.samples import reports_of

DATA = Path(__file__).parent / "data" / "pgbench"
FILES = sorted(path.name for path in DATA.iterdir())
TPCB = {"scale_factor": 2, "terminals": 4, "threads": 2, "duration_s": 6, "query_mode": "simple", "script": "tpcb-like"}


def source(name: str) -> SourceFile:
    return SourceFile(name, (DATA / name).read_bytes())


def read(name: str) -> Report:
    (report,) = reports_of([source(name)])
    return report


def text(*lines: str) -> SourceFile:
    return SourceFile("some.txt", ("\n".join(lines) + "\n").encode())


def read_lines(*lines: str) -> list[Report]:
    return reports_of([text(*lines)])


def points(report: Report) -> dict[str, int]:
    return {series.name: series.points for series in report.series}


@pytest.mark.parametrize(
    ("name", "version", "parameters", "metrics"),
    [
        ("old_90_tpcb.txt", "", {"transactions_per_client": 1000, "scale_factor": 10},
         {"tps": 395.801903, "tps_with_connections": 395.128461, "transactions": 4000, "latency_avg_ms": None}),
        ("old_91_two_files.txt", "", {"query_mode": "extended", "script": "Custom query"}, {"tps": 800.160032}),
        ("old_94_progress_rate.txt", "", {"script": "select-only", "terminals": 8},
         {"latency_avg_ms": 3.244, "latency_stddev_ms": 1.998, "lag_avg_ms": 0.332, "lag_max_ms": 21.105}),
        ("old_95_latency_limit.txt", "", {"latency_limit_ms": 20.0},
         {"skipped_transactions": 50, "late_transactions": 40, "transactions": 3950}),
        ("old_96_two_scripts.txt", "", {"script": "multiple scripts"},
         {"latency_avg_ms": 4.001, "script_1_tps": 747.813046, "script_2_transactions": 2520,
          "script_2_latency_stddev_ms": 0.91}),
        ("v12_partitions_shell.txt", "", {"partitions": 8, "partition_method": "hash", "rate_limit_tps": 500},
         {"tps": 500.010431}),
        ("v13_select_reconnect_t50.txt", "", {"script": "select-only", "transactions_per_client": 50},
         {"tps": 914.765938, "tps_with_connections": 490.883407}),
        ("v13_two_scripts_rate.txt", "", {"latency_limit_ms": 3.0},
         {"skipped_transactions": 1, "script_2_skipped_transactions": 1, "script_1_tps": 110.318179}),
        ("v15_tpcb_progress_statements.txt", "15.18", TPCB,
         {"tps": 7579.846608, "transactions": 45514, "latency_avg_ms": 0.515, "latency_stddev_ms": 0.433,
          "connect_ms": 7.626, "failed_transactions": 0, "statement_end_latency_avg_ms": 0.069}),
        ("v15_simple_update_t100.txt", "15.18", {"script": "simple-update"}, {"tps": 3926.804367}),
        ("v15_reconnect.txt", "15.18", {"connect_per_transaction": True}, {"tps": 212.167639, "connect_avg_ms": 3.405}),
        ("v15_rate_limit_tries.txt", "15.18", {"max_tries": 3, "latency_limit_ms": 5.0},
         {"skipped_transactions": 5, "late_transactions": 17, "lag_max_ms": 16.439, "retries": 0,
          "statement_end_latency_avg_ms": 0.038}),
        ("v15_serialization_retries.txt", "15.18", {"script": "serialize.sql", "max_tries": 2},
         {"failed_transactions": 19602, "serialization_failures": 19602, "retried_transactions": 26368,
          "retries": 26368, "statement_update_hot_set_n_n_1_where_i_1_failures": 19602,
          "statement_update_hot_set_n_n_1_where_i_1_retries": 26367}),
        ("v15_two_scripts.txt", "15.18", {"script": "multiple scripts"},
         {"script_1_tps": 6542.774851, "script_2_latency_avg_ms": 0.056, "script_2_failed_transactions": 0}),
        ("v17_tpcb_progress_statements.txt", "17.11", {"scale_factor": 1}, {"tps": 7396.451682}),
        ("v18_tpcb_progress_statements.txt", "18.6", {"scale_factor": 1}, {"tps": 11237.248332}),
        ("v18_three_scripts_failures.txt", "18.6", {"max_tries": 2},
         {"failed_transactions": 538, "script_1_transactions": 9422, "script_3_transactions": 5849,
          "script_3_failed_transactions": 538}),
    ],
)  # fmt: skip
def test_it_reads_the_wording_of_each_version(
    name: str, version: str, parameters: dict[str, object], metrics: dict[str, float | None]
) -> None:
    report = read(name)
    failed = name in ("v15_serialization_retries.txt", "v18_three_scripts_failures.txt")
    status = Status.FAILED if failed else Status.COMPLETE
    assert (report.tool, report.status, report.tool_version) == ("pgbench", status, version)
    assert parameters.items() <= report.parameters.items()
    assert {key: report.metric(key) for key in metrics} == metrics


def test_a_run_whose_transactions_failed_is_no_complete_one_whatever_pgbench_says() -> None:
    assert read("v15_serialization_retries.txt").reason == (
        "19,602 of 45,569 transactions failed, 43 % of all; above 1 % a run is no result"
    )
    assert read("v18_three_scripts_failures.txt").reason == (
        "538 of 37,871 transactions failed, 1.42 % of all; above 1 % a run is no result"
    )


def test_it_counts_the_other_failures_of_version_19() -> None:
    lines = (DATA / "v15_serialization_retries.txt").read_text().splitlines()
    at = lines.index("number of deadlock failures: 0 (0.000%)") + 1
    (report,) = read_lines(*lines[:at], "number of other failures: 0 (0.000%)", *lines[at:])
    assert report.metric("other_failures") == 0
    (more_than_all,) = read_lines(*lines[:at], "number of other failures: 1 (0.002%)", *lines[at:])
    assert more_than_all.status is Status.NOT_UNDERSTOOD


def test_it_says_which_server_answered() -> None:
    subject = read("v18_tpcb_progress_statements.txt").subject
    assert (subject.workload, subject.dbms, subject.dbms_version) == ("tpcb", "postgresql", "15.18")
    assert read("old_90_tpcb.txt").subject.dbms == ""


@pytest.mark.parametrize(
    ("name", "series"),
    [
        ("old_94_progress_rate.txt", {"tps": 3, "latency_avg_ms": 3, "latency_stddev_ms": 3, "lag_avg_ms": 3}),
        ("v13_two_scripts_rate.txt", {"tps": 2, "latency_avg_ms": 2, "latency_stddev_ms": 2, "lag_avg_ms": 2,
                                      "skipped_transactions": 2}),
        ("v15_rate_limit_tries.txt", {"tps": 4, "latency_avg_ms": 4, "latency_stddev_ms": 4, "lag_avg_ms": 4,
                                      "failed_transactions": 4, "skipped_transactions": 4, "retried_transactions": 4,
                                      "retries": 4}),
        ("v18_three_scripts_failures.txt", {"tps": 3, "latency_avg_ms": 3, "latency_stddev_ms": 3,
                                            "failed_transactions": 3, "retried_transactions": 3, "retries": 3}),
    ],
)  # fmt: skip
def test_it_reads_every_figure_of_the_progress(name: str, series: dict[str, int]) -> None:
    assert points(read(name)) == series


def test_it_finds_interval_and_begin_of_the_progress() -> None:
    tps = next(series for series in read("old_94_progress_rate.txt").series if series.name == "tps")
    assert (tps.interval_s, tps.t0_s, tps.values, tps.unit) == (5.0, 0.0, (99.4, 101.2, 98.8), "TPS")
    stamped = read("v15_progress_timestamp.txt")
    assert stamped.started_at == "2026-11-21T07:52:42.509000+00:00"
    assert stamped.series[0].values == (41162.1, 48001.0, 39365.4)
    assert stamped.series[0].t0_s == 0.0


def test_it_leaves_a_gap_where_no_transaction_ended() -> None:
    data = (DATA / "v15_tpcb_progress_statements.txt").read_text()
    for nothing in ("-nan", "0.000"):
        line = f"0.0 tps, lat {nothing} ms stddev {nothing}"
        still = data.replace("4832.2 tps, lat 0.816 ms stddev 0.837", line)
        (report,) = reports_of([text(*still.splitlines())])
        values = {series.name: series.values[4] for series in report.series}
        assert (values["tps"], values["latency_avg_ms"], values["latency_stddev_ms"]) == (0.0, None, None)
        assert report.status is Status.COMPLETE


@pytest.mark.parametrize(
    ("name", "status", "reason"),
    [
        ("old_90_client_aborted.txt", Status.ABORTED, "Client 1 aborted"),
        ("v13_aborted.txt", Status.ABORTED, "client 2 script 0 aborted"),
        ("v15_aborted_server_killed.txt", Status.ABORTED, "terminating connection"),
        ("v15_all_clients_aborted.txt", Status.ABORTED, "aborted in command 0"),
        ("v15_interrupted.txt", Status.ABORTED, "exit=124"),
        ("v15_cannot_connect.txt", Status.FAILED, "No such file or directory"),
        ("v15_no_database.txt", Status.FAILED, "does not exist"),
        ("v15_no_tables.txt", Status.FAILED, "could not count number of branches"),
        ("v18_exit_on_abort.txt", Status.FAILED, "aborted in command 0"),
    ],
)
def test_it_does_not_take_an_unfinished_run_for_a_result(name: str, status: Status, reason: str) -> None:
    report = read(name)
    assert report.status is status
    assert reason in report.reason


def test_it_keeps_what_an_aborted_run_printed_and_says_so() -> None:
    report = read("v15_aborted_server_killed.txt")
    assert report.metric("tps") == 8224.768414
    assert any("part that ran" in warning for warning in report.warnings)
    interrupted = read("v15_interrupted.txt")
    assert interrupted.metrics == ()
    assert points(interrupted)["tps"] == 2


def test_it_sees_clients_that_stopped_early_without_a_word() -> None:
    data = (DATA / "v15_simple_update_t100.txt").read_text().replace("200/200", "171/200")
    report = reports_of([text(*data.splitlines())])[0]
    assert report.status is not Status.COMPLETE


@pytest.mark.parametrize(
    ("name", "scale", "metrics"),
    [
        ("old_90_init.txt", 1, {"rows": 100_000, "load_s": None}),
        ("old_93_init.txt", 3, {"rows": 300_000, "copy_s": 0.41}),
        ("old_10_init.txt", 2, {"rows": 200_000, "copy_s": 0.21}),
        ("v13_init.txt", 1, {"load_s": 0.11, "index_s": 0.02, "generate_s": 0.05}),
        ("v15_init.txt", 2, {"load_s": 0.19, "index_s": 0.05, "vacuum_s": 0.04, "rows": 200_000}),
        ("v15_init_quiet.txt", 2, {"load_s": 0.14}),
        ("v15_init_server_side.txt", None, {"load_s": 0.22, "foreign_keys_s": 0.02, "generate_s": 0.12}),
        ("v17_init.txt", 1, {"load_s": 0.1, "rows": 100_000}),
        ("v18_init.txt", 1, {"load_s": 0.09}),
        ("v18_init_server_side.txt", None, {"load_s": 0.12}),
    ],
)
def test_it_reads_initialisations(name: str, scale: int | None, metrics: dict[str, float | None]) -> None:
    report = read(name)
    assert report.status is Status.COMPLETE
    assert report.parameters.get("scale_factor") == scale
    assert {key: report.metric(key) for key in metrics} == metrics
    assert {metric.phase for metric in report.metrics} == {"load"}


def test_it_takes_an_initialisation_without_its_end_for_aborted() -> None:
    lines = (DATA / "v15_init.txt").read_text().splitlines()[:-1]
    (report,) = reports_of([text(*lines)])
    assert (report.status, report.metrics) == (Status.ABORTED, ())


def test_it_tells_several_runs_of_one_file_apart() -> None:
    data = b"=== one ===\n" + (DATA / "v15_simple_update_t100.txt").read_bytes() + b"=== two ===\n"
    data += (DATA / "v13_tpcb_progress_statements.txt").read_bytes() + (DATA / "v15_init.txt").read_bytes()
    data += (DATA / "v15_cannot_connect.txt").read_bytes()
    reports = reports_of([SourceFile("all.log", data)])
    assert [report.status.value for report in reports] == ["complete", "complete", "complete", "failed"]
    assert [report.metric("tps") for report in reports] == [3926.804367, 5167.91219, None, None]


def test_it_joins_standard_error_that_was_kept_apart() -> None:
    lines = (DATA / "v17_tpcb_progress_statements.txt").read_text().splitlines()
    errors = [line for line in lines if line.startswith(("progress", "starting"))]
    output = [line for line in lines if line not in errors]
    for order in (errors + output, output + errors):
        reports = reports_of([text(*order)])
        assert [(report.status, report.metric("tps"), report.series[0].points) for report in reports] == [
            (Status.COMPLETE, 7396.451682, 3)
        ]


def test_it_takes_the_command_line_and_hides_its_password() -> None:
    report = read("v12_partitions_shell.txt")
    assert report.command_lines == ("pgbench -h db1 -U bench -c 16 -j 4 -T 30 -P 10 -M prepared -R 500 bench",)
    hidden = text("pgbench -c 1 'postgresql://bench:hunter2@db1/x' -t 5", "pgbench: error: connection failed")
    (failed,) = reports_of([hidden])
    assert (failed.status, failed.parameters) == (Status.FAILED, {"terminals": 1, "transactions_per_client": 5})
    assert "hunter2" not in repr(failed)


def test_it_leaves_out_the_latency_that_old_versions_do_not_compute() -> None:
    report = read("old_95_transactions_no_latency.txt")
    assert report.metric("latency_avg_ms") is None
    assert any("0.000 ms" in warning for warning in report.warnings)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tps = 7579.846608", "tps = 7579,846608"),
        ("tps = 7579.846608", "tps = 17579.846608"),
        ("number of failed transactions: 0 (0.000%)", "number of failed transactions: 7 (0.000%)"),
        ("number of threads: 2\n", ""),
        ("duration: 6 s\n", ""),
        ("number of threads: 2", "number of threads: 20"),
    ],
)
def test_it_does_not_understand_what_contradicts_itself(old: str, new: str) -> None:
    data = (DATA / "v15_tpcb_progress_statements.txt").read_text()
    assert old in data
    (report,) = reports_of([text(*data.replace(old, new).splitlines())])
    if new == "" and "threads" in old:
        # A line that no other needs is only missing.
        assert "threads" not in report.parameters
        return
    assert report.status is Status.NOT_UNDERSTOOD
    assert report.metrics == ()


def test_it_takes_the_last_line_without_its_end_only_where_it_is_whole() -> None:
    data = (DATA / "v15_simple_update_t100.txt").read_text().rstrip("\n")
    assert reports_of([SourceFile("a", data.encode())])[0].metric("tps") == 3926.804367
    cut = reports_of([SourceFile("a", data[:-3].encode())])[0]
    assert (cut.status, cut.metric("tps"), cut.metric("transactions")) == (Status.ABORTED, None, 200)


def test_it_reads_what_is_packed_indented_or_stamped_by_the_clock() -> None:
    data = (DATA / "v15_two_scripts.txt").read_bytes()
    told = read("v15_two_scripts.txt")
    assert reports_of([SourceFile("x.gz", gzip.compress(data))]) == [told]
    stamped = b"".join(b"Nov 21 08:00:01 " + line for line in data.splitlines(keepends=True))
    assert reports_of([SourceFile("x", stamped)])[0].metrics == told.metrics


@pytest.mark.parametrize(
    ("name", "interval_s", "tps"),
    [
        ("v13_aggregated", 1.0, (3530.0, 4585.0, 4815.0, 4407.0, 4751.0)),
        ("v13_aggregated_rate_limit", 1.0, (171.0, 195.0, 217.0, 216.0, 206.0)),
        ("v15_aggregated", 1.0, (1643.0, 8275.0, 9284.0, 10701.0, 10849.0, 8813.0)),
        ("v15_aggregated_rate", 2.0, (55.0, 95.0, 100.0)),
    ],
)
def test_it_adds_up_the_aggregated_logs_of_all_threads(name: str, interval_s: float, tps: tuple[float, ...]) -> None:
    first, second = reports_of([source(f"{name}.4242.1"), source(f"{name}.4242")])
    series = next(series for series in second.series if series.name == "tps")
    assert (series.interval_s, series.values) == (interval_s, tps)
    assert (first.part_of, first.series, first.metrics) == (f"{name}.4242", (), ())


def test_it_weighs_the_latencies_of_threads_by_their_transactions() -> None:
    lines = [("1795247585 10 10000 12000000 800 1200", "1795247585 30 60000 126000000 1500 2500"),
             ("1795247586 0 0 0 0 0", "1795247586 5 5000 5000000 1000 1000"),
             ("1795247587 1 900 810000 900 900", "1795247587 1 1100 1210000 1100 1100")]  # fmt: skip
    files = [SourceFile(name, "".join(f"{line[place]}\n" for line in lines).encode()) for place, name in
             enumerate(("pgbench_log.77", "pgbench_log.77.1"))]  # fmt: skip
    whole = reports_of(files)[0]
    values = {series.name: series.values for series in whole.series}
    assert values == {"tps": (40.0, 5.0, 2.0), "latency_avg_ms": (1.75, 1.0, 1.0), "latency_max_ms": (2.5, 1.0, 1.1)}


def test_it_joins_transaction_logs_to_the_run_that_counted_the_same() -> None:
    names = ("v15_transactions_stdout.txt", "v15_transactions.4242", "v15_transactions.4242.1")
    run, first, second = reports_of([source(name) for name in names])
    assert (run.metric("tps"), run.metric("transactions")) == (351.369933, 600)
    assert run.metric("latency_p99_ms") is not None
    assert points(run)["tps"] >= 2
    assert run.series[0].values[0] is None
    assert (first.part_of, second.part_of) == (names[0], names[0])
    assert (first.metrics, second.series) == ((), ())
    assert decode(run.histogram).count == 600
    counts = run.latency_map["counts"]
    assert run.latency_map["interval_s"] == 1 and sum(sum(of[1::2]) for of in counts) == 600
    assert (first.histogram, first.latency_map) == ("", {})


def test_a_log_alone_tells_its_latencies_over_time() -> None:
    """Buckets are steps of half a doubling: 20 holds what took from 1.024 to less than 1.448 ms."""
    began = 1_795_247_587
    (alone,) = read_lines(*(
        f"0 {number} {latency} 0 {began + at} {number}"
        for number, (at, latency) in enumerate([(0, 1023), (0, 1024), (1, 1448), (1, 1449), (600, 0)], 1)
    ))  # fmt: skip
    assert alone.histogram == "", "what a log says of the whole run is told once it is joined to its report"
    told = alone.latency_map
    assert (told["interval_s"], len(told["counts"])) == (4, 151)
    assert (told["counts"][0], told["counts"][-1]) == ([19, 1, 20, 2, 21, 1], [0, 1])


def test_it_keeps_logs_apart_from_a_run_that_counted_another_number() -> None:
    names = ("v15_simple_update_t100.txt", "v15_aggregated_stdout.txt", "v15_transactions.4242",
             "v15_transactions.4242.1", "v15_aggregated.4242", "v15_aggregated.4242.1")  # fmt: skip
    reports = reports_of([source(name) for name in names])
    # The aggregated ones are of the second report.
    assert [report.part_of for report in reports] == ["", "", "", names[2], names[1], names[1]]
    assert reports[0].series == ()


def test_it_counts_skipped_transactions_apart() -> None:
    names = ("v15_transactions_rate_stdout.txt", "v15_transactions_rate.4242", "v15_transactions_rate.4242.1")
    run, *logs = reports_of([source(name) for name in names])
    assert (run.metric("transactions"), run.metric("skipped_transactions")) == (239, 1)
    assert [log.part_of for log in logs] == [names[0], names[0]]


def test_it_leaves_out_the_rate_of_a_sample_and_of_a_part() -> None:
    sample = read("v15_transactions_sampled.4242")
    assert "tps" not in points(sample)
    assert any("sample" in warning for warning in sample.warnings)
    part = read("v15_transactions.4242.1")
    assert "tps" not in points(part)
    assert any("missing" in warning for warning in part.warnings)


def test_it_does_not_join_logs_of_other_times_or_of_the_same_clients() -> None:
    later = (DATA / "v15_aggregated.4242.1").read_text().replace("17952475", "17962475")
    reports = reports_of([source("v15_aggregated.4242"), SourceFile("v15_aggregated.4242.1", later.encode())])
    assert [report.part_of for report in reports] == ["", ""]
    data = (DATA / "v15_transactions.4242").read_bytes()
    twice = reports_of([SourceFile("log.5", data), SourceFile("log.5.1", data)])
    assert [report.part_of for report in twice] == ["", ""]


def test_it_names_the_line_of_a_log_that_lost_one() -> None:
    lines = (DATA / "v15_transactions.4242").read_text().splitlines()
    (lost,) = reports_of([text(*lines[:100], *lines[101:])])
    assert lost.status is Status.NOT_UNDERSTOOD
    assert "missing" in lost.reason
    (doubled,) = reports_of([text(*lines[:100], *lines[99:])])
    assert (doubled.status, "line 101" in doubled.reason) == (Status.NOT_UNDERSTOOD, True)


def test_it_claims_nothing_of_others() -> None:
    other = SourceFile("pgbench.txt", b"load average: 0.1\ntransactions: 5\nprogress: all good\n")
    assert inspect([other])[0][1][0].tool != "pgbench"


def test_it_does_not_blame_a_finished_run_for_the_error_of_the_next() -> None:
    data = (DATA / "v15_simple_update_t100.txt").read_bytes() + (DATA / "v15_cannot_connect.txt").read_bytes()
    assert [report.status.value for report in reports_of([SourceFile("loop.log", data)])] == ["complete", "failed"]
    aborted = (DATA / "v15_aborted_server_killed.txt").read_bytes() + data
    statuses = [report.status.value for report in reports_of([SourceFile("loop.log", aborted)])]
    assert statuses == ["aborted", "complete", "failed"]


def test_it_sees_an_old_run_that_no_client_could_begin() -> None:
    report = reports_of([text(
        "starting vacuum...end.", 'connection to database "postgres" failed:',
        "FATAL:  sorry, too many clients already", "transaction type: <builtin: TPC-B (sort of)>", "scaling factor: 1",
        "query mode: simple", "number of clients: 1000", "number of threads: 1", "duration: 60 s",
        "number of transactions actually processed: 0", "Run was aborted; the above results are incomplete.",
    )])[0]  # fmt: skip
    assert (report.status, report.metric("tps")) == (Status.ABORTED, None)


@pytest.mark.parametrize(
    ("old", "new"), [("9786.7 tps", "9786,7 tps"), ("stddev 0.177, 0 failed", "stddev 0.177, 0 failed, 3 eaten")]
)
def test_it_leaves_out_progress_that_it_cannot_read(old: str, new: str) -> None:
    data = (DATA / "v15_tpcb_progress_statements.txt").read_text()
    (report,) = reports_of([text(*data.replace(old, new).splitlines())])
    assert (report.status, report.series, report.metric("tps")) == (Status.COMPLETE, (), 7579.846608)
    assert any("the progress is left out: line " in warning for warning in report.warnings)
    alone = [line for line in data.replace(old, new).splitlines() if line.startswith("progress")]
    assert [report.status for report in reports_of([text(*alone)])] == [Status.NOT_UNDERSTOOD]


OLD_RUN = (
    "transaction type: TPC-B (sort of)", "scaling factor: 7", "query mode: simple", "number of clients: 3",
    "number of threads: 1", "number of transactions per client: 200",
    "number of transactions actually processed: 600/600", "latency average: 12.000 ms",
    "tps = 249.000000 (including connections establishing)", "tps = 250.000000 (excluding connections establishing)",
)  # fmt: skip
NEW_TAIL = ("latency average = 4.000 ms", "initial connection time = 9.100 ms",
            "tps = 750.250000 (without initial connection time)")  # fmt: skip


def test_it_reads_an_output_within_a_string_of_json() -> None:
    (report,) = read_lines('{"rc": 0, "stdout": "' + "\\n".join(OLD_RUN) + '", "took": 3}')
    assert (report.metric("tps"), report.parameters["terminals"]) == (250.0, 3)


def test_it_reads_extracts_and_says_that_they_are() -> None:
    first, second = read_lines(
        "with pooler:", *NEW_TAIL, "without:", *(line.replace("750", "751") for line in NEW_TAIL)
    )
    assert (first.metric("tps"), second.metric("tps")) == (750.25, 751.25)
    assert first.status is Status.COMPLETE
    assert first.warnings == ("an extract: the beginning of the report is missing",)
    whole, rest = read_lines(*OLD_RUN, "again, in short:", *NEW_TAIL)
    assert (whole.metric("tps"), rest.metric("tps"), rest.parameters) == (250.0, 750.25, {})
    assert [report.status for report in read_lines(*NEW_TAIL[:2], "cut")] == [Status.NOT_UNDERSTOOD]


def test_it_reads_a_report_whose_script_a_web_page_swallowed() -> None:
    (report,) = read_lines("transaction type: ", *OLD_RUN[1:])
    assert (report.metric("tps"), "script" in report.parameters) == (250.0, False)
    (escaped,) = read_lines("transaction type: &lt;builtin: select only&gt;", *OLD_RUN[1:])
    assert escaped.parameters["script"] == "select-only"


def test_one_run_that_is_not_understood_spoils_no_other() -> None:
    bad = [line.replace("tps = 250.", "tps = 99.") for line in OLD_RUN]
    found = read_lines(*OLD_RUN, *bad, "$ pgbench -c 3 -t 200", *OLD_RUN)
    assert [report.status for report in found] == [Status.COMPLETE, Status.NOT_UNDERSTOOD, Status.COMPLETE]
    assert found[1].metrics == ()
    comma = [line.replace("12.000", "12,000") for line in OLD_RUN]
    statuses = [report.status for report in read_lines(*comma, *OLD_RUN)]
    assert statuses == [Status.NOT_UNDERSTOOD, Status.COMPLETE]


def test_it_takes_no_figure_from_a_comment_in_code() -> None:
    found = read_lines("def rate(text):", f"    # {NEW_TAIL[-1]}", "    return float(text.split()[2])")
    assert [(report.status, report.metrics) for report in found] == [(Status.NOT_UNDERSTOOD, ())]
