"""Which is best, and is it sure: the values of one fact in order, by the verdicts of the page."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, combinations, permutations
from typing import Any

from benchagent.catalog import ONCE_A_CELL

from runs.answers.answer import Amount, Answer, LevelBest, LevelChange, Standing, begun, change_of, pair_of
from runs.answers.curves import lost_levels
from runs.compare.asked import LOAD, LOAD_METRICS, RANK, Missing, Question
from runs.compare.axes import are_days_apart
from runs.compare.comparison import Comparison
from runs.compare.facts import Fact, fact_value, fact_values
from runs.compare.groups import Group
from runs.compare.guard import are_alike, bare_field, blocking, unlike
from runs.compare.judging import cut_short
from runs.compare.levels import LEAST_IN_COMMON, UNMEASURED, Key, LevelRow, Levels, LevelSeries
from runs.compare.verdicts import by_value
from runs.formatting import MOST_IN_A_SENTENCE, grouped, listed, mid_sentence
from runs.run.facets import FACTOR
from runs.stats import MIN_REPEATS, WINNERS, Kind, Verdict


def ranked(comparison: Comparison, question: Question) -> Answer:
    """The ranking of a sweep's series over its levels, else of the best group of each value."""
    # The fact that is asked for; else the system, where it varies: settings and systems are ranked apart.
    facts = {**{each.field: each for each in comparison.varying}, **comparison.axes.facts}
    fact = facts.get(question.fact) or facts.get("dbms")
    every = [group for group in by_value(comparison.best_groups, comparison.metric) if group.ranked]
    best_first = [group for group in every if not _is_nothing(group, comparison.better)] or every
    set_apart = _set_apart(comparison, fact, best_first)
    if lacking := _lacking(comparison, question, fact, best_first):
        told_apart = set_apart if lacking.kind == "ranked" else {}
        # A size has no better side, and is told all the same.
        told = best_first if lacking.kind == "better_side" else []
        return begun(comparison, question, set_apart=told_apart, lacking=[lacking], without_order=told)
    if comparison.levels and (question.kind == RANK or not _at_their_best(comparison)):
        if fact and not comparison.levels.compares(fact.field):
            others = {group.key: group for group in (*best_first[1:], *comparison.groups)}.values()
            of_best = (comparison.verdicts.differences_of(best_first[0], group) for group in others)
            differing = chain.from_iterable(map(blocking, of_best))
            if without_order := next((each for each in differing if each.field == bare_field(fact.field)), None):
                reasons = [Missing("order", differing=[without_order])]
            elif set_apart:
                reasons = [Missing("another_ranked")]
            elif fact.field in {each.field for each in comparison.levels.choices}:
                reasons = [Missing("judging")]
            else:
                at = [each for each in (*comparison.levels.compared, *comparison.levels.held) if each != fact]
                reasons = _no_shared_levels(_at_levels(comparison.valued, at, fact))
            return begun(comparison, question, set_apart=set_apart, lacking=reasons)
        return _of_series(comparison, comparison.levels, question, fact, set_apart)
    if fact and (at := _lost_in_common(comparison, fact)):
        lost = {group.label: group for group in comparison.groups if group.gap and not group.is_to_come}
        reasons = _no_shared_levels(_at_levels(comparison.valued, at, fact))
        return begun(comparison, question, set_apart=set_apart | lost, lacking=reasons)
    return _of_groups(comparison, question, fact, set_apart, best_first)


def _lost_in_common(comparison: Comparison, fact: Fact) -> list[Fact]:
    """The factors of whose levels several values of the fact were to be measured at one, and at none two came to a
    number: where each is best says nothing then.
    """
    factors = (each.field for each in comparison.varying if each.field.startswith(FACTOR) and each != fact)
    others = [comparison.axes.facts[name] for name in factors if name in comparison.axes.facts]
    names = [each.field for each in others]
    asked, measured = (
        any(len({*values}) > 1 for values in grouped(
            (fact_values(group, names), fact_value(group, fact.field)) for group in groups
        ).values())
        for groups in (comparison.groups, comparison.valued)
    )  # fmt: skip
    are_several = len({fact_value(group, fact.field) for group in comparison.valued}) > 1
    return others if asked and are_several and not measured else []


