"""Statistics of few repeats: summaries, intervals, ratios and verdicts, beside published values."""

from __future__ import annotations

import math
import random
import re
import statistics
from dataclasses import replace
from itertools import combinations

import pytest

from runs.answers.words.verdicts import robustness_words, verdict_words
from runs.stats import (
    WINNERS,
    Interval,
    Kind,
    Lack,
    Pair,
    Ratio,
    geometric_mean,
    geometric_mean_interval,
    holm,
    judge,
    judge_levels,
    mean,
    more_repeats,
    noise_by_machine,
    page_noise,
    ranks,
    ratio,
    stdev,
    summarise,
    t_quantile,
)
from runs.stats.levels import judge_family
from runs.stats.verdicts import judge_interval
from tests.conftest import REPOSITORY

POSTGRESQL = [465, 511, 546, 469, 508]
DB2 = [2304, 2352, 2363, 2435, 2363]
# Percentage points of Student's t as published in statistical tables (to eight decimals).
PUBLISHED = [
    (0.975, 1, 12.70620474),
    (0.975, 2, 4.30265273),
    (0.975, 3, 3.18244631),
    (0.975, 4, 2.77644511),
    (0.975, 5, 2.57058184),
    (0.975, 8, 2.30600414),
    (0.975, 10, 2.22813885),
    (0.975, 30, 2.04227246),
    (0.975, 100, 1.98397152),
    (0.95, 1, 6.31375151),
    (0.95, 5, 2.01504837),
    (0.90, 4, 1.53320627),
    (0.995, 2, 9.92484320),
    (0.995, 10, 3.16927267),
]


@pytest.mark.parametrize(("p", "df", "t"), PUBLISHED)
def test_it_gives_the_published_quantiles(p, df, t):
    assert t_quantile(p, df) == pytest.approx(t, abs=1e-6)
    assert t_quantile(1 - p, df) == pytest.approx(-t, abs=1e-6)


def test_it_grows_into_the_normal_distribution():
    assert t_quantile(0.975, 1e7) == pytest.approx(1.959964, abs=1e-5)


def test_it_lies_between_its_neighbours_for_a_broken_number_of_degrees():
    assert t_quantile(0.975, 3) > t_quantile(0.975, 3.4) > t_quantile(0.975, 4)


@pytest.mark.parametrize(("p", "df"), [(0, 3), (1, 3), (0.9, 0), (0.9, -1)])
def test_it_refuses_what_has_no_quantile(p, df):
    with pytest.raises(ValueError):
        t_quantile(p, df)


def test_it_summarises_the_five_repeats_of_an_article_as_its_check_does():
    summary = summarise(POSTGRESQL)

    assert (summary.n, summary.median, summary.minimum, summary.maximum) == (5, 508, 465, 546)
    assert summary.mean == pytest.approx(499.8)
    assert summary.stdev == pytest.approx(33.5, abs=0.05)
    assert summary.cv == pytest.approx(0.067, abs=0.0005)
    assert summary.geometric_mean == pytest.approx(statistics.geometric_mean(POSTGRESQL))


def test_it_has_nothing_to_say_about_no_values():
    assert summarise([]) is None


def test_it_knows_no_spread_of_one_repeat():
    summary = summarise([7.5])

    assert (summary.median, summary.stdev, summary.cv) == (7.5, None, None)
    assert geometric_mean_interval([7.5]) is None


@pytest.mark.parametrize("values", [[0, 3, 4], [-1, 3, 4]])
def test_it_gives_no_geometric_mean_where_logs_do_not_exist(values):
    summary = summarise(values)

    assert summary.geometric_mean is None
    assert geometric_mean_interval(values) is None


def test_it_takes_the_spread_of_a_mean_of_zero_as_unknown():
    summary = summarise([-1, 1])

    assert summary.cv is None


def test_it_puts_the_interval_around_the_geometric_mean():
    interval = geometric_mean_interval([80, 100, 125])

    # logs -0.2231, 0, 0.2231 around ln 100; s = 0.2231; t(0.9925, 2) = 8.0728
    half = t_quantile(0.9925, 2) * math.log(1.25) / math.sqrt(3)
    assert t_quantile(0.9925, 2) == pytest.approx(8.0728, abs=1e-4)
    assert interval.low == pytest.approx(100 * math.exp(-half))
    assert interval.high == pytest.approx(100 * math.exp(half))


