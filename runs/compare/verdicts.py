"""Verdicts of a comparison: each group against the baseline, and for the headline the best against all others."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import date

from runs import formatting
from runs.compare.groups import Against, Group
from runs.compare.guard import condition_words, differences, refusal
from runs.formatting import mid_sentence
from runs.models import Metric
from runs.stats import MIN_REPEATS, WINNERS, Kind, Ratio, Verdict, judge_family, ratio
from runs.stats.steps import Step

# A headline names groups up to this many; beyond, it counts them.
MOST_NAMED = 3
# From so many times on growth is said as a multiple.
TIMES_FROM = 3.0


def judged_against(
    groups: Sequence[Group], base: Group, metric: Metric, threshold: float, axis: Collection[str] = ()
) -> dict[str, Against]:
    """By key, of the other groups that have values: judged as one family.

    `axis`: fields that only say where a group stands on the chart's axis.
    """
    others = [group for group in groups if group.key != base.key and group.dots]
    differing = {group.key: differences(group.conditions, base.conditions) for group in others}
    judged = [group for group in others if not refusal(differing[group.key])]
    pairs = [(group.judged, base.judged) for group in judged]
    verdicts = judge_family(pairs, better=metric.better, threshold=threshold)
    verdict_by_key = {group.key: verdict for group, verdict in zip(judged, verdicts, strict=True)}
    against = {}
    for group in others:
        differ, verdict = differing[group.key], verdict_by_key.get(group.key)
        off_axis = [difference for difference in differ if difference.field not in axis]
        if verdict:
            against[group.key] = Against(verdict.ratio, verdict, off_axis, verdict.words)
            continue
        refused, change = refusal(differ), ratio(group.judged, base.judged)
        if refusal(off_axis) or change is None:
            against[group.key] = Against(None, None, differ, f"no ratio: {refused}", refused)
            continue
        levels = [difference for difference in differ if difference.severity == "blocks"]
        level_words = ", ".join(f"{mid_sentence(level.label)} {level.b}" for level in levels)
        words = f"{change_words(change)} from {level_words}"
        against[group.key] = Against(None, None, off_axis, words, refused, is_level=True)
    return against


def family_size(ratios: Iterable[Ratio | None]) -> int:
    """How many comparisons share the errors that a page may make: those that were tested."""
    return sum(ratio is not None and ratio.p is not None for ratio in ratios)


def best_against_others(
    groups: Iterable[Group], metric: Metric, threshold: float
) -> tuple[Group, list[tuple[Group, Verdict]]] | None:
    """The one with the best geometric mean, and its verdict against every other, judged together, the next best first.

    None where there is no best: of fewer than two, of a quantity without a better side, and where a ratio is refused.
    """
    ranked = sorted(groups, key=lambda group: group.centre or 0.0, reverse=metric.better == "higher")
    if len(ranked) < 2 or metric.better == "none":
        return None
    best, others = ranked[0], ranked[1:]
    if any(refusal(differences(best.conditions, other.conditions)) for other in others):
        return None
    pairs = [(best.judged, other.judged) for other in others]
    return best, list(zip(others, judge_family(pairs, better=metric.better, threshold=threshold), strict=True))


def winner(groups: Iterable[Group], metric: Metric, threshold: float) -> Group | None:
    """The one that is better than every other by a verdict."""
    if (judged := best_against_others(groups, metric, threshold)) is None:
        return None
    best, verdicts = judged
    return best if all(verdict.kind in WINNERS for _, verdict in verdicts) else None


def headline(
    groups: Sequence[Group], metric: Metric | None, threshold: float, named: Collection[str] = (), *,
    conditions: bool = True,
) -> str:  # fmt: skip
    """The message of the chart in one sentence: a winner only where it is better than every other by a verdict.

    A second one names the `conditions` that are not alike, but for the fields `named` by the labels of the groups.
    Empty where there is none to be had: short demonstration windows rank nothing, and groups that may not be compared
    have no best.
    """
    ranked = [group for group in groups if group.ranked and group.dots]
    if metric is None or any(group.demonstration for group in ranked):
        return ""
    if (judged := best_against_others(ranked, metric, threshold)) is None:
        return ""
    best, of_headline = judged
    verdicts = [(other, _as_in_table(best, other, verdict)) for other, verdict in of_headline]
    undecided = [(other, verdict) for other, verdict in verdicts if verdict.kind not in WINNERS]
    if undecided:
        sentence = _no_winner_words(best, undecided, metric, threshold)
    else:
        sentence = _winner_words(best, *verdicts[0], metric, is_next_of_several=len(verdicts) > 1)
    differing = [difference for other, _ in verdicts for difference in differences(best.conditions, other.conditions)]
    unlike = condition_words(differing, named) if conditions else ""
    return f"{sentence} Not alike: {unlike}." if unlike else sentence


def _as_in_table(best: Group, other: Group, verdict: Verdict) -> Verdict:
    """The table's own verdict where one of both is the baseline, so that no ratio is turned and no interval is another.

    What is no winner among its own family stays none.
    """
    row, base = (other, best) if best.is_baseline else (best, other)
    if not base.is_baseline or not row.against or not row.against.verdict or row.against.base not in ("", base.key):
        return verdict
    return row.against.verdict if row is other or verdict.kind in WINNERS else verdict


def _winner_words(best: Group, next_best: Group, verdict: Verdict, metric: Metric, *, is_next_of_several: bool) -> str:
    extreme = "highest" if metric.better == "higher" else "lowest"
    amount = f"{formatting.quantity(best.centre, metric.unit)} ({best.centre_name})"
    winner = f"{best.label} has the {extreme} {mid_sentence(metric.label)}, {amount}"
    times, the_next = ratio_words(verdict.ratio), ", the next" if is_next_of_several else ""
    if best.is_baseline:
        return f"{winner}; {next_best.label}{the_next}{',' if the_next else ''} has {times} of it."
    return f"{winner}: {times} that of {next_best.label}{the_next}."


def _no_winner_words(best: Group, undecided: Sequence[tuple[Group, Verdict]], metric: Metric, threshold: float) -> str:
    groups = [best, *(group for group, _ in undecided)]
    amounts = [f"{group.label} ({formatting.quantity(group.centre, metric.unit)})" for group in groups]
    if len(amounts) > MOST_NAMED:
        amounts[1:] = [f"{len(groups) - 1} others"]
    named = f"{', '.join(amounts[:-1])} and {amounts[-1]}"
    kinds = {verdict.kind for _, verdict in undecided}
    if Kind.TOO_FEW in kinds:
        return f"No winner is named, with fewer than {MIN_REPEATS} repeats a group: {named}."
    if kinds <= {Kind.EQUIVALENT, Kind.TOO_SMALL}:
        return f"No winner: less than {formatting.percent_of(threshold)} lie between {named}."
    other, verdict = next(row for row in undecided if row[1].kind == Kind.UNDECIDED)
    if verdict.ratio is None:
        return f"No winner: {named}; {verdict.words}."
    of, to = (other, best) if best.is_baseline else (best, other)
    # What is better, but perhaps not by enough, is that of one of both.
    pair = f"{of.label} against {to.label} is " if verdict.words.partition(",")[0] in WINNERS else ""
    return f"No winner yet, repeats scatter too much: {named}; {pair}{verdict.words}."


def change_words(change: Ratio) -> str:
    """What came or went, with the interval where there is one: −17.5 % (−20.1 % to −15.0 %); what grew far 27.2 ×."""
    ratios = [change.value, *((change.interval.low, change.interval.high) if change.interval else ())]
    is_far = max(ratios) >= TIMES_FROM
    words, *ends = (formatting.times(r) if is_far else formatting.percent(r - 1, signed=True) for r in ratios)
    return f"{words} ({' to '.join(ends)})" if ends else words


def day_at(x: float) -> date:
    """At a position on an axis of dates."""
    return date.fromordinal(int(x))


def step_words(step: Step, tested: str, better: str) -> str:
    """−10.1 % (−10.7 % to −9.5 %) since 2026-11-01 (0dfa28901d), against the 42 days before: worse.

    `tested`: the version on that day, where one is said.
    """
    day = f"{day_at(step.at)} ({tested})" if tested else str(day_at(step.at))
    since = f"since {day}" if step.is_last else f"from {day} on"
    change = f"{change_words(step.change)} {since}, against the {step.days_before} days before"
    if better not in ("higher", "lower"):
        return f"{change}."
    return f"{change}: {'better' if (step.change.value > 1) == (better == 'higher') else 'worse'}."


def no_step_words(days: int) -> str:
    return f"No lasting change in {days} days."


def ratio_words(ratio: Ratio | None) -> str:
    """4.74 × (4.37–5.13); without the interval where there is none."""
    if ratio is None:
        return ""
    words, interval = formatting.times(ratio.value), ratio.interval
    if interval is None:
        return words
    return f"{words} ({formatting.three_digits(interval.low)}–{formatting.three_digits(interval.high)})"
