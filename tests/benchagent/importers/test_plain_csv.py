from __future__ import annotations

from datetime import datetime

import pytest
from benchagent.catalog import METRICS
from benchagent.importers import NotUnderstood, Report, SourceFile, Status
from benchagent.importers.plain_csv import Column, Mapping, Role, claims, guess, propose, read_mapped
from benchagent.importers.plain_csv.table import moment_of

from tests.benchagent.importers.samples import DATA, report_of, reports, sample, values

TOOL = "csv"
FILES = sorted((DATA / TOOL).iterdir())


def read(text: str) -> list[Report]:
    return reports("x", text.encode())


def file_of(text: str) -> SourceFile:
    return SourceFile("x", text.encode())


def test_it_reads_one_run_a_row():
    found = reports("x", sample(TOOL, "runs.csv"))
    assert len(found) == 18
    first = found[0]
    assert (first.tool, first.status) == ("csv", Status.COMPLETE)
    assert first.parameters == {"scale_factor": 10, "terminals": 1}
    assert (first.subject.dbms, first.subject.dbms_version) == ("postgresql", "16.4")
    assert set(values(first)) == {"tps", "latency_avg_ms", "latency_p95_ms", "latency_p99_ms", "errors"}
    cells = sample(TOOL, "runs.csv").decode().splitlines()[1].split(",")
    assert values(first)["tps"] == float(cells[5])
    assert values(first)["latency_p99_ms"] == float(cells[8])


def test_it_reads_decimal_commas_between_semicolons():
    found = reports("x", sample(TOOL, "german.csv"))
    assert [report.parameters["terminals"] for report in found] == [4, 8, 16, 32]
    assert [report.parameters["system"] for report in found] == ["alt", "alt", "neu", "neu"]
    cell = sample(TOOL, "german.csv").decode().splitlines()[1].split(";")[4]
    assert values(found[0])["latency_p95_ms"] == float(cell.replace(",", "."))
    assert "numbers have decimal commas" in found[0].warnings


def test_it_reads_samples_of_one_run():
    report = report_of(TOOL, "samples.tsv")
    assert report.metrics == ()
    assert report.parameters == {"terminals": 16}
    series = {one_.name: one_ for one_ in report.series}
    assert set(series) == {"tps", "qps", "latency_p95_ms", "errors_per_s"}
    assert (series["tps"].interval_s, series["tps"].t0_s, series["tps"].points) == (1, 0, 60)


def test_it_reads_samples_with_time_stamps():
    report = report_of(TOOL, "stamped.csv")
    (series,) = report.series
    assert (series.name, series.interval_s, series.points) == ("tpm", 10, 30)
    assert report.started_at == "2026-03-03T10:00:00+00:00"


def test_it_takes_rows_a_day_apart_for_runs():
    found = read("date,tps\n2026-03-01,100.5\n2026-03-02,101.5\n2026-03-03,99.5\n2026-03-04,98.5\n")
    assert [report.started_at for report in found][:2] == ["2026-03-01", "2026-03-02"]
    assert [values(report)["tps"] for report in found] == [100.5, 101.5, 99.5, 98.5]


def test_it_keeps_what_a_row_says_of_its_end():
    found = reports("x", sample(TOOL, "status.csv"))
    assert [report.status for report in found] == [Status.COMPLETE, Status.COMPLETE, Status.ABORTED, Status.FAILED]
    assert found[3].metrics == ()
    assert found[0].started_at == "2026-01-02T10:00:00"


@pytest.mark.parametrize(
    ("heading", "name", "printed", "value"),
    [
        ("latency p95 (ms)", "latency_p95_ms", "4.5", 4.5),
        ("latency_p95_us", "latency_p95_ms", "4500", 4.5),
        ("95th percentile latency (ms)", "latency_p95_ms", "4.5", 4.5),
        ("p99.9 (ms)", "latency_p999_ms", "4.5", 4.5),
        ("Average Latency (s)", "latency_avg_ms", "0.0045", 4.5),
        ("lat_max_ms", "latency_max_ms", "4.5", 4.5),
        ("transactions per second", "tps", "4.5", 4.5),
        ("ops/sec", "ops_per_s", "4.5", 4.5),
        ("NOPM", "nopm", "45", 45),
    ],
)
def test_it_recognises_obvious_headings(heading: str, name: str, printed: str, value: float):
    (report,) = read(f"threads,{heading}\n4,{printed}\n")
    assert values(report) == {name: pytest.approx(value)}