@pytest.mark.parametrize("values", [[10, 11], [10, 10, 10]])
def test_it_draws_no_interval_of_two_repeats_or_of_repeats_that_do_not_vary(values):
    assert geometric_mean_interval(values) is None


def test_it_computes_welchs_interval_on_logs():
    """Worked by hand: logs of (1, 2, 4) and (1, 1.1, 1.21, 1.331)."""
    result = ratio([1, 2, 4], [1, 1.1, 1.21, 1.331])

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

    assert result.value == pytest.approx(4.7364, abs=0.0001)
    assert result.interval.low > 4


def test_it_turns_round_with_its_sides():
    there, back = ratio(DB2, POSTGRESQL), ratio(POSTGRESQL, DB2)

    assert there.value == pytest.approx(1 / back.value)
    assert there.interval.low == pytest.approx(1 / back.interval.high)


@pytest.mark.parametrize(("values", "baseline"), [([], [1]), ([1, 2, 0], [1, 2, 3]), ([1, 2, 3], [1, -2, 3])])
def test_it_gives_no_ratio_where_there_is_none(values, baseline):
    assert ratio(values, baseline) is None


def test_it_gives_a_ratio_without_interval_for_too_few_repeats():
    result = ratio([10, 11], [5, 5.5, 6])

    assert result.value == pytest.approx(math.sqrt(110) / (5 * 5.5 * 6) ** (1 / 3))
    assert result.interval is None
    assert result.lack == Lack.TOO_FEW_REPEATS


def test_it_gives_no_interval_when_nothing_varies():
    result = ratio([10, 10, 10], [5, 5, 5])

    assert result.value == pytest.approx(2)
    assert result.interval is None
    assert result.lack == Lack.REPEATS_ALIKE


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
        held += result.interval.low <= 1 <= result.interval.high
    assert 930 <= held <= 1_000


def test_it_knows_which_direction_is_better():
    assert judge(DB2, POSTGRESQL, better="higher").kind == Kind.BETTER
    assert judge(POSTGRESQL, DB2, better="higher").kind == Kind.WORSE
    assert judge(DB2, POSTGRESQL, better="lower").kind == Kind.WORSE
    assert judge(POSTGRESQL, DB2, better="lower").kind == Kind.BETTER


def test_it_names_no_winner_of_a_descriptive_quantity():
    verdict = judge(DB2, POSTGRESQL, better="none")

    assert (verdict.kind, verdict_words(verdict)) == (Kind.DIFFERENT, "higher")


def test_it_calls_a_certain_difference_of_one_per_cent_too_small_to_matter():
    verdict = judge([101.0, 101.1, 100.9, 101.0], [100.0, 100.1, 99.9, 100.0], better="higher")

    assert verdict.kind == Kind.TOO_SMALL
    assert "too small to matter (under 3\u202f%)" in verdict_words(verdict)


# Their ratio is 1.028, its interval 1.006 to 1.051: surely higher, and perhaps by more than 3 %.
SURE_BUT_SMALL = [103.5, 101.9, 103.1, 102.9], [100, 101, 98.9, 100.2]


def test_it_does_not_call_too_small_what_may_be_larger_than_the_threshold():
    verdict = judge(*SURE_BUT_SMALL, better="higher")

    assert verdict.ratio and verdict.ratio.interval and verdict.ratio.value < 1.03 < verdict.ratio.interval.high
    assert verdict.ratio.interval.low > 1
    assert verdict.kind == Kind.UNDECIDED
    assert verdict_words(verdict).startswith("better, but undecided whether by 3\u202f%: needs ")


def test_it_judges_by_the_threshold_that_it_is_given():
    assert judge(*SURE_BUT_SMALL, better="higher", threshold=0.06).kind == Kind.TOO_SMALL
    assert judge(*SURE_BUT_SMALL, better="higher", threshold=0.025).kind == Kind.BETTER
    alike = judge([100, 101, 99, 100], [100, 99.5, 100.2, 99.8], better="higher", threshold=0.025)
    assert "2.5\u202f%" in verdict_words(alike)


