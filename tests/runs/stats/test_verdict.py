from __future__ import annotations

import pytest

from runs.stats import Kind, judge, repeats_needed

POSTGRESQL = [465, 511, 546, 469, 508]
DB2 = [2304, 2352, 2363, 2435, 2363]


def test_it_knows_which_direction_is_better():
    assert judge(DB2, POSTGRESQL, better="higher").kind == Kind.BETTER
    assert judge(POSTGRESQL, DB2, better="higher").kind == Kind.WORSE
    assert judge(DB2, POSTGRESQL, better="lower").kind == Kind.WORSE
    assert judge(POSTGRESQL, DB2, better="lower").kind == Kind.BETTER


def test_it_names_no_winner_of_a_descriptive_quantity():
    verdict = judge(DB2, POSTGRESQL, better="none")

    assert (verdict.kind, verdict.words) == (Kind.DIFFERENT, "higher")


def test_it_calls_a_certain_difference_of_one_per_cent_too_small_to_matter():
    verdict = judge([101.0, 101.1, 100.9, 101.0], [100.0, 100.1, 99.9, 100.0], better="higher")

    assert verdict.kind == Kind.TOO_SMALL
    assert "too small to matter" in verdict.words and "3%" in verdict.words


def test_it_calls_the_same_difference_better_where_the_threshold_is_lower():
    verdict = judge([101.0, 101.1, 100.9, 101.0], [100.0, 100.1, 99.9, 100.0], better="higher", threshold=0.005)

    assert verdict.kind == Kind.BETTER


def test_it_calls_two_tight_groups_with_one_mean_equivalent():
    verdict = judge([100, 101, 99, 100], [100.5, 99.5, 100.2, 99.8], better="higher")

    assert verdict.kind == Kind.EQUIVALENT


def test_it_asks_for_more_repeats_when_noise_hides_a_difference():
    verdict = judge([100, 120, 110], [95, 90, 108], better="higher")

    assert verdict.kind == Kind.UNDECIDED
    assert verdict.repeats_needed is not None and verdict.repeats_needed > 1
    assert f"needs about {verdict.repeats_needed} more repeats" in verdict.words


def test_it_does_not_ask_for_a_thousand_repeats():
    verdict = judge([100, 300, 20], [110, 25, 290], better="higher")

    assert verdict.kind == Kind.UNDECIDED
    assert verdict.repeats_needed is None
    assert "needs over 50 more repeats" in verdict.words


@pytest.mark.parametrize(("a", "b"), [([100, 200], [1, 2, 3]), ([100, 200, 300], [1]), ([], [1, 2, 3])])
def test_it_judges_nothing_below_three_repeats(a, b):
    verdict = judge(a, b, better="higher")

    assert verdict.kind == Kind.TOO_FEW
    assert str(min(len(a), len(b))) in verdict.words


def test_it_does_not_divide_by_zero():
    verdict = judge([0, 1, 2], [1, 2, 3], better="lower")

    assert (verdict.kind, verdict.ratio) == (Kind.UNDECIDED, None)
    assert "zero" in verdict.words


def test_it_stays_undecided_when_no_repeat_varies_and_the_numbers_differ():
    assert judge([2, 2, 2], [1, 1, 1], better="higher").kind == Kind.UNDECIDED
    assert judge([2, 2, 2], [2, 2, 2], better="higher").kind == Kind.EQUIVALENT


def test_it_asks_for_the_repeats_that_the_power_formula_asks_for():
    """CV 5 %, a difference of 5 %, power 80 %: 17 a side by the textbook (2 (1.96 + 0.84)² = 15.7, plus one for t)."""
    assert repeats_needed(0.05**2, 0.05, have=3) == 14
    assert repeats_needed(0.05**2, 0.10, have=3) < repeats_needed(0.05**2, 0.05, have=3)
    assert repeats_needed(0.05**2, 0.001, have=3) is None


def test_it_asks_for_at_least_one_more():
    assert repeats_needed(1e-9, 0.5, have=3) == 1