@pytest.mark.parametrize(
    "heading", ["throughput", "latency", "latency_p95", "p100 (ms)", "duration", "foo", "elapsed_s", "shared_buffers"]
)
def test_it_asks_for_a_mapping_where_a_number_is_in_doubt(heading: str):
    (report,) = read(f"threads,tps,{heading}\n4,100.5,3\n")
    assert (report.tool, report.status, report.metrics) == ("csv", Status.NOT_UNDERSTOOD, ())
    assert "mapping" in report.reason
    assert repr(heading) in report.reason


@pytest.mark.parametrize(
    "text",
    [
        "| threads | tps |\n|---|---:|\n| 1 | 100.5 |\n| 2 | 190.5 |\n",
        " threads |  tps  \n---------+-------\n       1 | 100.5\n       2 | 190.5\n(2 rows)",
        "+---------+-------+\n| threads | tps   |\n+---------+-------+\n|       1 | 100.5 |\n|       2 | 190.5 |\n"
        "+---------+-------+\n2 rows in set (0.00 sec)\n",
    ],
)
def test_it_reads_tables_as_markdown_and_clients_draw_them(text: str):
    told = [(report.parameters, values(report), report.warnings) for report in read(text)]
    assert told == [({"terminals": 1}, {"tps": 100.5}, ()), ({"terminals": 2}, {"tps": 190.5}, ())]


def test_it_asks_for_a_mapping_where_two_columns_mean_the_same():
    (report,) = read("threads,clients,tps\n4,8,100.5\n")
    assert "'threads', 'clients'" in report.reason


def test_it_reads_by_the_mapping_of_the_caller():
    mapping = Mapping(
        (
            Column("n", Role.FACTOR, "terminals"),
            Column("thrpt", Role.METRIC, "tps", "TPS", better="higher"),
            Column("lat", Role.METRIC, "latency_avg_ms", "ms", scale=0.001),
        ),
        workload="TPC-B",
    )
    (report,) = read_mapped(file_of("n,thrpt,lat,other\n4,100.5,1500,x\n"), mapping)
    assert values(report) == {"tps": 100.5, "latency_avg_ms": 1.5}
    assert (report.parameters, report.subject.workload) == ({"terminals": 4}, "tpc-b")


def test_it_proposes_a_mapping_for_the_columns_it_knows():
    mapping = propose(file_of("threads,tps,foo\n4,100.5,3\n"))
    assert [column.role for column in mapping.columns] == [Role.FACTOR, Role.METRIC, Role.IGNORE]


def test_it_names_the_column_that_a_mapping_wants_and_the_table_has_not():
    with pytest.raises(NotUnderstood, match="'tps'"):
        read_mapped(file_of("a,b\n1,2\n"), Mapping((Column("tps", Role.METRIC, "tps", "TPS"),)))


def test_it_does_not_read_a_cell_that_is_no_number():
    mapping = Mapping((Column("tps", Role.METRIC, "tps", "TPS"),))
    whole, bad = read_mapped(file_of("n,tps\n1,2\n2,about 3\n"), mapping)
    assert values(whole) == {"tps": 2} and "line 3, column 'tps'" in bad.reason
    with pytest.raises(NotUnderstood, match="line 2, column 'tps'"):
        read_mapped(file_of("n,tps\n1,none so far\n2,about 3\n"), mapping)


def test_it_shows_missing_cells_as_gaps():
    (first, second) = read("threads,tps,errors\n4,100.5,\n8,190.5,2\n")
    assert values(first) == {"tps": 100.5}
    assert any("says nothing of errors" in warning for warning in first.warnings)
    assert values(second) == {"tps": 190.5, "errors": 2}


def test_it_does_not_read_the_same_repeat_twice():
    (report,) = read("threads,repeat,tps\n4,1,100.5\n4,1,101.5\n")
    assert report.status is Status.NOT_UNDERSTOOD


def test_it_does_not_read_ambiguous_commas():
    assert read("threads;tps\n4;1,234\n8;2,345\n")[0].status is Status.NOT_UNDERSTOOD
    assert read("threads;tps\n4;1.5\n8;2,5\n")[0].status is Status.NOT_UNDERSTOOD