def _at_levels(groups: Sequence[Group], others: Sequence[Fact], fact: Fact) -> Iterator[tuple[str, str]]:
    """Each group's value of the fact, and where it was measured by the others, in words."""
    for group in groups:
        label = " · ".join(mid_sentence(each.in_legend(fact_value(group, each.field))) for each in others)
        yield fact.in_legend(fact_value(group, fact.field)), label


def _is_nothing(group: Group, better: str) -> bool:
    """Whether it came to nothing at all of what more is better of: it is behind every other, and has no ratio."""
    return better == "higher" and max(group.judged, default=0.0) <= 0


def _value_and_label(group: Group, fact: Fact | None) -> tuple[str, str]:
    """What is ranked: the group's value of the fact; without a fact the group itself."""
    if fact is None:
        return group.key, group.label
    value = fact_value(group, fact.field)
    return value, fact.in_legend(value)


def _set_apart(comparison: Comparison, fact: Fact | None, best_first: Sequence[Group]) -> dict[str, Group]:
    """By its label a group of what has none that is ranked: of another durability, survivors only, nothing but zeros,
    or no number.
    """
    ranked_values = {_value_and_label(group, fact)[0] for group in best_first}
    set_apart: dict[str, Group] = {}
    for group in sorted(comparison.groups, key=lambda group: not group.dots):
        value, label = _value_and_label(group, fact)
        is_apart = not group.ranked or not group.dots or _is_nothing(group, comparison.better)
        if value not in ranked_values and is_apart and not group.is_to_come:
            set_apart.setdefault(label, group)
    return set_apart


def _beside_ranked(comparison: Comparison, fact: Fact | None, claims: Sequence[Standing]) -> dict[str, Group]:
    """Groups that are not ranked, of values that are: what stands at its best may have been better where it failed, or
    is faster where a commit promises less.
    """
    values = {claim.value for claim in claims}
    unranked = [group for group in comparison.groups if (group.gap or not group.ranked) and not group.is_to_come]
    return {group.label: group for group in unranked if _value_and_label(group, fact)[0] in values}


def _lacking(
    comparison: Comparison, question: Question, fact: Fact | None, best_first: Sequence[Group]
) -> Missing | None:
    metric = comparison.metric
    if metric is None or not best_first:
        return Missing("ranked")
    if question.kind == LOAD and metric.name not in LOAD_METRICS:
        return Missing("load_speed")
    if any(group.demonstration for group in best_first):
        return Missing("long_window")
    if metric.better == "none":
        return Missing("better_side", names=[metric.label])
    if question.kind == RANK and question.fact and question.fact not in {fact.field for fact in comparison.varying}:
        return Missing("varying", names=[question.fact])
    return Missing("days_apart") if fact and are_days_apart(comparison, fact.field) else None


def _at_their_best(comparison: Comparison) -> bool:
    """Whether the page judged the best of each curve beside the levels: over terminals that is the first question."""
    best, *others = by_value(comparison.best_groups, comparison.metric)
    is_part = len(comparison.best_groups) < len(comparison.groups)
    return is_part and bool(others) and bool(comparison.verdicts.of(best, others[0]))


