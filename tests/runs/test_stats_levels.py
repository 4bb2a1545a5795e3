"""Two series at equal levels: one ratio where there is one; letters of groups that cannot be told apart."""

from __future__ import annotations

from itertools import combinations
from math import exp
from random import Random

import pytest

from runs.answers.words.verdicts import verdict_words
from runs.stats import MOST_REPEATS_ASKED, Kind, Pair, judge_levels, letters, overall_ratio, ratio

BASE = [100.0, 101.0, 99.0]


def times(factor: float, base: list[float] = BASE) -> list[float]:
    return [value * factor for value in base]


def over(*pairs):
    (told,) = judge_levels([[[Pair(*pair)] for pair in pairs]], better="higher")
    return told


def test_levels_count_alike_whatever_their_size():
    told = over((times(1.2), BASE), (times(1.25), times(1)), (times(1.3 * 1000), times(1000)))

    assert told.overall.kind == Kind.BETTER
    assert told.overall.ratio.value == pytest.approx((1.2 * 1.25 * 1.3) ** (1 / 3))
    assert told.of_repeats


def test_better_at_one_level_and_worse_at_another_is_no_single_number():
    """The issue: 1.2 × at 1 GB, 0.7 × at 30 GB."""
    told = over((times(1.2), BASE), (times(0.7), BASE))

    assert [verdict.kind for verdict in told.levels] == [Kind.BETTER, Kind.WORSE]
    assert told.overall.kind == Kind.MIXED
    assert told.p_alike < 0.001


def test_levels_that_differ_to_one_side_keep_their_mean_and_are_called_unlike():
    told = over((times(1.2), BASE), (times(2.0), BASE))

    assert told.overall.kind == Kind.BETTER
    assert told.p_alike < 0.001


def test_what_is_sure_at_some_levels_only_has_no_single_number():
    told = over((times(1.4), BASE), (times(1.0), BASE), ([50.0, 100.0, 200.0], BASE))

    assert told.levels[0].kind == Kind.BETTER
    assert told.overall.kind == Kind.MIXED


def test_what_is_sure_wherever_repeats_suffice_depends_on_no_level():
    """Two levels of one repeat more: with the first they make a wide interval, and nothing that contradicts it."""
    told = over((times(2.0), BASE), ([200.0], [100.0]), ([600.0], [100.0]))

    assert told.overall.kind == Kind.UNDECIDED


@pytest.mark.parametrize("single", [0.5, 3.0])
def test_a_level_of_one_repeat_is_left_out_beside_two_of_enough(single: float):
    enough = [(times(1.9), BASE), (times(2.1), BASE)]

    told = over(*enough, ([100.0 * single], [100.0]))

    assert told.overall.ratio.value == over(*enough).overall.ratio.value
    assert (told.overall.kind, told.of_repeats) == (Kind.BETTER, True)
    assert told.levels[-1].kind == Kind.TOO_FEW


def test_single_repeats_are_judged_by_how_the_levels_differ():
    """Articles print a number a cell: six sizes that all say about the same are six repeats of one ratio."""
    levels = [([100.0 * factor], [100.0]) for factor in (1.9, 2.0, 2.1, 2.05, 1.95)]

    told = over(*levels)

    assert {verdict.kind for verdict in told.levels} == {Kind.TOO_FEW}
    assert (told.overall.kind, told.of_repeats, told.p_alike) == (Kind.BETTER, False, None)
    assert told.overall.ratio.interval.low == pytest.approx(1.905, abs=0.01)


def test_two_levels_of_single_repeats_say_nothing():
    assert over(([200.0], [100.0]), ([210.0], [100.0])).overall.kind == Kind.TOO_FEW


def test_one_level_speaks_for_itself():
    told = over((times(1.2), BASE))
    assert told.overall is None
    assert told.levels[0].kind == Kind.BETTER


def test_the_ratio_over_all_is_in_the_family_of_its_levels():
    alone = overall_ratio([ratio(times(1.2), BASE), ratio([90.0, 110.0, 100.0], BASE)]).ratio
    told = over((times(1.2), BASE), ([90.0, 110.0, 100.0], BASE))

    assert alone.confidence == 0.95
    assert told.overall.ratio.confidence > 0.95
    assert told.overall.ratio.interval.low < alone.interval.low