def test_it_leaves_out_a_last_line_that_may_be_cut():
    (report,) = read("threads,tps\n4,100.5\n8,19")
    assert values(report) == {"tps": 100.5}
    assert any("may be cut" in warning for warning in report.warnings)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\n1\n",
        "a,b\n",
        "1,2\n3,4\n",
        "a,b\n1,2,3\n",
        "a,a\n1,2\n",
        '{"a": 1,\n "b": 2}\n',
        "one, two\nthree, four\n",
    ],
)
def test_it_claims_tables_only(text: str):
    assert not claims(file_of(text))


def test_it_keeps_no_secret():
    (report,) = read("password,threads,tps\nhunter2,4,100.5\n")
    assert "hunter2" not in repr(report)


def test_a_guess_names_what_was_set_and_what_was_measured_and_nothing_is_read_by_it():
    text = "engine_opts,fill,value\nalpha,10,1.5\nbeta,10,1.7\nalpha,20,2.5\nbeta,20,2.75\n"
    guessed = {column.heading: (column.role, column.name) for column in guess(file_of(text)).columns}
    assert guessed == {
        "engine_opts": (Role.FACTOR, "engine_opts"), "fill": (Role.FACTOR, "fill"), "value": (Role.METRIC, "value"),
    }  # fmt: skip
    assert read(text)[0].status is Status.NOT_UNDERSTOOD
    (timed,) = [column for column in guess(file_of("tps,commit_us\n1.5,250\n2.5,260.5\n")).columns if column.scale != 1]
    assert (timed.role, timed.name, timed.unit, timed.scale) == (Role.METRIC, "commit_ms", "ms", 0.001)


def test_it_guesses_dbms_by_their_names_and_rates_by_their_unit():
    text = "system,db_version,rows_m,throughput (req/s)\nPostgreSQL,16.4,10,659.7\nMariaDB,11.4,10,601.2\n"
    guessed = {column.heading: column for column in guess(file_of(text)).columns}
    assert (guessed["system"].role, guessed["db_version"].role) == (Role.DBMS, Role.DBMS_VERSION)
    rate = guessed["throughput (req/s)"]
    assert (rate.role, rate.name, rate.unit, rate.better) == (Role.METRIC, "requests_per_s", "requests/s", "higher")
    (other,) = [
        column for column in guess(file_of(text.replace("MariaDB", "mine"))).columns if column.heading == "system"
    ]
    assert other.role is Role.FACTOR
    tps = {column.heading: column.name for column in guess(file_of("dbms,rate in tx/sec\nh2,4.5\nh2,5.5\n")).columns}
    assert tps["rate in tx/sec"] == "tps"


def test_it_guesses_the_aggregate_report_of_jmeter():
    text = (
        "Label,# Samples,Average,Median,90% Line,95% Line,99% Line,Min,Max,Error %,Throughput,Received KB/sec\n"
        "insert,1000,12,11,20,25,40,3,99,0.000%,81.5,120.25\nselect,1200,8,7,15,19,33,2,80,0.000%,92.5,130.5\n"
    )
    guessed = {column.heading: column for column in guess(file_of(text)).columns}
    assert (guessed["90% Line"].name, guessed["90% Line"].unit) == ("latency_p90_ms", "ms")
    assert (guessed["Throughput"].name, guessed["Throughput"].better) == ("requests_per_s", "higher")
    assert guessed["Label"].role is Role.FACTOR
    told = read_mapped(file_of(text), guess(file_of(text)))
    assert values(told[0])["latency_p99_ms"] == 40


BENCHBASE = """dbms,terminals,scalefactor,Average Latency (microseconds),Throughput (requests/second)
postgres,8,10,4391,1820.33
mysql,8,10,6050,1320.7
"""
CLICKBENCH = """system,machine,load_time,data_size,query,run,time
DuckDB,c6a.4xlarge,120.5,14220000000,1,1,0.031
DuckDB,c6a.4xlarge,120.5,14220000000,1,2,0.004
DuckDB,c6a.4xlarge,120.5,14220000000,2,1,0.212
DuckDB,c6a.4xlarge,120.5,14220000000,2,2,0.034
"""


