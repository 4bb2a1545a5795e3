"""The proofs of durability have to fail where a commit is lost or does not wait."""

from __future__ import annotations

import pytest

from tests.benchagent.dbms.crash import Survivors, Trace

# Terminal and number of what is there after a restart.
Rows = list[tuple[int, int]]
TRACE = """\
7 openat(AT_FDCWD</d>, "log"..., O_RDWR|O_DSYNC) = 5</d/log/1>
7 write(5</d/log/1>, ""..., 8) = 8
8 write(6</d/data/1>, ""..., 8 <unfinished ...>
7 fdatasync(5</d/log/1>) = 0
8 fsync(6</d/data/1> <unfinished ...>
8 <... fsync resumed>) = 0
"""
WRITES = """\
7 openat(AT_FDCWD</d>, "bench.fdb", O_RDWR|O_SYNC) = 5</d/bench.fdb>
7 pwrite64(5</d/bench.fdb>, ""..., 8192, 16384) = 8192
8 pwrite64(5</d/bench.fdb>, ""..., 8192, 24576 <unfinished ...>
7 pwrite64(6</d/sort>, ""..., 8192, 8192) = 8192
8 <... pwrite64 resumed>) = 8192
"""


def one(*numbers: int) -> Rows:
    return [(0, number) for number in numbers]


@pytest.mark.parametrize(
    ("acknowledged", "rows", "safe"),
    [
        ([3], one(1, 2, 3), True),
        ([3], one(2, 1, 4, 3), True),  # the fourth was under way
        ([3], [], False),
        ([3], one(1, 2), False),
        ([3], one(1, 2, 4), False),  # a lost one, hidden from a count by the one under way
        ([3], one(1, 2, 3, 4, 5), False),
        ([3], one(1, 2, 2), False),
        ([1, 2], [(0, 1), (1, 2), (1, 3)], True),
        ([1, 2], [(0, 1), (1, 3), (1, 4)], True),  # the second was under way in the first terminal
        ([1, 2], [(0, 1), (0, 4), (1, 2)], False),  # each terminal has its own count
        ([1, 2], [(0, 1), (1, 4), (1, 5)], False),  # two are missing, and one at most was under way
        ([1], [(0, 1), (1, 2)], False),
    ],
)
def test_a_kill_is_survived_by_each_acknowledged_commit_or_the_proof_fails(
    acknowledged: list[int], rows: Rows, safe: bool
):
    assert Survivors.of(acknowledged, rows).is_safe is safe


@pytest.mark.parametrize(("of", "syncs"), [("", 3), ("/log/", 2), ("/data/", 1)])
def test_a_trace_counts_the_syncs_of_the_files_that_are_asked_for(of: str, syncs: int):
    trace = Trace(of)
    trace.read(TRACE)
    assert trace.syncs == syncs


def test_a_trace_tells_where_a_file_was_written_that_waits_in_each_write():
    trace = Trace("/bench.fdb")
    trace.read(WRITES)
    assert (trace.syncs, trace.offsets) == (2, [16384, 24576])
