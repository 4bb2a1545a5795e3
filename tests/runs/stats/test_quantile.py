from __future__ import annotations

import pytest

from runs.stats import t_quantile

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
