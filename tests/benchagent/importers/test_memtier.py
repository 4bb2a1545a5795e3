"""memtier_benchmark is in none of the package registries: the data is written by hand after its published output."""

from __future__ import annotations

import re

import pytest
from benchagent.importers import Status
from benchagent.redaction import redact_text

from tests.benchagent.importers.samples import DATA, report_of, reports, sample, values

TOOL = "memtier"
FILES = sorted((DATA / TOOL).iterdir())


def test_it_reads_all_and_each_type_of_command():
    report = report_of(TOOL, "one_run.txt")
    assert (report.tool, report.status) == ("memtier", Status.COMPLETE)
    told = values(report)
    assert (told["ops_per_s"], told["latency_avg_ms"], told["latency_p999_ms"]) == (124327.62, 0.80434, 3.263)
    assert (told["gets_miss_ops_per_s"], told["sets_latency_p99_ms"]) == (116408.57, 1.647)
    assert "waits_ops_per_s" not in told
    assert report.parameters == {
        "client_threads": 1, "connections_per_thread": 100, "terminals": 100, "requests_per_client": 2000,
        "ratio": "1:15", "pipeline": 1, "data_size_bytes": 384,
    }  # fmt: skip


def test_it_reads_the_average_of_several_runs_and_not_the_best():
    report = report_of(TOOL, "two_runs.txt")
    assert values(report)["ops_per_s"] == 123084.35
    assert report.parameters["run_count"] == 2


def test_it_reads_tables_of_2016():
    assert values(report_of(TOOL, "v12.txt"))["latency_avg_ms"] == 4.54


def test_it_reads_json_as_the_table():
    table, document = (report_of(TOOL, name) for name in ("one_run.txt", "out.json"))
    assert {name: values(document)[name] for name in values(table)} == values(table)
    assert values(document)["latency_max_ms"] == 6.526
    assert {name: document.parameters[name] for name in table.parameters} == table.parameters
    assert document.started_at == "2023-11-14T22:13:20+00:00"


def test_it_keeps_no_password():
    assert all("Gr8Secret" not in str(report_of(TOOL, name)) for name in ("one_run.txt", "out.json"))
    assert "Gr8Secret" not in redact_text(sample(TOOL, "out.json").decode())
    assert "-a [redacted] -t 1" in report_of(TOOL, "one_run.txt").command_lines[0]


def test_it_says_when_operations_were_refused_and_when_a_call_was_interrupted():
    text = sample(TOOL, "one_run.txt").decode()
    (report,) = reports(
        "x", text.replace("\n\n1         Threads", "\nhandle error response: -ERR x\n\n1   Threads").encode()
    )
    assert report.warnings == ("1 answers of the server were errors, which count as operations here",)
    (report,) = reports("x", text.partition("ALL STATS")[0].encode())
    assert (report.status, report.metrics) == (Status.ABORTED, ())
    (report,) = reports("x", sample(TOOL, "out.json").replace(b'"Interrupted": "false"', b'"Interrupted": "true"'))
    assert report.status is Status.ABORTED


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("124327.62", "134327.62", "do not add up to 134328 a second"),
        ("  0.81497  ", "  0,81497  ", "a decimal comma may mean two things"),
        ("p99 Latency", "q99 Latency", "unknown columns"),
    ],
)
def test_it_refuses_what_contradicts_itself(old: str, new: str, why: str):
    text = sample(TOOL, "one_run.txt").decode()
    assert old in text
    assert why in reports("x", text.replace(old, new, 1).encode())[0].reason


def test_titles_of_the_best_run_and_of_the_average_that_changed_places_are_noticed():
    text = sample(TOOL, "two_runs.txt").decode()
    best, average = re.findall(r"(?m)^ *(?:BEST RUN|AGGREGATED AVERAGE) RESULTS.*$", text)
    exchanged = text.replace(best, "@").replace(average, best).replace("@", average)
    assert [report.status for report in reports("x", exchanged.encode())] == [Status.NOT_UNDERSTOOD]