def test_it_judges_a_family_at_the_levels_of_holm():
    """The worked example of many textbooks: four p of which the first two stand."""
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.05 / 3, 0.025, 0.025, 0.0125])
    assert (holm([0.2]).tolist(), holm([]).tolist()) == ([0.05], [])
    # None after the one that stops it is judged more mildly; families side by side are judged each for itself.
    assert holm([[0.03, 0.04], [0.04, 0.02]]).tolist() == [[0.025, 0.025], [0.05, 0.025]]
    # One pair that is asked about twice.
    assert holm([0.02, 0.001, 0.02]).tolist() == pytest.approx([0.025, 0.05 / 3, 0.025])


def test_it_names_fewer_winners_the_more_it_compares():
    base, other, apart = [100, 101, 102], [104, 106, 105.5], [99, 101.5, 102]
    assert judge(other, base, better="higher").kind == Kind.BETTER
    family = judge_family([(other, base)] + [(apart, base)] * 8, better="higher")
    assert family[0].kind == Kind.UNDECIDED
    assert family[0].ratio and family[0].ratio.confidence == pytest.approx(1 - 0.05 / 9)
    assert family[0].ratio.interval and family[0].ratio.interval.low < 1


def test_too_few_repeats_take_no_level_from_the_others():
    base, other = [100, 101, 102], [104, 106, 105.5]
    alone, few = judge_family([(other, base), ([1, 2], base)], better="higher")
    assert (alone.kind, few.kind) == (Kind.BETTER, Kind.TOO_FEW)


def test_no_process_of_the_site_waits_for_scipy_at_its_start():
    """It would cost each of them 0.4 to 1.3 s and 23 to 70 MB (decision 5)."""
    parts = [path for room in ("runs", "agents", "benchsite") for path in (REPOSITORY / room).rglob("*.py")]
    eager = [path for path in parts if re.search(r"^(from|import) (scipy|numpy)\b", path.read_text(), re.MULTILINE)]
    assert (len(parts) > 300, eager) == (True, [])


def test_it_looks_at_ranks_from_six_repeats_on():
    """p as SciPy and R give it for groups that do not overlap: 2 / C(12, 6)."""
    low, high = [1.0, 1.1, 1.2, 1.3, 1.4, 1.5], [2.0, 2.1, 2.2, 2.3, 2.4, 2.5]
    assert ranks(low[:5], high) is None
    found = ranks(high, low)
    assert found and (found.delta, found.size) == (1.0, "large") and found.p == pytest.approx(2 / 924)
    verdict = judge(high, low, better="higher")
    assert robustness_words(verdict) == "Ranks: Mann-Whitney p = 0.0022, Cliff's δ = +1.00 (large)"
    assert judge(high, high, better="higher").ranks is not None
    assert ranks([1.0] * 6, [1.0] * 6) is None


def test_it_says_when_an_outlier_hides_what_ranks_show():
    base = [100.0, 100.2, 99.8, 100.1, 99.9, 100.3]
    verdict = judge([110.0, 110.2, 109.8, 110.1, 160.0, 50.0, 110.4, 110.5], base, better="higher")
    assert verdict.kind == Kind.UNDECIDED
    hidden = judge([110.0, 110.2, 109.8, 110.1, 300.0, 110.4, 110.5], base, better="higher")
    assert (hidden.kind, robustness_words(hidden).partition(":")[0]) == (
        Kind.UNDECIDED,
        "The ranks differ, outliers hide it",
    )


def test_it_calls_two_tight_groups_with_one_mean_equivalent():
    verdict = judge([100, 101, 99, 100], [100.5, 99.5, 100.2, 99.8], better="higher")

    assert verdict.kind == Kind.EQUIVALENT


def test_it_asks_for_more_repeats_when_noise_hides_a_difference():
    verdict = judge([100, 112, 106], [95, 90, 99], better="higher")

    assert verdict.kind == Kind.UNDECIDED
    assert verdict.repeats_needed is not None and verdict.repeats_needed > 1
    assert f"needs about {verdict.repeats_needed} more repeats" in verdict_words(verdict)