def _of_groups(
    comparison: Comparison, question: Question, fact: Fact | None, set_apart: dict[str, Group],
    best_first: Sequence[Group],
) -> Answer:  # fmt: skip
    verdicts = comparison.verdicts
    differing = {group.key: verdicts.differences_of(best_first[0], group) for group in best_first[1:]}
    # What is ranked alone, at sizes of its own, is not asked which size is best.
    several = len({_value_and_label(group, fact)[0] for group in best_first}) > 1 or not set_apart
    if several and (refused := next(filter(None, map(blocking, differing.values())), None)):
        lacking = [Missing("order", differing=refused)]
        return begun(comparison, question, set_apart=set_apart, lacking=lacking, without_order=best_first)
    candidates = []
    for group in best_first:
        value, label = _value_and_label(group, fact)
        of_group = {"value": value, "label": label, "of": group.label, "group": group, "runs": group.run_ids}
        candidates.append(of_group | {"centre": group.centre, "interval": pair_of(group.interval), "n": group.n})
    claims = _standings(candidates, lambda one, other: verdicts.of(best_first[one], best_first[other]))
    of_ranked = _beside_ranked(comparison, fact, claims)
    sure, lacking = _sureness(comparison, claims, set_apart)
    x_fact = comparison.axes.x_fact
    for group in cut_short(comparison, best_first, fact.field) if fact else ():
        most_at = mid_sentence(x_fact.in_legend(fact_value(best_first[0], x_fact.field))) if x_fact else ""
        lacking.append(Missing("unmeasured_most", names=[_value_and_label(group, fact)[1], most_at]))
        sure = False
    # Without a winner those are told that are not surely behind.
    shown = [claim for claim in claims[1:] if sure or claim.ratio.verdict not in WINNERS]
    # Of the best group of each disk nobody sees on how many terminals it was the best.
    told = [bare_field(fact.field)] if fact else comparison.named
    # Who has the most at some level may be behind at others.
    levels = comparison.levels
    if levels and fact and levels.compared[0].field == fact.field:
        by_level = _best_by_level(levels, levels.order, _named(levels, fact), comparison.better)
        best_by_level = _where_it_depends(by_level)
    else:
        best_by_level = _best_group_by_level(comparison, fact, best_first[0])
    return begun(
        comparison, question, set_apart=set_apart | of_ranked, claims=claims, sure=sure, lacking=lacking,
        alike_in=comparison.alike_in, best_by_level=best_by_level,
        differing={claim.label: unlike(differing[claim.group.key], told) for claim in shown if claim.group},
        ranked_at="best" if levels else "",
    )  # fmt: skip


def _named(levels: Levels, fact: Fact | None) -> dict[Key, tuple[str, str]]:
    """What is ranked of each series: its value of the fact, and in words; without a fact the series itself."""
    if fact is None:
        return {key: (" · ".join(key), levels.names[key]) for key in levels.order}
    at = [each.field for each in levels.compared].index(fact.field)
    return {key: (key[at], levels.compared[at].in_legend(key[at])) for key in levels.order}


def _of_series(
    comparison: Comparison, levels: Levels, question: Question, fact: Fact | None, set_apart: dict[str, Group]
) -> Answer:
    """Series that share no levels with others, as the disks of another machine, have an order of their own."""
    names, named = levels.names, _named(levels, fact)
    at: dict[str, Any] = {"ranked_at": "equal_levels", "held": levels.held_words}
    # Several series may be of one value, which shares levels with itself alone.
    parts = [part for part in _parts(levels, named) if len({named[key] for key in part}) > 1]
    # What is never above zero has the least, and no ratio that would say so.
    is_least_zero = comparison.better == "lower" and levels.have_two_in_common and bool(_above_zero(levels)[0])
    if not parts or is_least_zero:
        return begun(comparison, question, set_apart=set_apart, lacking=_without_ratio(levels), **at)
    compared = [*chain(*parts)]
    told = {*compared} | {key for key in levels.order if {names[key], named[key][1]} & {*set_apart}}
    unranked = [key for key in levels.order if key not in told]
    answers = [_of_part(comparison, levels, question, set_apart, part, named=named) for part in parts]
    ranked_claims = [claim for answer in answers for claim in answer.claims if isinstance(claim, Standing)]
    beside = {label: group for label, group in _beside_ranked(comparison, fact, ranked_claims).items() if group.dots}
    # What promises less is ranked where all others promise as much: by its levels, as all else.
    in_a_ratio = {group.key for of in levels.judged.values() for row in of.with_ratio for group in row.both_sides}
    beside = {} if any(group.key in in_a_ratio for group in beside.values()) else beside
    apart: dict[str, Any] = {
        "set_apart": set_apart | beside, "unranked": [names[key] for key in unranked],
        "lost": {names[key]: why for key in unranked if (why := _why_unranked(levels, key, compared))},
    }  # fmt: skip
    if len(answers) == 1:
        return answers[0].model_copy(update=apart)
    leaders = [answer.claims[0].label for answer in answers]
    lacking, claims = _why_apart(levels, parts, listed(leaders)), list[Standing]()
    for leader, answer in zip(leaders, answers, strict=True):
        first, *others = [claim for claim in answer.claims if isinstance(claim, Standing)]
        ratio = change_of(None, refused=lacking) if claims else first.ratio
        claims += [first.model_copy(update={"ratio": ratio})]
        claims += [claim.model_copy(update={"than": leader}) for claim in others]
    lacking_of_all = [lacking, *chain.from_iterable(answer.lacking for answer in answers)]
    return begun(comparison, question, claims=claims, parts=answers, lacking=lacking_of_all, **at, **apart)


