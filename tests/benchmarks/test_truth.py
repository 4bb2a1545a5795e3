"""A few of the worlds that `make bench-truth` makes by the hundred: what is said of them is true."""

from __future__ import annotations

import pytest

from benchmarks.bench_truth import judge
from benchmarks.bench_truth.asking import ask, send
from benchmarks.bench_truth.sites import in_process
from benchmarks.bench_truth.table import PAGES
from benchmarks.bench_truth.worlds import World, world
from tests.whole import whole

pytestmark = pytest.mark.django_db
SEED = 1
# What is never wrong, and what is true of these worlds, whose noise is what it is.
NEVER_WRONG = (judge.OMISSION, judge.CONTRADICTION, judge.COUNT, judge.NUMBER, judge.ANSWERED)
TRUE_OF_THESE = (PAGES, judge.SIGN, judge.PLACE, judge.FALSE_WINNER)


def wrong(made: World) -> list[str]:
    site = in_process()
    send(site, made)
    marks = [*ask(site, made)]
    assert len(marks) > 50, "hardly anything was asked"
    return [
        f"{address}: {mark.what}: {mark.words}"
        for address, mark in marks
        if mark.what in (*NEVER_WRONG, *TRUE_OF_THESE) and not mark.right
    ]


# Those of `make test` have between them each kind of noise and all that goes wrong in practice: a cell missing, copies,
# several batches, starving, an outlier, unlike settings and windows, a failed run, a gap, sizes of their own.
WORLDS = [
    (264, "systems"), (101, "sizes"), (235, "settings"), (203, "nightlies"), (271, "machines"), (85, "zeros"),
    (32, "published"), (93, "hills"), (232, "loads"), (43, "upgrades"),
    *whole((199, "versions"), (14, "terminals"), (160, "loads"), (31, "two"), (21, "published"), (9, "sweep"),
           (19, "sweep"), (23, "collapse"), (72, "collapse"), (210, "collapse"), (46, "at zero"), (52, "reversed"),
           (8, "configurations"), (8, "own disks"), (5, "upgrades"), (4, "upgrades")),
]  # fmt: skip


@pytest.mark.parametrize(("number", "kind"), WORLDS)
def test_what_is_said_of_a_known_world_is_true(number, kind):
    assert wrong(world(SEED, number, kind)) == []