def test_it_does_not_ask_for_a_thousand_repeats():
    verdict = judge([100, 300, 20], [110, 25, 290], better="higher")

    assert verdict.kind == Kind.UNDECIDED
    assert verdict.repeats_needed is None
    assert verdict.ratio.interval.high - 1 < bound_of(verdict_words(verdict)) * 1.05


def test_the_bound_of_a_sure_difference_is_of_the_ratio_that_stands_beside_it():
    """Was: "better, but undecided whether by 10%: …; the difference, if any, is below 14%", of 0.88 to 0.96."""
    interval = Interval(0.878, 0.955)
    estimate = Ratio(0.9157, interval, 8)
    verdict = judge_interval(estimate, interval, better="lower", threshold=0.1, fewest=None)
    words = verdict_words(replace(verdict, fewest=5, repeats_needed=None))
    assert (
        words
        == "better, but undecided whether by 10\u202f%: needs over 20 more repeats; the difference is below 13\u202f%"
    )


def test_the_bound_of_a_wide_interval_is_a_ratio_whichever_side_it_is_read_from():
    """Was: "the difference, if any, is below 102%" beside "−50.5 to +72.4"."""
    interval = Interval(0.495, 1.724)
    verdict = judge_interval(Ratio(0.924, interval, 8), interval, better="higher", threshold=0.03, fewest=None)
    verdict = replace(verdict, fewest=5, repeats_needed=None)
    for each in (verdict, verdict.turned):
        assert verdict_words(each) == "undecided: needs over 20 more repeats; neither comes to 2.1\u202f× the other"


def test_a_bound_that_says_nothing_is_not_told():
    """Seen: "the difference, if any, is below 161560 times"."""
    verdict = judge([100, 30000, 2], [110, 3, 29000], better="higher")
    assert verdict_words(verdict) == "undecided: needs over 20 more repeats"


def bound_of(words: str) -> float:
    """The share below which the difference is said to be; what is far beyond is told in times."""
    share, times = re.search(r"(?:is below (\d+)\u202f%|neither comes to ([\d.]+)\u202f× the other)$", words).groups()
    return float(share) / 100 if share else float(times) - 1


@pytest.mark.parametrize(("a", "b"), [([100, 200], [1, 2, 3]), ([100, 200, 300], [1]), ([], [1, 2, 3])])
def test_it_judges_nothing_below_three_repeats(a, b):
    verdict = judge(a, b, better="higher")

    assert verdict.kind == Kind.TOO_FEW
    assert str(min(len(a), len(b))) in verdict_words(verdict)


def test_it_does_not_divide_by_zero():
    verdict = judge([0, 1, 2], [1, 2, 3], better="lower")

    assert (verdict.kind, verdict.ratio) == (Kind.UNDECIDED, None)
    assert "zero" in verdict_words(verdict)


def test_it_stays_undecided_when_no_repeat_varies_and_the_numbers_differ():
    assert judge([2, 2, 2], [1, 1, 1], better="higher").kind == Kind.UNDECIDED
    assert judge([2, 2, 2], [2, 2, 2], better="higher").kind == Kind.EQUIVALENT


def test_it_asks_for_fewer_repeats_the_larger_the_difference_and_for_none_that_would_not_do():
    noisy = [90.0, 100.0, 111.0, 96.0, 104.0]
    asked = [more_repeats(ratio([v * by for v in noisy], noisy), threshold=0.03, have=5) for by in (1.12, 1.2)]

    assert asked[0] > asked[1] >= 1
    assert more_repeats(ratio([v * 1.03 for v in noisy], noisy), threshold=0.03, have=5) is None


def test_it_asks_for_more_repeats_of_three_than_of_ten_that_spread_alike():
    """Three hardly know how far they spread."""
    few = ratio([95.0, 105.0, 112.0], [90.0, 100.0, 96.0])
    many = ratio([95.0, 105.0, 112.0] * 3, [90.0, 100.0, 96.0] * 3)

    assert few.value == pytest.approx(many.value)
    asked = [more_repeats(estimate, threshold=0.03, have=have) or 21 for estimate, have in ((few, 3), (many, 9))]
    assert asked[0] + 3 > asked[1] + 9


