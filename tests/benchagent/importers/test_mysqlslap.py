"""mariadb-slap of MariaDB 10.11 was run here; mysqlslap prints the same."""

from __future__ import annotations

from benchagent.importers import Status

from tests.benchagent.importers.samples import DATA, reports, sample, values

TOOL = "mysqlslap"
FILES = sorted((DATA / TOOL).iterdir())


def test_it_reads_every_concurrency_with_the_command_of_all():
    first, second = reports("x", sample(TOOL, "concurrency.txt"))
    assert values(first) == {"all_queries_s": 0.969, "all_queries_min_s": 0.656, "all_queries_max_s": 1.288}
    assert [report.parameters["terminals"] for report in (first, second)] == [1, 5]
    assert second.parameters == {
        "terminals": 5, "queries_per_client": 40, "load_type": "mixed", "iterations": 3, "number_of_queries": 200,
    }  # fmt: skip
    for report in (first, second):
        assert report.status is Status.COMPLETE
        assert "S3cr3t" not in str(report)
        assert "-p[redacted] -a" in report.command_lines[0]


def test_it_reads_figures_right_behind_the_colon():
    text = sample(TOOL, "concurrency.txt")
    assert reports("x", text.replace(b"run all queries: ", b"run all queries:")) == reports("x", text)


def test_it_reads_every_engine():
    told = {report.parameters["storage_engine"]: values(report) for report in reports("x", sample(TOOL, "engines.txt"))}
    assert {engine: known["all_queries_s"] for engine, known in told.items()} == {"innodb": 0.023, "myisam": 0.005}


def test_it_reads_csv():
    told = reports("x", sample(TOOL, "mixed.csv"))
    assert [report.tool for report in told] == ["mysqlslap"] * 2
    assert [(report.parameters, values(report)["all_queries_s"]) for report in told] == [
        ({"terminals": 4, "queries_per_client": 25, "load_type": "mixed"}, 0.086),
        ({"terminals": 8, "queries_per_client": 12, "load_type": "mixed"}, 0.045),
    ]


def test_it_takes_a_report_without_its_end_for_aborted():
    text = sample(TOOL, "engines.txt").decode()
    aborted = reports("x", text[: text.rindex("Number of clients")].encode())[-1]
    assert (aborted.status, aborted.metrics) == (Status.ABORTED, ())


def test_clients_of_another_report_are_noticed_by_the_queries_of_the_command_line():
    text = sample(TOOL, "concurrency.txt").decode().replace("queries: 5", "queries: 1")
    told = reports("x", text.encode())
    assert "are not the 200 of the command line" in told[1].reason
