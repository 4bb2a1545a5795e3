"""The Universal Scalability Law beside parameters that are known, and beside those that others published."""

from __future__ import annotations

import math
import random

import pytest

from runs.stats.curves import Levels
from runs.stats.scaling import Scaling, scaling

# A router under 1 to 32 clients, in B. Schwartz, Practical Scalability Analysis with the Universal Scalability Law.
ROUTER = [
    955.16, 1878.91, 2688.01, 3548.68, 4315.54, 5130.43, 5931.37, 6531.08, 7219.8, 7867.61, 8278.71, 8646.7, 9047.84,
    9426.55, 9645.37, 9897.24, 10097.6, 10240.5, 10532.39, 10798.52, 11151.43, 11518.63, 11806, 12089.37, 12075.41,
    12177.29, 12211.41, 12158.93, 12155.27, 12118.04, 12140.4, 12074.39,
]  # fmt: skip


def measured(at: list[int], repeats: int, law: tuple[float, float, float], noise: float = 0.0, seed: int = 0) -> Levels:
    rate, contention, coherency = law
    rng = random.Random(seed)
    return [
        (n, [rate * n / (1 + contention * (n - 1) + coherency * n * (n - 1)) * math.exp(rng.gauss(0, noise))
             for _ in range(repeats)])
        for n in at
    ]  # fmt: skip


def fitted(levels: Levels) -> Scaling:
    law = scaling(levels)
    assert isinstance(law, Scaling)
    return law


def test_it_finds_the_parameters_that_data_were_made_of():
    law = fitted(measured([1, 2, 4, 8, 16, 32, 64], 2, (995.6486, 0.02671591, 7.690945e-4)))
    assert law.rate.value == pytest.approx(995.6486, rel=1e-4)
    assert law.contention.value == pytest.approx(0.02671591, rel=1e-3)
    assert law.coherency.value == pytest.approx(7.690945e-4, rel=1e-3)
    assert law.peak is not None and law.peak.value == pytest.approx(35.57, rel=1e-3)
    assert law.off < 1e-4 and not law.poor


def test_published_measurements_have_nearly_their_published_law():
    """Published: 995.6486, 0.02671591, 0.0007690945, a peak of 12,341 at 35, by squares of the rates themselves.

    Ours are of their logarithms, as noise is of a share of the rate, so small rates weigh as much as large ones.
    """
    law = fitted([(n, [rate]) for n, rate in enumerate(ROUTER, start=1)])
    assert law.rate.value == pytest.approx(995.6, rel=0.04)
    assert law.contention.value == pytest.approx(0.0267, abs=0.007)
    assert law.coherency.value == pytest.approx(7.69e-4, rel=0.17)
    assert law.peak is not None and law.peak.value == pytest.approx(35, rel=0.06)
    assert law.at(law.peak.value) == pytest.approx(12_341, rel=0.015)
    assert law.off < 0.025


@pytest.mark.parametrize(
    ("levels", "is_shown"),
    [
        # sysbench at 1, 4, 16 and 64 threads: "Peak at 33 (32 to 34): 4,936 TPS", 24 % above anything measured.
        ({1: 300, 4: 1_150, 16: 3_900, 64: 4_000}, False),
        ({1: 300, 4: 1_150, 16: 3_900, 32: 4_900, 64: 4_000}, True),
        # A level near it, 13 % below the law.
        ({1: 300, 2: 598, 4: 1_180, 8: 2_280, 16: 3_900, 32: 3_900, 64: 4_000}, False),
    ],
)
def test_a_peak_is_shown_by_a_level_near_it_alone(levels: dict[int, float], is_shown: bool):
    law = fitted([(n, [rate * share for share in (0.995, 1, 1.005)]) for n, rate in levels.items()])
    assert law.peak and 25 < law.peak.value < 40
    assert law.is_peak_shown([(n, [rate]) for n, rate in levels.items()]) == is_shown