HALF_SLOW = [[80.0, 100.0, 101.0], [99.0, 81.0, 100.5], [100.0, 79.0, 80.5]]
ALL_FAST, ALL_SLOW = [100.0, 100.5, 101.0], [80.0, 80.4, 79.9]


def test_three_repeats_that_met_one_mode_of_the_noise_are_no_winner():
    """Half of the repeats of equal cells lose a fifth: three of one cell lose it all, three of another never."""
    cells = [ALL_FAST, ALL_SLOW, *HALF_SLOW]
    pairs = [*combinations(cells, 2)]
    alone = judge_family(pairs, better="higher")
    on_the_page = judge_family(pairs, better="higher", noise=page_noise(cells))

    assert pairs[0] == (ALL_FAST, ALL_SLOW)
    assert [alone[0].kind, on_the_page[0].kind] == [Kind.BETTER, Kind.UNDECIDED]


def test_one_broken_cell_of_five_hides_no_difference_of_the_others():
    quiet = [[100.0 * by, 101.0 * by, 99.5 * by] for by in (1.0, 1.01, 0.99, 1.3)]
    noise = page_noise([*quiet, [10.0, 400.0, 90.0]])

    assert judge_family([(quiet[3], quiet[0])], better="higher", noise=noise)[0].kind == Kind.BETTER
    assert math.sqrt(noise.variance) < 0.02


def test_ten_repeats_may_show_that_a_cell_is_quieter_than_its_page():
    noisy = [[50.0, 100.0, 200.0, 120.0] for _ in range(4)]
    few, many = [100.0, 101.0, 99.0], [100.0, 101.0, 99.0, 100.5, 99.5] * 2
    noise = page_noise(noisy)

    assert geometric_mean_interval(few, noise).high > 150
    assert geometric_mean_interval(many, noise) == geometric_mean_interval(many)


def test_a_page_of_two_cells_has_no_other_noise_than_theirs():
    a, b = [100.0, 101.0, 99.0], [80.0, 110.0, 93.0]

    assert ratio(a, b, noise=page_noise([a, b])) == ratio(a, b)


def test_repeats_without_any_spread_have_that_of_their_page():
    noise = page_noise(HALF_SLOW)

    assert ratio([2.0, 2.0, 2.0], [1.0, 1.0, 1.0], noise=noise).interval
    assert geometric_mean_interval([2.0, 2.0, 2.0], noise)
    assert page_noise([[2.0, 2.0, 2.0], [1.0, 2.0]]) is None


QUIET = [[100.0 * by, 101.0 * by, 99.5 * by] for by in (1.0, 1.01, 0.99)]
NOISY = [[100.0, 80.0, 110.0], [100.0, 120.0, 90.0], [90.0, 110.0, 100.0]]


def test_a_machine_that_is_surely_noisier_has_a_noise_of_its_own():
    cells = {"alpha": QUIET, "beta": QUIET, "vm": NOISY, "gamma": [QUIET[0]]}
    noises = noise_by_machine((machine, cell) for machine, of in cells.items() for cell in of)

    assert noises["vm"] == page_noise(NOISY)
    assert noises["alpha"] is noises["beta"] is noises["gamma"]
    assert noises["alpha"] == page_noise([*QUIET, *QUIET, QUIET[0]])


@pytest.mark.parametrize("few", [{"alpha": QUIET, "vm": NOISY[:2]}, {"alpha": QUIET[:2], "vm": NOISY}])
def test_two_cells_do_not_tell_that_a_machine_is_noisier(few):
    noises = noise_by_machine((machine, cell) for machine, of in few.items() for cell in of)
    assert noises["alpha"] is noises["vm"] and noises["vm"].cells == 5


