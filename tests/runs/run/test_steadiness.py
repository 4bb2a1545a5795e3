from __future__ import annotations

import math
import random

import pytest

from runs.run import steadiness

# As seen, and unmarked: rising into the window, and falling through it.
WARM_UP, FIRST, LAST = [1_107.0, 2_772.0, 4_142.0], 5_311.0, 4_018.0


def seconds(count: int, *, noise: float, alike: float = 0.5, seed: int = 1, level: float = 5_000.0) -> list[float]:
    """Of a steady run: each second is like the one before it by `alike` (AR(1))."""
    random_numbers, off, made = random.Random(seed), 0.0, []
    for _ in range(count):
        off = alike * off + math.sqrt(1 - alike**2) * random_numbers.gauss(0, noise)
        made.append(level * (1 + off))
    return made


def falling(count: int, *, noise: float) -> list[float]:
    whole = seconds(count, noise=noise, level=1.0)
    return [value * (FIRST + (LAST - FIRST) * at / (count - 1)) for at, value in enumerate(whole)]


def test_the_series_that_passed_is_marked_on_both_sides_of_its_line():
    assert steadiness.unsteady(WARM_UP, [FIRST, LAST]) == [
        "it was still rising when the window began: 1,107 → 4,142 TPS in the last 3 s of the warm-up, then 5,311"
    ]
    rising, drifting = steadiness.unsteady(WARM_UP, falling(30, noise=0.02))
    assert rising.startswith("it was still rising")
    assert drifting.startswith("throughput drifts by -24 % from begin to end of the window (99 % interval -")


def test_a_drift_is_told_from_begin_to_end_of_its_line():
    """Seen: "-16 % over the window" of 5,000 that fall to 4,250 TPS, which is of the mean between."""
    fall = [value * (1 - 0.15 * at / 599) for at, value in enumerate(seconds(600, noise=0.01))]
    (said,) = steadiness.unsteady([], fall)
    assert said.startswith("throughput drifts by -15 % from begin to end of the window")
    (grown,) = steadiness.unsteady([], [float(at) for at in range(1, 101)])
    assert "of its mean over the window" in grown


def test_a_change_of_level_is_told_with_its_second():
    window = [FIRST * value for value in seconds(18, noise=0.03, level=1.0)]
    window += [LAST * value for value in seconds(12, noise=0.03, level=1.0, seed=2)]
    (said,) = steadiness.unsteady([], window)
    assert said.startswith("the level changes 18 s into the window: 5,2")
    assert steadiness.change_of_level([5_000.0] * 30) is None


def test_a_jit_compiler_that_has_settled_is_no_warm_up_that_goes_on():
    warm_up = [6_100.0, 8_300.0, 11_900.0, 14_400.0, 14_500.0, 14_300.0, 14_600.0, 14_400.0, 14_500.0, 14_450.0]
    assert steadiness.unsteady(warm_up, seconds(30, noise=0.02, level=14_500)) == []


def test_a_warm_up_that_rises_to_its_last_second_and_no_further_is_over():
    """Seen: "still rising when the window began: 2,334 → 4,634 TPS in the last 50 s of the warm-up, then 4,593"."""
    ramp = [value * at / 100 for at, value in enumerate(seconds(100, noise=0.02, level=4_600, seed=3), 1)]
    flat = seconds(3_600, noise=0.02, level=4_600)
    assert steadiness.unsteady(ramp, flat) == []
    assert steadiness.unsteady(ramp[:50], [*ramp[50:], *flat])[0].startswith("it was still rising")


def test_stalls_are_told_apart_and_make_no_drift():
    window = seconds(60, noise=0.03)
    for at in (50, 51, 52):
        window[at] = 90.0
    assert steadiness.unsteady([], window) == []
    assert steadiness.stalls(window) == [range(50, 53)]
    assert steadiness.stalls([5_000.0, None, 1_700.0, 5_000.0, 5_000.0, 1_600.0]) == [range(5, 6)]
    assert steadiness.stalls([6.0, 0.0, 7.0]) == [], "of a few transactions a second, chance leaves some without"


def test_long_series_are_judged_by_means():
    day = seconds(86_400, noise=0.1)
    assert steadiness.unsteady([], day) == []
    assert steadiness.unsteady([], [*day[:50_000], *(value * 0.7 for value in day[50_000:])]) != []


@pytest.mark.parametrize("count", [10, 30, 60, 300])
@pytest.mark.parametrize("noise", [0.02, 0.05, 0.15])
def test_steady_runs_are_marked_in_one_of_twenty_at_most(count: int, noise: float):
    """Seconds alike by 0.5, with a warm-up of ten."""
    marked = 0
    for seed in range(200):
        whole = seconds(10 + count, noise=noise, seed=seed)
        marked += bool(steadiness.unsteady(whole[:10], whole[10:]))
    assert marked <= 10


@pytest.mark.parametrize(("count", "noise"), [(10, 0.02), (30, 0.05), (60, 0.05), (300, 0.15)])
def test_a_quarter_lost_through_the_window_is_seen(count: int, noise: float):
    assert steadiness.unsteady([], falling(count, noise=noise)) != []