def test_it_says_how_many_more_repeats_would_do():
    noisy = [90.0, 100.0, 111.0]
    told = over((times(1.18, noisy), noisy), (times(1.18, noisy), noisy))
    assert told.overall.kind == Kind.UNDECIDED
    assert told.overall.repeats_needed < (told.levels[0].repeats_needed or MOST_REPEATS_ASKED + 1)


def test_a_level_may_be_the_mean_of_several_pairs():
    """A reader who does not hold the terminals equal asks for their mean, each pair at equal terminals."""
    (told,) = judge_levels(
        [[[Pair(times(1.2), BASE), Pair(times(1.8), BASE)], [Pair(times(2.0), BASE)]]], better="higher"
    )

    assert [verdict.kind for verdict in told.levels] == [Kind.BETTER, Kind.BETTER]
    assert told.levels[0].ratio.value == pytest.approx((1.2 * 1.8) ** 0.5)


def test_several_pairs_of_one_repeat_each_say_that_three_are_needed():
    """Seen: what each setting did was an error on a sweep of 36 cells that were measured once."""
    pairs = [Pair([100.0 * factor], [100.0]) for factor in (1.2, 1.0, 1.15, 1.02, 1.18, 0.98)]

    (told,) = judge_levels([[pairs]], better="higher")

    assert told.levels[0].kind == Kind.UNDECIDED
    assert told.levels[0].repeats_needed is None
    assert verdict_words(told.levels[0]).endswith("undecided: at least 3 repeats of each are needed")


def test_it_refuses_none_of_a_level_without_logs():
    told = over(([0.0, 1.0, 2.0], BASE), (times(1.2), BASE), (times(1.2), BASE))
    assert verdict_words(told.levels[0]) == "no ratio: a value is zero or negative"
    assert told.overall.ratio.value == pytest.approx(1.2)


@pytest.mark.parametrize(
    ("count", "apart", "expected"),
    [
        (3, [], ["a", "a", "a"]),
        (3, [(0, 1), (0, 2), (1, 2)], ["a", "b", "c"]),
        (4, [(0, 3), (0, 2)], ["a", "ab", "b", "b"]),
        (5, [(0, 4), (0, 3), (1, 4)], ["a", "ab", "abc", "bc", "c"]),
    ],
)
def test_letters(count: int, apart: list[tuple[int, int]], expected: list[str]):
    assert letters(count, apart) == expected


@pytest.mark.parametrize("seed", range(20))
def test_two_groups_share_a_letter_exactly_if_they_are_not_told_apart(seed: int):
    draw = Random(seed)
    pairs = list(combinations(range(12), 2))
    apart = {pair for pair in pairs if draw.random() < seed / 20}
    told = letters(12, apart)
    assert {(a, b) for a, b in pairs if not set(told[a]) & set(told[b])} == apart


def test_more_groups_than_letters():
    told = letters(30, combinations(range(30), 2))
    assert (told[0], told[25], told[29]) == ("a", "z", "(30)")
    assert len(set(told)) == 30


@pytest.mark.parametrize(("in_time", "least", "most"), [(True, 0.93, 1.0), (False, 0.0, 0.75)])
def test_what_shifts_from_batch_to_batch_is_in_the_ratio_over_batches(in_time, least, most):
    """Was: 0.659 (0.654 to 0.664) of a planted 0.667 over nine batches, by the repeats of each alone."""
    chance, held = Random(6), 0
    for _ in range(400):
        shifts = [chance.gauss(0, 0.015) for _ in range(9)]
        sides = [[[1.2 * exp(shift + chance.gauss(0, 0.005)) for _ in "123"] for shift in shifts],
                 [[exp(chance.gauss(0, 0.005)) for _ in "123"] for _ in shifts]]  # fmt: skip
        (told,) = judge_levels([[[Pair(*pair)] for pair in zip(*sides, strict=True)]], better="higher", in_time=in_time)
        interval = told.overall.ratio.interval
        held += interval.low <= 1.2 <= interval.high
    assert least <= held / 400 <= most
