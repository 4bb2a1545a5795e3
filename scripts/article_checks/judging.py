"""How a check is decided: what is stated against what is computed."""

from __future__ import annotations

from decimal import Decimal

from runs.publications.check import Result, rounded


def decimals(number: float) -> int:
    """Printed decimals of a stated number: 2 for 6.55, 0 for 60."""
    exponent = Decimal(repr(float(number)).removesuffix(".0")).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def judge(stated: float, computed: float, *, digits: int | None = None) -> Result:
    """Agrees when the computed value rounds to the stated one at its printed decimals (or `digits`).

    Rounded up or down when both are the same at one significant digit; disagrees otherwise.
    """
    places = decimals(stated) if digits is None else digits
    if rounded(computed, places) == rounded(stated, places):
        return Result.AGREES
    if stated and _one_digit(stated) == _one_digit(computed):
        return Result.ROUNDED_UP if abs(stated) > abs(computed) else Result.ROUNDED_DOWN
    return Result.DISAGREES


def _one_digit(value: float) -> float:
    return 0.0 if not value else rounded(value, -Decimal(repr(abs(value))).adjusted())


def judge_bounds(computed: float, *, low: float | None = None, high: float | None = None) -> Result:
    """Agrees when the value lies within the stated bounds, ends included."""
    inside = (low is None or computed >= low) and (high is None or computed <= high)
    return Result.AGREES if inside else Result.DISAGREES


def all_of(*results: Result) -> Result:
    """Agrees when all do; otherwise the first that does not."""
    return next((result for result in results if result != Result.AGREES), Result.AGREES)


def agrees(holds: bool) -> Result:
    return Result.AGREES if holds else Result.DISAGREES
