"""What is known of each curve over sizes, clients or another number, and the claims that are made of it: what is lost,
where it falls off, how far it scales (docs/method/curves.md says each formula).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise, takewhile
from typing import Literal
from uuid import UUID

from runs.answers.answer import (
    Amount,
    Answer,
    AnyClaim,
    FallsOff,
    Loss,
    ScalesTo,
    amount_of,
    as_share,
    begun,
    change_of,
    pair_of,
)
from runs.answers.places import Place, memory_places, place_of
from runs.compare.asked import LOSS, SCALES, Lacking, Missing, Question
from runs.compare.axes import LEAST_OF_A_CURVE, most_levels
from runs.compare.comparison import Comparison
from runs.compare.facts import DATE, NEVER_TAKEN, Columns, distinguishing, fact_value, fact_values
from runs.compare.groups import SIZE_BY_TABLES, Contrast, Group
from runs.compare.guard import Difference, bare_field, blocking
from runs.compare.panels import CLIENT, SIZE, Curve, ends_of_curve
from runs.formatting import grouped, mid_sentence
from runs.models import Metric
from runs.run.facets import FACTOR
from runs.run.quality import RATE
from runs.stats import ALPHA, MIN_REPEATS, Ratio, Slope, geometric_mean, ratio
from runs.stats.curves import (
    LEAST_FOR_KNEE,
    LEAST_VALUES_FOR_KNEE,
    Crossing,
    Levels,
    Turn,
    above_zero,
    against_first,
    crossing,
    per_doubling,
    turn,
)
from runs.stats.scaling import MOST_OFF, Scaling

LEAST_OF_A_SIDE = 2
# What two batches of one cell have of their own.
_OF_A_BATCH = (NEVER_TAKEN - {"durability"}) | {"batch", DATE}
# An interval that reaches from a loss to twice the rate says nothing.
MOST_OF_A_DOUBLING = 1.0


def of_curves(comparison: Comparison, question: Question) -> Answer:
    axes = comparison.axes
    place = place_of(axes, [point for curve in comparison.curves for point in curve.points])
    lacking = [] if place.kind else [Missing("number_axis")]
    metric = comparison.metric
    # Of another number it is asked at which level it is best, by its name.
    if question.kind == SCALES and place.kind != CLIENT and (not place.kind or question.x != axes.x):
        return begun(comparison, question, lacking=[Missing("clients_axis")])
    is_no_rate = place.kind == CLIENT and metric is not None and metric.better != "higher"
    if question.kind == SCALES and metric and (is_no_rate or metric.better == "none"):
        missing = Missing("rate" if is_no_rate else "better_side", names=[metric.label])
        return begun(comparison, question, place, lacking=[missing])
    every = [] if lacking else curves_along(comparison, place, comparison.curves)
    made: list[tuple[Along, AnyClaim | Missing]] = [
        (along, along.loss(comparison.question) if question.kind == LOSS
         else along.scales if question.kind == SCALES else along.bend)
        for along in every
    ]  # fmt: skip
    claims = [each for _, each in made if not isinstance(each, Missing)]
    told = [along for along, each in made if not isinstance(each, Missing)]
    without = [(along, each) for along, each in made if isinstance(each, Missing)]
    lacking += [*_of_levels_alone(comparison, without, told), *(missing for curve in told for missing in curve.untold)]
    if question.kind == SCALES:
        few = [each for each in told if any(len(values) < MIN_REPEATS for _, values in each.levels)]
        lacking += [Missing("level_repeats", each.curve.name, least=MIN_REPEATS) for each in few]
    # What loses most comes first.
    worse = -1 if comparison.better == "lower" else 1
    claims.sort(key=lambda claim: worse * (claim.change.value or 0.0) if isinstance(claim, Loss) else 0.0)
    asked = question.model_copy(update={"x": axes.x})
    return begun(
        comparison, asked, place, claims=claims, lacking=lacking, sure=any(map(_is_sure, claims)),
        differing={along.curve.name: along.made_of for along in told},
    )  # fmt: skip


def _of_levels_alone(
    comparison: Comparison, without: Sequence[tuple[Along, Missing]], told: Sequence[Along]
) -> list[Missing]:
    """What curves without a claim lack; what another batch has of a whole curve is no curve that lacks levels, nor are
    the batches of one.
    """
    facts, points = comparison.axes.facts, [point for curve in comparison.curves for point in curve.valued]
    names, columns = [name for name in facts if name not in _OF_A_BATCH], Columns(points)
    one_level_each = not told and all((along.curve.missing or missing).kind == "level" for along, missing in without)
    if without and one_level_each and most_levels(comparison.axes.x, names, columns) > 1:
        return [Missing("batches_apart")]
    named = distinguishing({name: columns[name] for name in sorted(names, key=lambda name: name != comparison.axes.x)})

    def cells(along: Along) -> dict[tuple[str, ...], str]:
        """What was asked for at each of its points, and in words."""
        return {
            fact_values(point, names): " · ".join(facts[name].in_legend(fact_value(point, name)) for name in named)
            for point in along.curve.valued
        }

    whole, lacking, again = [cells(along) for along in told], [], list[str]()
    for along, missing in without:
        own = cells(along)
        if own and any(own.keys() < each.keys() for each in whole):
            again += own.values()
        else:
            lacking += [missing] if missing.kind in ("value", "no_value") else [missing, *along.untold]
    return [*lacking, Missing("again", names=again)] if again else lacking


def untold_levels(curve: Curve, words: Callable[[Group], str]) -> list[Missing]:
    """The levels behind the last number that have none, by why, and those at which the value is zero, through which no
    curve goes: what is said of the curve does not hold there.
    """
    last = max((x for x, _ in curve.levels), default=0.0)
    missing = lost_levels(curve.name, [(words(point), point) for point in curve.points if point.x > last])
    nothing = [point for point in curve.at_levels if min(point.judged, default=1.0) <= 0]
    zero = [words(point) for point in nothing if not any(point.judged)]
    in_part = [words(point) for point in nothing if any(point.judged)]
    missing += [Missing("zero", curve.name, names=zero)] if zero else []
    return missing + ([Missing("zero_in_part", curve.name, names=in_part)] if in_part else [])


def lost_levels(name: str, levels: Iterable[tuple[str, Group]]) -> list[Missing]:
    """The levels, in words, at which all runs ended without a number, by why."""
    levels = [*levels]
    valued = {words for words, group in levels if group.dots}
    lost = grouped(
        (group.gap, words) for words, group in levels if group.gap and not group.is_to_come and words not in valued
    )
    return [Missing("no_value", name, names=[reason, *levels]) for reason, levels in lost.items()]


def _is_sure(claim: AnyClaim) -> bool:
    if isinstance(claim, Loss):
        return claim.change.is_sure
    if isinstance(claim, FallsOff):
        return claim.evenly or claim.shape in ("knee", "step", "smooth", "turn")
    if not isinstance(claim, ScalesTo) or claim.gain.low is None or claim.gain.high is None:
        return False
    return claim.gain.low > 0 or claim.gain.high < 0


def curves_along(comparison: Comparison, x: Place, curves: Iterable[Curve]) -> list[Along]:
    metric = comparison.metric
    return [Along(curve, metric, x, comparison) for curve in curves] if metric else []


@dataclass(frozen=True)
class Along:
    """One of the curves of a comparison, and what is known of it; each is asked for once, by chart, table, words and
    answer.
    """

    curve: Curve
    metric: Metric
    x: Place
    comparison: Comparison

    @property
    def levels(self) -> Levels:
        return self.curve.levels

    @property
    def grows(self) -> bool:
        """Whether it is a rate over clients, of which the scaling law speaks."""
        return self.x.kind == CLIENT and self.metric.better == "higher"

    @cached_property
    def losses(self) -> list[Ratio | None]:
        """The loss of each level against the first; if the page has judged the two, with the interval of its family."""
        keys, along = {point.x: point.key for point in self.curve.valued}, self.comparison.verdicts.along
        judged = [along.get((keys[x], keys[self.levels[0][0]])) for x, _ in self.levels]
        plain = against_first(self.levels)
        return [(verdict and verdict.ratio) or loss for verdict, loss in zip(judged, plain, strict=True)]

    @property
    def changes(self) -> dict[float, tuple[Ratio | None, Ratio | None]]:
        """The changes at each x against the first level, and against the one before."""
        # The second level against the first is one pair, with one interval.
        later = [ratio(values, before) for (_, before), (_, values) in pairwise(self.levels[1:])]
        changes = zip(self.levels, self.losses, [None, *self.losses[1:2], *later], strict=False)
        return {x: (first, before) for (x, _), first, before in changes}

    @cached_property
    def memory(self) -> tuple[str, float] | None:
        """In words and on x: the memory of its machine, where x is a size."""
        return next(iter(memory_places(self.curve.points, self.comparison.axes)), None)

    @cached_property
    def beside_memory(self) -> tuple[Slope | None, Slope | None] | None:
        """Per doubling below and above the memory; None where the whole is not told or no memory stands on x."""
        if self.memory is None or self.x.kind != SIZE or not is_told(self.curve.per_doubling):
            return None
        at = self.memory[1]
        below = [level for level in self.levels if level[0] <= at]
        above = [level for level in self.levels if level[0] >= at]
        within, beyond = (per_doubling(part) if len(part) >= LEAST_OF_A_SIDE else None for part in (below, above))
        return within, beyond

    @property
    def has_half(self) -> bool:
        """Whether it is asked where half is left."""
        return self.x.kind == SIZE and self.metric.better in ("higher", "lower")

    @cached_property
    def half(self) -> Crossing | Literal["unsure"] | None:
        """Where half is left, of what is lower the better where it has doubled; unsure where the level beyond it may as
        well lie where the first does.
        """
        reached = crossing(self.levels, 0.5 if self.metric.better == "higher" else 2.0)
        if reached is None or reached.interval:
            return reached
        loss, _ = self.changes[reached.before]
        is_unsure = loss and loss.interval and loss.interval.low <= 1 <= loss.interval.high
        return "unsure" if is_unsure else reached

    @property
    def runs(self) -> list[UUID]:
        return [run for point in self.curve.points for run in point.run_ids]

    @property
    def untold(self) -> list[Missing]:
        return untold_levels(self.curve, self._asked_level)

    @property
    def missing(self) -> Missing | None:
        """What it takes to set two levels against each other; of a second that was tried, why nothing came of it."""
        missing = self.curve.missing
        if missing is None or missing.kind != "level":
            return missing
        tried = [(self._asked_level(point), point) for point in self.curve.points]
        return next(iter(lost_levels(self.curve.name, tried)), missing)

    def loss(self, question: Question) -> Loss | Missing:
        pair = self.missing or ends_of_curve(self.curve, question)
        if isinstance(pair, Missing):
            return pair
        first, last = pair
        return Loss(
            label=self.curve.name, runs=[*first.run_ids, *last.run_ids], start=first.x, end=last.x,
            levels=(self._asked_level(first), self._asked_level(last)), change=self._change(first, last),
            falls_off=self.falls_off,
        )  # fmt: skip

    def _change(self, first: Group, last: Group) -> Amount:
        has_lost_all = not any(last.judged) and min(first.judged, default=0.0) > 0
        verdicts = self.comparison.verdicts
        verdict = verdicts.along.get((last.key, first.key))
        if verdict and not has_lost_all:
            return as_share(change_of(verdict))
        along, differing = self.comparison.axes.along_x(self.curve.points), verdicts.differences_of(last, first)
        if refused := blocking(each for each in differing if each.field not in along):
            return change_of(None, refused=Contrast(refused))
        if survivors := next((point for point in (last, first) if point.of_survivors), None):
            return change_of(None, refused=Contrast(survivors=survivors))
        # All of it, which no ratio can say.
        return Amount(value=-1.0) if has_lost_all else as_share(amount_of(ratio(last.judged, first.judged)))

    @property
    def made_of(self) -> list[Difference]:
        """What makes the size together with x: without it the data seem to grow less than they do."""
        first, last = self.curve.valued[0], self.curve.valued[-1]
        fields = {f"{FACTOR}{name}" for name in SIZE_BY_TABLES} - {self.comparison.axes.x}
        differing = self.comparison.verdicts.differences_of(last, first)
        return [each for each in differing if each.field in {bare_field(field) for field in fields}]

    def _asked_level(self, point: Group) -> str:
        fact = self.comparison.axes.x_fact
        return mid_sentence(fact.in_legend(point.level)) if fact else point.level

    @property
    def bend(self) -> FallsOff | Missing:
        """Where it falls off, as a question of its own: of too few levels there is no answer."""
        name, bent = self.curve.name, self.curve.knee
        if not self.curve.valued:
            return Missing("value", name)
        if bent.bend != "too_few" or self.turn:
            return self.falls_off
        if bent.levels < LEAST_FOR_KNEE:
            kind: Lacking = "levels_for_knee" if self.levels[:1] == above_zero(self.levels[:1]) else "levels_above_zero"
            return Missing(kind, name, bent.levels, LEAST_FOR_KNEE)
        return Missing("values_for_knee", name, bent.values, LEAST_VALUES_FOR_KNEE)

    @cached_property
    def falls_off(self) -> FallsOff:
        words, memory = self.memory or ("", None)
        bent, turned = self.curve.knee, self.turn
        # Where growth ends is a knee as well: whether a level pace behind it falls is the sign of the noise. Over
        # clients growth always slows, which the scaling law tells.
        told = ("too_few",) if self.x.kind == CLIENT else ("too_few", "knee")
        shape: str = bent.bend if bent.bend in told or self._falls_faster else "none"
        scales = self.scales if self.grows else None
        is_knee, change = shape == "knee", self.step_change if shape == "step" else None
        has_one_pace = is_told(self.curve.per_doubling) and not turned and bent.bend not in ("knee", "step")
        pace, is_lower = amount_of(self.curve.per_doubling if has_one_pace else None), self.metric.better == "lower"
        gets_worse = (pace.low or 0.0) > 0 if is_lower else (pace.high or 0.0) < 0
        return FallsOff(
            label=self.curve.name, runs=self.runs, shape="turn" if turned else shape, knee=bent,
            memory=memory, memory_words=words,
            up_to=self.levels[-1][0] if self.levels else None,
            at=bent.at if is_knee else None,
            interval=pair_of(bent.interval) if is_knee else bent.step[:2] if bent.step and change else None,
            before=bent.before if is_knee else None, after=bent.after if is_knee else None,
            scales=scales if isinstance(scales, ScalesTo) else None,
            per_doubling=pace if has_one_pace else None, evenly=bent.bend == "none" and gets_worse,
            falls=self._falls_faster, kept=self.kept, step=as_share(amount_of(change)) if change else None,
            turn=turned.kind if turned else "", turns_at=turned.at if turned else None,
            turns_to=geometric_mean(dict(self.levels)[turned.at]) if turned else None,
            turns_alike=[*turned.alike] if turned else [],
        )  # fmt: skip

    @cached_property
    def turn(self) -> Turn | None:
        threshold, curves = self.comparison.threshold, len(self.comparison.curves)
        return turn(self.levels, better=self.metric.better, threshold=threshold, curves=curves)

    @property
    def kept(self) -> float | None:
        """Of offered rates the highest up to which throughput follows, by the threshold; 0 where it follows none."""
        if (self.comparison.axes.x, self.metric.name) != (f"{FACTOR}rate_per_s", RATE):
            return None
        least = 1 - self.comparison.threshold
        followed = takewhile(lambda level: (geometric_mean(level[1]) or 0.0) >= least * level[0], self.levels)
        return max((rate for rate, _ in followed), default=0.0)

    @property
    def step_change(self) -> Ratio | None:
        """From the level before the step to the one behind it."""
        step = self.curve.knee.step
        return self.changes[step[1]][1] if step else None

    @property
    def _falls_faster(self) -> bool:
        """Whether it gets worse by the step, or faster behind the knee than before it."""
        bent, change, is_lower = self.curve.knee, self.step_change, self.metric.better == "lower"
        if bent.step and change:
            # Beside a slope, a step for the better may be a change for the worse.
            return min(bent.step[2], change.value - 1) > 0 if is_lower else max(bent.step[2], change.value - 1) < 0
        if bent.before is None or bent.after is None:
            return False
        return bent.after > max(bent.before, 0.0) if is_lower else bent.after < min(bent.before, 0.0)

    @cached_property
    def scales(self) -> ScalesTo | Missing:
        if len(self.levels) < 2:
            return self.missing or Missing("positive_levels", self.curve.name)
        means = {point.x: point.centre or 0.0 for point in self.curve.valued}
        # Where it comes to nothing it no longer grows.
        first, last = self.levels[0][0], self.curve.at_levels[-1].x
        # Of a number that is better when lower its best is the least.
        best = min if self.metric.better == "lower" else max
        most_at = best((x for x, _ in self.levels), key=lambda x: means.get(x, 0.0))
        law = self.curve.law if self.grows else None
        fitted = law if isinstance(law, Scaling) and not law.poor else None
        peak = fitted.peak if fitted else None
        gain = ratio(dict(self.levels)[most_at], self.levels[0][1]) if most_at != first else None
        grown = gain.value if gain else 1.0
        as_high, few = self._as_high(most_at), [x for x, values in self.levels if len(values) < MIN_REPEATS]
        enough = {x: means[x] for x, _ in self.levels if x not in few}
        flat = _flat(enough, {most_at, *as_high} & {*enough}) if {most_at, last} <= {*enough} else []
        # A law's peak beside which the highest levels lie elsewhere, or behind which nothing falls, was not measured.
        highest = [level for level in self.levels if level[0] in (most_at, *as_high)]
        is_shown = (
            most_at != last and fitted is not None
            and fitted.is_peak_shown(highest) and not fitted.is_peak_exceeded(self.levels)
        )  # fmt: skip
        return ScalesTo(
            label=self.curve.name, runs=self.runs, most_at=most_at, most=means[most_at], last=last,
            efficiency=means[last] * first / (means[first] * last) if self.grows and means.get(first) else None,
            efficiency_at_most=grown * first / most_at if self.grows else None, gain=as_share(amount_of(gain)),
            peak_at=peak.value if peak else None, peak_interval=pair_of(peak.interval) if peak else None,
            peak_measured=bool(is_shown and peak and peak.interval.high <= last),
            still_grows=most_at == last and not as_high, as_high=as_high, few_repeats=few,
            flat_from=flat[0] if flat else None,
            flat=(min(map(means.__getitem__, flat)), max(map(means.__getitem__, flat))) if flat else None,
            linear=self.grows and most_at == last and self._is_linear,
            law=law, levels=len(self.levels), repeats_at_most=len(dict(self.levels)[most_at]),
        )  # fmt: skip

    @property
    def _is_linear(self) -> bool:
        shares = [math.log(loss.value * self.levels[0][0] / x) if loss and loss.value > 0 else None
                  for (x, _), loss in zip(self.levels[1:], self.losses[1:], strict=True)]  # fmt: skip
        near = math.log1p(self.comparison.threshold)
        return len(self.levels) >= LEAST_OF_A_CURVE and all(each is not None and abs(each) <= near for each in shares)

    @property
    def is_peak_unshown(self) -> bool:
        """Whether the scaling law has a peak among the levels that these do not show."""
        claim = self.scales
        if not isinstance(claim, ScalesTo) or claim.peak_at is None:
            return False
        return claim.peak_at <= self.levels[-1][0] and not claim.peak_measured

    def _as_high(self, most_at: float) -> list[float]:
        """The other levels than which this one is not surely better, judged together with those of all curves; of too
        few repeats none is.
        """
        points, as_high = {point.x: point for point in self.curve.valued}, list[float]()
        most, others = points[most_at], [x for x, _ in self.levels if x != most_at]
        confidence = 1 - ALPHA / (len(others) * len(self.comparison.curves))
        for x in others:
            sides = (points[x], most) if self.metric.better == "lower" else (most, points[x])
            pair = self.comparison.pair(*sides)
            above = pair.ratio
            interval = above.at(confidence).interval if above and above.interval else None
            if pair.fewest < MIN_REPEATS or (interval is not None and interval.low <= 1):
                as_high.append(x)
        return as_high


def _flat(means: Mapping[float, float], highest: Collection[float]) -> list[float]:
    """The levels of a plateau: the highest, if these are the last of all and not all; none of fewer than three, and of
    such that lie further apart than noise should hide.
    """
    levels = sorted(means)
    tail = levels[-len(highest) :]
    if {*tail} != {*highest} or not LEAST_OF_A_CURVE <= len(tail) < len(levels):
        return []
    values = [means[x] for x in tail]
    return tail if max(values) <= (1 + MOST_OFF) * min(values) else []


def is_told(fit: Slope | None) -> bool:
    return fit is not None and fit.interval is not None and fit.interval.high <= MOST_OF_A_DOUBLING
