"""HammerDB is not at hand: the data is written by hand after its sources and manuals, v3 to v6."""

from __future__ import annotations

import json

import pytest
from benchagent.importers import Report, SourceFile, Status, inspect

from tests.benchagent.importers.samples import DATA, report_of, reports, sample, values

TOOL = "hammerdb"
FILES = sorted((DATA / TOOL).iterdir())


def text_of(name: str) -> str:
    return sample(TOOL, name).decode()


def read(text: str) -> list[Report]:
    return reports("x", text.encode())


def test_it_reads_every_run_of_a_loop_over_virtual_users():
    found = reports("x", sample(TOOL, "loop_v5_postgresql.txt"))
    assert [(values(run)["nopm"], values(run)["tpm"]) for run in found] == [
        (21034, 48511), (39120, 90377), (61877, 142200),
    ]  # fmt: skip
    assert [run.parameters["terminals"] for run in found] == [2, 4, 8]
    assert all(run.status is Status.COMPLETE for run in found)
    first = found[0]
    assert (first.tool, first.tool_version) == ("hammerdb", "5.0")
    assert (first.subject.workload, first.subject.dbms, first.subject.dbms_version) == ("tprocc", "postgresql", "16.4")
    assert first.parameters == {
        "terminals": 2, "warehouses": 200, "ramp_up_s": 180, "duration_s": 240, "all_warehouses": True, "vacuum": False,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("name", "dbms", "nopm", "tpm", "duration_s"),
    [
        ("hammerdb_v3_oracle.log", "oracle", 53207, 160501, 120),
        ("run_v3_mssql.txt", "mssql", 13207, 60501, 300),
        ("run_v4_db2.txt", "db2", 153207, 360501, 300),
        ("run_v4_mariadb.txt", "mariadb", 83207, 250501, 300),
    ],
)
def test_it_reads_the_result_of_every_wording(name: str, dbms: str, nopm: int, tpm: int, duration_s: int):
    report = report_of(TOOL, name)
    assert (values(report)["nopm"], values(report)["tpm"]) == (nopm, tpm)
    assert (report.subject.dbms, report.status) == (dbms, Status.COMPLETE)
    assert (report.parameters["terminals"], report.parameters["duration_s"]) == (3, duration_s)


def test_it_takes_the_start_from_the_log_of_the_virtual_users():
    assert report_of(TOOL, "hammerdb_v3_oracle.log").started_at == "2019-01-18T12:00:31Z"


@pytest.mark.parametrize(
    ("wording", "dbms"),
    [("MySQL", "mysql"), ("TimesTen", "timesten"), ("Redis", "redis"), ("Trafodion", "trafodion"), ("NewSQL", "")],
)
def test_it_reads_any_system(wording: str, dbms: str):
    report = read(text_of("run_v4_db2.txt").replace("Db2", wording))[0]
    assert (report.subject.dbms, values(report)["nopm"]) == (dbms, 153207)


def test_it_reads_asynchronous_clients():
    report = report_of(TOOL, "async_v4.txt")
    assert report.parameters["terminals"] == 1000
    assert (report.parameters["virtual_users"], report.parameters["async_clients"]) == (10, 100)


def test_it_takes_a_run_with_a_failed_virtual_user_for_failed():
    report = report_of(TOOL, "failed_v4_mysql.txt")
    assert report.status is Status.FAILED
    assert "Deadlock" in report.reason
    assert any("virtual users failed" in warning for warning in report.warnings)


def test_it_takes_a_run_without_its_result_for_aborted():
    report = read(text_of("run_v4_db2.txt").partition("Vuser 1:Test complete")[0])[0]
    assert report.status is Status.ABORTED
    assert not report.metrics


def test_it_reads_an_aborted_run_before_a_complete_one():
    text = text_of("run_v4_db2.txt")
    found = read(text.partition("Vuser 1:3 ...")[0] + "Virtual Users Destroyed\nvudestroy success\n" + text)
    assert [report.status for report in found] == [Status.ABORTED, Status.COMPLETE]


