"""BenchmarkSQL is in no package registry: the data is written by hand after its published log and the sources of 6."""

from __future__ import annotations

import pytest
from benchagent.importers import Status

from tests.benchagent.importers.samples import DATA, report_of, reports, sample, values

TOOL = "benchmarksql"
FILES = sorted((DATA / TOOL).iterdir())


def test_it_reads_version_5():
    report = report_of(TOOL, "v5.txt")
    assert (report.tool, report.tool_version, report.status) == ("BenchmarkSQL", "5.0", Status.COMPLETE)
    assert values(report) == {"tpmc": 4145.31, "tpm": 9213.05, "transactions": 46069, "elapsed_s": 300}
    assert report.parameters == {
        "warehouses": 10, "terminals": 20, "duration_s": 300, "terminal_warehouse_fixed": True,
        "new_order_weight": 45, "payment_weight": 43, "order_status_weight": 4, "delivery_weight": 4,
        "stock_level_weight": 4,
    }  # fmt: skip
    assert (report.subject.dbms, report.started_at) == ("postgresql", "2026-03-01T14:40:03")


def test_it_reads_version_6():
    report = report_of(TOOL, "v6.txt")
    told = values(report)
    assert (told["nopm"], told["tpm"], told["efficiency_pct"], told["transactions"]) == (5210, 11575, 81.03, 46300)
    assert (told["new_order_latency_p90_ms"], told["delivery_bg_transactions"]) == (21, 1845)
    assert (report.parameters["duration_s"], report.parameters["ramp_up_s"], report.subject.dbms) == (
        240,
        60,
        "firebird",
    )


def test_it_reads_results_alone_and_several():
    result = sample(TOOL, "v5.txt").decode().partition("\b" * 20)[2]
    again = result.replace("4145.31", "4245.31").replace("9213.05", "9313.05").replace("46069", "46565")
    first, second = reports("x", f"{result}{again}".encode())
    assert [values(report)["tpmc"] for report in (first, second)] == [4145.31, 4245.31]


def test_it_takes_a_log_without_its_result_for_aborted():
    (report,) = reports("x", sample(TOOL, "v5.txt").partition(b"Term-00, Running")[0])
    assert (report.status, report.metrics, report.parameters["warehouses"]) == (Status.ABORTED, (), 10)


@pytest.mark.parametrize(
    ("name", "old", "new", "why"),
    [
        ("v5.txt", "Count = 46069", "Count = 4606", "transactions by time are not 9213.05 a minute"),
        ("v5.txt", "tpmTOTAL = 9213.05", "tpmTOTAL = 9213,05", "a decimal comma may mean two things"),
        ("v6.txt", "  19,912 ", "  29,912 ", "the counts of the transactions are not their rates"),
        ("v6.txt", "warehouses=500", "warehouses=100", "is not the share of 100 warehouses"),
        ("v6.txt", "| PAYMENT ", "| PAYMEN ", ""),
    ],
)
def test_it_refuses_what_contradicts_itself(name: str, old: str, new: str, why: str):
    text = sample(TOOL, name).decode()
    assert old in text
    (report,) = reports("x", text.replace(old, new, 1).encode())
    assert report.status is Status.NOT_UNDERSTOOD
    assert why in report.reason