def _why_unranked(levels: Levels, key: Key, compared: Sequence[Key]) -> list[Missing]:
    """What came to no number, or of what it has its own; empty where it has but too few levels."""
    if _would_be_ranked(levels, key, compared) and (lost := lost_levels(levels.names[key], levels.groups_of(key))):
        return lost
    own = levels.parting([[key], compared])
    return [Missing("parts", names=[mid_sentence(fact.label) for fact in own])] if own else []


def _would_be_ranked(levels: Levels, key: Key, compared: Iterable[Key]) -> bool:
    """Whether it would have levels enough in common with one of these, had all of its own come to a number; and of
    what came to none at all.
    """
    at_levels = levels.groups_of(key)
    own = {label for label, _ in at_levels}
    if not any(group.dots for _, group in at_levels):
        return True
    of_others = ({label for label, group in levels.groups_of(other) if group.dots} for other in compared)
    return any(len(own & other) >= LEAST_IN_COMMON for other in of_others)


def _without_ratio(levels: Levels) -> list[Missing]:
    """Why no two series have a ratio: they share no two levels, or a side is zero at each, as errors mostly are."""
    if not levels.have_two_in_common:
        return _no_shared_levels((name, label) for name, label, _ in _valued(levels))
    zero, above = _above_zero(levels)
    more = [Missing("above_zero", of=name, names=labels) for name, labels in above.items()]
    return [Missing("zero_at_each", names=zero), *more] if zero else [Missing("levels_with_ratio")]


def _valued(levels: Levels) -> list[tuple[str, str, Group]]:
    """The groups of the series that have a value, with the names of series and level."""
    names, order = levels.names, levels.order
    return [(names[key], label, group) for key in order for label, group in levels.groups_of(key) if group.dots]


def _above_zero(levels: Levels) -> tuple[list[str], dict[str, list[str]]]:
    """The series that are zero in every repeat at each of their levels, and the levels at which others are not."""
    valued = _valued(levels)
    above = grouped((name, label) for name, label, group in valued if any(group.judged))
    return [name for name in dict.fromkeys(name for name, *_ in valued) if name not in above], above


def _no_shared_levels(at_levels: Iterable[tuple[str, str]]) -> list[Missing]:
    """That no two series share two, and at which each was measured, by its name; of many such sets the commonest."""
    names_by_levels = grouped((tuple(levels), name) for name, levels in grouped(dict.fromkeys(at_levels)).items())
    told = sorted(names_by_levels.items(), key=lambda each: -len(each[1]))[:MOST_IN_A_SENTENCE]
    own = [Missing("own_levels", of=name, names=levels) for levels, names in told for name in names]
    return [Missing("shared_levels"), *own]