def test_it_takes_a_run_that_could_not_connect_for_failed():
    text = "Vuser 1:RUNNING\nError in Virtual User 1: Connection to database failed\nVuser 1:FINISHED FAILED\n"
    report = read("Vuser 1 created MONITOR - WAIT IDLE\n" + text)[0]
    assert (report.status, report.metrics) == (Status.FAILED, ())


def test_it_takes_no_new_orders_for_failed():
    report = read(text_of("run_v4_db2.txt").replace("153207 NOPM from 360501", "0 NOPM from 0"))[0]
    assert (report.status, report.metrics) == (Status.FAILED, ())


def test_it_leaves_out_0_tpm_beside_new_orders():
    report = read(text_of("run_v3_mssql.txt").replace("60501 SQL Server TPM", "0 Oracle TPM"))[0]
    assert values(report) == {"nopm": 13207}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("153207 NOPM from 360501", "553207 NOPM from 360501"),
        ("Db2 TPM", "Db2 TPMs"),
        ("153207", "153,207"),
        ("Vuser 1:3 Active", "Vuser 1:2 Active"),
        ("Timing test period of 5", "Timing test period of 4"),
    ],
)
def test_it_does_not_understand_figures_that_contradict_each_other(old: str, new: str):
    (report,) = read(text_of("run_v4_db2.txt").replace(old, new))
    assert (report.status, report.metrics) == (Status.NOT_UNDERSTOOD, ())


def test_it_reads_a_pasted_result_with_a_warning():
    report = read("=== vu 4 ===\nVuser 1:TEST RESULT : System achieved 42332 NOPM from 97427 PostgreSQL TPM\n")[0]
    assert values(report) == {"nopm": 42332, "tpm": 97427}
    assert any("start of this run" in warning for warning in report.warnings)


RESULT = "Vuser 1:TEST RESULT : System achieved {nopm} NOPM from {tpm} PostgreSQL TPM\n"


def test_it_reads_a_list_of_results_as_runs():
    text = "".join(RESULT.format(nopm=nopm, tpm=3 * nopm) for nopm in (300, 200, 200, 100))
    assert [values(report)["nopm"] for report in read(text)] == [300, 200, 100]


def test_it_takes_what_follows_the_command_to_run_for_another_run():
    part = (
        "hammerdb>vurun\n...\n{result}Vuser 1:FINISHED SUCCESS\nVuser 2:FINISHED SUCCESS\nALL VIRTUAL USERS COMPLETE\n"
    )
    text = "".join(part.format(result=RESULT.format(nopm=nopm, tpm=3 * nopm)) for nopm in (300, 200))
    assert [(report.status, values(report)["nopm"]) for report in read(text)] == [
        (Status.COMPLETE, 300), (Status.COMPLETE, 200),
    ]  # fmt: skip


def test_it_reads_settings_from_commands_without_answers():
    text = "diset tpcc pg_rampup 1   # minutes\nhammerdb>diset tpcc pg_count_ware 200\n" + RESULT.format(nopm=1, tpm=2)
    assert read(text)[0].parameters == {"ramp_up_s": 60, "warehouses": 200}


def test_it_reads_a_build_as_the_web_service_gives_it():
    said = ["0", "Ready to create a 6 Warehouse Oracle TPC-C schema\nin database X?", "0", "Vuser 1:RUNNING", "1",
            "CREATING TPCC SCHEMA", "1", "TPCC SCHEMA COMPLETE", "0", "Vuser 1:FINISHED SUCCESS"]  # fmt: skip
    (report,) = read(json.dumps(said, indent=1))
    assert (report.status, report.parameters["warehouses"]) == (Status.COMPLETE, 6)


def test_it_reads_a_build_that_names_its_user():
    text = (
        "Database set to PostgreSQL\nVuser 1:CREATING TPCC INDEXES\nVuser 1:POSTGRES SCHEMA COMPLETE\n"
        "Vuser 1:FINISHED SUCCESS\nALL VIRTUAL USERS COMPLETE\n"
    )
    build, run = read(text + RESULT.format(nopm=1, tpm=2))
    assert (build.status, build.subject.workload) == (Status.COMPLETE, "tprocc-load")
    assert values(run)["nopm"] == 1