def test_it_guesses_tables_of_benchbase_and_clickbench():
    first, _ = read_mapped(file_of(BENCHBASE), guess(file_of(BENCHBASE)))
    assert first.parameters == {"terminals": 8, "scale_factor": 10} and first.subject.dbms == "postgresql"
    # The rate comes first, whatever the order of the columns.
    assert [(metric.name, metric.unit, metric.value) for metric in first.metrics] == [
        ("tps", "TPS", 1820.33), ("latency_avg_ms", "ms", 4.391),
    ]  # fmt: skip
    first, *_ = read_mapped(file_of(CLICKBENCH), guess(file_of(CLICKBENCH)))
    assert first.parameters == {"query": 1}
    assert (first.subject.dbms, first.subject.machine) == ("DuckDB", "c6a.4xlarge")
    assert values(first) == {"load_s": 120.5, "time_s": 0.031, "data_size_bytes": 14220000000}


@pytest.mark.parametrize(
    ("cells", "cause"), [('"1,234"', "'1,234' is no plain number"), ("N/A", "no cell of it holds a value")]
)
def test_a_refusal_says_what_in_a_column_is_no_number(cells, cause):
    (report,) = read(f"threads,tps\n1,{cells}\n2,{cells}\n")
    assert report.status is Status.NOT_UNDERSTOOD and f"'tps' ({cause})" in report.reason


def test_a_refusal_says_so_too_where_no_other_column_holds_a_number():
    (report,) = read('system,tps\na,"1,234"\nb,"2,000"\n')
    assert "'tps' ('1,234' is no plain number)" in report.reason


def test_it_reads_a_throughput_of_transactions_a_second():
    (report,) = read("threads;throughput (tx/s);avg latency (us)\n8;4120,1;1940\n")
    assert values(report) == {"tps": 4120.1, "latency_avg_ms": 1.94}


def test_a_bad_cell_of_a_known_column_takes_its_own_row_only():
    first, bad, last = read("threads,tps\n1,812.5\n8,err\n64,6021.9\n")
    assert [values(first), values(last)] == [{"tps": 812.5}, {"tps": 6021.9}]
    assert bad.status is Status.NOT_UNDERSTOOD and "line 3, column 'tps'" in bad.reason


def test_it_reads_a_titled_table_with_marks_of_thousands():
    text = "Results on m5.large:\n\n| Threads | TPS |\n|---:|---:|\n| 1 | 312.4 |\n| 4 | 1,102.7 |\n| 16 | 2,845 |\n"
    assert [values(report)["tps"] for report in read(text)] == [312.4, 1102.7, 2845]


@pytest.mark.parametrize("heading", ["when", "date", "timestamp", "measured_on", "Measured at"])
@pytest.mark.parametrize("days", [("2026-05-04", "2026-05-05"), ("2026/05/04 12:00", "2026/05/09 12:00")])
def test_it_takes_a_column_of_dates_for_the_time_of_measuring(heading: str, days: tuple[str, str]):
    text = f"{heading},threads,tps\n{days[0]},4,10\n{days[1]},8,20\n"
    assert guess(file_of(text)).columns[0].role is Role.STARTED_AT
    first, last = read(text)
    assert first.started_at.startswith("2026-05-04") and last.started_at > first.started_at
    assert first.parameters == {"terminals": 4}


def test_it_reads_marks_of_thousands_among_whole_numbers():
    assert [run.parameters["terminals"] for run in read('threads,tps\n8,5\n"1,500",10\n1500,11\n')] == [8, 1500, 1500]
    assert [values(run)["tps"] for run in read('threads,tps\n8,987\n16,"1,234"\n')] == [987, 1234]


@pytest.mark.parametrize("other", ["2.5", '"0,125"', '"2,250"'])
def test_it_says_where_a_comma_may_be_decimal(other: str):
    (refused,) = {run.reason for run in read(f'threads,tps\n"1,500",10\n{other},11\n') if "1,500" in run.reason}
    assert "threads" in refused


def test_it_says_of_a_day_that_its_month_may_come_first():
    (refused,) = read("date,threads,tps\n04/05/2026,4,10\n05/05/2026,8,20\n")
    assert refused.status is Status.NOT_UNDERSTOOD and "'date'" in refused.reason and "04/05/2026" in refused.reason


def nights_of(heading: str, stamp: str, nights: int = 4, minutes: int = 3, *, repeat: bool = False) -> str:
    """Three runs of each night; `stamp` is a format of their times."""
    rows = [f"dbms,version,{heading},{'repeat,' * repeat}tps"]
    for night in range(nights):
        for at in range(3):
            begun = datetime(2026, 11, 1 + night, 0, 30 + minutes * at)
            rows.append(f"PostgreSQL,16.4,{begun:{stamp}},{f'{at + 1},' * repeat}{1000 + night + at / 10}")
    return "\n".join(rows) + "\n"


