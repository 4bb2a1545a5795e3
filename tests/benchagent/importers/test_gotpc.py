"""go-tpc cannot be fetched here, so the data is written by hand after its sources, version by version."""

from __future__ import annotations

import pytest
from benchagent.importers import Report, Status

from tests.benchagent.importers.samples import DATA, report_of, reports, sample, values

TOOL = "gotpc"
FILES = sorted((DATA / TOOL).iterdir())


def text_of(name: str) -> str:
    return sample(TOOL, name).decode()


def read(text: str) -> list[Report]:
    return reports("x", text.encode())


def test_it_reads_a_plain_run():
    report = report_of(TOOL, "plain.txt")
    assert (report.tool, report.status) == ("go-tpc", Status.COMPLETE)
    assert report.parameters == {
        "warehouses": 4, "terminals": 4, "duration_s": 65, "driver": "postgres", "conn_params": "sslmode=disable",
    }  # fmt: skip
    found = values(report)
    assert found["tpmc"] == 17305.8
    assert found["tpm"] == 38603.6
    assert found["transactions"] == 1646 + 18756 + 1683 + 18078 + 1660
    assert (found["new_order_transactions"], found["new_order_errors"], found["payment_errors"]) == (18756, 3, 2)
    assert found["new_order_latency_p95_ms"] == 16.9
    assert "new_order_err_transactions" not in found


def test_it_reads_the_intervals_as_series():
    series = {one_.name: one_ for one_ in report_of(TOOL, "plain.txt").series}
    assert (series["tpmc"].interval_s, series["tpmc"].unit) == (10.0, "tpmC")
    assert series["tpmc"].values == (15647.1, 18962.9, 15965.8, 17622.2, 20182.3, 15741.0)
    assert series["tpm"].values[0] == 37858.4


@pytest.mark.parametrize(
    ("name", "tpmc", "tpm", "warehouses"), [("json.txt", 12649.6, 28260.7, 10), ("table.txt", 6923.9, 15975.9, 2)]
)
def test_it_reads_every_output_style(name: str, tpmc: float, tpm: float, warehouses: int):
    report = report_of(TOOL, name)
    assert (values(report)["tpmc"], values(report)["tpm"]) == (tpmc, tpm)
    assert report.parameters["warehouses"] == warehouses
    assert [series.name for series in report.series] == ["tpm", "tpmc"]


def test_it_reads_the_boxes_of_newer_tables():
    boxed = text_of("table.txt").replace("|", "│").replace("+", "┼").replace("-", "─")
    assert values(read(boxed)[0]) == values(report_of(TOOL, "table.txt"))


def test_it_reads_versions_without_50th_95th_and_max():
    found = values(report_of(TOOL, "old_2020.txt"))
    assert found["tpmc"] == 540.0
    assert "tpm" not in found
    assert found["payment_errors"] == 4
    assert {name for name in found if name.startswith("new_order_latency")} == {
        "new_order_latency_avg_ms", "new_order_latency_p90_ms", "new_order_latency_p99_ms",
        "new_order_latency_p999_ms",
    }  # fmt: skip


def test_it_reads_rows_that_lack_the_figures_of_a_rate():
    whole = text_of("plain.txt")
    (report,) = read(whole.replace("Takes(s): 10.0, ", "").replace("Takes(s): 9.9, ", ""))
    assert (report.status, report.series) == (Status.COMPLETE, ())
    (report,) = read(whole.replace("TPM: 17305.8, ", ""))
    assert report.status is Status.NOT_UNDERSTOOD and "tpmTotal" in report.reason


def test_it_computes_averages_where_a_build_printed_wrong_ones():
    report = report_of(TOOL, "averages_2021.txt")
    assert values(report)["new_order_latency_avg_ms"] == pytest.approx(4861361 / 21109, abs=0.001)
    assert "new_order_latency_p99_ms" not in values(report)
    assert any("Sum / Count" in warning for warning in report.warnings)


