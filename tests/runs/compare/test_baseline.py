from __future__ import annotations

from datetime import UTC, datetime

import pytest

from runs.compare.baseline import Baseline, Facts

NIGHTS = [
    Facts(datetime(2026, 11, day, hour, tzinfo=UTC), label, commit, [version])
    for day, hour, label, commit, version in (
        (1, 2, "old", "a1", "17.0"), (5, 1, "old", "b2", "18.0"),
        (6, 3, "new", "b3", "18.0"), (10, 2, "new", "c4", "18.1"),
    )
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "days"),
    [("last:2", [5, 6]), ("days:5", [5, 6]), ("label:old", [1, 5]), ("commit:b", [5, 6]), ("version:17.0", [1])],
)
def test_it_names_batches_before_the_newest(text, days):
    """Was: of the last five days on pages none of an hour before the newest, though answers took it."""
    assert [night.measured_at.day for night in Baseline.read(text).before(NIGHTS, lambda night: night)] == days


def test_a_commit_that_was_measured_after_a_change_is_not_of_the_level_since_it_for_that():
    """Was: it was taken into the baseline by when it was measured."""
    afterwards = Facts(datetime(2026, 11, 9, tzinfo=UTC), "new", "a2", ["17.0"])
    in_order = [NIGHTS[0], afterwards, *NIGHTS[1:]]
    held = Baseline.read("last:9").before(in_order, lambda night: night, changed_at=[NIGHTS[1].measured_at])
    assert [night.measured_at.day for night in held] == [5, 6]


@pytest.mark.parametrize(("text", "days"), [("last:3", [6]), ("days:9", [6]), ("label:old", [1, 5])])
def test_recent_batches_are_of_the_level_since_the_last_change_before_the_newest(text, days):
    changed_at = [NIGHTS[at].measured_at for at in (1, 2, 3)]
    held = Baseline.read(text).before(NIGHTS, lambda night: night, changed_at=changed_at)
    assert [night.measured_at.day for night in held] == days
