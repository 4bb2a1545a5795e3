"""What copying and pasting does to a file: it is read as before, but for a last number that may have been longer."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from benchagent.importers import Report, Status

from tests.benchagent.importers.samples import DATA, reports

# Of each tool that prints text or JSON; tables and logs of numbers besides.
FILES = [
    "benchbase/histograms.json", "benchbase/oltpbench.summary", "benchbase/tpcc_2025-11-21_08-05-45.config.xml",
    "benchbase/tpcc_2025-11-21_08-05-45.raw.csv", "csv/runs.csv", "csv/samples.tsv", "fio/logs_clat.1.log",
    "gotpc/ch.txt", "gotpc/old_2020.txt", "hammerdb/jobs_timing.json", "pgbench/v15_aggregated.4242",
    "pgbench/v15_two_scripts.txt", "pgbench/v17_tpcb_progress_statements.txt", "sysbench/v04_oltp.txt",
    "sysbench/v10_fileio_rndrw.txt", "sysbench/v10_read_write.txt", "ycsb/go_ycsb.txt", "ycsb/go_ycsb_2019.txt",
    "fio/fio2_normal.txt", "fio/two_jobs.txt", "memtier/one_run.txt", "memtier/out.json", "mysqlslap/engines.txt",
    "redisbench/v7.csv", "redisbench/v7_report.txt", "tpccmysql/percona.txt",
    "benchmarksql/v5.txt", "clickbench/duckdb.json", "phoronix/composite.xml", "querytimes/duckdb_tpch.txt",
]  # fmt: skip
UNCHANGED: dict[str, Callable[[str], str]] = {
    "trailing blanks are gone": lambda text: re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE),
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "BOM": lambda text: f"\ufeff{text}",
    "colours": lambda text: "".join(f"\x1b[32m{line}\x1b[0m\n" for line in text.splitlines()),
    "a prompt behind": lambda text: text.rstrip("\n") + "\nroot@db1:~# ",
    "a prompt without a blank behind": lambda text: text.rstrip("\n") + "\n[bench@db1 ~]$",
    "empty lines behind": lambda text: f"{text}\n\n",
    "a prompt in front": lambda text: f"root@db1:~# ./run.sh\n{text}",
    "empty lines in front": lambda text: f"\n\n{text}",
}  # fmt: skip


def text_of(name: str) -> str:
    return (DATA / name).read_bytes().decode()


def told(name: str, text: str) -> list[Report]:
    return reports(name.rsplit("/", 1)[-1], text.encode())


@pytest.mark.parametrize("change", UNCHANGED)
@pytest.mark.parametrize("name", FILES)
def test_it_is_read_as_before(name, change):
    assert told(name, UNCHANGED[change](text_of(name))) == told(name, text_of(name))


@pytest.mark.parametrize("name", [name for name in FILES if name.endswith(".txt")])
def test_without_a_last_line_end_a_finished_run_stays_finished(name):
    before, now = told(name, text_of(name)), told(name, text_of(name).rstrip("\n"))
    assert [report.status for report in now] == [report.status for report in before]
    for old, new in zip(before, now, strict=True):
        assert set(new.metrics) <= set(old.metrics) and len(new.metrics) >= len(old.metrics) - 2
        # The headline is among what stays.
        assert [metric.name for metric in old.metrics if metric not in new.metrics] not in (["tps"], ["tpmc"])


@pytest.mark.parametrize("name", ["sysbench/v10_read_write.txt", "gotpc/old_2020.txt", "ycsb/go_ycsb_2019.txt"])
@pytest.mark.parametrize("share", [0.5, 0.8, 0.9])
def test_a_file_that_is_cut_short_is_never_a_finished_run(name, share):
    text = text_of(name)
    assert Status.COMPLETE not in {report.status for report in told(name, text[: int(len(text) * share)])}


def test_extracts_of_several_reports_keep_their_durations():
    """Lines from "scaling factor" on, as `grep` leaves them: equal ones begin the next report, too."""
    report = text_of("pgbench/v17_tpcb_progress_statements.txt")
    extract = report[report.index("scaling factor") :]
    more = re.sub(r"tps = (\d+)\.\d+", r"tps = \1.5", extract)
    runs = told("x.txt", extract + more + extract)
    assert [run.parameters["duration_s"] for run in runs] == [3, 3, 3]
    assert len(told("x.txt", extract + extract)) == 1


def test_the_same_json_twice_is_one_run():
    document = text_of("fio/randrw.json")
    assert told("x.json", document * 2) == told("x.json", document)


def test_terminals_that_are_said_in_passing_tell_the_runs_of_a_loop_apart():
    said = "12:00:00,000 (DBWorkload.java:1) INFO  - Creating {} virtual terminals...\n"
    result = text_of("benchbase/oltpbench_tpcc.log")
    runs = told("x.log", said.format(1) + result + said.format(16) + result)
    assert [run.parameters["terminals"] for run in runs] == [1, 16]


def test_what_go_ycsb_does_not_sum_up_is_summed_up():
    (run,) = told("x.txt", text_of("ycsb/go_ycsb_2019.txt"))
    assert {metric.name: round(metric.value, 1) for metric in run.metrics}["ops_per_s"] == round(1000 / 8.618899, 1)
    assert any("prints no total" in warning for warning in run.warnings)


@pytest.mark.parametrize(("elapsed", "seconds"), [("10:07.20", 607.2), ("1:10:07", 4207.0), ("0:03.5", 3.5)])
def test_gnu_time_is_read_in_minutes_and_in_hours(elapsed, seconds):
    report = text_of("gbak/restore_time.txt")
    report = re.sub(r"\nreal.*", "", report, flags=re.DOTALL)
    (run,) = told(
        "x.txt", f"{report}\n0.05user 0.10system {elapsed}elapsed 0%CPU (0avgtext+0avgdata 1988maxresident)k\n"
    )
    assert {metric.name: metric.value for metric in run.metrics}["restore_s"] == seconds