@pytest.mark.parametrize("nights", [2, 4, 12])
@pytest.mark.parametrize("minutes", [3, 10])
@pytest.mark.parametrize("stamp", ["%Y-%m-%dT%H:%M:%S+02:00", "%Y-%m-%d %H:%M", "%Y-%m-%d"])
@pytest.mark.parametrize("repeat", [True, False])
def test_repeats_of_several_nights_are_runs(nights: int, minutes: int, stamp: str, repeat: bool):
    """Seen: one run of "samples", 141 of 147 missing; or "no plain number", or "the same repeat as in line 2"."""
    found = read(nights_of("started_at", stamp, nights, minutes, repeat=repeat))
    assert {report.status for report in found} == {Status.COMPLETE}
    assert len(found) == 3 * nights and not any(report.series or report.parameters for report in found)
    assert [values(report)["tps"] for report in found[:4]] == [1000, 1000.1, 1000.2, 1001]
    assert {report.started_at[:10] for report in found[:3]} == {"2026-11-01"}


def test_days_are_those_of_runs_under_any_heading():
    assert len(read(nights_of("date", "%Y-%m-%d"))) == 12


def test_times_that_may_be_of_runs_or_of_samples_are_asked():
    (report,) = read(nights_of("timestamp", "%Y-%m-%d %H:%M"))
    assert report.status is Status.NOT_UNDERSTOOD
    assert "'timestamp' (times of runs, or of the samples of one run)" in report.reason


def test_the_same_repeat_of_the_same_time_is_refused_as_before():
    text = "date,repeat,tps\n2026-11-01,1,100\n2026-11-02,1,101\n2026-11-01,1,102\n"
    (report,) = read(text)
    assert "line 4: the same repeat as in line 2" in report.reason


@pytest.mark.parametrize(("zone", "hours"), [("CET", 1), ("CEST", 2), ("UTC", 0)])
def test_a_zone_by_name_is_read_where_it_is_one(zone: str, hours: int):
    """Seen: the times became a factor `started_at`, each row another question, and the runs were of today."""
    first, *_ = read(nights_of("started_at", f"%Y-%m-%d %H:%M:%S {zone}"))
    assert first.parameters == {} and first.started_at == f"2026-11-01T00:30:00+0{hours}:00"


def test_a_zone_whose_name_is_several_is_asked():
    (report,) = read(nights_of("started_at", "%Y-%m-%d %H:%M:%S CST"))
    assert "'started_at' (a zone is written as +01:00, not 'CST')" in report.reason


@pytest.mark.parametrize("name", [*METRICS])
def test_a_heading_that_is_a_metric_of_the_catalogue_is_that_metric(name: str):
    """Seen: `backup_s` was "not recognised without doubt", and proposed as backup_ms."""
    text = f"dbms,version,{name}\nPostgreSQL,16.4,0.12\nPostgreSQL,16.4,0.25\n"
    for mapping in (propose(file_of(text)), guess(file_of(text))):
        (column,) = mapping.of(Role.METRIC)
        # Importers call the mean an average, and spell two units otherwise: a document has the catalogue's.
        assert column.name == name.replace("latency_mean", "latency_avg") and column.scale == 1
        assert column.better == METRICS[name].better or column.name in ("ops_per_s", "tpmc")
    assert {report.status for report in read(text)} == {Status.COMPLETE}


@pytest.mark.parametrize(("heading", "scale"), [("Backup (s)", 1), ("restore [sec]", 1), ("restore ms", 0.001)])
def test_a_time_of_the_catalogue_is_proposed_in_its_unit(heading: str, scale: float):
    (column,) = guess(file_of(f"dbms,{heading}\nPostgreSQL,30.12\nMySQL,30.25\n")).of(Role.METRIC)
    assert (column.name.removesuffix("_s"), column.unit) == (heading.split(maxsplit=1)[0].lower(), "s")
    assert column.scale == pytest.approx(scale)


def test_a_version_has_a_point_among_decimal_commas():
    """Seen: every German table with a version was refused, "a decimal point and numbers with a comma in one table"."""
    (report,) = read("Threads;DBMS;Version;TPS\n4;PostgreSQL;16.4;1000,5\n")
    assert (report.subject.dbms_version, values(report)["tps"]) == ("16.4", 1000.5)
    (mixed,) = read("threads;tps;latency avg (ms)\n4;1000.5;3,25\n")
    assert mixed.status is Status.NOT_UNDERSTOOD and "a decimal point and numbers with a comma" in mixed.reason


