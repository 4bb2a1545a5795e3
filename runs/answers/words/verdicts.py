"""How a verdict is said, and a ratio: of two groups, of two levels of a curve, of two series level by level."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain, groupby
from operator import itemgetter
from statistics import fmean
from typing import NamedTuple

from runs.answers.answer import Amount, LevelBest
from runs.answers.words import gaps
from runs.answers.words.gaps import change_words, first_of, refusal_words
from runs.compare.facts import with_heading
from runs.compare.groups import Contrast, Group
from runs.compare.levels import OF_DAYS, UNMEASURED, LevelRow, Levels, LevelSeries, levels_words
from runs.formatting import (
    MOST_IN_A_SENTENCE,
    THIN,
    TIMES_FROM,
    few_listed,
    grouped,
    joined,
    listed,
    mid_sentence,
    percent_of,
    share_words,
    three_digits,
    times,
)
from runs.stats import ALPHA, MIN_REPEATS, MOST_REPEATS_ASKED, WINNERS, Interval, Kind, Lack, Ratio, Verdict, ends_of

# Nothing lies between the two, or too little to matter.
NOT_APART = frozenset({Kind.EQUIVALENT, Kind.TOO_SMALL})
# So many times as far as either is wide lie two ranges of ratios apart that are told one by one.
APART = 2.0
_LACKS = {
    Lack.NOT_POSITIVE: "a value is zero or negative",
    Lack.TOO_FAR_APART: "the values are too far apart",
    Lack.TOO_FEW_REPEATS: f"fewer than {MIN_REPEATS} repeats",
    Lack.REPEATS_ALIKE: "the repeats do not vary at all",
    Lack.REPEATS_VARY: "the repeats vary beyond all measure",
    Lack.TOO_FEW_LEVELS: f"too few repeats ({MIN_REPEATS} a level needed)",
    Lack.LEVELS_ALIKE: "the levels do not differ at all",
    Lack.LEVELS_VARY: "the levels vary beyond all measure",
}
# From such a share on a bound of either against the other is told as a ratio: 0.5 to 1.7 is −50 % of one, +100 % of the
# other.
FAR = 0.25
# A difference that may be as many times is not bounded.
MOST_TOLD = 100.0
# A sentence names levels by so many values; of more, the levels are counted.
MOST_LEVELS_NAMED = 6


def verdict_words(verdict: Verdict) -> str:
    """One of better, worse, higher, lower; or that it is too small, equivalent, undecided, and what would decide."""
    if verdict.kind == Kind.MIXED:
        return "no single number over the levels"
    interval = verdict.ratio.interval if verdict.ratio else None
    if interval is None or verdict.kind == Kind.TOO_FEW:
        return _without_interval(verdict)
    share = percent_of(verdict.threshold)
    if verdict.kind == Kind.TOO_SMALL:
        return f"different, but too small to matter (under {share})"
    if verdict.kind == Kind.EQUIVALENT:
        return f"equivalent (within {share})"
    if verdict.kind in WINNERS:
        return verdict.side
    words = f"{verdict.side}, but undecided whether by {share}" if verdict.is_sided else "undecided"
    return words if verdict.fewest is None else f"{words}: {_more_words(verdict, verdict.fewest, interval)}"


def _more_words(verdict: Verdict, fewest: int, interval: Interval) -> str:
    """What would decide it. The bound of the difference is rounded up, so that it stays one."""
    if fewest < MIN_REPEATS:
        return f"at least {MIN_REPEATS} repeats of each are needed"
    if repeats := verdict.repeats_needed:
        return f"needs about {repeats} more repeat{'s' * (repeats != 1)}"
    needs, what = f"needs over {MOST_REPEATS_ASKED} more repeats", "the difference"
    if verdict.is_sided:
        # As the ratio beside it has it: 0.88 × is 12 % off.
        most = max(interval.high - 1, 1 - interval.low)
    else:
        most, what = max(interval.high, 1 / interval.low) - 1, f"{what}, if any,"
        if FAR <= most < MOST_TOLD:
            return f"{needs}; {_neither_words(most)}"
    if most >= MOST_TOLD:
        return needs
    bound = percent_of(math.ceil(most * 100) / 100) if most < 2 else f"{math.ceil(most + 1)} times"
    return f"{needs}; {what} is below {bound}"


def _neither_words(most: float) -> str:
    return f"neither comes to {math.ceil((most + 1) * 10) / 10:g}{THIN}× the other"


def _without_interval(verdict: Verdict) -> str:
    """Why two groups have no interval; several levels have no `fewest`."""
    lack, of_pair = verdict.ratio.lack if verdict.ratio else verdict.lack, verdict.fewest is not None
    why = _LACKS[lack] if lack else ""
    if of_pair and verdict.kind == Kind.TOO_FEW:
        return f"too few repeats ({verdict.fewest} on one side, {MIN_REPEATS} needed)"
    if of_pair and verdict.kind == Kind.EQUIVALENT:
        return "equivalent: every repeat is the same number"
    if verdict.ratio is None:
        return f"no ratio: {why}" if why else "no ratio"
    return f"undecided: {why}, so no interval can be given" if of_pair else why


def why(amount: Amount) -> str:
    """What its verdict says, or why there is none."""
    if isinstance(amount.basis, Verdict):
        return verdict_words(amount.basis)
    if isinstance(amount.basis, Contrast):
        return gaps.refusal_words(amount.basis)
    return gaps.lacking_words(amount.basis) if amount.basis else ""


def explained(amount: Amount) -> Amount:
    """With its reason in words, for the API."""
    return amount.model_copy(update={"why": why(amount)})


def robustness_words(verdict: Verdict | None) -> str:
    """What the ranks say, from six repeats a side on; else empty."""
    if verdict is None or verdict.ranks is None:
        return ""
    ranks, delta = verdict.ranks, f"{verdict.ranks.delta:+.2f}".replace("-", "−")
    numbers = f"Mann-Whitney p = {ranks.p:.2g}, Cliff's δ = {delta} ({ranks.size})".replace("e-", "e−")
    if verdict.kind in WINNERS and ranks.p > ALPHA:
        return f"The ranks do not confirm it, a few repeats decide: {numbers}"
    if verdict.kind == Kind.UNDECIDED and verdict.ratio and ranks.p < 1 - verdict.ratio.confidence:
        return f"The ranks differ, outliers hide it: {numbers}"
    return f"Ranks: {numbers}"


def ratio(change: Amount) -> str:
    return "" if change.value is None else times_words(change.value, change.low, change.high)


def share(change: Amount, *, with_verdict: bool = False) -> str:
    """−17.5 % (−20.1 to −15.0). What may be several times as much or as little is bounded as its verdict has it, unless
    that follows `with_verdict`.
    """
    if change.value is None:
        return "not known"
    if change.low is None or change.high is None:
        return share_words([change.value])
    # Ends of a loss to nothing are none of a ratio.
    most = max(change.high, 1 / (1 + change.low) - 1) if -1 < change.low < 0 < change.high else 0.0
    if most + 1 < TIMES_FROM:
        return share_words([change.value, change.low, change.high])
    if with_verdict:
        return share_words([change.value])
    bound = f": {_neither_words(most)}" if most < MOST_TOLD else ""
    return f"{share_words([change.value])} (undecided{bound})"


def upward(change: Amount, better: str) -> Amount:
    """The better against the worse as a ratio above 1: what is lower by half is told as half of it elsewhere."""
    if better != "lower" or not change.value:
        return change
    low, high = (1 / change.high if change.high else None), (1 / change.low if change.low else None)
    return change.model_copy(update={"value": 1 / change.value, "low": low, "high": high})


def no_ratios(refused: Mapping[str, Amount], of: int = 0) -> list[str]:
    """Why these have no ratio, each reason with what it is said of, but for one that holds of all `of` them."""
    labels_by_reason = grouped((why(change).removeprefix("no ratio: "), label) for label, change in refused.items())
    is_of_all = len(refused) == of and len(labels_by_reason) == 1
    return first_of([
        f"No ratio{'' if is_of_all else f' of {few_listed(labels)}'}: {reason}."
        for reason, labels in labels_by_reason.items()
    ], ".")  # fmt: skip


def ratio_words(ratio: Ratio | None) -> str:
    return times_words(ratio.value, *ends_of(ratio.interval)) if ratio else ""


def times_words(value: float, low: float | None, high: float | None) -> str:
    """4.74 × (4.37–5.13); without the interval where there is none. One that three digits do not show has four."""
    if low is None or high is None:
        return times(value)
    if low < high and three_digits(low) == three_digits(high) and low >= 0.001 and high < 1000:
        return f"{value:#.4g}{THIN}× ({low:#.4g}–{high:#.4g})"
    return f"{times(value)} ({three_digits(low)}–{three_digits(high)})"


def against_words(against: Contrast | None) -> str:
    """The verdict; why there is none; or the change from another level of the axis, which is no verdict."""
    if against is None:
        return ""
    if against.verdict:
        return verdict_words(against.verdict)
    if against.change:
        levels = ", ".join(f"{mid_sentence(level.label)} {level.b}" for level in against.levels)
        return f"{change_words(against.change)} from {levels}"
    return f"no ratio: {no_ratio_words(against)}"


def group_against_words(group: Group, levels: Levels | None) -> str:
    """The same in the row of a group: beside its own value what was not measured is the baseline of its level."""
    if group.against == UNMEASURED and group.dots and levels:
        return f"no ratio: {levels.base_label} was not measured here"
    return against_words(group.against)


def level_against_words(row: LevelRow, label: str, base_label: str) -> str:
    """The same in the row of a level, of the series with this label: whichever was not measured there."""
    if row.against == UNMEASURED:
        return f"no ratio: {base_label if row.groups else label} was not measured here"
    return against_words(row.against)


def no_ratio_words(against: Contrast, unmeasured: str = "not measured here") -> str:
    """Why there is neither a verdict nor a change; `unmeasured` where one of the two is not there at all."""
    if refused := refusal_words(against):
        return refused
    if against.several:
        return "several groups here; hold equal what tells them apart"
    return (against.lost.gap if against.lost else None) or unmeasured


def series_words(series: LevelSeries) -> str:
    """The ratio over all levels and how alike these are; or that there is no single number, or no ratio at all. Then
    the levels that it leaves out.
    """
    if series.overall is None:
        reasons = set() if series.with_ratio else {against_words(row.against) for row in series.rows}
        return reasons.pop() if len(reasons) == 1 else ""
    words, few = _overall_words(series, series.overall), series.of_too_few
    left_out = f"{_levels_named(few, series.rows)} left out, of fewer than {MIN_REPEATS} repeats" if few else ""
    return "; ".join(filter(None, (words, left_out)))


def _overall_words(series: LevelSeries, overall: Verdict) -> str:
    verdicts = series.verdicts
    if overall.kind == Kind.MIXED:
        return by_level_words(series) + ("" if is_perhaps_noise(series) else ": no single number")
    if verdicts.p_alike is not None and verdicts.p_alike < ALPHA:
        return f"{verdict_words(overall)}; the levels differ, {by_level_words(series)}"
    if not verdicts.of_repeats:
        words = f"{verdict_words(overall)}; {by_level_words(series)}"
        has_interval = overall.ratio and overall.ratio.interval
        return f"{words}. How sure it is follows from how the levels differ" if has_interval else words
    return verdict_words(overall)


def by_level_words(series: LevelSeries | None) -> str:
    """Its ratios, where they differ from level to level."""
    if series is None:
        return ""
    verdicts, rows = series.verdicts, series.counted
    if verdicts.overall and verdicts.overall.kind == Kind.MIXED:
        if words := _ratios_by_winner(rows):
            return words
    elif verdicts.of_repeats and (verdicts.p_alike is None or verdicts.p_alike >= ALPHA):
        return ""
    of_noise = ", a range that so few repeats do not tell from noise"
    if is_perhaps_noise(series):
        return f"{_ends(rows)}{of_noise}"
    is_sure = any(row.kind in WINNERS for row in rows)
    is_open = verdicts.overall and verdicts.overall.kind == Kind.MIXED and not is_sure
    undecided = ", undecided at each of them" if is_open else ""
    if ranges := _two_ranges(rows):
        return f"{ranges}{undecided}"
    is_noise = not verdicts.of_repeats and not is_sure and len({times(row.ratio) for row in rows if row.ratio}) > 1
    return f"{_ends(rows)}{undecided or of_noise * is_noise}"


class Parted(NamedTuple):
    """`ratios` of the levels that have a verdict for one side, `at` which it has this `kind`, and what holds at the
    `others`.
    """

    ratios: str
    at: str
    kind: str
    others: str


def is_turning(series: LevelSeries) -> bool:
    """Whether now one side is better and now the other, by a verdict, or nothing at all says which."""
    return len({row.kind for row in series.rows if row.kind in WINNERS}) != 1


def parted_words(series: LevelSeries | None, threshold: float) -> Parted | None:
    """Where a ratio over all levels is also of some at which the two are alike; None where there are no such levels."""
    every = series.counted if series else []
    decided, alike = ([row for row in every if row.kind in kinds] for kinds in (WINNERS, NOT_APART))
    if not alike or not decided:
        return None
    others = [row for row in every if row not in decided]
    of_all, undecided, share = len(every), len(others) - len(alike), percent_of(threshold)
    # Of a single level with its interval.
    told = ratio_words(decided[0].against.ratio) if len(decided) == 1 else _range_of(decided)
    if heading := _parting_fact(decided, others):
        names = [[*dict.fromkeys(row.words[heading] for row in rows)] for rows in (every, decided, others)]
        at, at_others = (_values_words(heading, of, names[0]) for of in names[1:])
        lie = f"{_range_of(others)} at {at_others}, less than {share} apart"
        lie += f" at {len(alike)} of these {len(others)} levels, undecided at the others" if undecided else ""
        return Parted(told, at, decided[0].kind, lie)
    lie = f"less than {share} lie between them at {_levels_named(alike, every)}"
    lie += f"; undecided at {undecided} of {of_all} levels" if undecided else ""
    where, spans = _levels_named(decided, every), _spans_of_days(decided, every)
    return Parted(told, where if spans in where else f"{where}, {spans}", decided[0].kind, lie)


def _range_of(rows: Sequence[LevelRow]) -> str:
    """From the lowest ratio to the highest."""
    ratios = [row.ratio for row in rows if row.ratio]
    return " to ".join(dict.fromkeys((times(min(ratios)), times(max(ratios)))))


def _parting_fact(rows: Sequence[LevelRow], others: Sequence[LevelRow]) -> str:
    """The heading of the one of several facts whose values part the two wholly, each value with several levels."""
    if len(rows[0].words) < 2:
        return ""
    for heading in rows[0].words:
        counts = Counter(row.words[heading] for row in (*rows, *others))
        is_apart = {row.words[heading] for row in rows}.isdisjoint(row.words[heading] for row in others)
        if is_apart and min(counts.values()) > 1:
            return heading
    return ""


def is_perhaps_noise(series: LevelSeries | None) -> bool:
    """Whether nothing says how much its repeats scatter, and nothing is sure: single runs make patterns of noise."""
    if series is None or series.verdicts.of_repeats or series.overall is None:
        return False
    is_open = series.overall.kind in (Kind.MIXED, Kind.UNDECIDED)
    return is_open and not any(row.kind in WINNERS for row in series.rows)


def best_at_words(best_by_level: Sequence[LevelBest]) -> str:
    """Which is the best at which levels, where which others have no value, and at which none is."""
    rows_by_best = grouped((each.best, each) for each in best_by_level)
    every, open_ones = [each.row for each in best_by_level], rows_by_best.pop("", [])
    parts: list[str] = []
    if every and len(every[0].words) > 1:  # Levels of one fact are told in their order.
        rows_by_best = dict(sorted(rows_by_best.items(), key=lambda best: -len(best[1])))
    for best, of_best in rows_by_best.items():
        parts.append(f"{best} {'' if parts else 'is best '}{_best_at(of_best, every)}")
    if open_ones:
        parts.append(f"none for sure at {_levels_named([each.row for each in open_ones], every)}")
    return joined(parts)


def _best_at(of_best: Sequence[LevelBest], every: Sequence[LevelRow]) -> str:
    rows_by_absent = grouped(
        (tuple(each.absent), each.row) for each in sorted(of_best, key=lambda each: len(each.absent))
    )
    if len(rows_by_absent) > MOST_IN_A_SENTENCE:
        count = sum(bool(each.absent) for each in of_best)
        return f"at {_levels_named([each.row for each in of_best], every)}, at {count} of which others have no value"
    return listed([
        f"at {_levels_named(rows, every)}"
        + (f" (where {few_listed(absent)} {'has' if len(absent) == 1 else 'have'} no value)" if absent else "")
        for absent, rows in rows_by_absent.items()
    ])  # fmt: skip


def _levels_named(rows: Sequence[LevelRow], every: Sequence[LevelRow]) -> str:
    headings = [*rows[0].words]
    if len(headings) == 1:
        return _values_words(headings[0], *([row.words[headings[0]] for row in of] for of in (rows, every)))
    labels = [mid_sentence(row.label) for row in rows]
    is_short = len(labels) * len(headings) <= MOST_LEVELS_NAMED
    return listed(labels) if is_short else f"{len(rows)} of {len(every)} levels"


def _ends(rows: Sequence[LevelRow]) -> str:
    """The highest and the lowest ratio, each with its level."""
    falling = sorted(((row.ratio, row.label) for row in rows if row.ratio), key=lambda level: -level[0])
    if len(falling) > 1 and len({times(ratio) for ratio, _ in falling}) == 1:
        return f"{times(falling[0][0])} at each"
    words = [f"{times(ratio)} at {mid_sentence(label)}" for ratio, label in falling]
    return f"from {words[0]} to {words[-1]}" if len(words) > 2 else joined(words)


def _two_ranges(rows: Sequence[LevelRow]) -> str:
    """Two ranges of ratios that lie well apart, each with its values of one fact; else empty."""
    apart: list[tuple[float, str, list[str], list[str]]] = []
    for heading in rows[0].words if rows else ():
        logs = grouped((row.words[heading], math.log(row.ratio)) for row in rows if row.ratio)
        names = sorted(logs, key=lambda name: fmean(logs[name]))
        for cut in range(1, len(names)):
            low, high = ([value for name in part for value in logs[name]] for part in (names[:cut], names[cut:]))
            gap = min(high) - max(low)
            if gap > APART * max(max(low) - min(low), max(high) - min(high)):
                apart.append((gap, heading, names[:cut], names[cut:]))
    if not apart:
        return ""
    _, heading, *parts = max(apart, key=itemgetter(0))
    in_order = [*dict.fromkeys(row.words[heading] for row in rows)]
    parts.sort(key=lambda part: in_order[0] not in part)
    return joined(_range_words(heading, [name for name in in_order if name in part], rows) for part in parts)


def _range_words(heading: str, values: Sequence[str], rows: Sequence[LevelRow], at: str = "at") -> str:
    """From the lowest ratio to the highest at these values of a fact."""
    told = _range_of([row for row in rows if row.words[heading] in values])
    every = [*dict.fromkeys(row.words[heading] for row in rows)]
    # 1GB may be a value of several settings.
    others = {words for row in rows for name, words in row.words.items() if name != heading}
    return f"{told} {at} {_values_words(heading, values, every, is_ambiguous=not others.isdisjoint(values))}"


def _values_words(
    heading: str, values: Sequence[str], every: Sequence[str], *, is_ambiguous: bool = False
) -> str:  # fmt: skip
    """Some of a fact's values, which all come in order; many that follow each other by the first and the last."""
    if len(values) > MOST_LEVELS_NAMED:
        first = every.index(values[0])
        ends = f", {values[0]} to {values[-1]}" if every[first : first + len(values)] == [*values] else ""
        where = f"{levels_words(len(values), mid_sentence(heading))}{ends if len(values) < len(every) else ''}"
    else:
        where = with_heading(heading, values) if all(value[:1].isdigit() for value in values) else listed(values)
        is_named = where != listed(values) or (values[0][:1].isdigit() and not is_ambiguous)
        where = where if is_named else f"{heading} {where}"
    return mid_sentence(where)