@pytest.mark.parametrize("prompt", ["", "hammerdb>"])
def test_it_reads_settings_as_printed(prompt: str):
    printed = (
        "Dictionary Settings for MySQL\nconnection {\n mysql_host = 10.0.0.1\n}\ntpcc       {\n"
        " mysql_count_ware       = 40\n mysql_pass             = s3cr3t\n mysql_allwarehouse     = true\n}\n"
    )
    report = read(printed.replace("\n", f"\n{prompt}") + text_of("run_v4_mariadb.txt"))[0]
    assert (report.parameters["warehouses"], report.parameters["all_warehouses"]) == (40, True)
    assert "s3cr3t" not in repr(report)


def test_it_reads_a_schema_build():
    report = report_of(TOOL, "build_v4_mariadb.txt")
    assert (report.status, report.subject.workload, report.subject.dbms) == (
        Status.COMPLETE, "tprocc-load", "mariadb",
    )  # fmt: skip
    assert [(metric.name, metric.value, metric.phase) for metric in report.metrics] == [("load_s", 237, "load")]
    assert report.parameters == {"warehouses": 10, "build_virtual_users": 2}
    assert report.started_at == "2026-03-03T10:00:05Z"


def test_it_takes_a_build_without_its_end_for_aborted():
    report = read(text_of("build_v4_mariadb.txt").partition("Vuser 1:TPCC SCHEMA COMPLETE")[0])[0]
    assert (report.status, report.metrics) == (Status.ABORTED, ())


def test_it_reads_a_build_and_the_run_after_it():
    found = read(text_of("build_v4_mariadb.txt") + text_of("run_v4_mariadb.txt"))
    assert [report.subject.workload for report in found] == ["tprocc-load", "tprocc"]
    assert found[1].parameters["warehouses"] == 10


def test_it_reads_the_transaction_counter_in_spite_of_its_drift():
    (series,) = report_of(TOOL, "hdbtcount.log").series
    assert (series.name, series.unit, series.interval_s, series.points) == ("tpm", "TPM", 10, 30)
    assert series.values[0] == 0
    assert None not in series.values


def test_it_shows_a_missing_reading_as_a_gap():
    lines = text_of("hdbtcount.log").splitlines(keepends=True)
    (series,) = read("".join(lines[:9] + lines[10:]))[0].series
    assert (series.points, series.values[7]) == (30, None)


@pytest.mark.parametrize(("name", "users"), [("hdbxtprofile_v4.log", 3), ("hdbxtprofile_v5.log", 2)])
def test_it_reads_the_summary_of_a_time_profile(name: str, users: int):
    report = report_of(TOOL, name)
    assert report.parameters == {"terminals": users}
    found = values(report)
    assert found["new_order_latency_p95_ms"] == pytest.approx(found["new_order_latency_avg_ms"] * 2.5, rel=0.001)
    assert ("new_order_latency_p75_ms" in found) == name.endswith("v5.log")
    assert {name.split("_latency")[0] for name in found if "_latency" in name} == {
        "new_order", "payment", "delivery", "stock_level", "order_status",
    }  # fmt: skip


def test_it_does_not_understand_a_time_profile_that_does_not_add_up():
    broken = text_of("hdbxtprofile_v4.log").replace("CALLS: 26305", "CALLS: 26405")
    assert read(broken)[0].status is Status.NOT_UNDERSTOOD


@pytest.mark.parametrize("margin", ["", "bench-1  | "])
def test_it_says_what_contradicts_itself_in_a_time_profile(margin: str):
    lines = text_of("hdbxtprofile_v4.log").replace("CALLS: 26305", "CALLS: 26405").splitlines(keepends=True)
    (report,) = read("".join(f"{margin}{line}" for line in lines))
    assert report.status is Status.NOT_UNDERSTOOD and "NEWORD: the calls" in report.reason


