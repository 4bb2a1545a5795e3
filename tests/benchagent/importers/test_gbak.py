"""gbak. The files in data/gbak are output of gbak 3.0.11; wordings of other versions come from its message file."""

from __future__ import annotations

import pytest
from benchagent.importers import Report, Status

from tests.benchagent.importers.samples import report_of, reports, sample, values

TOOL = "gbak"


def read(text: str) -> Report:
    found = reports("x", text.encode())
    assert len(found) == 1
    return found[0]


def test_it_reads_a_backup_with_statistics_and_versions() -> None:
    report = report_of(TOOL, "backup_stats_z.txt")
    assert (report.status, report.tool_version) == (Status.COMPLETE, "3.0.11.33637")
    assert values(report) == {
        "backup_s": 0.158, "backup_size_bytes": 2986496, "page_reads": 731, "page_writes": 1, "rows": 65003,
        "empty_one_rows": 0, "region_rows": 3, "orders_rows": 45000, "customer_rows": 20000,
    }  # fmt: skip
    whole, *others = report.metrics
    assert (whole.name, whole.phase, whole.better) == ("backup_s", "run", "lower")
    assert {metric.phase for metric in others} == {"backup"}
    assert report.parameters == {"page_size_bytes": 8192}
    assert (report.subject.workload, report.subject.dbms, report.subject.dbms_version) == (
        "gbak-backup",
        "firebird",
        "3.0.11",
    )


def test_it_reads_page_counters_that_wrap_around_below_zero() -> None:
    assert b" 18446744073709" in sample(TOOL, "backup_stats_z.txt")
    assert values(report_of(TOOL, "backup_stats_z.txt"))["page_reads"] == 731


def test_it_reads_a_verbose_backup_which_states_no_time() -> None:
    report = report_of(TOOL, "backup_verbose.txt")
    assert "backup_s" not in values(report)
    assert values(report)["backup_size_bytes"] == 2986496


def test_it_reads_verbose_intervals_and_fewer_columns() -> None:
    found = values(report_of(TOOL, "backup_verbint.txt"))
    assert found["orders_rows"] == 45000
    assert found["backup_s"] == 0.139
    assert "page_reads" not in found


def test_it_reads_timestamps_in_front_of_the_lines() -> None:
    assert values(report_of(TOOL, "backup_ts.txt"))["rows"] == 65003


def test_it_reads_a_run_through_the_service_manager_and_hides_its_password() -> None:
    report = report_of(TOOL, "backup_service_trace.txt")
    assert report.parameters == {"page_size_bytes": 8192, "method": "services", "garbage_collection": False}
    assert report.command_lines[0].startswith("gbak -b -v -g")
    assert b"swordfish" in sample(TOOL, "backup_service_trace.txt")
    assert "swordfish" not in repr(report)


def test_it_reads_a_restore_redirected_to_a_log() -> None:
    report = report_of(TOOL, "restore_stats.log")
    assert report.subject.workload == "gbak-restore"
    assert values(report) == {
        "restore_s": 4.523, "page_reads": 685, "page_writes": 2778, "rows": 65003,
        "region_rows": 3, "orders_rows": 45000, "customer_rows": 20000,
    }  # fmt: skip


def test_it_takes_the_time_of_the_shell() -> None:
    assert values(report_of(TOOL, "restore_time.txt"))["restore_s"] == 4.568
    text = "gbak:readied database a.fdb for backup\ngbak:closing file, committing, and finishing. 9 bytes written\n"
    gnu = text + "0.19user 1.16system 1:04.80elapsed 28%CPU (0avgtext+0avgdata 12184maxresident)k\n"
    assert values(read(gnu)) == {"backup_s": 64.8, "backup_size_bytes": 9}


def test_it_calls_errors_failed_and_keeps_their_words() -> None:
    missing = report_of(TOOL, "backup_missing.txt")
    assert missing.status is Status.FAILED
    assert "No such file or directory" in missing.reason
    assert report_of(TOOL, "restore_exists.txt").status is Status.FAILED
    late = sample(TOOL, "restore_time.txt").replace(
        b"gbak:finishing, closing", b"gbak: ERROR:cannot commit index ORDERS_NOTE\ngbak:finishing, closing"
    )
    assert [(report.status, report.metrics) for report in reports("x", late)] == [(Status.FAILED, ())]


