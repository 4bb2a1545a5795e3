"""Every importer × every margin: what stands around a tool's lines changes nothing of what is read."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import replace
from email.message import EmailMessage
from functools import cache
from pathlib import Path

import pytest
from benchagent.importers import Report, SourceFile, Status, importers, inspect, source
from benchagent.importers.margins import Claimed, proposals

from tests.benchagent.importers.dresses import MARGINS, by_line
from tests.benchagent.importers.samples import DATA, of_file, reports, sample
from tests.whole import whole

# Enough to see every form of a tool; all of them are a matter of minutes.
SAMPLES_EACH = 3
# What is not read: rows of DBT-3 without a heading in a text, and long lines of a report that was encoded and lost the
# mail's headers, whose first parts are a report by themselves.
LEFT = {
    "q_time.csv": ("attachment of a mail", "prose", "Markdown", "details"),
    "db_bench.txt": ("body in quoted-printable",),
}  # fmt: skip


@cache
def samples() -> dict[str, list[Path]]:
    """The stored samples of each tool, the shortest first: a new importer is here with its samples."""
    of_tool: dict[str, list[Path]] = defaultdict(list)
    for path in sorted((path for path in DATA.rglob("*") if path.is_file()), key=lambda path: path.stat().st_size):
        (report, *_) = of_file(path)
        if report.status is not Status.NOT_UNDERSTOOD:
            of_tool[report.tool].append(path)
    return of_tool


def told(name: str, data: bytes) -> list[Report]:
    """What is read, without what a margin may change: numbers of lines, and the time that its stamps say."""
    return [
        replace(
            report, started_at="", command_lines=(), reason=re.sub(r"line \d+", "line", report.reason),
            warnings=tuple(re.sub(r"line \d+", "line", text) for text in report.warnings),
        )
        for report in reports(name, data)
    ]  # fmt: skip


@pytest.mark.parametrize("parted", [True, *whole(False)])
@pytest.mark.parametrize("tool", [importer.TOOL for importer in importers()])
def test_it_reads_the_samples_of_every_importer_within_every_margin(tool, parted):
    """`parted`: the samples of a tool share the margins among them."""
    paths = samples()[tool]
    chosen = paths[:: max(1, len(paths) // SAMPLES_EACH)]
    assert chosen
    for at, path in enumerate(chosen):
        plain = told(path.name, path.read_bytes())
        for name, dress in list(MARGINS.items())[at :: len(chosen)] if parted else MARGINS.items():
            if (name in ("stern", "host") and path.read_bytes().count(b"\n") < 3) or name in LEFT.get(path.name, ()):
                continue  # of one line nobody can tell
            assert told(path.name, dress(path.read_bytes().decode())) == plain, (path.name, name)


def test_the_first_figure_of_a_report_is_no_count_where_it_has_a_rate():
    """A new workload is ranked by it."""
    for paths in samples().values():
        for report in (report for path in paths for report in of_file(path)):
            if report.status is Status.COMPLETE and any(metric.better == "higher" for metric in report.metrics):
                assert report.metrics[0].better != "none", report.metrics[:3]


def test_it_reads_a_block_within_prose():
    text = sample("sysbench", "v10_read_write.txt").decode()
    quoted = by_line(lambda line, at: f"> {line}")(text).decode()
    (plain,), (read,) = told("x", text.encode()), told("x", f"Dear all,\n\n{quoted}\nRegards\n".encode())
    assert read == plain


def test_it_reads_the_lines_that_ansible_shows():
    text = sample("pgbench", "v15_two_scripts.txt").decode()
    quoted = "".join(f"        {json.dumps(line)},\n" for line in text.splitlines())
    shown = f'TASK [show] ***\nok: [db1] => {{\n    "result.stdout_lines": [\n{quoted}    ]\n}}\n\nPLAY RECAP ***\n'
    assert told("x", shown.encode()) == told("x", text.encode())


def test_it_reads_documents_that_stand_in_a_text():
    text = sample("described", "locust.json").decode()
    (plain,) = told("x", text.encode())
    shown = "".join(f"## {users} users\n\nas before:\n\n```json\n{text}```\n\n" for users in (4, 8))
    assert [report.metrics for report in told("x", f"{shown}The end.\n".encode())] == [plain.metrics] * 2
    xml = sample("described", "swingbench.xml").decode()
    assert told("x", f"The results:\n\n{xml}\nRegards\n".encode()) == told("x", xml.encode())


@pytest.mark.parametrize("lost", ['    {\n        "name": "/",\n', '"response_times": {', "    }\n]", "},\n    {\n"])
def test_it_takes_no_part_of_a_broken_document_for_one(lost: str):
    text = sample("described", "locust.json").decode()
    assert lost in text
    broken = text.replace(lost, "", 1)
    for around in (broken, f"Hello,\n\n{broken}\nRegards\n", f"```\n{broken}\n```\n"):
        assert [report.metrics for report in reports("x", around.encode())] == [()]


def test_it_takes_a_mail_of_two_forms_and_an_attachment_once():
    text = sample("fio", "randrw.json").decode()
    mail = EmailMessage()
    mail["From"] = "dba@example.com"
    mail.set_content("Hello\n")
    mail.add_alternative("<p>Hello</p>", subtype="html")
    mail.add_attachment(text.encode(), maintype="application", subtype="json", filename="fio.json")
    mail.add_attachment(b"\x89PNG\0\1", maintype="image", subtype="png", filename="chart.png")
    assert told("x", bytes(mail)) == told("x", text.encode())


def test_no_row_is_taken_out_of_a_damaged_table():
    table = sample("jmeter", "aggregate.csv").decode()
    first, second, *others = table.splitlines(keepends=True)
    damaged = "".join([first, second.replace(",", "", 1), *others])
    (plain,) = reports("x", damaged.encode())
    (report,) = reports("x", f"Hello,\n\n{damaged}\nRegards\n".encode())
    assert plain.metrics == report.metrics == ()


def test_the_last_line_of_a_table_that_was_cut_in_a_text_may_go_on():
    table = sample("querytimes", "duckdb.csv").decode().rstrip()[:-1]
    assert told("x", f"Hello,\n\n{table}".encode()) == told("x", table.encode())


def test_it_keeps_the_stamps_that_are_taken_off_as_the_time_when_the_run_began():
    text = sample("sysbench", "v10_read_write.txt").decode()
    for name in ("compose with stamps", "docker", "journal in JSON", "CRI"):
        (report,) = reports("x", MARGINS[name](text))
        assert report.started_at.startswith("2026-03-03T10:00:00"), name
    (report,) = reports("x", MARGINS["clock"](text))
    assert report.started_at == ""


def test_it_takes_no_words_of_a_tool_for_a_margin():
    """A file whose checks fail is refused whatever could be taken off its lines."""
    text = re.sub(r"Q7: .*\n", "", sample("querytimes", "duckdb_tpch.txt").decode())
    assert [report.status for report in reports("x", text.encode())] == [Status.NOT_UNDERSTOOD]
    progress = "".join(f"progress: {second}.0 s, 940.1 tps, lat 8.5 ms stddev 7.6\n" for second in range(1, 20))
    assert [series.points for report in reports("x", progress.encode()) for series in report.series] == [19] * 3
    alike = "query name,tps\n" + "".join(f"query {letter},{number}\n" for number, letter in enumerate("abcd", start=7))
    assert reports("x", alike.encode())[0].parameters == {"query_name": "query a"}
    stamped = "".join(f"2026-03-03 10:00:{second},{second * 3}\n" for second in range(10, 40))
    assert proposals(f"time,tps\n{stamped}", claimed=Claimed.BY_TABLE, ended=True) == []


def test_a_large_file_loses_its_margin_piece_by_piece(tmp_path, monkeypatch):
    plain = told("pgbench_log.4242", sample("pgbench", "v15_transactions.4242"))
    monkeypatch.setattr(source, "STREAMED_BYTES", 5000)
    path = tmp_path / "pgbench_log.4242"
    path.write_bytes(MARGINS["compose"](sample("pgbench", "v15_transactions.4242").decode()))
    file = SourceFile.of(path.name, path)
    assert file.is_large
    ((_, (report,)),) = inspect([file])
    assert replace(report, started_at="") == replace(plain[0], started_at="")