def test_it_leaves_out_a_single_average_that_contradicts_its_sum():
    report = read(text_of("plain.txt").replace("Avg(ms): 6.6", "Avg(ms): 66.6"))[0]
    assert "new_order_latency_avg_ms" not in values(report)
    assert values(report)["payment_latency_avg_ms"] > 0
    assert any("NEW_ORDER" in warning for warning in report.warnings)


def test_it_reads_the_queries_of_tpch():
    report = report_of(TOOL, "tpch.txt")
    assert values(report) == {f"query_{n}_s": pytest.approx(value) for n, value in _queries().items()}
    assert report.metrics[0].phase == "query"
    assert report.subject.workload == "tpch-go-tpc"
    assert report.parameters == {"scale_factor": 10, "terminals": 1, "transactions": 22}


def _queries() -> dict[int, float]:
    seconds = [7.62, 1.70, 4.31, 1.2, 3.56, 0.98, 2.27, 1.9, 11.21, 3.27, 1.46, 3.51, 3.37, 3.15, 7.02, 1.59, 9.70,
               16.20, 4.31, 2.97, 6.71, 1.75]  # fmt: skip
    return dict(enumerate(seconds, start=1))


def test_it_reads_ch_benchmark():
    report = report_of(TOOL, "ch.txt")
    assert report.subject.workload == "ch-go-tpc"
    assert (values(report)["qphh"], values(report)["query_10_latency_avg_ms"]) == (144.2, 402.1)
    assert values(report)["tpmc"] == 9604.7


def test_it_reads_a_prepare_as_a_load():
    report = report_of(TOOL, "prepare.txt")
    assert report.status is Status.COMPLETE
    assert report.parameters == {"warehouses": 3, "terminals": 2, "driver": "postgres"}
    assert report.subject.workload == "tpcc-go-tpc-load"
    assert not report.metrics


def test_it_takes_a_prepare_without_its_end_for_aborted():
    report = read(text_of("prepare.txt").replace("Finished\n", ""))[0]
    assert report.status is Status.ABORTED
    assert report.parameters["terminals"] == 2


def test_it_takes_a_prepare_with_a_panic_for_failed():
    broken = text_of("prepare.txt") + "panic: a fatal occurred when preparing data: pq: password=hunter2 is wrong\n"
    report = read(broken)[0]
    assert report.status is Status.FAILED
    assert "hunter2" not in report.reason


def test_it_takes_an_interrupted_run_for_aborted_whatever_its_summary():
    report = report_of(TOOL, "interrupted.txt")
    assert report.status is Status.ABORTED
    assert "the figures are of the part that ran" in report.warnings


OF_2020 = """\
$ tiup bench tpcc -H 10.0.0.1 --warehouses 4 run
[Summary] DELIVERY - Takes(s): 60.0, Count: 3, TPM: 3.0, Sum(ms): 3000, Avg(ms): 1000, 90th(ms): 1500, 99th(ms): 1500
[Summary] NEW_ORDER - Takes(s): 60.0, Count: 31, TPM: 31.0, Sum(ms): 3100, Avg(ms): 100, 90th(ms): 512, 99th(ms): 1500
[Summary] ORDER_STATUS - Takes(s): 60.0, Count: 2, TPM: 2.0, Sum(ms): 200, Avg(ms): 100, 90th(ms): 512, 99th(ms): 512
[Summary] PAYMENT - Takes(s): 60.0, Count: 32, TPM: 32.0, Sum(ms): 3200, Avg(ms): 100, 90th(ms): 512, 99th(ms): 512
[Summary] STOCK_LEVEL - Takes(s): 60.0, Count: 4, TPM: 4.0, Sum(ms): 400, Avg(ms): 100, 90th(ms): 512, 99th(ms): 512
"""


def test_it_takes_a_whole_summary_without_tpmc_for_complete_where_the_log_goes_on():
    (whole,) = read(OF_2020 + "$ exit\n")
    assert (whole.status, whole.metric("tpmc"), whole.metric("new_order_tpm")) == (Status.COMPLETE, None, 31.0)
    assert whole.parameters["warehouses"] == 4
    assert read(OF_2020)[0].status is Status.ABORTED
    assert read(OF_2020.replace(", 90th", ", 50th(ms): 50, 90th") + "$ exit\n")[0].status is Status.ABORTED


