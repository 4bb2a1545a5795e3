"""Main effects by least squares."""

from __future__ import annotations

import math
import random

import pytest

from runs.stats.effects import main_effects

ROW = (1, 1, 0, 1, 1, 1, 0, 0, 0, 1, 0)
DESIGN = [*([*ROW[-at:], *ROW[:-at]][:5] for at in range(11)), [0] * 5]


def test_intervals_of_a_screening_design_hold_as_often_as_they_promise():
    random_of, held = random.Random(3), 0
    for _ in range(400):
        logs = [9 + 0.3 * row[0] - 0.1 * row[1] + random_of.gauss(0, 0.02) for row in DESIGN]
        (first, *_) = main_effects(DESIGN, logs)
        assert first and first.ratio.interval
        held += first.ratio.interval.low < math.exp(0.3) < first.ratio.interval.high
    assert 365 <= held <= 395
    assert first and first.variance == pytest.approx(1 / 3)


def test_columns_that_go_together_have_no_effect_of_their_own():
    design = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 1], [0, 0, 0]]
    first, second, third = main_effects(design, [0.0, 0.5, 0.1, 0.6, 0.01])
    assert first is None and second is None
    assert third is not None and third.ratio.value == pytest.approx(math.exp(0.1), rel=0.02)


def test_nothing_is_told_without_a_row_for_the_error():
    assert main_effects([[0, 0], [1, 0], [0, 1]], [0.0, 0.5, 0.1]) == [None, None]
    assert main_effects([[]], [0.0]) == []
