"""Since when: the steps of each series of batches, and the newest batch against those before it."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from itertools import chain, compress, groupby, pairwise
from typing import Any, TypeVar
from uuid import UUID

from runs.answers.answer import REFUSED, Amount, Answer, Newer, Step, amount_of, as_share, begun, change_of
from runs.answers.curves import untold_levels
from runs.compare.asked import Lacking, Missing, Question
from runs.compare.baseline import DEFAULT_BASELINE, Baseline, Facts
from runs.compare.comparison import Comparison
from runs.compare.facts import DATE, fact_value
from runs.compare.grouping import day_of
from runs.compare.groups import Contrast, Group, Repeat
from runs.compare.guard import Difference, blocking, unlike
from runs.compare.panels import Curve
from runs.formatting import percent, percent_of
from runs.models import Run
from runs.models.choices import Visibility
from runs.run.circumstances import changes, circumstances
from runs.run.facets import tested_words
from runs.stats import (
    ALPHA,
    CONFIDENCE,
    MIN_REPEATS,
    WINNERS,
    Interval,
    Kind,
    Ratio,
    interval_of_logs,
    judge,
    mean_or_zero,
    side_of,
    t_quantile,
    watch,
)
from runs.stats.steps import LEAST_DAYS, change_of_level, days_after_to_show, days_to_show
from runs.stats.verdicts import judge_interval

T = TypeVar("T")

LEAST_BATCHES = 3
# Where one series follows another so many batches of each are set against each other.
AROUND_A_SWAP = 10
# The newest so many are told.
MOST_SWAPS = 3
# What has a batch on so large a share of its days is measured each day; one is absent where two batches lie so many
# days apart.
EACH_DAY, LEAST_ABSENT = 0.9, 1.5
# A series in which not even a doubling would show has no answer: a few releases of many years differ as much.
MOST_UNSEEN = 1.0


def since(comparison: Comparison, curves: Sequence[Curve], question: Question) -> Answer:
    """`curves` over dates."""
    claims: list[Step] = []
    newest: list[Newer] = []
    lacking = [] if curves else [Missing("days")]
    for curve in curves:
        of_curve = steps_of(comparison, curve, curve.name)
        claims += of_curve
        if curve.missing and not curve.valued:
            lacking.append(curve.missing)
            continue
        if not of_curve and curve.levels:
            is_short = len(curve.levels) < 2 * LEAST_DAYS
            few = Missing("batches", curve.name, len(curve.levels), 2 * LEAST_DAYS)
            lacking.append(few if is_short else Missing("unlike_batches", curve.name))
            newest += _against_the_last(comparison, curve, len(curves))
        elif of_curve and not of_curve[0].day and of_curve[0].threshold > comparison.threshold:
            of_level = comparison.changes[curve.name]
            logs = watch.scatter(of_level.settled(curve.logs), comparison.threshold, of_level.starts, of_level.drifts)
            batches = days_to_show(logs, comparison.threshold)
            # Where batches are alike, more of them show no less.
            batches = batches if batches and batches > len(curve.levels) else None
            lacking.append(_batches_to_show(batches, curve.name, comparison.threshold, "batches_for_less"))
        lacking += [*_noisier(curve), *_outlying(comparison, curve), *_untold(curve), *_lost(curve)]
        lacking += [*_absent(curve), *_mixed_audiences(curve)]
    lacking += _followed(curves)
    sure = any(claim.day and claim.is_settled for claim in claims)
    told = [*_with_what_changed(claims), *newest]
    return begun(comparison, question, claims=told, lacking=lacking, sure=sure)


def _against_the_last(comparison: Comparison, curve: Curve, curves: int) -> list[Newer]:
    """The newest batch against the one before it, and of a few releases each that is surely better or worse than the
    one before it, by the repeats of the two alone: of few batches, or of several that all differ, nothing says how far
    two of one level lie apart.
    """
    if len(curve.levels) < 2:
        return []
    along, better = comparison.axes.along_x(curve.points), comparison.better
    *releases, last = [*pairwise(curve.valued)]
    is_short = len(curve.levels) < 2 * LEAST_DAYS
    releases = [pair for pair in releases if is_short and len({fact_value(point, "dbms") for point in pair}) > 1]
    confidence = 1 - ALPHA / (curves * (1 + len(releases)))
    claims = []
    for before, newest in (*releases, last):
        differing = comparison.verdicts.differences_of(newest, before)
        if refused := blocking(each for each in differing if each.field not in along):
            ratio = change_of(None, refused=Contrast(refused))
        else:
            ratio = judged_by_repeats(
                newest.judged, before.judged, better=better, threshold=comparison.threshold, confidence=confidence
            )
        if newest is curve.valued[-1] or ratio.verdict in WINNERS:
            claim = Newer(
                label=curve.name, runs=[*newest.run_ids, *before.run_ids], newest=_batch_name(curve, newest),
                of="last:1", batches=1, by_repeats=True, family=curves, ratio=ratio,
            )  # fmt: skip
            claims.append(claim)
    return claims


def _untold(curve: Curve) -> list[Missing]:
    """The batches without a ratio, but for those at zero that a change to it or from it tells of."""
    batches = [point.judged for point in curve.valued]
    if batches and not any(any(values) for values in batches):
        return [Missing("all_zero", curve.name, len(batches))]
    stretches = [curve.valued[each.at - each.before : each.at + each.after] for each in curve.of_zero]
    told = {_day_of(point) for points in stretches for point in points}
    missing = []
    for each in untold_levels(curve, _day_of):
        names = [name for name in each.names if each.kind != "zero" or name not in told]
        missing += [replace(each, names=names)] if names else []
    return missing


def _batch_name(curve: Curve, point: Group) -> str:
    """Its day, and what was tested: of a curve of several versions of a system, which it was."""
    run, versions = point.all_runs[0], {fact_value(each, "dbms") for each in curve.valued}
    version = str(run.dbms_version) if len(versions) > 1 else ""
    return " · ".join(filter(None, (batch_at(curve, point.x), version, tested_words(run))))


def _lost(curve: Curve) -> list[Missing]:
    """The batches before the last number that failed, in stretches, the repeats that did of those that have one, and
    the batches that are copies of others.
    """

    def failed(point: Group) -> list[Repeat]:
        return [gap for gap in point.lost if not gap.run.counts]

    last = max((point.x for point in curve.valued), default=0.0)
    told: list[Missing] = []
    by_failing = groupby(curve.points, key=lambda point: bool(point.gap and failed(point) and point.x < last))
    gaps = [[*points] for is_gap, points in by_failing if is_gap]
    if lost_days := [*chain(*gaps)]:
        reasons = "; ".join(dict.fromkeys(point.gap or "" for point in lost_days))
        stretches = [_stretch([_day_of(point) for point in days]) for days in gaps]
        told.append(Missing("lost_batches", curve.name, len(lost_days), names=[reasons, *stretches]))
    if partly := [(point, lost) for point in curve.valued if (lost := failed(point))]:
        why = "; ".join(dict.fromkeys(gap.reason for _, lost in partly for gap in lost))
        of_days = [f"{len(lost)} of {len(lost) + point.n} on {_day_of(point)}" for point, lost in partly]
        told.append(Missing("lost_repeats", curve.name, sum(len(lost) for _, lost in partly), names=[why, *of_days]))
    last_day = max(map(_day_of, curve.valued), default="")
    copies = [gap.run for point in curve.points for gap in point.gaps if gap.run.copy_of_id]
    if day_by_copy := {run.batch_id: day for run in copies if (day := str(day_of(run))) <= last_day}:
        told.append(Missing("copies", curve.name, len(day_by_copy), names=[*dict.fromkeys(day_by_copy.values())]))
    return told


def _absent(curve: Curve) -> list[Missing]:
    """The days without a batch, failed or not, of what is measured each day."""
    xs = sorted(point.x for point in curve.points)
    days, absent = len({*map(int, xs)}), list[list[str]]()
    for x, following in pairwise(xs):
        # What begins at midnight may be of the days beside it.
        if following - x > LEAST_ABSENT:
            absent.append([str(day_at(day)) for day in range(int(x) + 1, int(following))])
    count = sum(map(len, absent))
    if not count or days < EACH_DAY * (days + count):
        return []
    return [Missing("absent", curve.name, count, days, names=[_stretch(each) for each in absent if each])]


def _stretch(days: Sequence[str]) -> str:
    return days[0] if len(days) == 1 else f"{len(days)} from {days[0]} to {days[-1]}"


def _noisier(curve: Curve) -> list[Missing]:
    """Where the spread of the repeats of a batch changed, as the page of the benchmark tells it."""
    found = watch.changes_of_noise([watch.spread_of(point.judged) for point in curve.valued])
    return [
        Missing("noise", curve.name, each.after, each.before, [_day_of(curve.valued[each.at])], change=each.change)
        for each in found
    ]  # fmt: skip


def _outlying(comparison: Comparison, curve: Curve) -> list[Missing]:
    found = watch.outlying(curve.logs, comparison.threshold) if len(curve.logs) == len(curve.levels) else []
    batches = [(batch_at(curve, curve.levels[at][0]), ratio) for at, ratio in found]
    return batches_apart("standing_apart", curve.name, batches)


def batches_apart(kind: Lacking, label: str, batches: Sequence[tuple[str, float]]) -> list[Missing]:
    """Those that no step counts as they are (`standing_apart`), or that the newest batch is not set against
    (`left_out`): when each was measured, and its ratio to its neighbours or to the baseline.
    """
    names = [f"{when} {percent(ratio - 1, signed=True)}" for when, ratio in batches]
    return [Missing(kind, label, len(names), names=names)] if names else []


def _followed(curves: Sequence[Curve]) -> list[Missing]:
    """Where one series follows another, as of a new machine, disk or version, or of one that is taken back: neither has
    changed by that, so what is said is of two series, the last batches of one against the first of the other.
    """
    batches = sorted(
        (curve.panel, x, curve.name, log)
        for curve in curves if len(curve.logs) == len(curve.levels)
        for (x, _), log in zip(curve.levels, curve.logs, strict=True)
    )  # fmt: skip
    told = []
    stretches = [[*rows] for _, rows in groupby(batches, key=lambda batch: (batch[0], batch[2]))]
    for before, after in pairwise(stretches):
        (panel, last, first_name, _), (next_panel, first, next_name, _) = before[-1], after[0]
        if panel == next_panel and last < first and min(len(before), len(after)) >= LEAST_DAYS:
            near, next_ones = before[-AROUND_A_SWAP:], after[:AROUND_A_SWAP]
            change = change_of_level([log for *_, log in (*near, *next_ones)], len(near))
            names = [str(day_at(first)), next_name, first_name]
            told.append(Missing("followed", "", len(next_ones), len(near), names, change=change))
    return told[-MOST_SWAPS:]


def _mixed_audiences(curve: Curve) -> list[Missing]:
    """That some batches are for fewer people: on pages they are benchmarks of their own."""
    seen = [point.all_runs[0].visibility for point in curve.valued]
    hidden = [visibility for visibility in seen if visibility != Visibility.PUBLIC]
    if not 0 < len(hidden) < len(seen):
        return []
    names = sorted({Visibility(visibility).label.lower() for visibility in hidden})
    return [Missing("visibilities", curve.name, len(hidden), len(seen), names=names)]


def _with_what_changed(claims: Sequence[Step]) -> list[Step]:
    """Each step with what else is recorded of a batch that it may have begun with and of the one before it, in a run of
    each; with its day where that is not the likeliest.
    """
    ids = {run for claim in claims for _, *pair in claim.may_begin for run in pair}
    runs = Run.objects.for_lists().prefetch_related("config__parameters").in_bulk(ids) if ids else {}
    facts_by_run = {pk: circumstances(run) for pk, run in runs.items()}
    return [
        claim.model_copy(update={"besides": [
            words if day == claim.day else f"{words} on {day}"
            for day, before, own in sorted(claim.may_begin, key=lambda each: each[0] != claim.day)
            for _, words in changes(facts_by_run[before], facts_by_run[own])
        ]})
        for claim in claims
    ]  # fmt: skip


def steps_of(comparison: Comparison, curve: Curve, label: str) -> list[Step]:
    """Where one series came from zero or to it, which is sure, before its other steps, or that it has none; empty of
    too few batches to tell, or that differ too much.
    """
    of_zero, of_ratio = _zero_steps(comparison, curve, label), _ratio_steps(comparison, curve, label)
    # What came from 0 or went there has changed, whatever the batches above 0 tell.
    return [*of_zero, *(step for step in of_ratio if step.day or not of_zero)]


def _zero_steps(comparison: Comparison, curve: Curve, label: str) -> list[Step]:
    points, better = curve.valued, comparison.better
    return [
        Step(
            label=label, day=batch_at(curve, points[each.at].x), tested=tested_words(points[each.at].all_runs[0]),
            runs=[run for at in range(each.at - each.before, each.at + each.after) for run in points[at].run_ids],
            change=Amount(verdict=side_of(is_rise=each.is_rise, better=better)),
            zero="to" if each.is_to_zero else "from", batches=each.after, batches_before=each.before,
            is_last=each is curve.of_zero[-1], days=int(points[each.at + each.after - 1].x - points[each.at].x) + 1,
            is_expected=_is_expected(comparison, points[each.at]),
            may_begin=_may_begin(curve, points, each.at, each.at),
        )
        for each in curve.of_zero
    ]  # fmt: skip


def _may_begin(curve: Curve, points: Sequence[Group], first: int, last: int) -> list[tuple[str, UUID, UUID]]:
    """Of each batch at these places its day, a run of the one before it, and one of its own."""
    pairs = pairwise(points[max(0, first - 1) : last + 1])
    return [(batch_at(curve, own.x), before.runs[0].pk, own.runs[0].pk) for before, own in pairs]


def _ratio_steps(comparison: Comparison, curve: Curve, label: str) -> list[Step]:
    better = comparison.better
    levels, logs, points = curve.levels, curve.logs, {point.x: point for point in curve.valued}
    last_of_zero = max((curve.valued[each.at].x for each in curve.of_zero), default=-math.inf)
    if len(levels) < 2 * LEAST_DAYS or len(logs) < len(levels):
        return []
    told, xs = comparison.changes[curve.name], [x for x, _ in levels]
    # What is not told is said not to be as far only as these batches would show it.
    threshold = comparison.threshold
    least = max(threshold, watch.least_told(told.settled(logs), threshold, told.starts, told.drifts) or 0.0)
    unchanged = Step(
        label=label, runs=[run for point in points.values() for run in point.run_ids], change=Amount(),
        batches=len(levels), days=int(levels[-1][0] - levels[0][0]) + 1, threshold=least,
    )  # fmt: skip
    claims = []
    pairs = [*zip([None, *told.confirmed], told.confirmed, strict=False), *((None, each) for each in told.unsure)]
    of_unsure = {found.at: unsure_verdict(found.change.interval, threshold) for found in told.unsure}
    # What is too small ends no change before it.
    last = max((found.at for _, found in pairs if of_unsure.get(found.at) != Kind.TOO_SMALL), default=0)
    for earlier, found in pairs:
        verdict = of_unsure.get(found.at) or side_of(is_rise=found.is_rise, better=better)
        fields: dict[str, Any] = {
            "day": batch_at(curve, xs[found.at]), "batches": found.after, "batches_before": found.before,
            "is_last": found.at >= last and xs[found.at] >= last_of_zero, "is_drift": found.kind == "drift",
            "change": as_share(amount_of(found.change, verdict=verdict)),
            "threshold": threshold if found.at in of_unsure else least,
        }  # fmt: skip
        # A drift has no batch that it began with, and no commit to blame.
        if found.kind == "step":
            begin = found.near or (found.at, found.at)
            near = xs[max(0, found.at - LEAST_DAYS) : found.at + LEAST_DAYS + 1]
            fields |= {
                "is_expected": any(_is_expected(comparison, points[x]) for x in near),
                "days_near": tuple(batch_at(curve, xs[place]) for place in begin),
                "tested": tested_words(points[xs[found.at]].all_runs[0]),
                "may_begin": _may_begin(curve, [points[x] for x in xs], *begin),
            }  # fmt: skip
            # Both changes together are less than matters.
            both = math.log(earlier.change.value * found.change.value) if earlier else math.inf
            if earlier and earlier.kind == "step" and abs(both) < math.log1p(comparison.threshold):
                fields["back_to"] = batch_at(curve, xs[earlier.at])
        claims.append(unchanged.model_copy(update=fields))
    if not any(claim.is_settled for claim in claims) and least <= MOST_UNSEEN:
        claims = [unchanged, *claims]
    for at in told.suspects:
        if off := suspicion(logs, at, told.starts, told.drifts, better=better, threshold=comparison.threshold):
            fields = {
                "day": batch_at(curve, xs[at]), "tested": tested_words(points[xs[at]].all_runs[0]),
                "change": as_share(amount_of(off.change, verdict=side_of(is_rise=off.is_rise, better=better))),
                "batches": off.after, "batches_before": off.before, "is_suspected": True,
            }  # fmt: skip
            claims.append(unchanged.model_copy(update=fields))
    return claims


def unsure_verdict(interval: Interval | None, threshold: float) -> Kind:
    """Of a step that all batches up to now do not show surely, or not by as much as matters."""
    return Kind.TOO_SMALL if interval and watch.is_too_small(interval, threshold) else Kind.UNDECIDED


def suspicion(
    logs: Sequence[float], at: int, starts: Sequence[int], drifts: Sequence[range], *, better: str, threshold: float
) -> watch.Found | None:
    """How far the batch at `at` lies off its level, or off the drift before it; None where that is surely less than
    matters, as of batches that hardly vary it may be. Bad nights before it do not move it.
    """
    begin = max((start for start in starts if start < at), default=0)
    before = [math.exp(log) for log in logs[begin:at]]
    amount = expected_amount(math.exp(logs[at]), before, better=better, threshold=threshold)
    if amount.verdict in (Kind.EQUIVALENT, Kind.TOO_SMALL):
        return None
    found = watch.change_at([*watch.calmed(logs[:at]), logs[at]], at, begin, None, drifts)
    # Off the line of a drift it may be less than matters, however far off the level it is.
    is_on_drift = any(drift.start == begin for drift in drifts)
    return None if found and is_on_drift and abs(found.change.value - 1) < threshold else found


def _batches_to_show(batches: int | None, of: str, threshold: float, kind: Lacking) -> Missing:
    """How many it takes for a change of the threshold to show; None where the batches differ too much for any, or for
    the first three after it to show it, be there ever so many before.
    """
    never: dict[Lacking, Lacking] = {"batches_for_less": "first_batches", "batches_like_it": "steadier_batches"}
    kind = never[kind] if batches is None else kind
    return Missing(kind, of, batches or 0, names=[percent_of(threshold)])


def newer(comparison: Comparison, curves: Sequence[Curve], question: Question) -> Answer:
    """Whether the newest batch lies where one more batch like those of the baseline would."""
    asked = question if question.than else question.model_copy(update={"than": DEFAULT_BASELINE})
    claims, lacking = [], [] if curves else [Missing("days")]
    differing: dict[str, list[Difference]] = {}
    # One family, by Bonferroni: the newest batches of several series are one question.
    family = max(1, len(curves))
    by: dict[str, Any] = {
        "better": comparison.better, "threshold": comparison.threshold, "confidence": 1 - ALPHA / family,
    }  # fmt: skip
    for curve in curves:
        valued, label = curve.valued, curve.name
        if curve.missing and not valued:
            lacking.append(curve.missing)
            continue
        # What is said is of a batch before these.
        lacking += [missing for missing in untold_levels(curve, _day_of) if missing.kind == "no_value"]
        if len(valued) < 2:
            lacking.append(Missing("batch", label))
            continue
        lacking += _mixed_audiences(curve)
        newest = valued[-1]
        starts_of_zero = (valued[each.at].x for each in curve.of_zero)
        changed = sorted([*(curve.levels[at][0] for at in comparison.changes[label].starts), *starts_of_zero])
        baseline, earlier = Baseline.read(asked.than), range(1, len(valued) - 1)
        starts = (at for at in earlier if valued[at].x in changed or _is_expected(comparison, valued[at]))
        # By places: batches of one day may have no times.
        begin = max(starts, default=0) if baseline.is_recent else 0
        named, along = baseline.before(valued[begin:], _facts_of), comparison.axes.along_x(curve.points)
        before_change = len(baseline.before(valued, _facts_of)) - len(named)
        conditions = [
            [each for each in comparison.verdicts.differences_of(newest, point) if each.field not in along]
            for point in named
        ]
        if refused := [found for each in conditions if (found := blocking(each))]:
            reasons = unlike(chain.from_iterable(refused))
            lacking.append(Missing("unlike_baseline", label, len(refused), differing=reasons))
        alike = [(point, found) for point, found in zip(named, conditions, strict=True) if not blocking(found)]
        own = mean_or_zero(newest.judged)
        before, centres, off = set_against(own, [(point, mean_or_zero(point.judged)) for point, _ in alike])
        lacking += batches_apart("left_out", label, [(batch_at(curve, point.x), ratio) for point, ratio in off])
        if not before:
            lacking += [] if refused else [Missing("baseline", label, names=[asked.than])]
            continue
        kept = {point.key for point in before}
        differing[label] = unlike(each for point, found in alike if point.key in kept for each in found)
        # So few tell nothing of how batches differ, as the gate has it. Of recent ones more will come.
        by_repeats = len(before) < LEAST_BATCHES and (not baseline.is_recent or asked.than in ("last:1", "last:2"))
        repeats = [value for point in before for value in point.judged]
        ratio = judged_by_repeats(newest.judged, repeats, **by) if by_repeats else expected_amount(own, centres, **by)
        stepped = [x for x in changed if before[0].x < x <= before[-1].x]
        if ratio.verdict == Kind.UNDECIDED and stepped:
            lacking.append(Missing("step_within", label, names=[batch_at(curve, stepped[-1])]))
        elif ratio.verdict == Kind.UNDECIDED and ratio.low is not None and not by_repeats:
            # One batch decides nothing: the newest is the first of those that a step takes.
            batches = days_after_to_show([math.log(centre) for centre in centres if centre], comparison.threshold)
            further = None if batches is None else batches - 1
            lacking.append(_batches_to_show(further, label, comparison.threshold, "batches_like_it"))
        runs = [run for point in (newest, *before) for run in point.run_ids]
        claim = Newer(
            label=label, runs=runs, newest=_batch_name(curve, newest), of=asked.than, batches=len(before), ratio=ratio,
            since=batch_at(curve, valued[begin].x) if before_change else "", before_change=before_change,
            by_repeats=by_repeats, family=family,
        )  # fmt: skip
        claims.append(claim)
    sure = any(claim.ratio.verdict in ("better", "worse") for claim in claims)
    return begun(comparison, asked, claims=claims, lacking=lacking, sure=sure, differing=differing)


def day_at(x: float) -> date:
    return date.fromordinal(int(x))


def _day_of(point: Group) -> str:
    """Its own, wherever it stands in its series."""
    return fact_value(point, DATE)


def batch_at(curve: Curve, x: float) -> str:
    """The day of a batch; where all of its curve are of one day with its time, or its number."""
    point_by_x = {point.x: point for point in curve.valued}
    is_one_day = len({*map(_day_of, point_by_x.values())}) == 1
    return point_by_x[x].level if is_one_day else _day_of(point_by_x[x])


def _is_expected(comparison: Comparison, batch: Group) -> bool:
    """Whether people said that a change which begins with it is."""
    return any(run.pk in comparison.expected_runs for run in batch.all_runs)


def _facts_of(batch: Group) -> Facts:
    run = batch.all_runs[0]
    versions = [run.dbms_version.version, run.dbms_version.name]
    commit = str(run.effective_tested.get("commit", ""))
    return Facts(run.measured_at or run.created_at, run.effective_label, commit, versions)


def set_against(
    newest: float | None, baseline: Sequence[tuple[T, float | None]]
) -> tuple[list[T], list[float | None], list[tuple[T, float]]]:
    """The batches of a baseline that the newest is set against, and their means, as `mean_or_zero` tells them: of a
    newest batch above 0 those above it, if any is. Then those that stand apart from these, with their ratio to them:
    one bad night would hide each loss until it is no more in the baseline. None where the newest lies near to one of
    them: what comes again, as the second mode of a noise, is no accident.
    """
    above = [(batch, mean) for batch, mean in baseline if mean]
    kept: Sequence[tuple[T, float | None]] = [*above] if newest and above else baseline
    apart: list[tuple[T, float]] = []
    if newest and above:
        own, logs = math.log(newest), [math.log(mean) for _, mean in above]
        counts = watch.usual(logs)
        centre = statistics.fmean(compress(logs, counts))
        off = [(batch, log) for (batch, _), log, is_usual in zip(above, logs, counts, strict=True) if not is_usual]
        if all(abs(log - own) >= abs(own - centre) / 2 for _, log in off):
            kept, apart = [*compress(above, counts)], [(batch, math.exp(log - centre)) for batch, log in off]
    return [batch for batch, _ in kept], [mean for _, mean in kept], apart


def judged_by_repeats(
    values: Sequence[float], before: Sequence[float], *, better: str, threshold: float, confidence: float = CONFIDENCE
) -> Amount:
    """The ratio of two batches by their repeats alone; without one where a side is zero throughout."""
    of_zeros = _of_zeros(values, before, better=better) if min(len(values), len(before)) >= MIN_REPEATS else None
    return of_zeros or change_of(judge(values, before, better=better, threshold=threshold, confidence=confidence))


def _of_zeros(values: Sequence[float], before: Sequence[float], *, better: str) -> Amount | None:
    """Where a side is zero throughout: which one is better needs no ratio, and there is none."""
    zeros: Lacking
    if not any(values) and not any(before):
        kind, zeros = Kind.EQUIVALENT, "zero_both"
    elif not any(values) and min(before) > 0:
        kind, zeros = side_of(is_rise=False, better=better), "zero_now"
    elif not any(before) and min(values) > 0:
        kind, zeros = side_of(is_rise=True, better=better), "zero_before"
    else:
        return None
    return Amount(verdict=kind, basis=Missing(zeros, names=[kind]))


def expected_amount(
    newest: float | None, before: Sequence[float | None], *, better: str, threshold: float,
    confidence: float = CONFIDENCE,
) -> Amount:  # fmt: skip
    """The newest batch over the geometric mean of those before, with the interval in which one more of them would lie:
    between batches differs more than the repeats of one show. Where either is 0 in each repeat it is told without a
    ratio. All as `mean_or_zero` tells them.
    """
    logs = [math.log(centre) for centre in before if centre]
    if newest is None or not before:
        return Amount(verdict=REFUSED, basis=Missing("positive"))
    if newest == 0 or not logs:
        if len(before) < LEAST_BATCHES:
            return Amount(verdict=Kind.TOO_FEW, basis=Missing("batches", count=len(before), least=LEAST_BATCHES))
        known = [centre for centre in before if centre is not None]
        change = _of_zeros([newest], known, better=better) if len(known) == len(before) else None
        return change or Amount(verdict=Kind.UNDECIDED, basis=Missing("zero_in_part_of" if newest else "zero_as"))
    centre = math.log(newest) - statistics.fmean(logs)
    if len(logs) < LEAST_BATCHES:
        few = Missing("batches", count=len(logs), least=LEAST_BATCHES)
        return Amount(value=math.exp(centre), verdict=Kind.TOO_FEW, basis=few)
    spread, freedom = statistics.stdev(logs), len(logs) - 1
    half = t_quantile((1 + confidence) / 2, freedom) * spread * math.sqrt(1 + 1 / len(logs))
    interval: Interval | None = interval_of_logs(centre, half)
    if interval is None:
        return Amount(value=math.exp(centre), verdict=Kind.UNDECIDED, basis=Missing("steady_batches"))
    estimate = Ratio(math.exp(centre), interval, freedom)
    return change_of(judge_interval(estimate, interval, better=better, threshold=threshold, fewest=None))