def test_it_calls_a_killed_run_aborted_without_numbers() -> None:
    report = report_of(TOOL, "restore_killed.txt")
    assert (report.status, report.metrics) == (Status.ABORTED, ())


def test_it_reads_several_runs_of_one_file() -> None:
    both = sample(TOOL, "backup_stats_z.txt") + b"=== restore ===\n" + sample(TOOL, "restore_stats.log")
    found = reports("x", both)
    assert [report.subject.workload for report in found] == ["gbak-backup", "gbak-restore"]
    assert [report.metrics[0].value for report in found] == [0.158, 4.523]


# Firebird 1.5 and InterBase put a blank behind the colon and state no size in the old end line.
OLD = """gbak: readied database employee.gdb for backup
gbak: creating file employee.gbk
gbak: starting transaction
gbak: database employee.gdb has a page size of 4096 bytes.
gbak: writing tables
gbak:     writing table COUNTRY
gbak:     writing data for table COUNTRY
gbak: 14 records written
gbak: closing file, committing, and finishing
"""
PARALLEL = """gbak:readied database localhost:x for backup
gbak:creating file x.fbk
gbak:starting transaction
gbak:use up to 4 parallel workers
gbak:database localhost:x has a page size of 16384 bytes.
gbak:    writing table "PUBLIC"."BR_ITEMS"
gbak:    writing data for table "PUBLIC"."BR_ITEMS"
gbak:3 records written
gbak:closing file, committing, and finishing. 3072 bytes written
"""


def test_it_reads_the_wording_of_old_versions() -> None:
    assert values(read(OLD)) == {"rows": 14, "country_rows": 14}


def test_it_reads_the_wording_of_firebird_5_and_6() -> None:
    report = read(PARALLEL)
    assert report.parameters == {"parallel_workers": 4, "page_size_bytes": 16384}
    assert values(report) == {"backup_size_bytes": 3072, "rows": 3, "br_items_rows": 3}


def test_it_reads_a_restore_of_firebird_6_that_does_not_name_its_file() -> None:
    text = (
        "gbak:transportable backup -- data in XDR format\ngbak:created database /d/x.fdb, page_size 8192 bytes\n"
        'gbak:restoring table "PUBLIC"."T"\ngbak:restoring data for table "PUBLIC"."T"\ngbak:   3 records restored\n'
        "gbak:adjusting the ONLINE and FORCED WRITES flags\n"
    )
    (report,) = reports("x", text.encode())
    assert (report.status, report.subject.workload) == (Status.COMPLETE, "gbak-restore")
    assert values(report)["rows"] == 3


def test_it_reads_the_errors_of_a_restore_that_prints_nothing_else() -> None:
    text = "gbak:cannot commit index PK_X \ngbak: ERROR:invalid handle \ngbak:Exiting before completion due to errors\n"
    (report,) = reports("x", text.encode())
    assert (report.status, report.warnings) == (Status.FAILED, ("line 1: cannot commit index PK_X",))


def test_it_keeps_warnings() -> None:
    report = read(OLD.replace("gbak: closing", "gbak: warning -- record could not be restored\ngbak: closing"))
    assert any("could not be restored" in warning for warning in report.warnings)


@pytest.mark.parametrize(
    ("change", "missing"),
    [
        (("gbak:45000 records written\n", ""), {"rows", "orders_rows"}),
        (("gbak:20000 records written\ngbak:20000", "gbak:20000"), {"rows", "customer_rows"}),
        (("gbak:45000 records", f"gbak:{'9' * 30} records"), {"rows", "orders_rows"}),
        (("gbak:    writing data for table ORDERS\n", ""), {"rows", "orders_rows", "region_rows"}),
    ],
)
def test_it_leaves_out_counts_whose_lines_are_missing(change: tuple[str, str], missing: set[str]) -> None:
    text = sample(TOOL, "backup_verbose.txt").decode().replace(" \n", "\n")
    for_old = text.replace(*change)
    assert for_old != text
    report = read(for_old)
    assert not missing & values(report).keys()
    assert report.warnings


def test_it_does_not_read_decimal_commas() -> None:
    damaged = sample(TOOL, "backup_verbint.txt").replace(b".", b",")
    assert [report.status for report in reports("x", damaged)] == [Status.NOT_UNDERSTOOD]
