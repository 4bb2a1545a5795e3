"""What is known of each curve over sizes or clients, in numbers (docs/method/curves.md says each formula)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

from runs.answers.places import Place, groups_of, memory_places
from runs.compare.axes import LEAST_LEVELS
from runs.compare.comparison import Comparison
from runs.compare.judging import Verdicts
from runs.compare.panels import CLIENT, SIZE, Curve, kind_of, levels_of
from runs.models import Metric
from runs.stats import Interval, Ratio, Slope, ratio
from runs.stats.curves import Crossing, Knee, Levels, against_first, crossing, knee, per_doubling
from runs.stats.scaling import Scaling, scaling

LEAST_OF_A_SIDE = 2
# An interval that reaches from a loss to twice the rate says nothing.
MOST_OF_A_DOUBLING = 1.0


@dataclass(frozen=True)
class Along:
    """One curve: `losses` of each level against the first, `memory` where RAM stands on x."""

    panel: str
    series: str
    metric: Metric
    x: Place
    kind: str
    levels: Levels
    losses: list[Ratio | None]
    memory: float | None

    @property
    def grows(self) -> bool:
        """Whether it is a rate over clients, of which the scaling law speaks."""
        return self.kind == CLIENT and self.metric.better == "higher"

    @cached_property
    def per_doubling(self) -> Slope | None:
        return per_doubling(self.levels)

    @cached_property
    def beside_memory(self) -> tuple[Slope | None, Slope | None] | None:
        """Per doubling below and above the memory; None where the whole is not told or no memory stands on x."""
        if self.memory is None or self.kind != SIZE or not is_told(self.per_doubling):
            return None
        below = [level for level in self.levels if level[0] <= self.memory]
        above = [level for level in self.levels if level[0] >= self.memory]
        within, beyond = (per_doubling(part) if len(part) >= LEAST_OF_A_SIDE else None for part in (below, above))
        return within, beyond

    @cached_property
    def half(self) -> Crossing | None:
        """Where half is left, of what is lower the better where it has doubled, sure or not."""
        return crossing(self.levels, 0.5 if self.metric.better == "higher" else 2.0)

    @cached_property
    def is_half_unsure(self) -> bool:
        """Whether the level that is beyond it may as well lie where the first does."""
        if self.half is None or self.half.interval:
            return False
        loss = next(loss for (x, _), loss in zip(self.levels, self.losses, strict=True) if x == self.half.before)
        return bool(loss and loss.interval and loss.interval.low <= 1 <= loss.interval.high)

    @cached_property
    def knee(self) -> Knee:
        return knee(self.levels)

    @cached_property
    def law(self) -> Scaling | str:
        return scaling(self.levels)

    @property
    def numbers(self) -> dict[str, Any]:
        """For the API: shares of 1, null where there is none."""
        told: dict[str, Any] = {
            "levels": [
                {"x": at, "against_first": loss.value - 1 if loss else None,
                 "interval": _ends(loss.interval, -1.0) if loss else None}
                for (at, _), loss in zip(self.levels, self.losses, strict=True)
            ]
        }  # fmt: skip
        if self.kind == CLIENT:
            return told | ({"scaling": _scaling(self.law)} if self.grows else {})
        told["per_doubling"] = _slope(self.per_doubling)
        if self.beside_memory:
            below, above = map(_slope, self.beside_memory)
            told |= {"per_doubling_below_ram": below, "per_doubling_above_ram": above}
        if self.kind == SIZE and self.metric.better in ("higher", "lower"):
            half = None if self.is_half_unsure else self.half
            name = "half_at" if self.metric.better == "higher" else "doubled_at"
            told[name] = half and {"x": half.at, "interval": _ends(half.interval)}
        bent = self.knee
        return told | {
            "knee": {"x": bent.at, "interval": _ends(bent.interval), "per_doubling_before": bent.before,
                     "per_doubling_after": bent.after, "aicc_gain": bent.gain, "why_not": bent.why},
        }  # fmt: skip


def curves_along(comparison: Comparison, x: Place) -> Iterator[Along]:
    """Those with levels enough; none where x is no number."""
    axes, metric = comparison.axes, comparison.metric
    kind = kind_of(axes)
    if not kind or metric is None:
        return
    for panel in comparison.panels:
        memory = next((at for _, at in memory_places(groups_of(panel), axes)), None)
        for curve in panel.curves:
            if len(levels := levels_of(curve)) >= LEAST_LEVELS:
                losses, series = losses_of(curve, comparison.verdicts), curve.label or metric.label
                yield Along(panel.label, series, metric, x, kind, levels, losses, memory)


def losses_of(curve: Curve, verdicts: Verdicts) -> list[Ratio | None]:
    """Of each level against the first; where the page has judged the two, with the interval of its family."""
    levels = levels_of(curve)
    group_by_x = {point.x: point for point in curve.points if point.dots}
    losses = []
    for (x, _), plain in zip(levels, against_first(levels), strict=True):
        verdict = verdicts.along.get((group_by_x[x].key, group_by_x[levels[0][0]].key))
        losses.append(verdict.ratio if verdict and verdict.ratio else plain)
    return losses


def changes_of(curve: Curve, verdicts: Verdicts) -> dict[float, tuple[Ratio | None, Ratio | None]]:
    """By x: against the first level, and against the one before."""
    if not (levels := levels_of(curve)):
        return {}
    against_before = [None, *(ratio(values, before) for (_, before), (_, values) in pairwise(levels))]
    changes = zip(levels, losses_of(curve, verdicts), against_before, strict=True)
    return {x: (first, before) for (x, _), first, before in changes}


def is_told(fit: Slope | None) -> bool:
    return fit is not None and fit.interval is not None and fit.interval.high <= MOST_OF_A_DOUBLING


def _ends(interval: Interval | None, add: float = 0.0) -> list[float] | None:
    return [interval.low + add, interval.high + add] if interval else None


def _slope(fit: Slope | None) -> dict[str, Any] | None:
    return {"value": fit.value, "interval": _ends(fit.interval)} if fit else None


def _scaling(law: Scaling | str) -> dict[str, Any]:
    if isinstance(law, str):
        return {"why_not": law}
    named = {"lambda": law.rate, "sigma": law.contention, "kappa": law.coherency, "peak": law.peak}
    numbers = {name: fit and {"value": fit.value, "interval": _ends(fit.interval)} for name, fit in named.items()}
    why = ("the repeats scatter too much" if law.scattered else "levels lie too far off the law") if law.poor else ""
    return {**numbers, "off": law.off, "why_not": why}
