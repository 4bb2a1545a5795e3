"""Large logs are read piece by piece: the same report, in a few MB of memory, whatever their size."""

from __future__ import annotations

import gzip
import itertools
import tracemalloc

import pytest
from benchagent.importers import SourceFile, Status, inspect, source

from benchmarks.bench_importers import FILES


def text_of(kind: str, lines: int = 60_000) -> bytes:
    return "".join(itertools.islice(FILES[kind][1](), lines)).encode()


def read(file: SourceFile):
    ((_, (report,)),) = inspect([file])
    return report


@pytest.fixture(params=["pgbench_log", "fio_log"])
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
    path.write_bytes(text_of(kind, 80_000))
    read(SourceFile(path.name, b"1 2 3\n"))  # the importers are loaded
    tracemalloc.start()
    read(SourceFile.of(path.name, path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    rows = 16 * 80_000 if kind == "fio_log" else 0  # as long as they may be windows
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
    path.write_bytes(text_of("csv", 70_000))
    read(SourceFile(path.name, b"time_s,tps\n1,2\n"))  # the importers are loaded
    tracemalloc.start()
    streamed = read(SourceFile.of(path.name, path))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert streamed.status is Status.COMPLETE and [series.points for series in streamed.series] == [69_999] * 2
    # With a text of each cell and a row of them it was 38 times the file.
    assert peak < 14 * path.stat().st_size
    monkeypatch.setattr(source, "STREAMED_BYTES", 10**9)
    assert read(SourceFile(path.name, path.read_bytes())) == streamed


def test_a_large_log_that_is_cut_or_damaged_says_so(tmp_path):
    data = text_of("pgbench_log")
    assert read(SourceFile("pgbench_log.1", data[:-9])).status is Status.ABORTED
    lines = data.splitlines(keepends=True)
    doubled = read(SourceFile("pgbench_log.1", b"".join([*lines[:50_001], *lines[50_000:]])))
    assert doubled.status is Status.NOT_UNDERSTOOD and "line 50002: " in doubled.reason
