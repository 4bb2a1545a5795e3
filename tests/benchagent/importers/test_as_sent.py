"""Files as people have them: several tools or runs in one, other locales, other versions, runs that failed."""

from __future__ import annotations

import json
import re

import pytest
from benchagent.importers import Marking, SourceFile, Status, importers

from tests.benchagent.importers.samples import DATA, reports, reports_of, values


def text_of(name: str) -> str:
    return (DATA / name).read_bytes().decode()


def told(text: str, name: str = "x.txt"):
    return reports(name, text.encode())


def one(text: str, name: str = "x.txt"):
    (report,) = told(text, name)
    return report


# Two tools, several reports in one file.


@pytest.mark.parametrize(
    ("first", "second", "tools"),
    [
        ("pgbench/v15_tpcb_progress_statements.txt", "sysbench/v10_read_write.txt", ["pgbench", "sysbench"]),
        ("sysbench/v10_read_write.txt", "fio/seqwrite.txt", ["sysbench", "fio"]),
        ("hammerdb/run_v4_mariadb.txt", "pgbench/v17_tpcb_progress_statements.txt", ["hammerdb", "pgbench"]),
        ("gotpc/plain.txt", "fio/randrw.json", ["go-tpc", "fio"]),
        ("ycsb/run_0_17_jdbc.txt", "gotpc/table.txt", ["ycsb", "go-tpc"]),
        ("tpccmysql/percona.txt", "sysbench/v10_read_write.txt", ["tpcc-mysql", "sysbench"]),
        ("pgbench/v15_tpcb_progress_statements.txt", "memtier/one_run.txt", ["pgbench", "memtier"]),
        ("memtier/one_run.txt", "jmeter/console.txt", ["memtier", "JMeter"]),
        ("mysqlslap/concurrency.txt", "benchmarksql/v5.txt", ["mysqlslap", "mysqlslap", "BenchmarkSQL"]),
        ("dbt3/post_process.txt", "described/dbt2.txt", ["DBT-3", "DBT-2"]),
        ("described/cassandra-stress.txt", "described/py-tpcc.txt", ["cassandra-stress", "py-tpcc"]),
        ("described/tsbs_queries.txt", "pgbench/v15_tpcb_progress_statements.txt", ["TSBS", "pgbench"]),
    ],
)
def test_two_tools_in_one_file_are_both_read(first, second, tools):
    each = told(text_of(first)) + told(text_of(second))
    both = told(text_of(first) + "\n" + text_of(second))
    assert [report.tool for report in both] == tools
    assert [(report.status, report.metrics, report.parameters) for report in both] == [
        (report.status, report.metrics, report.parameters) for report in each
    ]
    assert all("in one file: each is read by itself" in report.warnings[-1] for report in both)


def test_a_tool_whose_part_cannot_be_read_does_not_vanish_silently():
    text = text_of("pgbench/v15_tpcb_progress_statements.txt") + "\n[Summary] NEW_ORDER - Takes(s): 1.0, Count: x\n"
    (report,) = told(text)
    assert report.tool == "pgbench" and "words of go-tpc and pgbench stand in one file" in report.warnings[-1]


def test_lines_of_a_second_tool_are_counted_from_the_beginning_of_the_file():
    first, second = text_of("sysbench/v10_read_write.txt"), text_of("pgbench/v13_aborted.txt")
    alone = one(second)
    number = int(re.match(r"line (\d+): ", alone.reason)[1])
    _, both = told(f"{first}\n{second}")
    assert both.reason == alone.reason.replace(f"line {number}:", f"line {number + first.count(chr(10)) + 1}:")


def test_every_of_several_pgbench_reports_keeps_its_duration():
    report = text_of("pgbench/v17_tpcb_progress_statements.txt")
    runs = told("\n".join(report for _ in range(4)))
    assert [run.parameters["duration_s"] for run in runs] == [3, 3, 3, 3]
    assert len({json.dumps(run.parameters, sort_keys=True) for run in runs}) == 1


# Logs that belong to a report.


def test_aggregated_logs_of_all_threads_join_their_report():
    names = ("v15_aggregated_stdout.txt", "v15_aggregated.4242", "v15_aggregated.4242.1")
    run, *logs = reports_of([SourceFile(name, (DATA / "pgbench" / name).read_bytes()) for name in names])
    assert [series.name for series in run.series] == ["tps", "latency_avg_ms", "latency_max_ms"]
    assert [log.part_of for log in logs] == [names[0]] * 2
    assert any("aggregated logs" in warning for warning in run.warnings)


@pytest.mark.parametrize(
    ("old", "new"),
    [("threads: 2", "threads: 3"), ("duration: 6", "duration: 60"), ("processed: 55405", "processed: 99405")],
)
def test_aggregated_logs_of_another_run_stay_alone(old, new):
    names = ("v15_aggregated_stdout.txt", "v15_aggregated.4242", "v15_aggregated.4242.1")
    files = [(DATA / "pgbench" / name).read_text() for name in names]
    files[0] = files[0].replace(old, new)
    run, *_ = reports_of([SourceFile(name, text.encode()) for name, text in zip(names, files, strict=True)])
    assert run.series == ()


