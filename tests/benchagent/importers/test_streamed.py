"""Large logs are read piece by piece: the same report, in a few MB of memory, whatever their size."""

from __future__ import annotations

import gzip
import itertools
import tracemalloc

import pytest
from benchagent.importers import SourceFile, Status, inspect, source

from benchmarks.bench_importers import FILES

# A file that is larger than all that is held of it.
ENOUGH_BYTES = 1_500_000


@pytest.fixture(autouse=True)
def large(monkeypatch):
    """What counts as large: less, so that the tests take less."""
    monkeypatch.setattr(source, "STREAMED_BYTES", 200_000)


def text_of(kind: str, lines: int = 15_000) -> bytes:
    return "".join(itertools.islice(FILES[kind][1](), lines)).encode()


def read(file: SourceFile):
    ((_, (report,)),) = inspect([file])
    return report


@pytest.fixture(params=["pgbench_log", "fio_log", "benchbase_raw", "ycsb_raw", "jmeter_jtl"])
def kind(request):
    return request.param


def test_a_large_log_is_read_as_a_small_one(kind, tmp_path, monkeypatch):
    name, data = FILES[kind][0], text_of(kind)
    path = tmp_path / name
    path.write_bytes(data)
    streamed = read(SourceFile.of(name, path))
    assert streamed.status is Status.COMPLETE and streamed.series
    monkeypatch.setattr(source, "STREAMED_BYTES", 10**9)
    assert read(SourceFile(name, data)) == streamed


def test_a_large_log_is_not_held_in_memory(kind, tmp_path):
    path = tmp_path / FILES[kind][0]
    text = text_of(kind, 60_000)
    path.write_bytes(text[: text.rfind(b"\n", 0, ENOUGH_BYTES) + 1])
    read(SourceFile(path.name, b"1 2 3\n"))  # the importers are loaded
    tracemalloc.start()
    read(SourceFile.of(path.name, path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    rows = 16 * 60_000 if kind == "fio_log" else 0  # as long as they may be windows
    # Held as text and lines it would be several times the file.
    assert peak < path.stat().st_size + rows


def test_a_packed_one_and_one_that_was_pasted_are_read_alike(kind, tmp_path):
    name, data = FILES[kind][0], text_of(kind)
    plain = read(SourceFile(name, data))
    for changed in (
        gzip.compress(data, 1),
        b"$ cat log\n" + data,
        data + b"root@db1:~# ",
        data.replace(b"\n", b"\r\n"),
    ):
        path = tmp_path / name
        path.write_bytes(changed)
        assert read(SourceFile.of(name, path)) == plain


def test_a_large_table_is_read_as_a_small_one_and_held_as_its_columns(tmp_path, monkeypatch):
    path = tmp_path / "samples.csv"
    path.write_bytes(text_of("csv", 20_000))
    read(SourceFile(path.name, b"time_s,tps\n1,2\n"))  # the importers are loaded
    tracemalloc.start()
    streamed = read(SourceFile.of(path.name, path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert streamed.status is Status.COMPLETE and [series.points for series in streamed.series] == [19_999] * 2
    # With a text of each cell and a row of them it was 38 times the file.
    assert peak < 14 * path.stat().st_size
    monkeypatch.setattr(source, "STREAMED_BYTES", 10**9)
    assert read(SourceFile(path.name, path.read_bytes())) == streamed


def test_a_large_log_that_is_cut_or_damaged_says_so(tmp_path):
    data = text_of("pgbench_log")
    assert read(SourceFile("pgbench_log.1", data[:-9])).status is Status.ABORTED
    lines = data.splitlines(keepends=True)
    doubled = read(SourceFile("pgbench_log.1", b"".join([*lines[:10_001], *lines[10_000:]])))
    assert doubled.status is Status.NOT_UNDERSTOOD and "line 10002: " in doubled.reason


@pytest.fixture(params=["pgbench_progress", "sysbench_progress", "ycsb_status"])
def printed(request, tmp_path):
    """What a tool printed, as a file on the disk, of more than a large one has."""
    name, lines = FILES[request.param]
    size, text = 0, list[str]()
    for line in lines():
        text.append(line)
        size += len(line)
        if size > source.STREAMED_BYTES:
            break
    path = tmp_path / name
    path.write_text("$ run it\n" + "".join(text) + "root@db1:~# ")
    return path


def test_a_large_text_is_read_as_a_small_one_without_being_held(printed, monkeypatch):
    read_all([SourceFile("small", b"a\n")])  # the importers are loaded
    file = SourceFile.of(printed.name, printed)
    streamed = read_all([file])
    assert streamed and "text" not in vars(file)
    monkeypatch.setattr(source, "STREAMED_BYTES", 10**9)
    assert read_all([SourceFile(printed.name, printed.read_bytes())]) == streamed


def read_all(files):
    return [report for _, reports in inspect(files) for report in reports]


@pytest.mark.parametrize("ends", [b"\r\n", b"\r"])
def test_whatever_ends_its_lines_a_large_one_is_read_in_pieces(ends, monkeypatch):
    monkeypatch.setattr(source, "STREAMED_BYTES", 10)
    monkeypatch.setattr(source, "PIECE_BYTES", 50)
    lines = [f"line {number} \N{LATIN SMALL LETTER A WITH DIAERESIS}" for number in range(40)]
    data = (
        b"\xef\xbb\xbf" + b"".join(f"\x1b[1m{line}\x1b[0m".encode() + ends for line in lines) + b"\n\n[bench@db1 ~]$ "
    )
    file = SourceFile("a", data)
    assert [text for _, text, is_whole in file.streamed() if is_whole] == lines
    assert "text" not in vars(file)
    assert file.text.splitlines() == lines


def test_more_runs_than_are_read_at_once_are_refused(monkeypatch):
    monkeypatch.setattr("benchagent.importers.report.MAX_REPORTS", 50)
    for kind in ("ycsb_status", "pgbench_runs"):
        (report,) = read_all([SourceFile("out.txt", next(FILES[kind][1]()).encode() * 60)])
        assert report.reason.endswith("more than 50 runs; send parts of it")
