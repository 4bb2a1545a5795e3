"""What is said beneath curves, from their numbers (runs.answers.curves); docs/method/curves.md says when nothing is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from runs.answers.answer import ScalesTo, amount_of, pair_of
from runs.answers.curves import Along, is_told
from runs.answers.history import steps_of
from runs.answers.places import from_to, place_words
from runs.answers.words.along import (
    flat_words,
    kept_words,
    knee_place,
    not_surely_the_most,
    not_surely_the_turn,
    pace_words,
    paces,
    step_between,
)
from runs.answers.words.gaps import change_words, knee_words, law_words, too_few_words
from runs.answers.words.history import open_step, open_words, step
from runs.compare.axes import LEAST_OF_A_CURVE
from runs.compare.comparison import Comparison
from runs.compare.facts import DATE
from runs.compare.panels import CLIENT
from runs.formatting import number, percent, quantity, times
from runs.stats import Slope
from runs.stats.curves import LEAST_FOR_KNEE, Crossing, above_zero
from runs.stats.scaling import NEAR_THE_PEAK, Parameter, Scaling, Unfitted

# A last level so many times as far as the one before it is told apart.
APART = 10.0
# The sentences of more curves than these are folded away: the answer says the ends.
MOST_SAID = 6


@dataclass(frozen=True)
class CurveWords:
    """What stands beneath one curve; `numbers` are those of the sentences, for the API: by the names of
    docs/method/curves.md, shares of 1, null where none.
    """

    panel: str
    series: str
    sentences: list[str]
    numbers: Mapping[str, Any]


def curve_words(comparison: Comparison, every: Sequence[Along]) -> tuple[list[CurveWords], str]:
    """The words of each curve, and a note of all; none if x is no number or date, or no curve has three levels."""
    if comparison.axes.x == DATE:
        return _of_days(comparison), ""
    # Those with levels enough for sentences of their own.
    curves = [curve for curve in every if curve.x.kind and len(curve.levels) >= LEAST_OF_A_CURVE]
    name = comparison.metric.label if comparison.metric else ""
    words = [CurveWords(each.curve.panel, each.curve.label or name, sentences(each), _numbers(each)) for each in curves]
    lost = sum(not point.dots for curve in comparison.curves for point in curve.points)
    return words, _note(curves, lost) if curves else ""


def sentences(along: Along) -> list[str]:
    if along.grows:
        return [_most(along), *_scaling(along)]
    if along.x.kind == CLIENT:
        return [_loss(along)]
    half = _half(along) if along.has_half else ""
    said = [_turned(along), half] if along.turn else [*_doublings(along), half, *_knee(along)]
    kept = kept_words(along.falls_off, along.x)
    return [_loss(along), *filter(None, [*said, f"{kept.capitalize()}." if kept else ""])]


def _note(curves: Sequence[Along], lost: int) -> str:
    notes = []
    if all(len(values) < 2 for along in curves for _, values in along.levels):
        notes.append("One value a level: losses have no interval.")
    elif curves[0].x.kind != CLIENT:
        is_asked = any(along.comparison.verdicts.along for along in curves)
        others = ", but for what the question asks" if is_asked else ""
        notes.append(f"Each interval is of one comparison alone{others}.")
    if curves[0].x.kind != CLIENT:
        most = max(len(above_zero(along.levels)) for along in curves)
        if any(along.levels[0][0] <= 0 for along in curves):
            notes.append("A level of 0 is in no change per doubling and no knee: no doubling leads to it.")
        if most < LEAST_FOR_KNEE:
            notes.append(f"{too_few_words(most, 'level', LEAST_FOR_KNEE, ' to find a knee')}.")
    if lost:
        notes.append(f"{lost} lost value{'s are' if lost > 1 else ' is'} left out.")
    return " ".join(notes)


def _of_days(comparison: Comparison) -> list[CurveWords]:
    """Nothing of fewer days than could tell a step."""
    words, name = [], comparison.metric.label if comparison.metric else ""
    for curve in comparison.curves:
        if claims := steps_of(comparison, curve, curve.label):
            numbers = [
                {"date": claim.day, "change": claim.change.value, "interval": [claim.change.low, claim.change.high]}
                for claim in claims if claim.day and not open_words(claim)
            ]  # fmt: skip
            told = [open_step(claim, name) if open_words(claim) else step(claim) for claim in claims]
            words.append(CurveWords(curve.panel, curve.label or name, told, {"steps": numbers}))
    return words


def _numbers(along: Along) -> dict[str, Any]:
    numbers: dict[str, Any] = {
        "levels": [
            {"x": at, "against_first": loss.value - 1 if loss else None,
             "interval": [loss.interval.low - 1, loss.interval.high - 1] if loss and loss.interval else None}
            for (at, _), loss in zip(along.levels, along.losses, strict=True)
        ]
    }  # fmt: skip
    if along.x.kind == CLIENT:
        return numbers | ({"scaling": _law_numbers(along.curve.law, len(along.levels))} if along.grows else {})
    numbers["per_doubling"] = _fit(along.curve.per_doubling)
    if along.beside_memory:
        below, above = map(_fit, along.beside_memory)
        numbers |= {"per_doubling_below_ram": below, "per_doubling_above_ram": above}
    if along.has_half:
        half, name = along.half, "half_at" if along.metric.better == "higher" else "doubled_at"
        numbers[name] = {"x": half.at, "interval": pair_of(half.interval)} if isinstance(half, Crossing) else None
    bent, why_not = along.curve.knee, "" if along.curve.knee.at else knee_words(along.curve.knee)
    between, step = along.falls_off.interval, along.falls_off.step
    return numbers | {
        "step": {"between": between, "change": step.value, "interval": [step.low, step.high]} if step else None,
        "knee": {"x": bent.at, "interval": pair_of(bent.interval), "per_doubling_before": bent.before,
                 "per_doubling_after": bent.after, "aicc_gain": bent.gain, "why_not": why_not},
    }  # fmt: skip


def _fit(fit: Slope | Parameter | None) -> dict[str, Any] | None:
    return {"value": fit.value, "interval": pair_of(fit.interval)} if fit else None


def _law_numbers(law: Scaling | Unfitted, levels: int) -> dict[str, Any]:
    why = {"why_not": law_words(law, levels)}
    if isinstance(law, str):
        return why
    named = {"lambda": law.rate, "sigma": law.contention, "kappa": law.coherency, "peak": law.peak}
    return {name: _fit(fit) for name, fit in named.items()} | {"off": law.off} | why


def _most(along: Along) -> str:
    first, claim = along.levels[0][0], along.scales
    if not isinstance(claim, ScalesTo) or claim.most_at == first:
        unsure = not_surely_the_most(claim, along.x) if isinstance(claim, ScalesTo) else ""
        return f"Most at {place_words(first, along.x)}{unsure or ': more only take away'}."
    grown = next(loss for loss, (at, _) in zip(along.losses, along.levels, strict=True) if at == claim.most_at)
    ends = f" ({times(grown.interval.low)} to {times(grown.interval.high)})" if grown and grown.interval else ""
    rate = f"{times((claim.gain.value or 0.0) + 1)}{ends} the rate of {place_words(first, along.x)}"
    share = f"{percent(claim.efficiency_at_most or 0.0)} of ideal"
    than = f"; {flat_words(claim, along.metric.unit, along.x)}" if claim.flat else not_surely_the_most(claim, along.x)
    most = f"{'Linear, with the most' if claim.linear else 'Most'} at {place_words(claim.most_at, along.x)}"
    return f"{most}: {rate}, {share}{than}."


def _loss(along: Along) -> str:
    levels, last = along.levels, len(along.levels) - 1
    dense = last - (last > 1 and levels[last][0] >= APART * levels[last - 1][0])
    lost = [change_words(loss) if loss else percent(0.0, signed=True) for loss in along.losses]
    words = f"{lost[dense]} from {from_to(levels[0][0], levels[dense][0], along.x)}"
    return f"{words}, {lost[last]} at {place_words(levels[last][0], along.x)}." if dense < last else f"{words}."


def _turned(along: Along) -> str:
    """No change per doubling is that of a curve which rises and falls."""
    claim = along.falls_off
    at, than = place_words(claim.turns_at or 0.0, along.x), not_surely_the_turn(claim, along.x)
    return f"{claim.turn.capitalize()} at {at}: {quantity(claim.turns_to, along.metric.unit)}{than}."


def _doublings(along: Along) -> list[str]:
    """Over all levels, and on both sides of the memory where both have levels; none where a knee has its own, and none
    over a step.
    """
    whole, levels = along.curve.per_doubling, len(above_zero(along.levels))
    if whole is None or along.curve.knee.bend in ("knee", "step"):
        return []
    if not is_told(whole):
        return [f"{levels} levels are not enough to tell the change per doubling."]
    words = [f"{pace_words(amount_of(whole))}, one fit over {levels} levels."]
    within, beyond = along.beside_memory or (None, None)
    if within and beyond and is_told(within) and is_told(beyond):
        words.append(f"Within memory {pace_words(amount_of(within))}; beyond it {pace_words(amount_of(beyond))}.")
    return words


def _half(along: Along) -> str:
    falling, reached = along.metric.better == "higher", along.half
    if not isinstance(reached, Crossing):
        ends = [loss.interval.low if falling else loss.interval.high for loss in along.losses if loss and loss.interval]
        last = place_words(along.levels[-1][0], along.x)
        if reached == "unsure" or any(end < 0.5 if falling else end > 2.0 for end in ends):
            question = "where half is left" if falling else "whether it has doubled"
            return f"The repeats scatter too much to tell {question}, up to {last}."
        loss = along.losses[-1]
        # Nobody asks how much is left of what has grown.
        if loss and (loss.value >= 1) == falling:
            return ""
        return f"{'More than half is left' if falling else 'Not doubled'} up to {last}."
    told = f"{'Half is left' if falling else 'It has doubled'} at {place_words(reached.at, along.x)}"
    if reached.at in (reached.after, reached.before):
        return f"{told}."
    between = from_to(reached.after, reached.before, along.x, named=False)
    return f"{told} (interpolated, no level between: {between})."


def _knee(along: Along) -> list[str]:
    """Nothing of too few levels, which a note says of all curves."""
    bent = along.curve.knee
    if bent.gain is None:
        return []
    if step_words := step_between(along.falls_off, along.x):
        return [f"Step of {step_words}."]
    if bent.at is None or bent.interval is None:
        return [f"No knee: {knee_words(bent)}."]
    return [f"Knee at {knee_place(bent.at, pair_of(bent.interval), along.x)}: {paces(bent.before, bent.after)}."]


def _scaling(along: Along) -> list[str]:
    law = along.curve.law
    if isinstance(law, str) or law.poor:
        return [f"No scaling law: {law_words(law, len(along.levels))}."]
    waits, pairs = (
        f"{_small(share.value)} ({_small(share.interval.low)} to {_small(share.interval.high)})"
        for share in (law.contention, law.coherency)
    )
    words = f"Scaling law: {waits} of the work waits its turn (σ), each pair costs {pairs} (κ)"
    return [f"{words}; levels {percent(law.off)} off.", _peak(along, law)]


def _peak(along: Along, law: Scaling) -> str:
    last = along.levels[-1][0]
    if law.contention.value >= 1:
        return f"More than {place_words(along.levels[0][0], along.x)} bring nothing."
    if law.peak is None:
        return f"No peak is certain up to {place_words(last, along.x)}."
    at, near = law.peak.value, law.peak.interval
    place = f"{place_words(round(at), along.x)} ({near.low:,.0f} to {near.high:,.0f})"
    if at > last:
        return f"No peak up to {place_words(last, along.x)}; the law would have it at {place}, which was not measured."
    if along.is_peak_unshown:
        is_near = any(1 / NEAR_THE_PEAK <= x / at <= NEAR_THE_PEAK for x, _ in along.levels)
        why = "which the levels do not show" if is_near else "near which no level was measured"
        return f"The law would have its peak at {place}, {why}."
    return f"Peak at {place}: {number(law.at(at))} {along.metric.unit}."


def _small(share: float) -> str:
    """σ or κ in words: they are shares of very different sizes, as 4.7 % and 0.012 %."""
    return f"{Decimal(f'{share * 100:.2g}'):f}\u202f%" if share else "0"