def test_none_is_a_value_of_a_factor_and_a_gap_of_a_metric():
    """Seen: the runs without compression had "codec not set"."""
    runs = read("codec,tps\nsnappy,1000\nnone,1200\nnil,1300\nzstd,none\n,900\n")
    assert [run.parameters.get("codec") for run in runs] == ["snappy", "none", "nil", "zstd", None]
    assert not runs[3].metrics


def test_a_night_that_has_another_day_in_utc_says_so():
    night, noon, plain_day = read(
        "started_at,tps\n2026-11-01T00:30:00+02:00,10\n2026-11-02T12:00:00+02:00,11\n2026-11-03,12\n"
    )
    assert night.warnings == ("line 2: 2026-11-01T00:30:00+02:00 is 2026-10-31 in UTC, by which days are told",)
    assert night.started_at == "2026-11-01T00:30:00+02:00" and not noon.warnings and not plain_day.warnings


GERMAN = """Datum;System;Version;Terminals;Durchsatz (TPS);Latenz p95 (ms)
14.06.2023;PostgreSQL;14.6;32;2.345,67;18,4
15.06.2023;PostgreSQL;14.6;32;998,5;18,2
16.06.2023 10:15;MySQL;8.0.35;32;1.875;24,1
"""


def test_it_reads_a_german_table_by_its_proposal():
    """Was: "not a plain number: '2.345,67'" also by a mapping; the proposal left the throughput and the day out."""
    file = file_of(GERMAN)
    (refused,) = read(GERMAN)
    assert refused.reason.count("Durchsatz") == 1 and "Datum" not in refused.reason and "Latenz" not in refused.reason
    mapping = guess(file)
    assert [(column.role, column.name) for column in mapping.columns] == [
        (Role.STARTED_AT, ""), (Role.DBMS, ""), (Role.DBMS_VERSION, ""), (Role.FACTOR, "terminals"),
        (Role.METRIC, "tps"), (Role.METRIC, "latency_p95_ms"),
    ]  # fmt: skip
    found = read_mapped(file, mapping)
    assert [values(report)["tps"] for report in found] == [2345.67, 998.5, 1875]
    assert [report.started_at for report in found] == ["2023-06-14", "2023-06-15", "2023-06-16T10:15:00"]
    assert found[2].subject.dbms_version == "8.0.35"


@pytest.mark.parametrize(("column", "bad"), [(("1.234", "2.345"), "1.234"), (("2.345,67", "998.5"), "998.5")])
def test_a_point_that_may_be_decimal_is_refused_by_name(column, bad):
    first, second = column
    (refused,) = read(f"terminals;tps;p95 ms\n4;{first};18,4\n8;{second};18,2\n")
    assert refused.status is Status.NOT_UNDERSTOOD
    assert f"{bad!r} of column 'tps' may be either" in refused.reason


def test_a_unit_at_the_end_of_a_heading_is_proposed_with_its_scale():
    mapping = guess(file_of("terminals,kTPS,Durchsatz QPS\n4,1.5,16000\n8,2.5,17000\n"))
    assert [(each.name, each.unit, each.scale) for each in mapping.of(Role.METRIC)] == [
        ("tps", "TPS", 1000), ("qps", "queries/s", 1)
    ]  # fmt: skip


@pytest.mark.parametrize("day", ["31.02.2023", "2023.06.14", "14.13.2023", "14.06.23", "1.2.3.4", "14.06.2023.1"])
def test_what_is_no_day_with_points_is_none(day):
    assert moment_of(day) is None


def test_bytes_a_second_at_the_end_of_a_heading_are_proposed_as_a_rate():
    """Seen: `rate (KB/s)` as a factor, and `backup MB/s` as a metric without a unit."""
    rows = "A,1200,33.5,1.5\nA,1200,33.6,1.6\n"
    mapping = guess(file_of(f"system,rate (KB/s),backup MB/s,GiB/s\n{rows}"))
    told = [(each.name, each.unit, each.scale, each.better) for each in mapping.of(Role.METRIC)]
    assert told == [
        ("rate_mb_per_s", "MB/s", 0.001, "higher"),
        ("backup_mb_per_s", "MB/s", 1.0, "higher"),
        ("mb_per_s", "MB/s", pytest.approx(1073.74, rel=1e-5), "higher"),
    ]
