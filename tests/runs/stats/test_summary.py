from __future__ import annotations

import math
import statistics

import pytest

from runs.stats import geometric_mean_interval, summarise

POSTGRESQL = [465, 511, 546, 469, 508]


def test_it_summarises_the_five_repeats_of_an_article_as_its_check_does():
    summary = summarise(POSTGRESQL)

    assert summary is not None
    assert (summary.n, summary.median, summary.minimum, summary.maximum) == (5, 508, 465, 546)
    assert summary.mean == pytest.approx(499.8)
    assert summary.stdev == pytest.approx(33.5, abs=0.05)
    assert summary.cv == pytest.approx(0.067, abs=0.0005)
    assert summary.geometric_mean == pytest.approx(statistics.geometric_mean(POSTGRESQL))


def test_it_has_nothing_to_say_about_no_values():
    assert summarise([]) is None


def test_it_knows_no_spread_of_one_repeat():
    summary = summarise([7.5])

    assert summary is not None
    assert (summary.median, summary.stdev, summary.cv) == (7.5, None, None)
    assert geometric_mean_interval([7.5]) is None


@pytest.mark.parametrize("values", [[0, 3, 4], [-1, 3, 4]])
def test_it_gives_no_geometric_mean_where_logs_do_not_exist(values):
    summary = summarise(values)

    assert summary is not None
    assert summary.geometric_mean is None
    assert geometric_mean_interval(values) is None


def test_it_takes_the_spread_of_a_mean_of_zero_as_unknown():
    summary = summarise([-1, 1])

    assert summary is not None
    assert summary.cv is None


def test_it_puts_the_interval_around_the_geometric_mean():
    interval = geometric_mean_interval([80, 100, 125])

    assert interval is not None
    # logs -0.2231, 0, 0.2231 around ln 100; s = 0.2231; t(0.975, 2) = 4.302653
    half = 4.30265273 * math.log(1.25) / math.sqrt(3)
    assert interval.low == pytest.approx(100 * math.exp(-half))
    assert interval.high == pytest.approx(100 * math.exp(half))


@pytest.mark.parametrize("values", [[10, 11], [10, 10, 10]])
def test_it_draws_no_interval_of_two_repeats_or_of_repeats_that_do_not_vary(values):
    assert geometric_mean_interval(values) is None