def fio_logs(stem: str, factor: float = 1.0) -> SourceFile:
    rows = (line.split(", ") for line in text_of("fio/logs_bw.1.log").splitlines())
    text = "".join(f"{ms}, {int(int(value) * factor)}, {', '.join(rest)}\n" for ms, value, *rest in rows)
    return SourceFile(f"{stem}_bw.1.log", text.encode())


def test_logs_of_two_fio_runs_go_to_the_run_whose_job_they_are_called_after():
    first, second = text_of("fio/logs.txt"), text_of("fio/logs.txt").replace("logs:", "other:")
    read = reports_of([
        SourceFile("a.txt", first.encode()), SourceFile("b.txt", second.encode()), fio_logs("logs"), fio_logs("other"),
    ])  # fmt: skip
    assert [report.part_of for report in read] == ["", "", "a.txt", "b.txt"]
    assert all(report.series for report in read[:2])


def test_logs_of_two_fio_runs_go_to_the_run_whose_figures_they_have():
    first = text_of("fio/logs.txt")
    second = text_of("fio/seqwrite.txt")
    read = reports_of([
        SourceFile("a.txt", second.encode()), SourceFile("b.txt", first.encode()), fio_logs("no_name"),
    ])  # fmt: skip
    assert [report.part_of for report in read] == ["", "", "b.txt"]


def test_logs_that_fit_two_fio_runs_say_what_to_do():
    first = text_of("fio/logs.txt").encode()
    *_, log = reports_of([SourceFile("a.txt", first), SourceFile("b.txt", first), fio_logs("no_name")])
    assert not log.part_of and "into a folder of its own" in log.warnings[-1]


# YCSB.


def test_status_lines_that_come_a_second_late_are_a_series_as_before():
    text = text_of("ycsb/run_0_17_jdbc.txt")
    late = text.replace(" 30 sec: ", " 31 sec: ")
    assert late != text and one(late).series == one(text).series != ()


def test_a_status_line_that_is_missing_is_a_gap():
    lines = text_of("ycsb/run_0_17_jdbc.txt").splitlines(keepends=True)
    report = one("".join(line for line in lines if " 30 sec: " not in line))
    assert report.series[0].values[2] is None and report.series[0].points == 6


def test_status_lines_with_decimal_commas_are_read():
    text = text_of("ycsb/run_0_17_jdbc.txt")
    comma = re.sub(r"(\d+)\.(\d+ current)", r"\1,\2", re.sub(r"Avg=(\d+)\.", r"Avg=\1,", text))
    assert comma != text and one(comma).series == one(text).series


NEVER = """[UPDATE], Operations, 0
[UPDATE], AverageLatency(us), NaN
[UPDATE], MinLatency(us), 9223372036854775807
[UPDATE], MaxLatency(us), 0
[UPDATE], 99thPercentileLatency(us), 0
[UPDATE], Return=ERROR, 299879
"""


def test_an_operation_that_never_succeeded_fails_the_run_and_the_others_are_read():
    text = re.sub(r"(?:\[UPDATE\],.*\n)+", NEVER, text_of("ycsb/run_0_17_jdbc.txt"))
    report = one(text)
    assert (report.status, report.reason) == (Status.FAILED, "no UPDATE succeeded")
    assert values(report)["read_latency_p99_ms"] == 3.253 and values(report)["update_errors"] == 299879
    assert "update_latency_avg_ms" not in values(report)


def test_a_load_of_which_nothing_succeeded_failed():
    text = "[OVERALL], RunTime(ms), 543.0\n[OVERALL], Throughput(ops/sec), 0.0\n" + NEVER.replace("UPDATE", "INSERT")
    assert (one(text).status, one(text).reason) == (Status.FAILED, "no operation succeeded")


# fio.


def test_percentiles_of_fio_2_that_are_padded_are_read():
    text = text_of("fio/fio2.json")
    padded = text.replace('"0.00" : 0', ",\n".join(['"0.00" : 0'] * 16))
    assert padded != text and one(padded) == one(text)


def test_a_percentile_that_stands_there_twice_is_refused():
    text = text_of("fio/fio2.json").replace('"50.000000" : 540,', '"50.000000" : 540,\n"50.000000" : 540,')
    assert one(text).status is Status.NOT_UNDERSTOOD


def test_two_files_of_one_fio_job_are_one_factor():
    text = text_of("fio/randrw.json")
    mark = '"job options" : {'
    two = text.replace(mark, mark + '"filename" : "/dev/sdb", "filename" : "/dev/sdc",', 1)
    assert values(one(two)) == values(one(text))


def test_a_fio_job_that_failed_keeps_the_numbers_that_hold():
    text = text_of("fio/randrw.json")
    failed = "fio: pid=9, err=84/file:verify.c:400, func=verify, error=Invalid argument\n" + re.sub(
        r'"error" : 0', '"error" : 84', text
    )
    report = one(failed)
    assert report.status is Status.FAILED and "func=verify" in report.reason
    assert values(report) == values(one(text))
    assert "the figures are those of the part that ran" in report.warnings


# HammerDB.