def _of_part(
    comparison: Comparison, levels: Levels, question: Question, set_apart: dict[str, Group], compared: Sequence[Key],
    *, named: Mapping[Key, tuple[str, str]],
) -> Answer:  # fmt: skip
    """The order of series that share levels, the leader first; `named`: what is ranked of each, and in words."""
    names, first = levels.names, compared[0]
    runs = grouped((key, run) for group, key in levels.group_series for run in group.run_ids)
    against = {key: series for key in compared[1:] if (series := levels.between(first, key))}
    candidates = []
    for key in compared:
        value, label = named[key]
        of_key = {"value": value, "label": label, "of": names[key], "runs": runs[key]}
        if series := against.get(key):
            of_key |= {"levels_left_out": series.left_out, "over": series.count_words}
        candidates.append(of_key | {"centre": None, "interval": None, "n": None})
    claims = _standings(candidates, lambda one, other: levels.overall(compared[one], compared[other]))
    second = next(key for key in compared if names[key] == _decisive(claims).of)
    series = against.get(second) or LevelSeries(names[first], [])
    # What is said of the second comes before what is said of the others.
    in_order = sorted(against, key=lambda key: key != second)
    sure, lacking = _sureness(comparison, claims, set_apart)
    unmeasured = grouped(
        (names[key if row.groups else first], mid_sentence(row.label))
        for key in in_order for row in against[key].rows if row.against == UNMEASURED
    )  # fmt: skip
    lacking += [Missing("unmeasured", names=[label, *dict.fromkeys(at)]) for label, at in unmeasured.items()]
    # What the first two lost is left out of their ratio, which says so.
    lost = (lost_levels(names[key], levels.groups_of(key)) for key in compared if key not in (first, second))
    lacking += chain.from_iterable(lost)
    of_levels = [level_change(row, names[first], names[second]) for row in series.with_ratio]
    by_level = _best_by_level(levels, compared, named, comparison.better)
    others = [series for key, series in against.items() if named[key] != named[first]]
    return begun(
        comparison, question, claims=[*claims, *of_levels], ahead=_ahead(named[first][1], others, by_level),
        sure=sure, lacking=lacking, series=series,
        differing=levels.unlike({key: against[key] for key in in_order if against[key].overall}),
        ranked_at="equal_levels", held=levels.held_words, over=series.over(levels.held_words),
        first=names[first], second=names[second],
        best_by_level=_where_it_depends(by_level),
    )  # fmt: skip


def _best_by_level(
    levels: Levels, compared: Sequence[Key], named: Mapping[Key, tuple[str, str]], better: str
) -> list[LevelBest]:
    """Each level of these series; empty where not all pairs were judged. A system is where one of its configurations
    is.
    """
    pairs = [(key, other) for key, other in permutations(named, 2) if named[key] != named[other]]
    if any({pair, pair[::-1]}.isdisjoint(levels.judged) for pair in pairs):
        return []
    of_pairs = [(key, series) for key, other in pairs if (series := levels.between(key, other))]
    judged = [(key, row) for key, series in of_pairs for row in series.rows if row.is_comparable]
    rows = {row.label: row for key, row in judged if key in compared}
    is_better = grouped(
        ((row.label, key), row.kind == Kind.BETTER or all(_is_above_nothing(*pair, better) for pair in row.pairs))
        for key, row in judged
    )
    best = {label: named[key][1] for (label, key), told in is_better.items() if all(told)}
    present = grouped(
        (label, named[key][1]) for key in compared for label, group in levels.groups_of(key) if group.dots
    )
    names = dict.fromkeys(named[key][1] for key in compared)
    return [
        LevelBest(rows[label], best.get(label, ""), [name for name in names if name not in present[label]])
        for label in levels.labels if label in rows
    ]  # fmt: skip


def _where_it_depends(by_level: Sequence[LevelBest]) -> list[LevelBest]:
    """All of them where two are the best somewhere."""
    return [*by_level] if len({each.best for each in by_level if each.best}) > 1 else []