def test_it_keeps_the_command_of_a_run_that_shows_its_result_alone():
    text = "".join(f"$ go-tpc tpcc --warehouses {count} run\ntpmC: {count}.5\n" for count in (1, 2, 3))
    assert [report.parameters["warehouses"] for report in read(text)] == [1, 2, 3]


def test_it_takes_no_parameters_from_a_command_that_is_no_run():
    text = "$ go-tpc tpcc --warehouses 4 prepare\ntpmC: 31.0\n"
    assert read(text)[0].parameters == {}


def test_it_takes_a_run_without_a_summary_for_aborted():
    report = read(text_of("plain.txt").partition("Finished")[0])[0]
    assert report.status is Status.ABORTED
    assert not report.metrics
    assert report.series[0].points == 6


def test_it_takes_a_run_whose_worker_died_for_failed():
    died = (
        "[2026-05-04 10:20:40] execute run failed, err pq: disk full\nexecute run failed, err pq: disk full\nFinished\n"
    )
    assert read(text_of("plain.txt").replace("Finished\n", died))[0].status is Status.FAILED


def test_it_warns_of_errors_that_were_ignored():
    ignored = "[2026-05-04 10:20:40] execute run failed, err pq: deadlock detected\nFinished\n"
    report = read(text_of("plain.txt").replace("Finished\n", ignored))[0]
    assert report.status is Status.COMPLETE
    assert any("deadlock" in warning for warning in report.warnings)


def test_it_reads_several_runs_of_one_file():
    both = "=== one ===\n" + text_of("plain.txt") + "=== two ===\n" + text_of("json.txt")
    found = read(both)
    assert [values(report)["tpmc"] for report in found] == [17305.8, 12649.6]
    assert "terminals" not in found[1].parameters


def test_it_reads_a_load_and_the_runs_after_it():
    found = read(text_of("prepare.txt") + text_of("plain.txt"))
    assert [report.subject.workload for report in found] == ["tpcc-go-tpc-load", "tpcc-go-tpc"]
    assert found[0].parameters["warehouses"] == 3
    assert found[1].parameters["warehouses"] == 4


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("tpmC: 17305.8", "tpmC: 27305.8"),
        ("tpmTotal: 38603.6", "tpmTotal: 48603.6"),
        ("Count: 18756", "Count: 18756.5"),
        ("Count: 18756", "Count: 28756"),
        ("99.9th(ms)", "98th(ms)"),
        ("efficiency: 33642.7%", "efficiency: 31111.1%"),
    ],
)
def test_it_does_not_understand_figures_that_contradict_each_other(old: str, new: str):
    (report,) = read(text_of("plain.txt").replace(old, new))
    assert report.status is Status.NOT_UNDERSTOOD
    assert not report.metrics


def test_it_leaves_out_the_total_of_rows_that_are_not_all_there():
    text = "".join(
        line for line in text_of("plain.txt").splitlines(keepends=True) if not line.startswith("[Summary] STOCK_LEVEL")
    )
    (report,) = read(text)
    assert (report.status, values(report)["tpmc"]) == (Status.COMPLETE, values(report_of(TOOL, "plain.txt"))["tpmc"])
    assert values(report).keys().isdisjoint({"tpm", "transactions", "stock_level_transactions"})
    assert any("STOCK_LEVEL" in warning for warning in report.warnings)


def test_it_does_not_trust_a_row_that_is_cut():
    whole = text_of("plain.txt").partition("tpmC: ")[0].rstrip("\n")
    report = read(whole[:-2])[0]
    assert "stock_level_transactions" not in values(report)
    assert (report.status, report.parameters.get("duration_s")) == (Status.ABORTED, 65)
    assert values(report)["payment_transactions"] == 18078


def test_it_does_not_take_other_tables_for_its_own():
    assert read("a,b\n1,2\n[Current] status: fine\n")[0].tool != "go-tpc"
