"""Where what is counted in batches, as errors are, leaves zero for good or comes to it: to zero there is no ratio."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise
from typing import Literal

from runs.stats.steps import LEAST_DAYS, STEP_ALPHA
from runs.stats.watch import WINDOW


@dataclass(frozen=True)
class ZeroChange:
    """A change to zero, or from it, at a batch: so many in a row before it, and from it on."""

    at: int
    before: int
    after: int
    is_to_zero: bool
    kind: Literal["zero"] = "zero"

    @property
    def is_rise(self) -> bool:
        return not self.is_to_zero


def zero_changes(batches: Sequence[Sequence[float]]) -> list[ZeroChange]:
    """Of the repeats of batches, oldest first. A batch is zero where each repeat is, and above it where one is and none
    is negative.

    What is zero now and then has stretches of both by chance, too. If each batch were as likely to be zero, n that are
    and m that are not would meet at a place with a chance of n^n m^m ⁄ (n + m)^(n + m) at most, whatever that
    likelihood is: `STEP_ALPHA` shared out over all places, in both directions, allows it, as of any other step.
    """
    sides = ["negative" if min(values) < 0 else "above" if any(values) else "zero" for values in batches]
    stretches = [(side, len([*alike])) for side, alike in groupby(sides)]
    places = 2 * min(len(batches), WINDOW)
    starts = accumulate(count for _, count in stretches)
    return [
        ZeroChange(at, before, after, is_to_zero=side == "zero")
        for ((side_before, before), (side, after)), at in zip(pairwise(stretches), starts, strict=False)
        if {side_before, side} == {"zero", "above"} and min(before, after) >= LEAST_DAYS
        and places * _most_chance(before, after) <= STEP_ALPHA
    ]  # fmt: skip


def _most_chance(zeros: int, others: int) -> float:
    count = zeros + others
    return float((zeros / count) ** zeros * (others / count) ** others)
