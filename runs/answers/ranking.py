"""Which is best, and is it sure: the values of one fact in order, by the verdicts of the page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from runs.answers.answer import Amount, Answer, LevelChange, Standing, begun, change_of, pair_of
from runs.answers.words import names
from runs.compare.asked import RANK, Question
from runs.compare.comparison import Comparison
from runs.compare.facts import fact_value
from runs.compare.groups import Group
from runs.compare.guard import bare_field, condition_words, refusal
from runs.compare.judging import by_value
from runs.compare.levels import Levels, ratios_by_level, unlike_words
from runs.compare.sweep import Key, LevelRow
from runs.stats import ALPHA, MIN_REPEATS, WINNERS, Interval, Kind, SeriesVerdicts, Verdict

SYSTEM = "dbms"
ONE_ONLY = "There is one only: add another to set it against."


@dataclass(frozen=True)
class _Entry:
    """What stands for a value: a group, or a series over its levels. `at`: its place among those that are ranked."""

    at: int
    value: str
    label: str
    of: str
    runs: list[UUID]
    centre: float | None = None
    interval: Interval | None = None
    n: int | None = None
    lost: str = ""


def ranked(comparison: Comparison, groups: Sequence[Group], question: Question) -> Answer:
    """Of the series of a sweep over its levels; else of the best of the groups of each value."""
    answer = begun(comparison, question)
    if why := _why_none(comparison, groups):
        return answer.model_copy(update={"missing": [why]})
    answer = answer.model_copy(update={"apart": _apart(comparison, groups, question)})
    if comparison.levels and (question.kind == RANK or not _at_their_best(comparison, groups)):
        return _of_series(comparison, comparison.levels, answer)
    return _of_groups(comparison, groups, answer)


def _apart(comparison: Comparison, groups: Sequence[Group], question: Question) -> dict[str, list[str]]:
    """By why it is not ranked what has a number and no group that is: of another durability, or survivors only."""
    fact = _fact_of(comparison, question)
    words = next((each.in_legend for each in comparison.varying if each.field == fact), None)
    ranked_values = {fact_value(group, fact) if fact else group.key for group in groups if group.ranked and group.dots}
    apart: dict[str, dict[str, None]] = {}
    for why, members in comparison.apart.items():
        for group in members:
            value = fact_value(group, fact) if fact else group.key
            if group.dots and value not in ranked_values:
                apart.setdefault(why, {})[words(value) if words else group.label] = None
    return {why: [*labels] for why, labels in apart.items()}


def _why_none(comparison: Comparison, groups: Sequence[Group]) -> str:
    counted = [group for group in groups if group.ranked and group.dots]
    if comparison.metric is None or not counted:
        return "No run has a number of this."
    if any(group.demonstration for group in counted):
        return "Short demonstration windows rank nothing."
    if comparison.metric.better == "none":
        return f"{comparison.metric.label} has no better side."
    return ""


def _at_their_best(comparison: Comparison, groups: Sequence[Group]) -> bool:
    """Whether the page judged the best of each curve beside the levels: over terminals that is the first question."""
    best, *others = by_value(groups, comparison.metric)
    return len(groups) < len(comparison.groups) and bool(others) and bool(comparison.verdicts.of(best, others[0]))


def _of_groups(comparison: Comparison, groups: Sequence[Group], answer: Answer) -> Answer:
    best_first = [group for group in by_value(groups, comparison.metric) if group.ranked]
    fact = _fact_of(comparison, answer.question)
    words = next((each.in_legend for each in comparison.varying if each.field == fact), None)
    entries = []
    for at, group in enumerate(best_first):
        value = fact_value(group, fact) if fact else group.key
        label = words(value) if words else group.label
        entries.append(
            _Entry(
                at, value, label, group.label, group.run_ids, group.centre, group.interval, group.n, group.lost_words
            )
        )
    first = best_first[0]
    refused = [refusal(comparison.verdicts.differences_of(first, other)) for other in best_first[1:]]
    if why := next(filter(None, refused), ""):
        return answer.model_copy(update={"missing": [f"Groups that differ in this have no order: {why}."]})
    claims = _standings(entries, lambda one, other: comparison.verdicts.of(best_first[one], best_first[other]))
    shown = {claim.of for claim in claims}
    differing = [
        difference
        for group in best_first[1:]
        if group.label in shown
        for difference in comparison.verdicts.differences_of(first, group)
    ]
    return _completed(answer, claims, condition_words(differing, comparison.named))


def _fact_of(comparison: Comparison, question: Question) -> str:
    """The one that is asked for; else the system, where it varies: settings and systems are ranked apart."""
    varying = [fact.field for fact in comparison.varying]
    return next((name for name in (question.fact, SYSTEM) if name in varying), "")


def _of_series(comparison: Comparison, levels: Levels, answer: Answer) -> Answer:
    sweep, keys = levels.sweep, levels.order
    fact = _fact_of(comparison, answer.question)
    position = sweep.compared.index(fact) if fact in sweep.compared else None
    groups: dict[Key, list[UUID]] = {}
    for group, key in zip(sweep.groups, sweep.columns.rows(sweep.compared), strict=True):
        groups.setdefault(key, []).extend(group.run_ids)
    compared = [key for key in keys if any(_overall(levels, key, other) for other in keys if other != key)]
    compared = _leader_first(levels, compared)
    if len(compared) < 2:
        return answer.model_copy(update={"missing": ["No two series have a level in common."]})
    entries = [
        _Entry(
            at, key[position] if position is not None else " · ".join(key),
            sweep.facts[fact].in_legend(key[position]) if position is not None else sweep.names[key],
            sweep.names[key], groups[key],
        )
        for at, key in enumerate(compared)
    ]  # fmt: skip
    claims = _standings(entries, lambda one, other: _overall(levels, compared[one], compared[other]))
    by_label = {sweep.names[key]: key for key in compared}
    leader, decisive = compared[0], by_label[_decisive(claims).of]
    overall = _overall(levels, leader, decisive)
    # Where neither is better in all, the ratios are those of the table: against its baseline.
    is_mixed = overall is not None and overall.kind == Kind.MIXED
    first, second = (decisive, leader) if is_mixed and leader == levels.base else (leader, decisive)
    rows, verdicts = levels.between(first, second) or ([], SeriesVerdicts([], None))
    named = {bare_field(field) for field in (*sweep.compared, *sweep.held)}
    differing = (
        difference
        for judged in (levels.between(leader, key) for key in compared[1:])
        if judged and judged[1].overall
        for row in judged[0]
        for difference in row.against.differences
        if row.ratio
    )
    completed = _completed(answer, claims, condition_words(differing, named))
    if alone := [sweep.names[key] for key in keys if key not in compared]:
        completed = completed.model_copy(update={"unranked": alone})
    with_ratio = sum(row.ratio is not None for row in rows)
    return completed.model_copy(
        update={
            "over": f"{with_ratio} levels of {levels.held_words}",
            "by_level": by_level_words(rows, verdicts),
            "first": sweep.names[first],
            "second": sweep.names[second],
            "claims": [*claims, *_level_changes(rows)],
        }
    )


def _decisive(claims: Sequence[Standing]) -> Standing:
    """The one that the answer turns on: the first that is not surely behind the leader, else the next."""
    others = [claim for claim in claims if claim.ratio.verdict]
    return next((claim for claim in others if claim.ratio.verdict not in WINNERS), others[0])


def _leader_first(levels: Levels, keys: Sequence[Key]) -> list[Key]:
    """The first than which none is surely better: the order is by the levels that each has in common with the baseline,
    and two may have others in common with each other.
    """

    def is_beaten(key: Key) -> bool:
        against = (_overall(levels, key, other) for other in keys if other != key)
        return any(overall.kind == Kind.WORSE for overall in against if overall)

    leader = next((key for key in keys if not is_beaten(key)), None)
    return [*([leader] if leader else []), *(key for key in keys if key != leader)]


def _overall(levels: Levels, one: Key, other: Key) -> Verdict | None:
    """None of two that were not judged, or have fewer than two levels in common."""
    judged = levels.between(one, other)
    return judged[1].overall if judged else None


def by_level_words(rows: Sequence[LevelRow], verdicts: SeriesVerdicts) -> str:
    """The ratios of one series to another, where they differ."""
    if verdicts.overall and verdicts.overall.kind == Kind.MIXED:
        return unlike_words(rows)
    differ = not verdicts.of_repeats or (verdicts.p_alike is not None and verdicts.p_alike < ALPHA)
    return ratios_by_level(rows) if differ else ""


def _level_changes(rows: Iterable[LevelRow]) -> list[LevelChange]:
    return [
        LevelChange(
            label=row.label, ratio=change_of(row.against.verdict),
            runs=[run for group in (*row.groups, *row.bases) for run in group.run_ids],
        )
        for row in rows
        if row.against.verdict
    ]  # fmt: skip


def _standings(entries: Sequence[_Entry], verdict_of: Callable[[int, int], Verdict | None]) -> list[Standing]:
    """One for each value, by the best of its entries, which come best first."""
    by_value: dict[str, list[_Entry]] = {}
    for entry in entries:
        by_value.setdefault(entry.value, []).append(entry)
    leaders = [of_value[0] for of_value in by_value.values()]
    claims = []
    for place, entry in enumerate(leaders):
        better = [one for one in leaders[:place] if _is_winner(verdict_of(one.at, entry.at))]
        of_value = by_value[entry.value]
        differ = all(_is_winner(verdict_of(entry.at, other.at)) for other in of_value[1:])
        ratio = change_of(verdict_of(leaders[0].at, entry.at), refused="not judged") if place else Amount()
        claims.append(
            Standing(
                label=entry.label, runs=entry.runs, value=entry.value, of=entry.of, centre=entry.centre,
                interval=pair_of(entry.interval), n=entry.n, rank=1 + len(better), ratio=ratio,
                variants=len(of_value), variants_differ=differ, lost=entry.lost,
            )
        )  # fmt: skip
    return claims


def _is_winner(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.kind in WINNERS


def _completed(answer: Answer, claims: Sequence[Standing], not_alike: str) -> Answer:
    others = claims[1:]
    sure = bool(others) and all(claim.ratio.verdict in WINNERS for claim in others)
    missing = []
    if not others:
        missing.append("Only one is ranked: repeat the others, or add another." if answer.apart else ONE_ONLY)
    if any(claim.ratio.verdict == Kind.TOO_FEW for claim in others):
        few = [claim.label for claim in claims if claim.n is not None and claim.n < MIN_REPEATS]
        missing.append(f"At least {MIN_REPEATS} repeats of {names(few or [claim.label for claim in claims])}.")
    if more := max((claim.ratio.more_repeats or 0 for claim in others), default=0):
        missing.append(f"About {more} more repeats a group.")
    return answer.model_copy(update={"claims": [*claims], "sure": sure, "missing": missing, "not_alike": not_alike})