def _ahead(label: str, others: Iterable[LevelSeries], by_level: Sequence[LevelBest]) -> tuple[int, float] | None:
    """At how many levels the first is surely better than all others, and how many times what the best of them has, at
    least; None where it is not at each at which it was measured.
    """
    of_first = [each for each in by_level if label not in each.absent]
    ratios = [row.ratio for series in others for row in series.rows if row.ratio]
    if len(of_first) < LEAST_IN_COMMON or not ratios or any(each.best != label for each in of_first):
        return None
    return len(of_first), min(max(ratio, 1 / ratio) for ratio in ratios)


def _best_group_by_level(comparison: Comparison, fact: Fact | None, first: Group) -> list[LevelBest]:
    """As `_best_by_level`, of groups that are set against each other at equal levels; empty where the first of all is
    behind at none of them.
    """
    equal, metric, verdicts = comparison.equal, comparison.metric, comparison.verdicts
    if equal is None or metric is None or fact is None or equal.compared[0].field != fact.field:
        return []
    in_order, is_beaten, every = list[LevelBest](), False, equal.leaders(metric)

    def name(group: Group) -> str:
        return fact.in_legend(fact_value(group, fact.field))

    names = dict.fromkeys(map(name, chain(*every)))
    for (label, words), leaders in zip(equal.level_words, every, strict=True):
        if len(leaders) < 2:
            continue
        best, *others = leaders
        absent = [each for each in names if each not in {*map(name, leaders)}]
        better = [
            other for other in others
            if _is_winner(verdicts.of(best, other)) or _is_above_nothing(best, other, metric.better)
        ]  # fmt: skip
        is_beaten = is_beaten or name(first) in {*map(name, better)}
        row = LevelRow(label, words, leaders, [], [], UNMEASURED)
        in_order.append(LevelBest(row, name(best) if len(better) == len(others) else "", absent))
    return in_order if is_beaten else []


def _is_above_nothing(group: Group, other: Group, better: str) -> bool:
    """Whether it is better without a ratio: one of the two came to 0 in every repeat, and the other in none."""
    if better == "none" or min(group.n, other.n) < MIN_REPEATS:
        return False
    one, none = (group, other) if better == "higher" else (other, group)
    return min(one.judged) > 0 and not any(none.judged)


def _decisive(claims: Sequence[Standing]) -> Standing:
    """The one that the answer turns on: of those that are not surely behind the leader the first that is better at some
    levels, else the first; else the next.
    """
    others = [claim for claim in claims if claim.ratio.verdict] or claims[1:]
    open_ones = [claim for claim in others if claim.ratio.verdict not in WINNERS]
    mixed = [claim for claim in open_ones if claim.ratio.verdict == Kind.MIXED]
    return next(iter((*mixed, *open_ones)), others[0])


def _why_apart(levels: Levels, parts: Sequence[Sequence[Key]], leaders: str) -> Missing:
    """Why the leaders of parts have no ratio to each other: what forbids it, or of what each part has its own."""
    rows = chain.from_iterable(levels.rows(one[0], other[0]) for one, other in combinations(parts, 2))
    if refused := next((found for row in rows if row.pairs and (found := blocking(row.against.differences))), None):
        return Missing("parts_unlike", of=leaders, differing=refused)
    return Missing("parts", of=leaders, names=[mid_sentence(fact.label) for fact in levels.parting(parts)])


def _parts(levels: Levels, named: Mapping[Key, tuple[str, str]]) -> list[list[Key]]:
    """The series that have a ratio to another, in parts of which none has one to another part, nor its value. Of each
    first the one than which none is surely better: the order is by the levels that each has in common with the
    baseline, and two may have others in common with each other.
    """
    judged = {pair: series.overall.kind for pair, series in levels.judged.items() if series.overall}
    has_ratio = {*chain.from_iterable(judged)}
    keys = [key for key in levels.order if key in has_ratio]
    of_value = grouped((named[key], key) for key in keys)
    part_of = {key: frozenset([key]) for key in keys}
    for linked in (*judged, *of_value.values()):
        part = frozenset[Key]().union(*(part_of[key] for key in linked))
        part_of |= dict.fromkeys(part, part)
    beaten = {pair[kind == Kind.BETTER] for pair, kind in judged.items() if kind in (Kind.BETTER, Kind.WORSE)}
    parts = []
    for part in dict.fromkeys(part_of[key] for key in keys):
        in_order = [key for key in keys if key in part]
        leader = next((key for key in in_order if key not in beaten), None)
        parts.append(sorted(in_order, key=lambda key: key != leader))
    return parts