def test_a_level_beside_the_peak_that_lies_above_the_law_denies_it():
    """The rate falls off as no law of ours does behind 32 terminals, where it is 14 % above the highest of the law."""
    collapse = measured([1, 2, 4, 8, 16, 32], 3, (1000, 0.01, 0), 0.01, 1)
    collapse += [
        (n, [24_400 * (32 / n) ** 0.5 * math.exp(noise) for noise in (-0.01, 0, 0.01)]) for n in (64, 128, 256)
    ]
    law = fitted(collapse)
    assert law.peak and law.peak.interval.low > 32
    assert law.is_peak_exceeded(collapse)
    # Of a law that holds, chance alone shows such a level in few curves.
    curves = [measured([1, 2, 4, 8, 16, 32, 64], 3, (996, 0.027, 7.7e-4), 0.03, seed) for seed in range(100)]
    assert sum(fitted(levels).is_peak_exceeded(levels) for levels in curves) <= 3


def test_a_law_without_coherency_has_no_certain_peak():
    law = fitted(measured([1, 2, 4, 8, 16, 32], 3, (100, 0.05, 0), 0.03, 1))
    assert law.peak is None
    assert law.coherency.interval.low == 0
    straight = fitted(measured([1, 2, 4, 8, 16], 2, (100, 0, 0)))
    assert straight.contention.value == pytest.approx(0, abs=1e-6)


def test_where_the_levels_leave_the_law_it_is_poor():
    levels = [(1, [100.0]), (2, [250.0]), (4, [120.0]), (8, [600.0]), (16, [90.0]), (32, [300.0])]
    assert fitted(levels).poor
    assert not fitted(levels).scattered
    repeats = [(n, [rate * (1 + share) for share in (-0.01, 0, 0.01)]) for n, (rate,) in levels]
    assert fitted(repeats).poor and not fitted(repeats).scattered


def test_where_repeats_scatter_it_is_their_fault():
    """PostgreSQL on a machine that did other work meanwhile: three repeats of 1 to 16 terminals."""
    levels = [
        (1, [63.1, 163.7, 296.0]), (2, [185.0, 247.0, 492.0]), (4, [120.0, 122.5, 291.0]),
        (8, [176.0, 470.5, 723.2]), (16, [349.5, 470.8, 535.5]),
    ]  # fmt: skip
    law = fitted(levels)
    assert law.poor and law.scattered


def test_too_few_levels_are_said():
    assert scaling(measured([1, 2, 4], 5, (100, 0.1, 0))) == "too_few"
    assert scaling([(0.5, [1.0]), (1, [2.0]), (2, [3.0]), (4, [4.0])]) == "below_one"


@pytest.mark.parametrize(
    ("at", "repeats", "law"),
    [
        ([1, 2, 4, 8, 16, 32, 64], 3, (100.0, 0.05, 0.001)),
        ([1, 4, 16, 64], 5, (100.0, 0.02, 0.0001)),
        ([1, 2, 4, 8, 16, 32], 1, (100.0, 0.05, 0.0)),
    ],
)
def test_intervals_hold_the_parameters(at: list[int], repeats: int, law: tuple[float, float, float]):
    """3 % of noise, 150 seeded sets each: 95 % promised; within what 150 tries can tell (90 %)."""
    held = [0, 0, 0]
    for seed in range(150):
        told = fitted(measured(at, repeats, law, 0.03, seed))
        for index, parameter in enumerate((told.rate, told.contention, told.coherency)):
            held[index] += parameter.interval.low <= law[index] <= parameter.interval.high
    assert min(held) >= 135


@pytest.mark.parametrize("repeats", [3, 5])
@pytest.mark.parametrize("law", [(300.0, 0.02, 0.0008), (300.0, 0.08, 0.003)])
def test_the_interval_of_a_peak_holds_it_beside_an_outlier(repeats: int, law: tuple[float, float, float]):
    """2 % of noise, and one repeat of one level at 0.4 of its rate; by the curvature alone it held 79 to 86 %."""
    peak, held = math.sqrt((1 - law[1]) / law[2]), []
    for seed in range(140):
        levels = measured([1, 2, 4, 8, 16, 32, 64], repeats, law, 0.02, seed)
        at, (first, *others) = levels[seed % 7]
        levels = [(n, [0.4 * first, *others] if n == at else values) for n, values in levels]
        if told := fitted(levels).peak:
            held.append(told.interval.low <= peak <= told.interval.high)
    assert len(held) > 70 and sum(held) >= 0.93 * len(held)
