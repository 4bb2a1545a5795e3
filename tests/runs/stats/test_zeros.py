from __future__ import annotations

import random

import pytest

from runs.stats.zeros import zero_changes

ZERO, ABOVE, SOME = [0.0, 0.0, 0.0], [5.0, 7.0, 6.0], [0.0, 2.0, 0.0]


def told(*batches):
    return [(each.at, each.before, each.after, each.is_to_zero) for each in zero_changes([*batches])]


def test_it_finds_where_zero_is_left_and_reached_whatever_few_repeats_are_zero():
    assert told(*[ZERO] * 10, *[ABOVE] * 5, SOME, *[ABOVE] * 4) == [(10, 10, 10, False)]
    assert told(*[ABOVE] * 10, *[ZERO] * 10, *[ABOVE] * 12) == [(10, 10, 10, True), (20, 10, 12, False)]


@pytest.mark.parametrize(("before", "after", "is_told"), [(40, 3, True), (40, 2, False), (10, 3, False), (12, 4, True)])
def test_it_takes_so_many_in_a_row_as_chance_does_not_show(before, after, is_told):
    assert bool(told(*[ZERO] * before, *[ABOVE] * after)) == is_told
    assert bool(told(*[ABOVE] * before, *[ZERO] * after)) == is_told


def test_what_is_negative_is_not_above_zero():
    assert told(*[ZERO] * 20, *[[-1.0, 2.0, 3.0]] * 20) == []


@pytest.mark.parametrize("share", [0.2, 0.4, 0.5, 0.7])
def test_of_what_is_zero_now_and_then_hardly_a_series_is_said_to_have_changed(share):
    """Was: 83 of 100 series of 60 batches of which half were zero, as three of each met somewhere."""
    generator = random.Random(7)
    series = [[[float(generator.random() > share)] for _ in range(60)] for _ in range(500)]
    assert sum(bool(zero_changes(batches)) for batches in series) <= 0.03 * len(series)
