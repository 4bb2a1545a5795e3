"""What a COMMIT is worth. Firebird has no log whose syncs could be counted: it writes its one file in a careful order.

A commit writes the pages that it has changed, and only then its state into a page of the transaction inventory. With
forced writes each of these writes waits for the disk. So what counts is a page of the inventory that was written after
pages of data: nothing that is written beside the commits can stand for that.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from benchagent.catalog import Durability

from tests.benchagent.dbms.crash import COMMITS
from tests.benchagent.dbms.firebird.conftest import MakeFirebird
from tests.benchagent.dbms.trial import Trial
from tests.benchagent.durability import check_none_lost, traced_commits
from tests.whole import whole

pytestmark = pytest.mark.engines
# The first byte of a page is its type.
INVENTORY, DATA = 3, 5


@pytest.mark.parametrize("mode", ["Super", *whole("SuperClassic")])
def test_it_waits_for_the_disk_at_each_commit_and_loses_none_when_it_is_killed(make_firebird: MakeFirebird, mode: str):
    trial = make_firebird("3.0", {"ServerMode": mode})
    check_each_commit_waits(trial)
    assert trial.promised() is Durability.POWER_LOSS
    check_none_lost(trial)


@pytest.mark.parametrize(
    ("kinds", "commits"),
    [
        ([DATA, DATA, INVENTORY, DATA, INVENTORY], 2),
        ([INVENTORY, INVENTORY, DATA], 0),
        ([DATA, 1, 4, INVENTORY, 1, INVENTORY], 1),
    ],
)
def test_a_commit_is_an_inventory_that_is_written_after_data(kinds: list[int], commits: int):
    assert committed(kinds) == commits


def check_each_commit_waits(trial: Trial) -> None:
    database = trial.folders.data / "bench.fdb"
    kinds = list(kinds_of_pages(database, traced_commits(trial, of=f"/{database.name}").offsets))
    assert committed(kinds) >= COMMITS, (committed(kinds), len(kinds))


def kinds_of_pages(database: Path, offsets: Iterable[int]) -> Iterator[int]:
    """In the order in which they were written."""
    with database.open("rb") as file:
        for offset in offsets:
            file.seek(offset)
            yield file.read(1)[0]


def committed(kinds: Iterable[int]) -> int:
    """How often an inventory was written with data before it, since the one before."""
    count, with_data = 0, False
    for kind in kinds:
        if kind == INVENTORY:
            count += with_data
        with_data = kind != INVENTORY and (with_data or kind == DATA)
    return count