def test_it_reads_the_windows_of_etprof_in_milliseconds():
    report = report_of(TOOL, "etprof_v3.log")
    assert values(report) == {"nopm": 64780, "tpm": 149100}
    series = {one_.name: one_ for one_ in report.series}
    first = text_of("etprof_v3.log").partition("neword|MIN-")[2].partition("P95%-")[2].partition("|")[0]
    assert series["new_order_latency_p95_ms"].values[0] == int(first) / 1000
    assert (series["new_order_latency_p95_ms"].interval_s, series["new_order_latency_p95_ms"].points) == (10, 4)


def test_it_reads_a_power_test_of_tproch():
    report = report_of(TOOL, "tproch_power.txt")
    found = values(report)
    assert (found["query_14_s"], found["geometric_mean_s"], found["elapsed_s"]) == (12.765, 8.4613, 225)
    assert report.parameters == {"scale_factor": 10, "terminals": 1}
    assert report.subject.workload == "tproch"


def test_it_reads_the_streams_of_a_throughput_test():
    found = values(report_of(TOOL, "tproch_throughput.txt"))
    assert (found["stream_1_geometric_mean_s"], found["stream_2_elapsed_s"]) == (7.25877, 168)


def test_each_power_test_of_a_log_has_the_settings_and_the_version_that_it_began_with():
    banner, _, power = text_of("tproch_power.txt").partition("\n")
    parts = [f"diset tpch maria_degree_of_parallel {degree}\n{power}" for degree in (2, 8)]
    runs = read(f"{banner}\n{parts[0]}{parts[1]}HammerDB CLI v5.0\n{power}")
    assert [run.parameters.get("degree_of_parallelism") for run in runs] == [2, 8, None]
    assert [run.tool_version for run in runs] == ["4.3", "4.3", "5.0"]


def test_it_reads_several_query_sets_and_the_refresh_functions_beside_them():
    text = text_of("tproch_power.txt")
    begin, end = text.index("Vuser 1:Executing Query"), text.index("Vuser 1:FINISHED")
    another = text[begin:end].replace("Completed 1 query set", "Completed 2 query set")
    refresh = "Vuser 1:New Sales refresh complete in 2.5 seconds\nVuser 1:Old Sales refresh complete in 1.5 seconds\n"
    (report,) = read(text[:end] + another + refresh + text[end:])
    found = values(report)
    assert report.parameters["query_sets"] == 2
    assert (found["elapsed_s"], found["set_2_elapsed_s"], found["set_1_query_14_s"]) == (450, 225, 12.765)
    assert (found["refresh_new_sales_s"], found["refresh_old_sales_s"]) == (2.5, 1.5)
    assert found["geometric_mean_s"] == found["set_2_geometric_mean_s"] == 8.4613
    assert any("several query sets" in warning for warning in report.warnings)


def test_it_does_not_understand_a_geometric_mean_of_other_queries():
    broken = text_of("tproch_power.txt").replace("query 14 completed in 12.765", "query 14 completed in 92.765")
    assert read(broken)[0].status is Status.NOT_UNDERSTOOD


def test_it_reads_the_answers_of_jobs():
    assert values(report_of(TOOL, "jobs_result.json")) == {"nopm": 225693, "tpm": 519463}
    assert report_of(TOOL, "jobs_result.json").parameters == {"terminals": 4}
    assert values(report_of(TOOL, "jobs_timing.json"))["payment_transactions"] == 43000
    (series,) = report_of(TOOL, "jobs_tcount.json").series
    assert (series.interval_s, series.points) == (10, 12)


def test_it_reads_the_output_of_a_job_as_the_web_service_gives_it():
    lines = [
        "1",
        "Beginning rampup time of 1 minutes",
        "2",
        "Processing 1000000 transactions with output suppressed...",
    ]
    lines += ["1", "Rampup 1 minutes complete ...", "1", "Timing test period of 2 in minutes", "1", "1  ...,"]
    lines += ["1", "2  ...,", "1", "Test complete, Taking end AWR snapshot.", "1", "1 Active Virtual Users configured"]
    lines += ["1", "TEST RESULT : System achieved 0 Oracle TPM at 27975 NOPM", "0", "Vuser 2:FINISHED SUCCESS"]
    (report,) = read(json.dumps(lines, indent=2))
    assert (values(report), report.subject.dbms) == ({"nopm": 27975}, "oracle")
    assert report.parameters == {"terminals": 1, "ramp_up_s": 60, "duration_s": 120}


