"""Files as they are sent: what counts is what they hold unpacked, noticed piece by piece."""

from __future__ import annotations

import gzip
import io
import resource
import time
import tracemalloc
from functools import cache

import pytest

from benchmarks.bench_imports import pgbench_log
from runs.imports import sent as sending
from runs.imports.sent import MB, BadFiles, Sent, measured


def sent(name: str, content: bytes) -> Sent:
    return Sent(name, io.BytesIO(content))


@cache
def bomb(unpacked_mb: int) -> bytes:
    packed = io.BytesIO()
    with gzip.GzipFile(fileobj=packed, mode="wb", compresslevel=1) as file:
        for _ in range(unpacked_mb):
            file.write(bytes(MB))
    return packed.getvalue()


def cpu_s() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_utime


def refused_in_little_time_and_memory(content: bytes, words: str) -> None:
    tracemalloc.start()
    before = cpu_s()
    with pytest.raises(BadFiles, match=words):
        measured([sent("a.gz", content)])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert cpu_s() - before < 1
    assert peak < 2 * MB


@pytest.mark.parametrize("shape", ["one", "members", "cut"])
def test_it_refuses_a_bomb_without_unpacking_it(shape):
    packed = bomb(100)
    content = {"one": packed, "members": gzip.compress(b"tps") + packed, "cut": packed[:-9]}[shape]
    measured([sent("a.gz", gzip.compress(b"tps"))])  # importers are loaded when the first file comes
    refused_in_little_time_and_memory(content, "larger than 64 MB once it is unpacked")


def test_it_counts_what_all_files_hold_unpacked():
    with pytest.raises(BadFiles, match="At most 128 MB at once, counted unpacked"):
        measured([sent(f"{number}.gz", bomb(60)) for number in range(3)])


def test_it_refuses_what_is_packed_twice():
    with pytest.raises(BadFiles, match=r"a\.gz is packed twice"):
        measured([sent("a.gz", gzip.compress(bomb(1)))])


def test_it_measures_all_members_of_an_archive():
    assert (
        measured([sent("a.gz", gzip.compress(b"x" * 1000) + gzip.compress(b"y" * 500) + bytes(9))]).size_bytes == 1500
    )


@pytest.mark.parametrize(
    "content", [b"\x1f\x8bnothing", gzip.compress(b"x" * 9000, mtime=0)[:-20], gzip.compress(b"x", mtime=0) + b"?"]
)
def test_it_measures_a_broken_archive_as_it_is_kept(content):
    assert measured([sent("a.gz", content)]).size_bytes == len(content)


def test_it_knows_the_same_files_in_another_order():
    first, second = sent("a", b"1"), sent("b", b"2")
    assert measured([first, second]) == measured([second, first]) != measured([sent("a", b"2"), sent("b", b"1")])


def test_it_notices_thousands_of_members_at_once():
    began = time.process_time()
    measured([sent("a.gz", gzip.compress(b"") * 20_000)])
    assert time.process_time() - began < 5


@pytest.fixture
def small_limits(monkeypatch, settings):
    monkeypatch.setattr(sending, "MAX_ARTEFACT_BYTES", 100_000)
    monkeypatch.setattr(sending, "MAX_TOTAL_BYTES", 200_000)
    settings.IMPORT_STREAMED_MB = 1


def test_a_log_that_is_read_as_a_stream_may_be_larger(small_limits):
    log = pgbench_log(12_000)
    other = b"progress: 1.0 s\n" * 9000
    assert measured([sent("log.1", log), sent("log.2", gzip.compress(log))]).size_bytes == 2 * len(log)
    with pytest.raises(BadFiles, match="At most 1 MB of logs at once"):
        measured([sent(f"log.{number}", log) for number in range(3)])
    with pytest.raises(BadFiles, match=r"other is larger than 0 MB"):
        measured([sent("log.1", log), sent("other", other)])


def test_a_bomb_behind_the_beginning_of_a_log_is_refused():
    content = gzip.compress(pgbench_log(3000) + bytes(1)) + bomb(100)
    refused_in_little_time_and_memory(content, "packed more than 50 times, as no log is")
