from __future__ import annotations

import math
import random

import pytest

from runs.stats import ratio

POSTGRESQL = [465, 511, 546, 469, 508]
DB2 = [2304, 2352, 2363, 2435, 2363]


def test_it_computes_welchs_interval_on_logs():
    """Worked by hand: logs of (1, 2, 4) and (1, 1.1, 1.21, 1.331)."""
    result = ratio([1, 2, 4], [1, 1.1, 1.21, 1.331])

    assert result is not None and result.interval is not None
    assert result.value == pytest.approx(2 / 1.1**1.5)
    a = math.log(2) ** 2 / 3
    b = math.log(1.1) ** 2 * (5 / 3) / 4
    df = (a + b) ** 2 / (a**2 / 2 + b**2 / 3)
    assert result.degrees_of_freedom == pytest.approx(df)
    assert result.degrees_of_freedom == pytest.approx(2.0955, abs=1e-3)
    width = math.log(result.interval.high / result.interval.low)
    # Between the widths of 3 and of 2 degrees of freedom.
    assert 2 * 3.18244631 * math.sqrt(a + b) < width < 2 * 4.30265273 * math.sqrt(a + b)
    assert math.sqrt(result.interval.low * result.interval.high) == pytest.approx(result.value)


def test_it_says_four_to_five_times_for_the_winner_of_the_article():
    result = ratio(DB2, POSTGRESQL)

    assert result is not None and result.interval is not None
    assert result.value == pytest.approx(4.7364, abs=0.0001)
    assert result.interval.low > 4


def test_it_turns_round_with_its_sides():
    there, back = ratio(DB2, POSTGRESQL), ratio(POSTGRESQL, DB2)

    assert there is not None and back is not None and there.interval is not None and back.interval is not None
    assert there.value == pytest.approx(1 / back.value)
    assert there.interval.low == pytest.approx(1 / back.interval.high)


@pytest.mark.parametrize(("values", "baseline"), [([], [1]), ([1, 2, 0], [1, 2, 3]), ([1, 2, 3], [1, -2, 3])])
def test_it_gives_no_ratio_where_there_is_none(values, baseline):
    assert ratio(values, baseline) is None


def test_it_gives_a_ratio_without_interval_for_too_few_repeats():
    result = ratio([10, 11], [5, 5.5, 6])

    assert result is not None
    assert result.value == pytest.approx(math.sqrt(110) / (5 * 5.5 * 6) ** (1 / 3))
    assert result.interval is None
    assert "fewer than 3" in result.why_no_interval


def test_it_gives_no_interval_when_nothing_varies():
    result = ratio([10, 10, 10], [5, 5, 5])

    assert result is not None
    assert result.value == pytest.approx(2)
    assert result.interval is None
    assert "do not vary" in result.why_no_interval


def test_it_uses_the_other_sides_spread_when_one_side_does_not_vary():
    result = ratio([10, 10, 10], [5, 5.5, 6])

    assert result is not None and result.interval is not None
    assert result.degrees_of_freedom == pytest.approx(2)


def test_it_covers_what_it_promises():
    """Log-normal noise with a CV of 5 %, three repeats a side: the 95 % interval must hold 1 in 93 to 100 of 100."""
    noise = random.Random(20_101_104)

    def repeats() -> list[float]:
        return [math.exp(noise.gauss(0, 0.05)) for _ in range(3)]

    held = 0
    for _ in range(1_000):
        result = ratio(repeats(), repeats())
        assert result is not None and result.interval is not None
        held += result.interval.low <= 1 <= result.interval.high
    assert 930 <= held <= 1_000