def level_change(row: LevelRow, first: str, second: str) -> LevelChange:
    ratio = change_of(row.against.verdict, refused=row.against)
    return LevelChange(label=row.label, first=first, second=second, ratio=ratio, runs=row.run_ids)


def _standings(
    candidates: Sequence[Mapping[str, Any]], verdict_of: Callable[[int, int], Verdict | None]
) -> list[Standing]:
    """One for each value, by the best of its candidates, which come best first and are judged by their places. What
    scatters much may have fewer that are surely better than one before it has.
    """
    places = [*grouped((candidate["value"], at) for at, candidate in enumerate(candidates)).values()]
    leaders = [of_value[0] for of_value in places]

    def rank(place: int) -> int | None:
        of_first, *others = [verdict_of(other, leaders[place]) for other in leaders[:place]] or [None]
        is_unknown = _is_winner(of_first) and None in others
        return None if is_unknown else 1 + sum(map(_is_winner, (of_first, *others)))

    standings = [
        Standing(
            **candidates[at],
            rank=rank(place),
            ratio=change_of(verdict_of(leaders[0], at), refused=Missing("judging")) if place else Amount(),
            variants=1 + len(variants),
            variants_differ=all(_is_winner(verdict_of(at, other)) for other in variants),
        )
        for place, (at, *variants) in enumerate(places)
    ]
    in_order = sorted(enumerate(standings, 1), key=lambda placed: placed[1].rank or placed[0])
    return [standing for _, standing in in_order]


def _is_winner(verdict: Verdict | None) -> bool:
    return verdict is not None and verdict.kind in WINNERS


def too_few_repeats(comparison: Comparison, names: Sequence[str]) -> Missing:
    """What it takes to be sure; no number of repeats brings a second value of what a run measures once a cell."""
    is_once = comparison.metric is not None and comparison.metric.name in ONCE_A_CELL
    is_ours = all(group.conditions.planned for group in comparison.valued)
    return Missing("once_a_cell" if is_once and is_ours else "repeats", least=MIN_REPEATS, names=names)


def _sureness(
    comparison: Comparison, claims: Sequence[Standing], set_apart: dict[str, Group]
) -> tuple[bool, list[Missing]]:
    """Whether the first is surely the best, and what it takes to be sure."""
    others, lacking = claims[1:], []
    if to_come := [group.label for group in comparison.groups if group.is_to_come]:
        lacking.append(Missing("to_come", names=to_come))
    elif not others:
        lacking.append(Missing("another_ranked" if set_apart else "another"))
    if any(claim.ratio.verdict == Kind.TOO_FEW for claim in others):
        # Of a series any of its levels may have too few.
        of_few = {run for group in comparison.groups if 0 < group.n < MIN_REPEATS for run in group.run_ids}
        few = [claim.label for claim in claims if not of_few.isdisjoint(claim.runs)]
        lacking.append(too_few_repeats(comparison, few or [claim.label for claim in claims]))
    of_first = claims[0].group
    same = [
        claim for claim in others
        if of_first and claim.group and are_alike(of_first.conditions, claim.group.conditions)
    ]  # fmt: skip
    if same:
        lacking.append(Missing("one_configuration", names=[claims[0].label, *(claim.label for claim in same)]))
    more = [claim.ratio.more_repeats for claim in others if claim.ratio.verdict == Kind.UNDECIDED and claim not in same]
    # Where one takes more than anybody makes, those of the others do not decide it.
    if most := max(more, key=lambda count: count or math.inf, default=None):
        lacking.append(Missing("more_repeats", count=most))
    return bool(others) and all(claim.ratio.verdict in WINNERS for claim in others), lacking
