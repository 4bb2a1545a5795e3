"""Inputs that no tool writes must cost no more than their length: a server takes files from anybody."""

from __future__ import annotations

import gzip
import io
import tarfile
import time
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from benchagent.importers import SourceFile, Status, inspect
from benchagent.redaction import REDACTED, redact_text

from tests.whole import whole

DATA = Path(__file__).parent / "data"
SIZE = 100_000
TEXTS = {
    "ones": "1 " * (SIZE // 2), "commas": "," * SIZE, "columns": "1," * (SIZE // 2), "one character": "a" * SIZE,
    "blank lines": "\n" * SIZE, "Windows' blank lines": "\r\n" * (SIZE // 2), "blanks": " " * SIZE, "tabs": "\t" * SIZE,
    "digits": "1" * SIZE, "arrays": "[" * SIZE, "objects": '{"a":' * (SIZE // 5), "quotes": '"' * SIZE,
    "quoted": "> " * (SIZE // 2), "escapes": "\\n" * (SIZE // 2), "colours": "\x1b[" * (SIZE // 2),
    "tags": "<br " * (SIZE // 4),
    "commands": "pgbench -c " * (SIZE // 11), "goes on": "sysbench \\\n" * (SIZE // 11),
    "rates": "tps = " * (SIZE // 6),
    "margins": "".join(f"x{number}| scaling factor: 1\n" for number in range(SIZE // 26)),
    "secrets": "secret.-" * (SIZE // 8), "pass": "_pass" * (SIZE // 5), "set": "set a " + "pass" * (SIZE // 4),
    "tag of tokens": "<" + "token" * (SIZE // 5), "key of tokens": '"' + "token" * (SIZE // 5),
    "addresses": "a://b:" * (SIZE // 6), "passwords": "password " * (SIZE // 9),
    "assigned": "password=\"" * (SIZE // 10),
}  # fmt: skip
SAMPLES = (
    "pgbench/v15_tpcb_progress_statements.txt", "sysbench/v10_read_write.txt", "hammerdb/run_v4_mariadb.txt",
    "hammerdb/job_report_v6.json", "gotpc/plain.txt", "benchbase/console.log", "ycsb/run_timeseries.txt",
    "fio/seqwrite.txt", "fio/randrw.json", "gbak/backup_verbose.txt", "csv/runs.csv",
    "memtier/one_run.txt", "mysqlslap/concurrency.txt", "redisbench/v7_report.txt", "tpccmysql/percona.txt",
    "benchmarksql/v5.txt", "clickbench/duckdb.json", "querytimes/duckdb_tpch.txt",
)  # fmt: skip
# What is linear takes tenths of a second, what is not takes minutes.
BOUND_S = 15.0


def test_it_ends_soon_with_what_no_tool_wrote() -> None:
    for name, text in TEXTS.items():
        began = time.process_time()
        ((_, reports),) = inspect([SourceFile(name, text.encode())])
        assert not any(report.metrics for report in reports), name
        assert time.process_time() - began < BOUND_S, name


@pytest.mark.parametrize("parted", [True, *whole(False)])
@pytest.mark.parametrize("sample", SAMPLES)
def test_it_ends_soon_with_a_result_and_what_no_tool_wrote(sample: str, parted: bool) -> None:
    """`parted`: three samples share the texts, so that each text stands behind six of them."""
    data = (DATA / sample).read_bytes()
    for name, text in list(TEXTS.items())[SAMPLES.index(sample) % 3 :: 3] if parted else TEXTS.items():
        began = time.process_time()
        inspect([SourceFile(name, data + b"\n" + text[: SIZE // 4].encode() + b"\n")])
        assert time.process_time() - began < BOUND_S, name


def test_it_says_that_something_is_nested_too_deeply() -> None:
    head = '{"fio version": "fio-3.33", "jobs": '
    ((_, (report,)),) = inspect([SourceFile("x", (head + "[" * 100_000).encode())])
    assert report.status is Status.NOT_UNDERSTOOD


def with_digits(text: bytes) -> bytes:
    """More than Python reads as a number."""
    return text.replace(b"Vuser 1:RUNNING", b"Vuser " + b"1" * 5000 + b":RUNNING")


def with_a_billion_warehouses(text: bytes) -> bytes:
    return text.replace(b"begin to check warehouse 3 ", b"begin to check warehouse 1000000000 ")


@pytest.mark.parametrize(
    ("sample", "altered"), [("hammerdb/async_v4.txt", with_digits), ("gotpc/prepare.txt", with_a_billion_warehouses)]
)
def test_it_counts_nothing_beyond_what_a_tool_can_have_meant(sample: str, altered: Callable[[bytes], bytes]) -> None:
    data = (DATA / sample).read_bytes()
    assert altered(data) != data
    began = time.process_time()
    ((_, reports),) = inspect([SourceFile("x", altered(data))])
    assert reports[0].reason or reports[0].warnings
    assert time.process_time() - began < 5


def test_it_finds_a_doubled_key_among_many_in_time_with_them() -> None:
    keys = ", ".join(f'"{number}": 1' for number in range(60_000))
    began = time.process_time()
    ((_, (report,)),) = inspect([SourceFile("x", f'{{"fio version": "fio-3.33", {keys}, "59999": 2}}'.encode())])
    assert "says '59999' twice" in report.reason
    assert time.process_time() - began < 5


# What costs most for each byte, of lines that stand there once in a file of a tool: a small file is read in a request.
@pytest.mark.parametrize(("sample", "line"), [("hammerdb/async_v4.txt", 15), ("sysbench/v04_fileio.txt", 18)])
def test_it_reads_a_line_said_ten_thousand_times_in_time_with_them(sample: str, line: int) -> None:
    lines = (DATA / sample).read_bytes().splitlines(keepends=True)
    began = time.process_time()
    inspect([SourceFile("x", b"".join([*lines[:line], lines[line - 1] * 10_000, *lines[line:]]))])
    assert time.process_time() - began < 5


def test_it_takes_a_few_megabytes_in_a_moment() -> None:
    for text in ("1 " * 500_000, "\n" * 1_000_000, "a" * 2_000_000):
        began = time.process_time()
        inspect([SourceFile("x", text.encode())])
        assert time.process_time() - began < BOUND_S


@pytest.mark.parametrize("name", sorted(TEXTS))
def test_it_looks_for_secrets_in_time_with_the_text(name: str) -> None:
    began = time.process_time()
    redact_text(TEXTS[name])
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    ("text", "redacted"),
    [
        ("--mysql-password=hush --tables=3", f"--mysql-password={REDACTED} --tables=3"),
        ("--password hush -c 4", f"--password {REDACTED} -c 4"),
        ("mysql:password:hush", f"mysql:password:{REDACTED}"),
        ("my_pass = 'a b' port = 5", f"my_pass = '{REDACTED}' port = 5"),
        ("password token=hush", f"password token={REDACTED}"),
        ("password authentication failed", "password authentication failed"),
        ("password_encryption = md5", "password_encryption = md5"),
        ('"api_key": "hush", "n": 1', f'"api_key": "{REDACTED}", "n": 1'),
        ("<dbpassword>hush</dbpassword>", f"<dbpassword>{REDACTED}</dbpassword>"),
        ("diset tpcc mysql_pass hush", f"diset tpcc mysql_pass {REDACTED}"),
    ],
)
def test_it_takes_secrets_out_of_text(text: str, redacted: str) -> None:
    assert redact_text(text) == redacted


def archived(kind: str) -> bytes:
    packed, content = io.BytesIO(), b"tps = 5\n" * 2_000
    if kind in ("ZIP", "xlsx"):
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("xl/workbook.xml" if kind == "xlsx" else "run.log", content)
    else:
        with tarfile.open(fileobj=packed, mode="w:bz2" if kind == "bzip2" else "w:") as tar:
            tar.addfile(tarfile.TarInfo("run.log"), io.BytesIO(b""))
    return gzip.compress(packed.getvalue(), mtime=0) if kind == "tgz" else packed.getvalue()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("ZIP", "a ZIP archive; send the files in it"), ("tar", "a tar archive"), ("tgz", "a tar archive"),
        ("bzip2", "a bzip2 archive"), ("xlsx", "a spreadsheet; send the table"),
    ],
)  # fmt: skip
def test_it_says_what_to_do_with_an_archive(kind: str, words: str) -> None:
    """Was: "not text: it contains control characters; send what the tool itself printed"."""
    ((_, (report,)),) = inspect([SourceFile("results", archived(kind))])
    assert report.reason.startswith(f"not understood: {words}")
    assert "what the tool itself printed" not in report.reason