def test_it_reads_logs_that_were_appended():
    text = text_of("hammerdb_v3_oracle.log")
    begun = text.partition("Vuser 1:Rampup complete")[0]
    found = read(begun + text.replace("12:00:31 UTC 2019", "13:00:31 UTC 2019"))
    assert [report.status for report in found] == [Status.ABORTED, Status.COMPLETE]
    assert [report.started_at[11:13] for report in found] == ["12", "13"]


def test_it_reads_an_answer_of_jobs_behind_its_run_once():
    text = text_of("run_v4_db2.txt") + 'hammerdb>jobs 66AA result\n[\n  "66AA",\n  "2025-01-20 10:33:04",\n'
    text += '  "3 Active Virtual Users configured",\n'
    text += '  "TEST RESULT : System achieved 153207 NOPM from 360501 Db2 TPM"\n]\n'
    assert [values(report)["nopm"] for report in read(text)] == [153207]


def test_it_reads_a_job_report():
    report = report_of(TOOL, "job_report_v6.json")
    assert (report.tool_version, report.started_at) == ("6.0", "2026-06-01T08:59:50")
    assert report.parameters == {"warehouses": 50, "ramp_up_s": 60, "duration_s": 120, "terminals": 8}
    assert values(report)["new_order_latency_p99_ms"] == 15.2
    assert {series.name: series.points for series in report.series}["iops"] == 18
    assert any("no time zone" in warning for warning in report.warnings)
    assert (report.subject.dbms, report.subject.dbms_version) == ("postgresql", "17.4")


def test_it_does_not_understand_a_job_report_with_two_results():
    content = json.loads(sample(TOOL, "job_report_v6.json"))
    content["result"]["nopm"] += 1
    assert read(json.dumps(content))[0].status is Status.NOT_UNDERSTOOD


def test_it_puts_the_files_of_one_run_together():
    run = text_of("run_v4_mariadb.txt").encode()
    counter = text_of("hdbtcount.log").replace("MySQL", "MariaDB").encode()
    profile = text_of("hdbxtprofile_v4.log").replace("PostgreSQL", "MariaDB").encode()
    files = [SourceFile("c.log", counter), SourceFile("r.txt", run), SourceFile("p.log", profile)]
    (_, (first,)), (_, (whole,)), (_, (third,)) = inspect(files)
    assert (first.part_of, third.part_of, whole.part_of) == ("r.txt", "r.txt", "")
    assert (first.series, third.metrics) == ((), ())
    assert values(whole)["nopm"] == 83207
    assert values(whole)["new_order_transactions"] == 26305
    assert [series.name for series in whole.series] == ["tpm"]


def test_it_leaves_apart_what_is_of_another_system():
    files = [SourceFile("c.log", sample(TOOL, "hdbtcount.log")), SourceFile("r", sample(TOOL, "run_v4_mariadb.txt"))]
    (_, (counter,)), (_, (run,)) = inspect(files)
    assert (counter.part_of, run.series) == ("", ())


def test_extracts_under_headings_are_runs_of_their_own():
    active, result = "Vuser 1:64 Active Virtual Users configured", "Vuser 1:TEST RESULT : System achieved"
    first, second = read(
        f"## PostgreSQL 16.3\n\n{active}\n{result} 412345 NOPM from 948123 PostgreSQL TPM\n\n"
        f"## PostgreSQL 17.0\n\n{active}\n{result} 431002 NOPM from 990877 PostgreSQL TPM\n"
    )
    assert [first.parameters["heading"], second.parameters["heading"]] == ["PostgreSQL 16.3", "PostgreSQL 17.0"]
    assert [values(first)["nopm"], values(second)["nopm"]] == [412345, 431002]