def _spans_of_days(part: Sequence[LevelRow], rows: Sequence[LevelRow]) -> str:
    """From which day to which a part of these levels follow each other, days without a verdict aside: 2026-10-27 to
    2026-11-03. Empty of few, which are named, of all, of what are no days, and of more spans than a sentence names.
    """
    heading = next((name for name in part[0].words if mid_sentence(name) in OF_DAYS), "")
    if not heading or not MOST_LEVELS_NAMED < len(part) < len(rows):
        return ""
    told = sorted((row.words[heading], row in part) for row in rows if row.kind in WINNERS | NOT_APART)
    spans = [[day for day, _ in days] for is_of_part, days in groupby(told, key=itemgetter(1)) if is_of_part]
    words = [f"{days[0]} to {days[-1]}" if days[0] != days[-1] else days[0] for days in spans]
    return listed(words) if len(words) <= MOST_IN_A_SENTENCE else ""


def _ratios_by_winner(rows: Sequence[LevelRow]) -> str:
    """The ratios by the values of the fact that decides which side is better, or where one is at all; empty where no
    single one does. Levels without a verdict for one side decide nothing and are counted apart.
    """
    decided = [row for row in rows if row.kind in WINNERS]
    for heading in decided[0].words if decided else ():
        of_kinds = grouped((row.kind, row.words[heading]) for row in decided)
        values_by_kind = {kind: [*dict.fromkeys(values)] for kind, values in of_kinds.items()}
        told = {*chain(*values_by_kind.values())}
        if sum(map(len, values_by_kind.values())) > len(told):
            continue  # At some value now one side is better, now the other.
        # One side only: a fact says where, if the levels that decide are a part of its values.
        if len(values_by_kind) < 2 and all(row.words[heading] in told for row in rows):
            continue
        parts = []
        for values in values_by_kind.values():
            at_values = [row for row in rows if row.words[heading] in values]
            part = [row for row in at_values if row in decided]
            at = "at" if len(part) == len(at_values) else "at some levels of"
            ratios = _range_words(heading, values, decided, at)
            spans = _spans_of_days(part, rows if mid_sentence(heading) in OF_DAYS else at_values)
            parts.append(f"{ratios}{'' if spans in ratios else f', {spans}'}")
        if alike := [row for row in rows if row.kind in NOT_APART]:
            share = max(row.against.verdict.threshold for row in alike if row.against.verdict)
            parts.append(f"less than {percent_of(share)} apart at {_levels_named(alike, rows)}")
        few = sum(row.kind == Kind.TOO_FEW for row in rows)
        undecided = len(rows) - len(decided) - len(alike) - few
        for count, why in ((undecided, "undecided"), (few, "too few repeats")):
            parts += [f"{why} at {count} of {len(rows)} levels"] if count else []
        return joined(parts)
    return ""