def test_each_side_of_a_ratio_has_the_noise_of_its_machine():
    quiet, noisy = page_noise(QUIET), page_noise(NOISY)
    calm = [100.0, 100.1, 99.9]

    one, both = ratio(calm, calm, noise=quiet), ratio(calm, calm, noise=quiet, base_noise=noisy)
    assert one.error == pytest.approx(math.sqrt(2 * quiet.variance / 3))
    assert one.degrees_of_freedom == pytest.approx(quiet.df)
    assert both.error == pytest.approx(math.sqrt((quiet.variance + noisy.variance) / 3))
    assert both.degrees_of_freedom == pytest.approx(noisy.df, rel=0.1)


def test_of_equal_cells_of_a_noisy_and_quiet_machines_a_false_winner_is_rare_and_a_true_one_is_found():
    draw, false, found = random.Random(11), 0, 0
    for _ in range(150):
        sides = [(name, [math.exp(draw.gauss(0, noise)) for _ in "123"])
                 for name, noise in (("alpha", 0.01), ("beta", 0.01), ("vm", 0.08)) for _ in "123"]  # fmt: skip
        noises = noise_by_machine(sides)
        pairs = [Pair(a, b, noises[of_a], noises[of_b]) for (of_a, a), (of_b, b) in combinations(sides, 2)]
        verdicts = [each.levels[0] for each in judge_levels([[[pair]] for pair in pairs], better="higher")]
        false += any(verdict.kind in WINNERS for verdict in verdicts)
        pairs[0] = pairs[0]._replace(values=[value * 1.1 for value in pairs[0].values])
        found += judge_levels([[[pair]] for pair in pairs], better="higher")[0].levels[0].kind == Kind.BETTER
    assert false <= 5 and found >= 100


LARGEST, SMALLEST = 1.7976931348623157e308, 5e-324
HOSTILE = [
    [LARGEST] * 5,
    [LARGEST, -LARGEST, LARGEST],
    [LARGEST, SMALLEST, LARGEST, SMALLEST],
    [SMALLEST] * 4,
    [1e-300, 1e300, 1.0],
    [0.0, 0.0, 0.0],
    [-1.0, 0.0, 1.0],
    [1.0, math.nextafter(1.0, 2.0), 1.0],
    [1e18, 1e-18, 1.0],
    [],
]


@pytest.mark.parametrize("values", HOSTILE)
def test_it_never_raises_whatever_is_compared(values):
    """What is stored already must not take a page down with it."""
    summary, interval = summarise(values), geometric_mean_interval(values)
    assert (summary is None) == (not values)
    if summary:
        known = [summary.mean, summary.median, summary.minimum, summary.maximum]
        assert all(map(math.isfinite, [*known, *filter(None, [summary.stdev, summary.cv, summary.geometric_mean])]))
        assert summary.minimum <= summary.mean <= summary.maximum
    assert interval is None or 0 < interval.low <= interval.high < math.inf
    for other in HOSTILE:
        for better in ("higher", "lower", "none"):
            assert verdict_words(judge(values, other, better=better))


def test_it_says_that_values_are_too_far_apart_for_a_ratio():
    assert verdict_words(judge([1e-300] * 3, [1e300] * 3, better="higher")) == "no ratio: the values are too far apart"


def test_its_mean_and_deviation_are_those_of_the_standard_library():
    source = random.Random(5)
    for values in ([source.gauss(1000, 50) for _ in range(200)], [1e9 + source.random() for _ in range(50)]):
        assert mean(values) == statistics.fmean(values)
        assert stdev(values) == pytest.approx(statistics.stdev(values), rel=1e-12)
    assert mean([LARGEST] * 3) == pytest.approx(LARGEST)
    assert geometric_mean([LARGEST] * 3) is not None


def test_a_broken_cell_of_three_says_nothing_of_the_noise_of_the_others():
    """Was: one disturbed repeat made the interval of another system 0.27 to 225,279."""
    quiet, loud = [217.8, 259.8, 270.6], [2019.0, 1978.0, 42.2]
    others = [quiet, [507.7, 519.8, 499.3]]
    broken = page_noise([*others, loud])
    assert broken == replace(page_noise(others), cells=3)
    # Two modes in one cell may well be the noise of all.
    two_modes = [100.0, 101.0, 80.0]
    assert page_noise([[100.0, 102.0, 99.0], [98.0, 101.0, 100.0], two_modes]).variance > 0.004