def power(sets: int) -> str:
    text = text_of("hammerdb/tproch_power.txt")
    begin, end = text.index("Vuser 1:Executing Query 14"), text.index("Vuser 1:FINISHED")
    each = [text[begin:end].replace("Completed 1 query", f"Completed {number} query") for number in range(1, sets + 1)]
    return text[:begin] + "".join(each) + text[end:]


def test_several_query_sets_are_told_apart():
    single, report = values(one(power(1))), one(power(3))
    assert report.status is Status.COMPLETE and report.parameters["query_sets"] == 3
    assert values(report)["elapsed_s"] == 3 * single["elapsed_s"]
    assert values(report)["geometric_mean_s"] == single["geometric_mean_s"]
    assert values(report)["set_2_query_14_s"] == single["query_14_s"]


@pytest.mark.parametrize("end", ["Error in Virtual User 1: no server\nVuser 1:FINISHED FAILED\n", "", "Vuser 1:Quer"])
def test_a_run_of_tproch_that_came_to_nothing_is_still_one_of_tproch(end):
    text = text_of("hammerdb/tproch_power.txt")
    report = one(text[: text.index("Vuser 1:Executing")] + end)
    assert report.subject.workload == "tproch" and report.parameters["scale_factor"] == 10
    assert report.status is (Status.FAILED if "FAILED" in end else Status.ABORTED)


def test_a_job_report_of_tproch_says_what_to_send():
    content = {"schema": "hammerdb-job-report-v1", "job": {"benchmark": "TPROC-H"}, "result": {"geomean_seconds": 1.3}}
    report = one(json.dumps(content), "job.json")
    assert (report.tool, report.status) == ("hammerdb", Status.NOT_UNDERSTOOD) and "send the log" in report.reason


@pytest.mark.parametrize("version", ["v4", "v5"])
def test_a_time_profile_whose_tabs_became_blanks_is_read(version):
    text = text_of(f"hammerdb/hdbxtprofile_{version}.log")
    assert "\t" in text and one(text.replace("\t", "   ")) == one(text)


# BenchBase, go-tpc, pgbench.


def test_columns_that_a_fork_adds_are_named_and_the_others_read():
    name = "tpcc_2025-11-21_08-05-45.results.csv"
    heading, *rows = text_of(f"benchbase/{name}").splitlines()
    report = one("\n".join([f"{heading},Abort Rate (%)", *(f"{row},0.5" for row in rows)]) + "\n", name)
    assert report.series == one(text_of(f"benchbase/{name}"), name).series
    assert "not read: 'Abort Rate (%)'" in report.warnings[-1]


def test_a_table_of_benchbase_with_decimal_commas_is_read():
    name = "tpcc_2025-11-21_08-05-45.results.csv"
    heading, *rows = text_of(f"benchbase/{name}").splitlines()
    commas = "\n".join([heading, *(row.replace(".", ",") for row in rows)]) + "\n"
    assert one(commas, name).series == one(text_of(f"benchbase/{name}"), name).series


def test_a_report_of_pgbench_with_decimal_commas_is_read():
    text = text_of("pgbench/v15_tpcb_progress_statements.txt")
    report = one(re.sub(r"(?<=\d)\.(?=\d)", ",", text))
    assert (report.metrics, report.series) == (one(text).metrics, one(text).series)


def test_go_tpc_without_its_word_summary_is_read():
    text = text_of("gotpc/plain.txt")
    bare = text.replace("[Summary] ", "").replace("[Current] ", "")
    assert bare != text and one(bare) == one(text)


def test_a_table_with_headings_of_its_own_spoils_no_other_run():
    table, plain = text_of("gotpc/table.txt"), text_of("gotpc/plain.txt")
    own = "\n| tpmC | threads | note |\n|------|---------|------|\n| 100.0 | 4 | mine |\n\n"
    assert told(table + own + plain) == told(table + plain)
    broken, whole = told(table.replace("COUNT", "HOW MANY") + plain)
    assert broken.status is Status.NOT_UNDERSTOOD and [whole] == told(plain)


# Refusals.


@pytest.mark.parametrize(
    ("text", "way_out"),
    [
        ("hello\n", "; send what the tool itself printed, or a table with headings, whose columns you name"),
        (text_of("pgbench/v15_tpcb_progress_statements.txt").replace("processed: 45514", "processed: 4551x"),
         "; send it as the tool wrote it, or without what is named here"),
        ("3;fio-3.33;job;0;0\n", "(--output-format=json)"),
    ],
)  # fmt: skip
def test_a_refusal_says_the_way_out_once(text, way_out):
    report = one(text)
    assert report.status is Status.NOT_UNDERSTOOD and report.reason.endswith(way_out)
    assert report.reason.count("; send ") <= 1


def test_the_words_of_a_tool_stand_wherever_its_marks_do():
    texts = [SourceFile("x", path.read_bytes()).text for path in DATA.rglob("*") if path.is_file()]
    for importer in importers():
        if isinstance(importer, Marking) and importer.WORDS:
            shown = [text for text in texts if importer.MARKS.search(text)]
            assert [text[:60] for text in shown if not any(word in text for word in importer.WORDS)] == []
