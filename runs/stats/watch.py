"""A series of batches that grows: does its newest batch lie off, and does it stay there?

A batch outside of the band in which one more batch is expected is a suspicion; three further batches confirm or refute
it. Three batches in a row that all lie off, and together far off, need no suspicion before. Whoever is woken by single
batches alone meets 4 to 8 false alarms in 1,000 (docs/method/history.md has the simulation of this and of other rules).
Batches, never repeats, are counted: what shifts from one day to the next is more than the repeats of a day show, and
neighbouring days are alike, by which the error of their mean grows. All here are logs of the means of batches, oldest
first.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from statistics import median
from typing import Literal

from runs.stats.ratios import Ratio
from runs.stats.steps import (
    LEAST_DAYS,
    MOST_ALLOWED_FOR,
    autocorrelation,
    change_of_level,
    inflation,
    least_step,
    near,
    steps_of,
)
from runs.stats.summaries import CONFIDENCE, Interval, interval_of_logs, mean, stdev, t_quantile, variance
from runs.stats.verdicts import PRACTICAL_THRESHOLD

# One more batch of an unchanged series lies within the band in 98 of 100.
BAND, CONFIRMED = 0.98, 0.99
# What is said to be seen is seen in so many of all cases.
SEEN = 0.95
# Three batches in a row that nothing has called out before; off a level of more than `MOST_ALLOWED_FOR` batches, by so
# much more.
IN_A_ROW = 0.999
# Each of three batches lies off by so much of what the farthest does.
SHARE_OF_EACH = 0.1
# They lie no farther apart than so many errors of one batch, or than the nearest of them lies off: two bad nights and a
# good one are no new level, what becomes slower and scatters more is one.
WIDEST = 5.5
# The median of how far batches lie off is so much of an error of normal noise; a bad night in twenty hardly moves it.
MEDIAN_OFF = 0.6745
# A night that lies off those around it by more of such errors counts as if it lay off by so many, or by what matters
# to nobody where hardly any differ: one that lost a quarter would hide a step of 6 % for a hundred nights.
MOST_OFF, LEAST_OFF = 8.0, 0.03
# So many nights, of which two bad ones do not move the median, and three are a new level.
AROUND = 2 * LEAST_DAYS - 1
LEAST_FOR_USUAL = 10
# A batch beside a suspected one is suspected by itself where it lies off by so many times as much.
MUCH_FARTHER = 2.0
# The confidence of a step whose place was chosen among all.
PLACED = 0.9999
# So many batches of an unchanged level tell how far they scatter; the newest so many are looked at.
LEAST_TO_TELL, MOST_IN_BAND = 6, 100
CONFIRMING = 3
# Steps are looked for in the newest so many: of more the matrix of all stretches grows too large.
WINDOW = 100
# A step may have begun where that leaves so many variances of a batch more than where it leaves least: its true place
# is one of these in 70 of 100 at least (−2 ln(1 − √0.7); D. Siegmund, International Statistical Review 56, 1988).
PLACED_WITHIN = 3.6
# A slow drift is a trend over so many batches. From `PRACTICAL_THRESHOLD` on it matters, whatever a step of the metric
# has to be: it goes on, and what loses 7 % in the newest 50 batches would never lose 10 % within them.
LEAST_OF_DRIFT, MOST_OF_DRIFT = 30, 50
# The spread has changed where it is so many times what it was, or so small a part of it, in so many batches on each
# side: that of a few repeats is small by chance now and then, and a series is asked after each batch.
NOISE_FACTOR, LEAST_OF_NOISE = 2.0, 10
# Nobody makes more repeats than that of a batch.
MOST_REPEATS = 100
Kind = Literal["step", "drift", "noise"]


@dataclass(frozen=True)
class Band:
    """Where one more batch is expected, in logs. `error`: of one batch; `batches` of the present level.

    `hang`: the correlation of neighbours. `quiet`: the error of one batch but for bad nights.
    """

    centre: float
    half: float
    error: float
    df: int
    batches: int
    quiet: float
    hang: float = 0.0

    def holds(self, log: float) -> bool:
        return abs(log - self.centre) <= self.half

    @property
    def interval(self) -> Interval:
        return Interval(math.exp(self.centre - self.half), math.exp(self.centre + self.half))

    def shift_error(self, count: int) -> float:
        """Standard error of the mean of so many batches in a row, less that of the level before."""
        alike = 2 * math.fsum((count - lag) / count * self.hang**lag for lag in range(1, count))
        level = inflation(self.hang) / min(self.batches, MOST_ALLOWED_FOR)
        return self.error * math.sqrt((1 + alike) / count + level)

    def least_sure(self, confidence: float) -> float:
        """From which shift on the mean of `CONFIRMING` batches is surely off, in logs."""
        return t_quantile(0.5 + confidence / 2, self.df) * self.shift_error(CONFIRMING)

    def is_left_by(self, logs: Sequence[float], threshold: float, confidence: float) -> bool:
        """Whether three batches lie surely off, each of them and together: two bad nights and a good one do not."""
        shift = mean(logs) - self.centre
        is_far = abs(shift) > max(math.log1p(threshold), self.least_sure(confidence))
        off = [math.copysign(1.0, shift) * (log - self.centre) for log in logs]
        is_close = max(off) - min(off) <= max(WIDEST * self.quiet, min(off))
        return is_far and min(off) >= SHARE_OF_EACH * max(off) and is_close

    @property
    def least_seen(self) -> float:
        """The least step, as a share of 1, that `CONFIRMING` further batches show in `SEEN` of all cases."""
        return math.expm1(self.least_sure(CONFIRMED) + t_quantile(SEEN, self.df) * self.shift_error(CONFIRMING))


def repeats_needed(expected: Band, least: float, *, within: float, repeats: float, share: float) -> int | None:
    """How many repeats a batch needs so that `CONFIRMING` further batches show a change of this share, of which they
    show the `least` now.

    `within`: the variance of the logs of the repeats of a batch; `repeats`: how many it has now. None where batches
    differ too much by themselves: no repeat mends that.
    """
    wanted = expected.error * math.log1p(share) / math.log1p(least)
    between = max(0.0, expected.error**2 - within / repeats)
    needed = math.ceil(within / (wanted**2 - between)) if wanted**2 > between else 0
    return needed if 0 < needed <= MOST_REPEATS else None


@dataclass(frozen=True)
class Found:
    """A change at a batch: `change` of those after it to those before it. `near`: the first and the last batch that
    fit nearly as well.
    """

    kind: Kind
    at: int
    change: Ratio
    before: int
    after: int
    near: tuple[int, int] | None = None

    @property
    def is_rise(self) -> bool:
        return self.change.value > 1


def band(logs: Sequence[float], starts: Sequence[int] = ()) -> Band | None:
    """After these batches, whose level changed at `starts`. None where they are too few to tell.

    The levels share one spread, so that a band is there as soon as three batches show a new level.
    """
    first = max(0, len(logs) - MOST_IN_BAND)
    cuts = [first, *(start for start in sorted(starts) if first < start < len(logs)), len(logs)]
    levels = [logs[begin:end] for begin, end in pairwise(cuts)]
    df = len(logs) - first - len(levels)
    if len(levels[-1]) < LEAST_DAYS or df < LEAST_TO_TELL - 1:
        return None
    usual, now = _usual_error(levels), levels[-1]
    error = math.sqrt(math.fsum(map(_squares, levels)) / df)
    half = t_quantile(0.5 + BAND / 2, df) * error * math.sqrt(1 + 1 / len(now))
    # At least half of the error: some hardly vary.
    quiet = max(error / 2, min(error, usual))
    return Band(mean(now), half, error, df, len(now), quiet, autocorrelation(*levels, errors=1))


def expected(
    logs: Sequence[float], threshold: float, starts: Sequence[int] = (), drifts: Sequence[range] = ()
) -> Band | None:
    """Where the next batch of a series is expected: what a drift is known to lose, bad nights, and steps that are
    smaller than matters widen it not.
    """
    return band(*_parted(logs, threshold, starts, drifts))


def calmed(logs: Sequence[float]) -> list[float]:
    """The batches without bad nights: each that stands apart counts as the median of those around it; as long as a new
    level may begin there it counts as near to them.
    """
    most, calm = _most_off(logs), [*logs]
    for at, log in enumerate(logs):
        if _stands_apart(logs, at, most):
            middle = _median_around(logs, at, AROUND)
            calm[at] = middle if _is_told(logs, at) else min(max(log, middle - most), middle + most)
    return calm


def _most_off(logs: Sequence[float]) -> float:
    """How far a batch may lie off those around it. None of too few to tell stands apart."""
    if len(logs) < AROUND:
        return math.inf
    between = median(abs(after - before) for before, after in pairwise(logs))
    return max(MOST_OFF * between / math.sqrt(2) / MEDIAN_OFF, LEAST_OFF)


def _stands_apart(logs: Sequence[float], at: int, most: float) -> bool:
    """Whether it lies far off the five around it, at least half as far off the eleven around it, and off all but one of
    the five before it and of those after it: where a level begins or ends it is one of the level.
    """

    def is_near(other: float) -> bool:
        return abs(logs[at] - other) <= most / 2

    if abs(logs[at] - _median_around(logs, at, AROUND)) <= most:
        return False
    beside = [logs[max(0, at - AROUND) : at], logs[at + 1 : at + 1 + AROUND]]
    is_of_level = any(len(part) >= LEAST_DAYS and sum(map(is_near, part)) >= len(part) - 1 for part in beside)
    return not is_of_level and not is_near(_median_around(logs, at, 2 * AROUND + 1))


def _is_told(logs: Sequence[float], at: int) -> bool:
    """Whether its neighbours on both sides have shown that no new level begins there."""
    return AROUND // 2 <= at < len(logs) - CONFIRMING


def usual(logs: Sequence[float]) -> list[bool]:
    """Which batches a mean of a level counts: of ten or more not those that `calmed` draws near to the others, as one
    bad night would hide each loss for as long as it is among them. Of fewer, as of noise with two modes, it would draw
    too many.
    """
    calm = calmed(logs) if len(logs) >= LEAST_FOR_USUAL else logs
    return [log == drawn for log, drawn in zip(logs, calm, strict=True)]


def outlying(logs: Sequence[float], threshold: float) -> list[tuple[int, float]]:
    """The batches that `calmed` leaves out, each with its ratio to the median of the five around it; those that are off
    by less than the practical `threshold` are nobody's concern.
    """
    off = [(at, log - drawn) for at, (log, drawn) in enumerate(zip(logs, calmed(logs), strict=True))]
    return [(at, math.exp(log)) for at, log in off if _is_told(logs, at) and abs(log) >= math.log1p(threshold)]


def _median_around(logs: Sequence[float], at: int, count: int) -> float:
    begin = max(0, min(at - count // 2, len(logs) - count))
    return median(logs[begin : begin + count])


def _usual_error(levels: Sequence[Sequence[float]]) -> float:
    """The error of a batch by the median of how far they lie off."""
    off = [abs(value) for level in levels if level for value in _less(level, median(level))]
    return median(off) / MEDIAN_OFF * (1 + 2 * len(levels) / len(off))


def is_confirmed(expected: Band, suspect: float, further: Sequence[float], threshold: float) -> bool | None:
    """Whether the batches after a suspicion lie off as it does. None while they are fewer than three.

    Not the batch that was suspected: it was chosen for lying off.
    """
    if len(further) < CONFIRMING:
        return None
    same_side = (mean(further) > expected.centre) == (suspect > expected.centre)
    # The first batches of a level were chosen for lying off: those after them lie nearer to the level before.
    confidence = CONFIRMED if expected.batches >= 2 * CONFIRMING else IN_A_ROW
    return same_side and expected.is_left_by(further[:CONFIRMING], threshold, confidence)


def changes(logs: Sequence[float], threshold: float) -> list[Found]:
    """Steps of the level within the newest `WINDOW` batches."""
    first = max(0, len(logs) - WINDOW)
    found, cuts = [], [first + place for place in steps_of(logs[first:], threshold)]
    for before, at, after in zip([first, *cuts], cuts, [*cuts[1:], len(logs)], strict=False):
        # A few batches in a row lie off by chance where neighbours hang together; `_in_a_row` judges those.
        if after - at < 2 * CONFIRMING or not _stands_out(logs[before:at], logs[at:after]):
            continue
        if change := change_at(logs, at, before, after):
            found.append(change)
    return found


def spread_of(repeats: Sequence[float]) -> float:
    """The spread of the logs of the repeats of a batch; 0 if there is none."""
    if len(repeats) < 2 or min(repeats) <= 0:
        return 0.0
    return stdev([math.log(value) for value in repeats]) or 0.0


def changes_of_noise(spreads: Sequence[float]) -> list[Found]:
    """Where the spread of the repeats of a batch changes by half or by twice; of those of which it is known."""
    told = [at for at in range(max(0, len(spreads) - WINDOW), len(spreads)) if spreads[at] > 0]
    logs = [math.log(spreads[at]) for at in told]
    cuts = steps_of(logs, NOISE_FACTOR - 1)
    spans = zip([0, *cuts], cuts, [*cuts[1:], len(logs)], strict=False)
    found = [change_at(logs, at, before, after) for before, at, after in spans]
    return [
        replace(each, kind="noise", at=told[each.at])
        for each in found if each and min(each.before, each.after) >= LEAST_OF_NOISE
    ]  # fmt: skip


def change_at(
    logs: Sequence[float], at: int, begin: int = 0, end: int | None = None, drifts: Sequence[range] = ()
) -> Found | None:
    """The change of level at a batch that is known to begin a new one, from its `begin` to its `end`. Where a drift
    begins with `begin` it is the change of the next batches to where its newest lead.
    """
    before, after = logs[begin:at], logs[at:end]
    last_ones, next_ones = before, after
    if any(drift.start == begin for drift in drifts):
        level = _less_drift(logs, at, begin)
        last_ones = level[max(begin, at - MOST_OF_DRIFT) : at]
        # Where the drift ends with the step, the next batches stay where they are.
        next_ones = min(level[at:end][:LEAST_OF_NOISE], after[:LEAST_OF_NOISE], key=_squares)
    change = change_of_level([*last_ones, *next_ones], len(last_ones))
    return Found("step", at, change, len(before), len(after)) if change else None


def places(logs: Sequence[float], at: int, begin: int = 0, end: int | None = None) -> list[int]:
    """The batches near to `at` that a step within these may have begun with, the likeliest first."""
    last = len(logs) if end is None else end
    around = range(max(begin + 1, at - LEAST_DAYS), min(last - 1, at + LEAST_DAYS) + 1)
    left = {place: _squares(logs[begin:place]) + _squares(logs[place:last]) for place in around}
    ordered = sorted(around, key=lambda place: (left[place], abs(place - at)))
    most = left[ordered[0]] * (1 + PLACED_WITHIN / max(1, last - begin - 2)) if ordered else 0.0
    return [place for place in ordered if left[place] <= most] or [at]


def _placed(logs: Sequence[float], at: int, starts: Sequence[int], drifts: Sequence[range]) -> Found | None:
    """The change near a batch that surely lies off: batches of the level before may lie off by chance, too."""
    begin = max([start for start in starts if start < at], default=0)
    level, _ = _level(logs, at, starts, drifts)
    return change_at(logs, places(level, at, begin)[0], begin, None, drifts)


def _level(
    logs: Sequence[float], at: int, starts: Sequence[int], drifts: Sequence[range]
) -> tuple[Sequence[float], list[int]]:
    """The batches as the next from `at` on are held against them, and where their levels begin: where a drift goes on
    up to there without what its newest batches lose, so that no batch lies off for its sake alone. A drift that ended
    before is a level of where it led to.
    """
    cuts = [start for start in starts if start < at]
    begin = max(cuts, default=0)
    for drift in drifts:
        if drift.start == begin and drift.stop >= at:
            logs = _less_drift(logs, at, begin)
            cuts.append(max(begin, at - MOST_OF_DRIFT // 4))
        elif drift.stop <= at:
            slope, _ = _line(logs[drift.start : drift.stop])
            logs = [log - slope * (place - drift.stop) if place in drift else log for place, log in enumerate(logs)]
            cuts += [max(drift.start, drift.stop - MOST_OF_DRIFT // 4), drift.stop]
    return logs, sorted({cut for cut in cuts if cut < at})


def _less_drift(logs: Sequence[float], at: int, begin: int) -> list[float]:
    """All from `begin` on as if the drift of its newest batches before `at` had not been."""
    slope, _ = _line(logs[max(begin, at - MOST_OF_DRIFT) : at])
    return [*logs[:begin], *(log - slope * (place - at) for place, log in enumerate(logs[begin:], begin))]


def _squares(logs: Sequence[float]) -> float:
    return variance(logs) * (len(logs) - 1) if len(logs) > 1 else 0.0


def _less(logs: Sequence[float], centre: float) -> list[float]:
    return [log - centre for log in logs]


def _stands_out(before: Sequence[float], after: Sequence[float]) -> bool:
    """Neighbouring batches hang together: a run of a few that lie off is likelier than of single ones."""
    hang = autocorrelation(before, after, errors=1.5)
    n, m = len(before), len(after)
    if min(n, m) < 2 or hang <= 0:
        return True
    # One spread for both: that of three batches which were found because they are alike says nothing.
    within = (variance(before) * (n - 1) + variance(after) * (m - 1)) / (n + m - 2)
    error = math.sqrt(within * (1 / n + 1 / m) * inflation(hang))
    shift = abs(mean(after) - mean(before))
    return shift >= t_quantile(0.5 + PLACED / 2, max(2, n + m - 2)) * error


def drift(logs: Sequence[float], starts: Sequence[int] = (), begin: int = 0) -> Found | None:
    """A trend over the newest batches, none of them before `begin`, that fits them better than steps at `starts` do."""
    for length in (MOST_OF_DRIFT, LEAST_OF_DRIFT):
        found = _trend(logs, max(begin, len(logs) - length), PRACTICAL_THRESHOLD, is_new=True)
        if found and not _fits_steps(logs, range(found.at, len(logs)), starts):
            return found
    return None


def drift_goes_on(logs: Sequence[float], begin: int) -> Found | None:
    """A drift from its begin to the newest batch; None where the newest batches do not drift as it does."""
    at = max(begin, len(logs) - LEAST_OF_DRIFT)
    # The newest are fewer than what showed it: they need not show by themselves how far it went.
    newest = _trend(logs, at, PRACTICAL_THRESHOLD * (len(logs) - at) / MOST_OF_DRIFT, CONFIDENCE)
    whole = _trend(logs, begin, PRACTICAL_THRESHOLD)
    return whole if newest and whole and (newest.change.value > 1) == (whole.change.value > 1) else None


def _trend(
    logs: Sequence[float], begin: int, threshold: float, confidence: float = PLACED, *, is_new: bool = False
) -> Found | None:
    """From `begin` to the last batch; None where it is no sure change, or of too few batches. `is_new`: it was not told
    before, and is asked to be surer.
    """
    n = len(logs) - begin
    if n < LEAST_OF_DRIFT:
        return None
    slope, off = _line(logs[begin:])
    hang, squares = autocorrelation(off, errors=1.5, fitted=2), math.fsum(value * value for value in off)
    error = math.sqrt(squares / (n - 2) / (n * (n * n - 1) / 12) * inflation(hang)) * (n - 1)
    df = n - 2.0
    if is_new:
        # Batches that hang together tell as much of their scatter as fewer would.
        df = max(1.0, n / inflation(autocorrelation(off, fitted=2)) - 2)
    change, half = slope * (n - 1), t_quantile(0.5 + confidence / 2, df) * error
    if abs(change) < max(math.log1p(threshold), half):
        return None
    interval = interval_of_logs(change, t_quantile(0.5 + CONFIDENCE / 2, n - 2) * error)
    return Found("drift", begin, Ratio(math.exp(change), interval, n - 2), 0, n)


@dataclass(frozen=True)
class Watched:
    """The state of a series after its newest batch: where its level changed, and the batches that are suspected.

    `drifts`: of each the batches that it was seen in; the first is one of `starts`. `unsure`: steps that three batches
    have confirmed and that all up to now do not show surely, or not by as much as matters, and those that all show and
    that are smaller; none of `starts`.
    """

    starts: tuple[int, ...] = ()
    suspects: tuple[int, ...] = ()
    confirmed: tuple[Found, ...] = ()
    refuted: tuple[int, ...] = ()
    drifts: tuple[range, ...] = ()
    absorbed: tuple[int, ...] = ()
    unsure: tuple[Found, ...] = ()

    def settled(self, logs: Sequence[float]) -> Sequence[float]:
        """Those before the first batch that is suspected: what it is off by is no scatter of theirs."""
        return logs[: min(self.suspects, default=None)]


def watch(logs: Sequence[float], before: Watched, threshold: float) -> Watched:
    """After one more batch, the last of `logs`.

    `confirmed`, `refuted` and `absorbed` are what is new: the last are steps of before that are part of a drift.
    Improvements are confirmed as strictly as regressions, so that a false one never becomes the level that others are
    held against.
    """
    newest, starts, suspects = len(logs) - 1, list(before.starts), []
    logs = calmed(logs)
    drifts = [_gone_on(logs, each, starts) for each in before.drifts]
    small = small_steps(logs, threshold, starts, drifts)
    confirmed: list[Found] = []
    refuted: list[int] = []
    for at in before.suspects:
        level, expected = _expected_at(logs, at, starts, drifts, small)
        verdict = expected and is_confirmed(expected, level[at], level[at + 1 :], threshold)
        if verdict and not _is_near(at, starts) and _is_step(logs, at, starts, drifts):
            if found := _placed(logs, at, starts, drifts):
                confirmed.append(found)
                starts.append(found.at)
        elif verdict is None and expected:
            suspects.append(at)
        else:
            refuted.append(at)
    in_a_row = [
        found for found in _in_a_row(logs, starts, drifts, small, threshold) if _is_step(logs, found.at, starts, drifts)
    ]
    far = [found for found in changes(logs, threshold) if not _is_trend(logs, found.at, starts, drifts)]
    for found in [*in_a_row, *far]:
        if not _is_near(found.at, starts):
            confirmed.append(found)
            starts.append(found.at)
    absorbed: list[int] = []
    # Where one was seen before, the next begins behind it.
    begin = max((each.stop for each in drifts), default=0)
    new_drift = drift(logs, starts, begin) or _turned(logs, drifts, starts)
    if new_drift:
        confirmed.append(new_drift)
        absorbed = [start for start in starts if start >= new_drift.at]
        starts = [*(start for start in starts if start < new_drift.at), new_drift.at]
        drifts.append(range(new_drift.at, len(logs)))
    # A step ends a drift.
    drifts = [
        range(each.start, min([each.stop, *(start for start in starts if start > each.start)])) for each in drifts
    ]
    suspects = [at for at in suspects if not _is_near(at, starts)]
    level, expected = _expected_at(logs, newest, starts, drifts, small)
    if expected and not expected.holds(level[newest]) and not _is_near(newest, starts):
        off = level[newest] - expected.centre
        # A small suspicion hides no large one beside it.
        beside = [level[at] - expected.centre for at in suspects if _is_near(newest, [at])]
        if all(abs(off) > MUCH_FARTHER * abs(other) for other in beside):
            suspects.append(newest)
    return replace(
        before, starts=tuple(sorted(starts)), suspects=tuple(suspects), confirmed=tuple(confirmed),
        refuted=tuple(refuted), drifts=tuple(drifts), absorbed=tuple(absorbed),
    )  # fmt: skip


def watched(logs: Sequence[float], threshold: float) -> Watched:
    """What a series comes to that is watched from its first batch on; `confirmed`: all that stands in the end, measured
    up to the next. What all batches together show no more, or as less than matters, is none: of one who asks once, no
    look of all those nights may have called it out by chance.
    """
    state = Watched()
    for count in range(1, len(logs) + 1):
        state = watch(logs[:count], state, threshold)
    # Who looks once sees a little more than who is woken each night, which takes a band and how alike batches are.
    starts = state.starts or steps_of(calmed(logs), threshold)
    found = [each for at in starts if (each := measured(logs, at, starts, state.drifts, threshold))]

    def passes(each: Found) -> bool:
        is_last = each is found[-1]
        return is_none(each, threshold, is_last=is_last) or not (state.starts or stands(each, threshold))

    while passed := next(filter(passes, found), None):
        starts = [each.at for each in found if each is not passed]
        found = [each for at in starts if (each := measured(logs, at, starts, state.drifts, threshold))]
    # One that is not sure goes on parting the levels beside it: what stands against these stands, as on a page.
    sure = tuple(each for each in found if stands(each, threshold))
    unsure = tuple(each for each in found if each not in sure and each.kind == "step")
    suspects = tuple(at for at in state.suspects if not _is_near(at, [each.at for each in (*sure, *unsure)]))
    unsure += tuple(told_small(logs, threshold, [each.at for each in found], state.drifts, suspects))
    starts = [each.at for each in sure]
    return replace(state, starts=tuple(starts), suspects=suspects, confirmed=sure, unsure=unsure)


def small_steps(calm: Sequence[float], threshold: float, starts: Sequence[int], drifts: Sequence[range]) -> list[int]:
    """Where steps begin within levels that all batches of these show surely, and that are smaller than matters: neither
    changes nor scatter. Of the newest `WINDOW` batches, which are `calmed`.
    """
    level, cuts = _level(calm, len(calm), starts, drifts)
    first = max(0, len(level) - WINDOW)
    found: list[int] = []
    for begin, end in pairwise([first, *(cut for cut in cuts if cut > first), len(level)]):
        within = [begin + cut for cut in steps_of(level[begin:end], 0.0)]
        for last, at, following in zip([begin, *within], within, [*within[1:], end], strict=False):
            before, after = level[last:at], level[at:following]
            is_small = abs(mean(after) - mean(before)) < math.log1p(threshold)
            if is_small and not _is_near(at, starts) and _stands_out(before, after):
                found.append(at)
    return found


def told_small(
    logs: Sequence[float], threshold: float, starts: Sequence[int], drifts: Sequence[range], suspects: Sequence[int]
) -> list[Found]:
    """Those of them that would matter of a rate, before the first batch that is suspected."""
    logs = logs[: min(suspects, default=None)]
    places = small_steps(calmed(logs), threshold, starts, drifts)
    found = [each for at in places if (each := measured(logs, at, starts, drifts, threshold))]
    return [each for each in found if not _is_small(each, PRACTICAL_THRESHOLD)]


def is_too_small(interval: Interval, threshold: float) -> bool:
    """Whether a change is surely there and surely smaller than matters."""
    farthest = max(abs(math.log(interval.low)), abs(math.log(interval.high)))
    return not interval.low <= 1 <= interval.high and farthest < math.log1p(threshold)


def measured(
    logs: Sequence[float], at: int, starts: Sequence[int], drifts: Sequence[range], threshold: float
) -> Found | None:
    """How large the step or drift is that begins there, of all batches up to the next, be that smaller than matters."""
    calm = calmed(logs)
    if drift := next((each for each in drifts if each.start == at), None):
        return _trend(calm[: drift.stop], at, 0.0, 0.0)
    starts = [*starts, *small_steps(calm, threshold, starts, drifts)]
    begin = max((start for start in starts if start < at), default=0)
    end = min((start for start in starts if start > at), default=len(logs))
    found, (level, _) = change_at(calm, at, begin, end, drifts), _level(calm, at, starts, drifts)
    if found is None:
        return None
    # A bad night beside the step may have been the first of the level, or the last of the one before.
    first, last = near(level[begin:end], begin, at)
    counts = [log == drawn for log, drawn in zip(logs, calm, strict=True)]
    first = next(place for place in range(first, -1, -1) if place <= begin + 1 or counts[place - 1])
    last = next(place for place in range(last, end) if place + 1 == end or counts[place])
    return replace(found, near=(first, last))


def stands(found: Found, threshold: float) -> bool:
    """Whether all batches up to the next change show it surely, and by as much as matters."""
    return not _is_unsure(found) and not _is_small(found, threshold)


def is_none(found: Found, threshold: float, *, is_last: bool) -> bool:
    """Whether a step that was confirmed does not stand. Of fewer batches after it than show a drift that is not asked,
    as a part of one is no sure step by itself, but of one that another follows and that is too small as well.
    """
    is_passed = not is_last and _is_unsure(found) and _is_small(found, threshold)
    return found.kind == "step" and (is_passed or (found.after >= LEAST_OF_DRIFT and not stands(found, threshold)))


def _is_unsure(found: Found) -> bool:
    interval = found.change.interval
    return interval is not None and interval.low <= 1 <= interval.high


def _is_small(found: Found, threshold: float) -> bool:
    least = PRACTICAL_THRESHOLD if found.kind == "drift" else threshold
    return abs(math.log(found.change.value)) < math.log1p(least)


def least_told(
    logs: Sequence[float], threshold: float, starts: Sequence[int] = (), drifts: Sequence[range] = ()
) -> float | None:
    """The least step, as a share of 1, that three batches at the end nearly always show; None of too few batches.

    Steps and drifts are taken out, and bad nights: none that is larger hides in what is left of the scatter. Rounded up
    as it is told.
    """
    level, cuts = _parted(logs, threshold, starts, drifts)
    if len(level) - len(cuts) < 2 * LEAST_DAYS:
        return None
    least, next_one = least_step(_off_levels(level, cuts)), band(level, cuts)
    return math.ceil(1000 * max(least, next_one.least_seen if next_one else 0.0)) / 1000


def scatter(
    logs: Sequence[float], threshold: float, starts: Sequence[int] = (), drifts: Sequence[range] = ()
) -> list[float]:
    """How far the batches lie off their levels, without bad nights."""
    return _off_levels(*_parted(logs, threshold, starts, drifts))


def _parted(
    logs: Sequence[float], threshold: float, starts: Sequence[int], drifts: Sequence[range]
) -> tuple[Sequence[float], list[int]]:
    """The batches and where their levels begin, also where what begins is smaller than matters: it is no scatter."""
    calm = calmed(logs)
    level, cuts = _level(calm, len(logs), starts, drifts)
    return level, sorted({*cuts, *small_steps(calm, threshold, starts, drifts)})


def _off_levels(level: Sequence[float], cuts: Sequence[int]) -> list[float]:
    parts = [level[begin:end] for begin, end in pairwise([0, *cuts, len(level)])]
    return [log for part in parts if part for log in _less(part, mean(part))]


def _turned(logs: Sequence[float], drifts: Sequence[range], starts: Sequence[int]) -> Found | None:
    """A drift the other way, from where the last one turned, which was seen until its newest batches denied it."""
    last = max(drifts, key=lambda each: each.stop, default=range(0))
    places = range(max(last.start + LEAST_OF_DRIFT, last.stop - MOST_OF_DRIFT // 2), last.stop)
    if last.stop == len(logs) or not places or any(start > last.start for start in starts):
        return None

    def left(place: int) -> float:
        parts = (_line(logs[last.start : place])[1], _line(logs[place:])[1])
        return math.fsum(value * value for off in parts for value in off)

    turn = min(places, key=left)
    before, after = _line(logs[last.start : turn])[0], drift(logs, starts, turn)
    return after if after and (after.change.value > 1) != (before > 0) else None


def _gone_on(logs: Sequence[float], seen: range, starts: Sequence[int]) -> range:
    """A drift up to the newest batch, if it goes on that far and no step has ended it."""
    is_ended = any(start > seen.start for start in starts)
    return seen if is_ended or not drift_goes_on(logs, seen.start) else range(seen.start, len(logs))


def _is_trend(logs: Sequence[float], at: int, starts: Sequence[int], drifts: Sequence[range]) -> bool:
    """Whether a step at this place is a part of a trend: of the newest batches, or of a drift that was seen there."""
    newest = range(max(0, len(logs) - MOST_OF_DRIFT), len(logs))
    return any(
        len(span) >= LEAST_OF_DRIFT and span.start < at < span.stop and not _fits_steps(logs, span, [*starts, at])
        for span in (newest, *drifts)
    )


def _is_step(logs: Sequence[float], at: int, starts: Sequence[int], drifts: Sequence[range]) -> bool:
    """Whether what surely lies off is a step, and no part of a trend; or stands on a drift that goes on up to there: a
    line with a step leaves less of it than a line that bends there or near to it, as one does that ends.
    """
    if not _is_trend(logs, at, starts, drifts):
        return True
    import numpy as np

    begin = max([start for start in starts if start < at], default=0)
    if not any(drift.start == begin and drift.stop >= at for drift in drifts):
        return False
    first = max(begin, at - MOST_OF_DRIFT)
    seen, places = np.array(logs[first:]), np.arange(first, len(logs))
    off = [(places >= at).astype(float), *(np.maximum(0, places - bend) for bend in range(at - LEAST_OF_NOISE, at + 1))]
    left = []
    for each in off:
        line = np.stack([np.ones(len(seen)), places - first, each], axis=1)
        left.append(float(np.sum((seen - line @ np.linalg.lstsq(line, seen, rcond=None)[0]) ** 2)))
    return left[0] * (1 + PLACED_WITHIN / len(seen)) < min(left[1:])


def _fits_steps(logs: Sequence[float], span: range, places: Sequence[int]) -> bool:
    """Whether steps at those of the places within a span leave less of it than a line does, for what each takes:
    a step its place and its height, a line its slope.
    """
    cuts = sorted({place for place in places if span.start < place < span.stop})
    parts = [logs[begin:end] for begin, end in pairwise([span.start, *cuts, span.stop])]
    of_steps = math.fsum(map(_squares, parts))
    _, off = _line(logs[span.start : span.stop])
    of_line = math.fsum(value * value for value in off)
    return bool(cuts) and of_steps / (len(span) - 1 - 2 * len(cuts)) <= of_line / (len(span) - 2)


def _line(logs: Sequence[float]) -> tuple[float, list[float]]:
    """Slope by batch of a straight line, and how far each lies off it."""
    n, centre = len(logs), mean(logs)
    middle = (n - 1) / 2
    slope = math.fsum((place - middle) * log for place, log in enumerate(logs)) / (n * (n * n - 1) / 12)
    return slope, [log - centre - slope * (place - middle) for place, log in enumerate(logs)]


def _expected_at(
    logs: Sequence[float], at: int, starts: Sequence[int], drifts: Sequence[range], small: Sequence[int]
) -> tuple[Sequence[float], Band | None]:
    """The batches as the next from `at` on are held against them, and where the first of these is expected. `small`:
    where steps begin that are smaller than matters.
    """
    level, cuts = _level(logs, at, starts, drifts)
    return level, band(level[:at], [*cuts, *(place for place in small if place <= at - LEAST_DAYS)])


def _in_a_row(
    logs: Sequence[float], starts: Sequence[int], drifts: Sequence[range], small: Sequence[int], threshold: float
) -> list[Found]:
    """The newest three batches as a new level, if they are one."""
    at = max(0, len(logs) - CONFIRMING)
    level, expected = _expected_at(logs, at, starts, drifts, small)
    if expected is None:
        return []
    confidence = 1 - (1 - IN_A_ROW) * min(1.0, MOST_ALLOWED_FOR / expected.batches)
    if not expected.is_left_by(level[at:], threshold, confidence):
        return []
    return [found] if (found := _placed(logs, at, starts, drifts)) else []


def _is_near(at: int, places: Sequence[int]) -> bool:
    """Whether it is the same change: a step is placed within a few batches."""
    return any(abs(at - place) <= LEAST_DAYS for place in places)
