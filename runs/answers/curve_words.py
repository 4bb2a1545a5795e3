"""What is said of curves beneath their chart, in words and in numbers.

Sizes lose, terminals gain: losses against the first level, what a doubling costs, where half is left, a knee; or the
scaling law with its peak. docs/method/curves.md says each formula and when nothing is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from runs.answers.history import steps_of
from runs.answers.places import Place, from_to, groups_of, memory_places, place_words, times_between
from runs.answers.words import step
from runs.compare.axes import LEAST_LEVELS
from runs.compare.comparison import Comparison
from runs.compare.facts import DATE
from runs.compare.judging import Verdicts
from runs.compare.panels import CLIENT, SIZE, Axes, Curve, Panel, kind_of, levels_of
from runs.compare.verdicts import change_words
from runs.formatting import number, percent, times
from runs.models import Metric
from runs.stats import Interval, Ratio, Slope, ratio
from runs.stats.curves import LEAST_FOR_KNEE, against_first, crossing, knee, per_doubling
from runs.stats.scaling import Scaling, scaling
from runs.tables import TableCell

# A last level so many times as far as the one before it is told apart.
APART = 10.0
MOST_OF_A_DOUBLING = 1.0
LEAST_OF_A_SIDE = 2
# What more curves than these lose is said in one sentence; those of each are folded away.
MOST_SAID = 6


@dataclass(frozen=True)
class CurveWords:
    """What stands beneath one curve; `numbers` are those of the sentences, for the API."""

    panel: str
    series: str
    sentences: list[str]
    numbers: Mapping[str, Any]


def curve_words(comparison: Comparison, x: Place) -> tuple[list[CurveWords], str]:
    """Of each curve, and a note of all; nothing where x is neither number nor date, or no curve has three levels."""
    metric, axes, panels = comparison.metric, comparison.axes, comparison.panels
    if metric is None:
        return [], ""
    if axes.x == DATE:
        of_days = (_of_days(panel, curve, metric, comparison.threshold) for panel in panels for curve in panel.curves)
        return [*filter(None, of_days)], ""
    kind = kind_of(axes)
    curves = [(panel, curve, levels_of(curve)) for panel in panels for curve in panel.curves] if kind else []
    memories: dict[str, float | None] = {}
    words = []
    for panel, curve, levels in curves:
        if len(levels) < LEAST_LEVELS:
            continue
        if panel.key not in memories:
            memories[panel.key] = next((at for _, at in memory_places(groups_of(panel), axes)), None)
        writer = _Words(curve, comparison.verdicts, x, kind, metric)
        writer.memory = memories[panel.key]
        sentences = writer.of_clients() if kind == CLIENT else writer.of_sizes()
        words.append(CurveWords(panel.label, curve.label or metric.label, sentences, writer.numbers))
    if not words:
        return [], ""
    notes = []
    most = max(len(levels) for *_, levels in curves)
    if all(len(values) < 2 for *_, levels in curves for _, values in levels):
        notes.append("One value a level: losses have no interval.")
    if kind == CLIENT and metric.better == "higher":
        laws = any(not curve.numbers["scaling"]["why_not"] for curve in words)
        notes.append(f"Dotted: in proportion to the first level.{' Dashed: scaling law.' if laws else ''}")
    if axes.y_as != "baseline" and any((curve.numbers.get("knee") or {}).get("x") for curve in words):
        notes.append("Dashed: two lines that meet at the knee.")
    if kind != CLIENT and most < LEAST_FOR_KNEE:
        notes.append(f"{most} levels are too few to find a knee, it takes {LEAST_FOR_KNEE}.")
    if lost := sum(not point.dots for _, curve, _ in curves for point in curve.points):
        notes.append(f"{lost} lost value{'s are' if lost > 1 else ' is'} left out.")
    return words, " ".join(notes)


def in_short(panels: Sequence[Panel], axes: Axes, x: Place) -> str:
    """Which of many curves keeps most and which least, where all have the same first and last level; else empty."""
    kind = kind_of(axes)
    curves = [(panel, curve, levels_of(curve)) for panel in panels for curve in panel.curves] if kind else []
    curves = [(panel, curve, levels) for panel, curve, levels in curves if len(levels) >= LEAST_LEVELS]
    if len(curves) <= MOST_SAID or len({(levels[0][0], levels[-1][0]) for *_, levels in curves}) > 1:
        return ""
    changes = [
        (change, " · ".join(filter(None, (panel.label, curve.label))))
        for panel, curve, levels in curves
        if (change := against_first(levels)[-1])
    ]
    if len(changes) < len(curves):
        return ""
    ends = (pick(changes, key=lambda change: change[0].value) for pick in (max, min))
    range_words = " to ".join(
        f"{f'{times(change.value)} the rate' if kind == CLIENT else change_words(change)} for {label}"
        for change, label in ends
    )
    first, last = curves[0][2][0][0], curves[0][2][-1][0]
    return f"From {from_to(first, last, x, kind)}: {range_words}."


def _of_days(panel: Panel, curve: Curve, metric: Metric, threshold: float) -> CurveWords | None:
    """Nothing of fewer days than could tell a step."""
    claims = steps_of(curve, curve.label, threshold, metric.better)
    if not claims:
        return None
    numbers = [
        {"date": claim.day, "change": claim.change.value, "interval": [claim.change.low, claim.change.high]}
        for claim in claims
        if claim.day
    ]
    return CurveWords(panel.label, curve.label or metric.label, [step(claim) for claim in claims], {"steps": numbers})


CHANGES = ("Against the first level", "Against the level before")


def losses_of(curve: Curve, verdicts: Verdicts) -> list[Ratio | None]:
    """Of each level against the first; where the page has judged the two, with the interval of its family."""
    levels = levels_of(curve)
    group_by_x = {point.x: point for point in curve.points if point.dots}
    losses = []
    for (x, _), plain in zip(levels, against_first(levels), strict=True):
        verdict = verdicts.along.get((group_by_x[x].key, group_by_x[levels[0][0]].key))
        losses.append(verdict.ratio if verdict and verdict.ratio else plain)
    return losses


def change_cells(curve: Curve, verdicts: Verdicts) -> dict[float, list[TableCell]]:
    """By x those of `CHANGES`: shares of 1, in words with their intervals."""
    if not (levels := levels_of(curve)):
        return {}
    against_before = [None, *(ratio(values, before) for (_, before), (_, values) in pairwise(levels))]
    changes = zip(levels, losses_of(curve, verdicts), against_before, strict=True)
    return {x: [_change_cell(first), _change_cell(before)] for (x, _), first, before in changes}


def _change_cell(change: Ratio | None) -> TableCell:
    if change is None:
        return TableCell()
    return TableCell(change.value - 1, change_words(change))


class _Words:
    """Of one curve; `memory` is where its RAM stands on x. Fills `numbers` as it speaks."""

    def __init__(self, curve: Curve, verdicts: Verdicts, x: Place, kind: str, metric: Metric) -> None:
        self.levels, self.losses = levels_of(curve), losses_of(curve, verdicts)
        self.x, self.kind, self.metric = x, kind, metric
        self.memory: float | None = None
        self.numbers: dict[str, Any] = {
            "levels": [
                {"x": at, **_change_numbers(loss, "against_first")}
                for (at, _), loss in zip(self.levels, self.losses, strict=True)
            ]
        }

    def _at(self, value: float) -> str:
        return place_words(value, self.x, self.kind)

    def _between(self, low: float, high: float) -> str:
        return from_to(low, high, self.x, self.kind, named=False)

    def of_sizes(self) -> list[str]:
        sentences = [self._loss(), *self._doublings()]
        if self.kind == SIZE and self.metric.better in ("higher", "lower"):
            sentences.append(self._half())
        return [*sentences, *self._knee()]

    def of_clients(self) -> list[str]:
        if self.metric.better != "higher":
            return [self._loss()]
        first = self.levels[0][0]
        grown, most = max(
            ((loss, at) for loss, (at, _) in zip(self.losses, self.levels, strict=True) if loss),
            key=lambda level: level[0].value,
            default=(None, first),
        )
        if grown is None or grown.value <= 1:
            return [f"Most at {self._at(first)}: more only take away.", *self._scaling()]
        share = f"{percent(grown.value * first / most)} of ideal"
        rate = f"{times(grown.value)}{times_between(grown)} the rate of {self._at(first)}"
        return [f"Most at {self._at(most)}: {rate}, {share}.", *self._scaling()]

    def _loss(self) -> str:
        last = dense = len(self.levels) - 1
        if last > 1 and self.levels[last][0] >= APART * self.levels[last - 1][0]:
            dense -= 1
        stretch = from_to(self.levels[0][0], self.levels[dense][0], self.x, self.kind)
        sentence = f"{self._lost(dense)} from {stretch}"
        return (
            f"{sentence}, {self._lost(last)} at {self._at(self.levels[last][0])}." if dense < last else f"{sentence}."
        )

    def _lost(self, level: int) -> str:
        loss = self.losses[level]
        return change_words(loss) if loss else percent(0.0, signed=True)

    def _doublings(self) -> list[str]:
        """Over all levels, and on both sides of the memory where both have levels."""
        whole = per_doubling(self.levels)
        self.numbers["per_doubling"] = _slope(whole)
        if whole is None:
            return []
        if not _is_told(whole):
            return [f"{len(self.levels)} levels are not enough to tell the change per doubling."]
        sentences = [f"{_doubling(whole)}, one fit over {len(self.levels)} levels."]
        if self.memory is None or self.kind != SIZE:
            return sentences
        below = [level for level in self.levels if level[0] <= self.memory]
        above = [level for level in self.levels if level[0] >= self.memory]
        within, beyond = (per_doubling(part) if len(part) >= LEAST_OF_A_SIDE else None for part in (below, above))
        self.numbers["per_doubling_below_ram"], self.numbers["per_doubling_above_ram"] = _slope(within), _slope(beyond)
        if within and beyond and _is_told(within) and _is_told(beyond):
            sentences.append(f"Within memory {_doubling(within)}; beyond it {_doubling(beyond)}.")
        return sentences

    def _half(self) -> str:
        falling = self.metric.better == "higher"
        reached, is_unsure = crossing(self.levels, 0.5 if falling else 2.0), False
        if reached and not reached.interval:
            loss = next(loss for (x, _), loss in zip(self.levels, self.losses, strict=True) if x == reached.before)
            is_unsure = bool(loss and loss.interval and loss.interval.low <= 1 <= loss.interval.high)
            reached = None if is_unsure else reached
        self.numbers["half_at" if falling else "doubled_at"] = reached and {
            "x": reached.at, "interval": _ends(reached.interval),
        }  # fmt: skip
        what = "Half is left" if falling else "It has doubled"
        if reached is None:
            ends = [
                loss.interval.low if falling else loss.interval.high for loss in self.losses if loss and loss.interval
            ]
            last = self._at(self.levels[-1][0])
            if is_unsure or any(end < 0.5 if falling else end > 2.0 for end in ends):
                question = "where half is left" if falling else "whether it has doubled"
                return f"The repeats scatter too much to tell {question}, up to {last}."
            return f"{'More than half is left' if falling else 'Not doubled'} up to {last}."
        if reached.interval:
            between = self._between(reached.interval.low, reached.interval.high)
        else:
            between = f"no level between: {self._between(reached.after, reached.before)}"
        return f"{what} at {self._at(reached.at)} ({between})."

    def _knee(self) -> list[str]:
        """Nothing of too few levels, which a note says of all curves."""
        bent = knee(self.levels)
        self.numbers["knee"] = {
            "x": bent.at, "interval": _ends(bent.interval), "per_doubling_before": bent.before,
            "per_doubling_after": bent.after, "aicc_gain": bent.gain, "why_not": bent.why,
        }  # fmt: skip
        if bent.gain is None:
            return []
        if bent.at is None or bent.before is None or bent.after is None or bent.interval is None:
            return [f"No knee: {bent.why}."]
        near = self._between(bent.interval.low, bent.interval.high)
        paces = f"{percent(bent.before, signed=True)} per doubling before, {percent(bent.after, signed=True)} after"
        return [f"Knee at {self._at(bent.at)} ({near}): {paces}."]

    def _scaling(self) -> list[str]:
        law = scaling(self.levels)
        self.numbers["scaling"] = _scaling(law)
        if isinstance(law, str):
            return [f"No scaling law: {law}."]
        off = percent(law.off)
        if law.poor and law.scattered:
            return ["No scaling law: the repeats scatter too much to tell."]
        if law.poor:
            return [f"Does not follow the scaling law: its levels lie {off} off."]
        waits, pairs = (
            f"{_small(share.value)} ({_small(share.interval.low)} to {_small(share.interval.high)})"
            for share in (law.contention, law.coherency)
        )
        sentence = f"Scaling law: {waits} of the work waits its turn (σ), each pair costs {pairs} (κ)"
        return [f"{sentence}; levels {off} off.", self._peak(law)]

    def _peak(self, law: Scaling) -> str:
        last = self.levels[-1][0]
        if law.contention.value >= 1:
            return f"More than {self._at(self.levels[0][0])} bring nothing."
        if law.peak is None:
            return f"No peak is certain up to {self._at(last)}."
        at, near = law.peak.value, law.peak.interval
        place = f"{self._at(round(at))} ({near.low:,.0f} to {near.high:,.0f})"
        if at > last:
            return f"No peak up to {self._at(last)}; the law would have it at {place}, which was not measured."
        return f"Peak at {place}: {number(law.at(at))} {self.metric.unit}."


def _change_numbers(change: Ratio | None, name: str) -> dict[str, Any]:
    """As a share of 1, under this name, with its interval."""
    return {
        name: change.value - 1 if change else None,
        "interval": _ends(change.interval, -1.0) if change else None,
    }


def _ends(interval: Interval | None, add: float = 0.0) -> list[float] | None:
    return [interval.low + add, interval.high + add] if interval else None


def _small(share: float) -> str:
    """Of σ and κ, which are shares of very different sizes: 4.7 %, 0.012 %."""
    return f"{share * 100:.2g}\u202f%" if share else "0"


def _is_told(fit: Slope) -> bool:
    """An interval that reaches from a loss to twice the rate says nothing."""
    return fit.interval is not None and fit.interval.high <= MOST_OF_A_DOUBLING


def _doubling(fit: Slope) -> str:
    ends = " to ".join(percent(end, signed=True) for end in _ends(fit.interval) or ())
    return f"{percent(fit.value, signed=True)} per doubling{f' ({ends})' if ends else ''}"


def _slope(fit: Slope | None) -> dict[str, Any] | None:
    return {"value": fit.value, "interval": _ends(fit.interval)} if fit else None


def _scaling(law: Scaling | str) -> dict[str, Any]:
    if isinstance(law, str):
        return {"why_not": law}
    named = {"lambda": law.rate, "sigma": law.contention, "kappa": law.coherency, "peak": law.peak}
    numbers = {name: fit and {"value": fit.value, "interval": _ends(fit.interval)} for name, fit in named.items()}
    why = ("the repeats scatter too much" if law.scattered else "levels lie too far off the law") if law.poor else ""
    return {**numbers, "off": law.off, "why_not": why}
