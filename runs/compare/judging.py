"""Judging: each pair that a page or its question sets against each other gets its verdict once, all in one family."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, combinations, tee
from math import log
from statistics import fmean
from typing import TypeVar

from benchagent.catalog import Role, factor_role
from django.http import QueryDict

from runs.compare.asked import (
    A_B,
    EFFECTS,
    OF_CURVES,
    OF_PAIRS,
    OF_RANKS,
    PUBLISHED,
    RANK,
    Missing,
    Question,
    RankedAt,
    with_controls,
)
from runs.compare.asked_pair import asked_pair, of_named
from runs.compare.axes import arrange
from runs.compare.comparison import Comparison
from runs.compare.effects import SettingPairs, have_effects, setting_effects
from runs.compare.facts import DATE, NEVER_TAKEN, NO_FACT, SET, Columns, Fact, fact_value, is_name, measured_alike
from runs.compare.groups import Contrast, Group, are_comparable
from runs.compare.guard import are_alike, blocking, differences
from runs.compare.levels import LEAST_IN_COMMON, NO_LEVELS, OF_ONE_DAY, Key, Levels, LevelSeries, possible_levels
from runs.compare.panels import CLIENT, CLIENTS, Axes, ends_of_curve
from runs.compare.published import claimed_pairs, planned_differences, printed_pairs
from runs.compare.verdicts import Verdicts, by_value
from runs.formatting import grouped
from runs.models import Metric
from runs.run.facets import FACTOR
from runs.stats import ALPHA, Kind, Verdict, judge_levels, ratio
from runs.stats.steps import LEAST_DAYS
from runs.stats.verdicts import judge_interval

# A larger matrix is no picture, and so large a family finds nothing: then pairs with the first and the baseline count.
MOST_IN_A_MATRIX, MOST_COMPARISONS = 20, 2000
# Facts that are ranked, each with a question of its own.
RANKED = ("storage:data", "hardware", "config")
# Every result has one, whether it is told or not.
_KNOWN_OR_NOT = frozenset({"storage:data", "hardware"})
# What nobody chooses with a system, a setting or a version: it is held equal, and never that of the best group.
BRANCH = "tested:branch"
_MACHINES = frozenset({"hardware", "storage"})
# What a system, a setting or a version is measured on.
_PLACES = _MACHINES | {"context", "dbms", "dataset", "isolation"}
Item = TypeVar("Item")


Pairs = Sequence[tuple[Group, Group]]


def judged(comparison: Comparison) -> Comparison:
    """Each group against the baseline; in a sweep against the group of the baseline's series at its level.

    What the question needs beyond that is judged with it.
    """
    axes, groups, base, metric = comparison.axes, comparison.groups, comparison.baseline, comparison.metric
    if base is None or metric is None:
        return comparison
    kind = comparison.question.kind
    # With the numbers of the axes: "8 terminals" is told, not "8".
    varying = [axes.facts.get(fact.field, fact) for fact in comparison.varying]
    settings = setting_effects(groups, varying) if kind == EFFECTS else []
    of_pairs = [each for each in settings if each.row.pairs]
    columns = Columns(comparison.drawn)
    levels = None if kind in (EFFECTS, PUBLISHED) else _levels(comparison, base, metric, columns)
    fact = comparison.question.fact or told_apart_by(comparison, levels)
    is_switch = fact in axes.facts and axes.facts[fact].is_switch and fact != comparison.controls.get("compared")
    if is_switch and not kind and have_effects(groups, varying):
        # Nobody asks whether on or off is best, but what each switch did.
        return judged(replace(comparison, question=comparison.question.model_copy(update={"kind": EFFECTS})))
    best, alike_in = _best_groups(comparison, fact, metric, comparison.ranked_columns)
    equal = _equal_levels(axes, fact, columns) if kind in ("", *OF_RANKS) and levels is None else None
    verdicts, series = judge(
        comparison, _pairs(comparison, best, base, metric, fact or "dbms", is_sweep=levels is not None, equal=equal),
        series=[*levels.judged.values()] if levels else [LevelSeries(each.setting, [each.row]) for each in of_pairs],
        along=_along(comparison, levels), in_time=levels is not None and levels.are_of_times,
    )  # fmt: skip
    if levels:
        levels = replace(levels, judged=dict(zip(levels.judged, series, strict=True)), family=verdicts.family)
        against = {group.key: row.against for row in levels.level_rows for group in row.groups}
        base_keys = {group.key for row in levels.level_rows for group in row.bases}
    else:
        against, base_keys = against_base(groups, base, verdicts, axes), {base.key}
    groups = [replace(group, is_baseline=group.key in base_keys, against=against.get(group.key)) for group in groups]
    effects = [
        *(_judged_fit(each, len(settings), comparison) for each in settings if not each.row.pairs),
        *(replace(each, row=of.rows[0]) for each, of in zip(of_pairs, series, strict=False)),
    ]
    return replace(
        comparison, groups=groups, baseline=next(group for group in groups if group.key == base.key), levels=levels,
        effects=sorted(effects, key=lambda effect: -abs((effect.row.ratio or 1.0) - 1)),
        verdicts=verdicts, best_groups=best, alike_in=alike_in, equal=equal,
    )  # fmt: skip


def _judged_fit(effect: SettingPairs, tests: int, comparison: Comparison) -> SettingPairs:
    """What was estimated by least squares with its verdict, as one of so many."""
    estimate = effect.estimate and effect.estimate.at(1 - ALPHA / tests)
    if estimate is None or estimate.interval is None:
        verdict = Verdict(Kind.TOO_FEW, estimate)
    else:
        verdict = judge_interval(
            estimate, estimate.interval, better=comparison.better, threshold=comparison.threshold, fewest=None
        )
    return replace(effect, row=replace(effect.row, against=Contrast(verdict=verdict)))


def told_apart_by(comparison: Comparison, levels: Levels | None) -> str:
    """The fact that is ranked where nobody says: the system, but where a reader compares something else; else what the
    series, or all groups, are told apart by.
    """
    varying = [fact.field for fact in comparison.varying if fact.field not in NEVER_TAKEN]
    compared = [fact.field for fact in levels.compared] if levels else varying
    chosen = {comparison.controls.get("compared", ""), *comparison.controls.getlist("series")}
    # Versions of one system that are held equal have no two levels in common: none could be told to be the best.
    is_held = len(comparison.systems) == 1 and levels is not None and levels.has_held("dbms")
    if "dbms" in compared or ("dbms" in varying and not is_held and not chosen & {*compared}):
        return "dbms"
    # Nobody asks which length of a window is best.
    asked_of = [name for name in compared if not _is_procedure(name)]
    # Nor which number of terminals, where something else may be asked.
    asked_of.sort(key=lambda name: name.removeprefix(FACTOR) in CLIENTS)
    if "hardware" in asked_of and comparison.columns.follow(["storage:data"], ["hardware"]):
        asked_of = [name for name in asked_of if name != "storage:data"]
    # Nor whether a disk is better than one that is not known, as long as something else may be asked.
    unknown = {fact.field for fact in comparison.varying if sum(value != NO_FACT for value in fact.values) < 2}
    known = [name for name in asked_of if name not in unknown or name not in _KNOWN_OR_NOT]
    return next((name for name in (*RANKED, *asked_of) if name in (known or asked_of)), "")


def _is_procedure(field: str) -> bool:
    return factor_role(field.removeprefix(FACTOR)) == Role.PROCEDURE


def _best_groups(comparison: Comparison, fact: str, metric: Metric, ranked: Columns) -> tuple[list[Group], list[str]]:
    """The best group of each curve, of the places where each value of the fact that is ranked was measured, and these
    in words where not all was measured there. `ranked`: of the groups that are, read once for all questions.
    """
    axes, among, alike_in = comparison.axes, comparison.groups, list[str]()
    if comparison.question.kind in ("", *OF_RANKS) and fact in axes.facts:
        places = [each for each in axes.facts.values() if _is_place(each, fact)]
        there, alike_in = measured_alike(ranked, fact, places)
        among = there if alike_in else among
    return best_of_curves(axes, among, metric), alike_in


def ranked_as(comparison: Comparison, question: Question, columns: Columns) -> RankedAt | None:
    """How the values of the question's fact would be ranked, were it asked of the same runs; None where they may not
    be set against each other, so that it has no answer. `columns`: of its groups, read once for all questions.
    """
    of_question = (each for each in comparison.metrics if each.name == question.metric)
    base, metric = comparison.baseline, next(of_question, comparison.metric)
    if base is None or metric is None:
        return None
    fact, controls = question.fact or "dbms", with_controls(QueryDict(question.query), question)
    asked_so = replace(comparison, question=question, controls=controls)
    asked_so = replace(asked_so, axes=arrange(asked_so, columns=columns))
    best = by_value(_best_groups(asked_so, fact, metric, comparison.ranked_columns)[0], metric)
    levels = next(_wanted_levels(asked_so, base, columns), None)
    is_of_most = question.kind != RANK and _asks_for_most(asked_so, best, fact, metric)
    if levels and not (is_of_most and are_comparable(best[:2])):
        return "equal_levels" if levels.compares(fact) else None
    ranked = [group for group in best if group.ranked]
    is_several = len({fact_value(group, fact) for group in ranked}) > 1
    if not is_several or not are_comparable(ranked):
        return None
    return "best" if levels else ""


def _asks_for_most(comparison: Comparison, best: Sequence[Group], fact: str, metric: Metric) -> bool:
    """Over terminals the first question is which comes to most, wherever; but on no other machine or disk, and not
    where one was not measured as far as the best of all.
    """
    axes = comparison.axes
    is_over_clients = axes.x.removeprefix(FACTOR) in CLIENTS and not axes.panels and metric.better == "higher"
    is_elsewhere = any(_is_machine(name) and name != fact for name in axes.series)
    is_asked = is_over_clients and not is_elsewhere and 1 < len(best) < len(comparison.groups)
    return is_asked and not cut_short(comparison, by_value(best, metric), fact)


def cut_short(comparison: Comparison, best_first: Sequence[Group], fact: str) -> list[Group]:
    """Of the best of each value of the fact, over terminals, those that may have more where the first of all has its
    most: their curve was measured neither there nor on the way. Between its levels that is a hole in a grid; others
    chose levels of their own.
    """
    axes = comparison.axes
    if axes.kind != CLIENT or axes.x_fact is None:
        return []
    numbers = axes.x_fact.numbers
    levels = grouped((axes.curve_of(group), numbers.get(fact_value(group, axes.x))) for group in comparison.groups)
    leaders: dict[str, Group] = {}
    for group in best_first:
        leaders.setdefault(fact_value(group, fact), group)
    first, *others = leaders.values()
    most_at, of_first = numbers.get(fact_value(first, axes.x)), {*levels[axes.curve_of(first)]}
    short = []
    for group in others:
        own_at = numbers.get(fact_value(group, axes.x))
        known = {at for at in levels[axes.curve_of(group)] if at is not None}
        if most_at is None or own_at is None or most_at in known:
            continue
        is_passed = any(min(own_at, most_at) < at < max(own_at, most_at) for at in known)
        if not is_passed and (known <= of_first or not min(known) < most_at < max(known)):
            short.append(group)
    return short


def _is_place(fact: Fact, ranked: str) -> bool:
    """Whether what is best of each value of the fact that is ranked is told of where each was measured. A system stands
    for its best setting, and what is best over terminals for its best level.
    """
    kind, _, bare = fact.field.partition(":")
    if fact.field == ranked or bare in CLIENTS:
        return False
    roles = (Role.QUESTION,) if ranked == "dbms" else (Role.QUESTION, Role.CONDITION)
    is_setting = kind == "config" and ranked != "dbms"
    return is_setting or kind in _PLACES or (kind == "factor" and factor_role(bare) in roles)


def judge(
    comparison: Comparison, pairs: Pairs, *, series: Sequence[LevelSeries] = (), along: Pairs = (),
    in_time: bool = False,
) -> tuple[Verdicts, list[LevelSeries]]:  # fmt: skip
    """Pairs of groups, series level by level, and pairs `along` a curve, all of them one family.

    The latter may differ in what x is of: that is what they are asked about. The repeats of all groups tell of the
    noise, whichever are asked for. `in_time`: levels are of several batches or days.
    """
    axis = comparison.axes.along_x(comparison.groups)
    by_key = {(group.key, base.key): (group, base) for group, base in (*pairs, *along)}
    differing = {key: differences(group.conditions, base.conditions) for key, (group, base) in by_key.items()}
    if comparison.question.kind == PUBLISHED:
        differing |= planned_differences(comparison.groups)
    of_curves = {(group.key, base.key) for group, base in along}
    allowed = [
        key
        for key, differ in differing.items()
        if not blocking(each for each in differ if key not in of_curves or each.field not in axis)
        # Survivors are never better: the others would have been the slow ones.
        and not any(group.of_survivors for group in by_key[key])
    ]
    of_series = [[row.pairs for row in each.rows if row.is_comparable] for each in series]
    # Each pair by itself is a series of one level with one pair.
    alone: list[list[Pairs]] = [[[by_key[key]]] for key in allowed]
    every = [
        [[comparison.pair(*pair) for pair in level] for level in levels]
        for levels in (*alone, *of_series)
    ]  # fmt: skip
    found = judge_levels(every, better=comparison.better, threshold=comparison.threshold, in_time=in_time)
    by_pair = {key: verdicts.levels[0] for key, verdicts in zip(allowed, found, strict=False)}
    for key, verdict in by_pair.items():
        if verdict.kind == Kind.UNDECIDED and are_alike(*(group.conditions for group in by_key[key])):
            by_pair[key] = replace(verdict, fewest=None, repeats_needed=None)
    judged_series = []
    for each, verdicts in zip(series, found[len(allowed) :], strict=True):
        of_level = iter(verdicts.levels)
        rows = [
            replace(row, against=replace(row.against, verdict=next(of_level))) if row.is_comparable else row
            for row in each.rows
        ]
        judged_series.append(replace(each, rows=rows, verdicts=verdicts))
    every_verdict = (verdict for each in found for verdict in (*each.levels, each.overall) if verdict)
    return Verdicts(
        by_pair={key: by_pair[key] for key in by_pair if key not in of_curves or not blocking(differing[key])},
        along={key: by_pair[key] for key in by_pair if key in of_curves},
        differing=differing,
        family=sum(verdict.ratio is not None and verdict.ratio.p is not None for verdict in every_verdict),
    ), judged_series


def against_base(groups: Sequence[Group], base: Group, verdicts: Verdicts, axes: Axes) -> dict[str, Contrast]:
    """The other groups that have values, by key. Of the baseline's own curve other levels are what came or went."""
    against, along_x = {}, axes.along_x(groups)
    for group in (group for group in groups if group.key != base.key and group.dots):
        axis = along_x if axes.curve_of(group) == axes.curve_of(base) else set()
        differ, verdict = verdicts.differences_of(group, base), verdicts.of(group, base)
        off_axis = [difference for difference in differ if difference.field not in axis]
        survivors = next((each for each in (group, base) if each.of_survivors), None)
        change = None if verdict else ratio(group.judged, base.judged)
        if verdict:
            against[group.key] = Contrast(off_axis, verdict)
        elif survivors or blocking(off_axis) or change is None:
            against[group.key] = Contrast(differ, survivors=survivors)
        else:
            against[group.key] = Contrast(off_axis, change=change, levels=blocking(differ))
    return against


# Which pairs


def pairs_to_judge(best_first: Sequence[Item], base: Item | None, *, levels: int = 1) -> list[tuple[Item, Item]]:
    """All pairs; of too many those with the best and with the baseline. The baseline comes second, else the worse."""
    ordered = sorted(best_first, key=lambda item: item == base)
    if len(ordered) <= MOST_IN_A_MATRIX and len(ordered) * (len(ordered) - 1) // 2 * levels <= MOST_COMPARISONS:
        return list(combinations(ordered, 2))
    best, *others = ordered
    with_base = [(item, others[-1]) for item in others[:-1]] if others[-1] == base else []
    return [*((best, item) for item in others), *with_base]


def _levels(comparison: Comparison, base: Group, metric: Metric, columns: Columns) -> Levels | None:
    """Series at equal levels, with the pairs of them that have no verdicts yet; None where all groups are set against
    one baseline. The baseline is the series of the `base` group.
    """
    possible = [*_wanted_levels(comparison, base, columns)]
    if not possible:
        return None
    levels = possible[0]
    base_key = levels.series_of(base)
    against_base = {key: list(levels.rows(key, base_key)) for key in levels.names if key != base_key}
    parts = _in_parts(levels, base_key, metric)
    order = [*chain(*parts)]
    to_judge = replace(levels, base=base_key, choices=[each.compared[0] for each in possible], order=order)
    pairs = pairs_to_judge(order, base_key, levels=len(levels.table))
    # Of too many series the best of each value: a system of several configurations stands for its better one.
    leaders = [[keys[0] for keys in grouped((key[0], key) for key in part).values()] for part in parts]
    of_leaders = chain(*(pairs_to_judge(keys, None, levels=len(levels.table)) for keys in leaders))
    judged_already = {frozenset(pair) for pair in pairs}
    pairs += [pair for pair in of_leaders if frozenset(pair) not in judged_already]
    named = _asked(comparison, base, to_judge)
    if named and _have_a_ratio_apart(comparison, base, to_judge, named):
        return None
    pairs += _not_among(pairs, named)
    judged = {
        (key, other): LevelSeries(
            levels.names[key], against_base[key] if other == base_key else list(levels.rows(key, other))
        )
        for key, other in pairs
    }
    return replace(to_judge, judged=judged)


def _wanted_levels(comparison: Comparison, base: Group, columns: Columns) -> Iterator[Levels]:
    """Those that may be, the best first, where the curves of a chart share an axis, where some groups ask another
    question than others (another scale) or have another seed, where a reader wants them, or where several days, or
    machines or disks, have the same series.
    """
    controls, axes = comparison.controls, comparison.axes
    fact = controls.get("compared", "")
    if fact == NO_LEVELS:
        return
    wanted = [fact, *controls.getlist("series"), *([SET] if controls.get("base_set") else [])]
    question, held_equal, kind = comparison.question, controls.getlist("held") or None, comparison.question.kind
    of_two, possible = columns, possible_levels(columns, axes, wanted, held_equal)
    if kind == A_B and (named := of_named(question, columns.groups)):
        of_two = Columns(named)
        possible = chain(possible_levels(of_two, axes, wanted, held_equal), possible)
    if fact == BRANCH and DATE in axes.facts:
        # A commit of one branch alone says which day it is.
        facts = {name: known for name, known in axes.facts.items() if name == fact or not name.startswith(OF_ONE_DAY)}
        of_days = possible_levels(of_two, replace(axes, facts=facts), wanted, held_equal, by_day=True)
        possible = chain(of_days, possible)
    if kind == A_B and (asked := comparison.question.fact):
        possible = (levels for levels in possible if levels.compares(asked))
    first = next(possible, None)
    every, of_every = tee(chain([first] if first else [], possible))
    held = [each.field for each in first.held] if first else []
    # Of what has numbers for names, as seeds, none is the best, nor is a shorter window.
    is_wanted = bool(fact) or axes.x in held or any(is_name(each) or _is_procedure(each) for each in held)
    if first and (is_wanted or _asks_different_questions(first, base)):
        yield from every
        return
    # What is best is asked of what was measured on several days, too. Of many days the rule asks since when.
    if DATE in axes.facts and (kind in OF_RANKS or (not kind and not _is_history(axes))):
        ranked = question.fact or "dbms"
        of_days = _over_days(axes, of_every, wanted, columns)
        newest = next(of_days, None)
        # In batches of a system each, machines are compared, which is not what is asked.
        if newest and (newest.compares(ranked) or not (first and first.compares(ranked))):
            yield from chain([newest], of_days)
            return
    if first and kind in OF_PAIRS and not _is_history(axes) and any(map(_is_machine, held)):
        yield from every


def _equal_levels(axes: Axes, fact: str, columns: Columns) -> Levels | None:
    """Where the values of the fact that is ranked are measured at equal levels of all else, such as on the same disks:
    the one with the best group of all may be behind there. None where they are not.
    """
    if fact not in axes.facts:
        return None
    possible = possible_levels(columns, axes, [fact], None)
    return next((levels for levels in possible if levels.compared[0].field == fact), None)


def _is_history(axes: Axes) -> bool:
    return axes.x == DATE and len(axes.facts[DATE].values) >= 2 * LEAST_DAYS


def _is_machine(field: str) -> bool:
    """Whether it is the machine, or one of its disks."""
    return field.partition(":")[0] in _MACHINES


def _over_days(axes: Axes, possible: Iterator[Levels], wanted: Sequence[str], columns: Columns) -> Iterator[Levels]:
    """Those of the levels that hold the batch, else the day: the best day of one system against that of another would
    be chosen by chance.
    """
    of_batches = (levels for levels in possible if levels.has_held("batch") and levels.have_two_in_common)
    if first := next(of_batches, None):
        yield from chain([first], of_batches)
        return
    of_days = possible_levels(columns, axes, wanted, None, by_day=True)
    yield from (levels for levels in of_days if levels.has_held(DATE) and levels.have_two_in_common)


def _asked(comparison: Comparison, base: Group, levels: Levels | None) -> tuple[Key, Key] | None:
    """The pair that a question names: series, or groups by their keys."""
    groups = comparison.valued
    if comparison.question.kind != A_B or len(groups) < 2:
        return None
    pair = asked_pair(comparison.question, groups, base, levels)
    return None if isinstance(pair, Missing) else pair


def _not_among(judged: Iterable[tuple[Key, Key]], named: tuple[Key, Key] | None) -> list[tuple[Key, Key]]:
    return [named] if named and not {named, named[::-1]} & {*judged} else []


def _have_a_ratio_apart(comparison: Comparison, base: Group, levels: Levels, named: tuple[Key, Key]) -> bool:
    """Whether two series that are asked for share no level, and the two groups of them that are most alike have a ratio
    all the same: the machine alone is not alike.
    """
    if any(row.pairs for row in levels.rows(*named)) or not (pair := _asked(comparison, base, None)):
        return False
    by_key = {group.key: group for group in comparison.valued}
    return are_comparable([by_key[key] for (key,) in pair])


def _in_parts(levels: Levels, base: Key, metric: Metric) -> list[list[Key]]:
    """The series by what they have two levels in common with, the baseline first, of the others the first of them: one
    level in common gives no verdict over all. Of each part first the best, by its ratio over all of these levels.
    """
    sign, parts = 1 if metric.better == "lower" else -1, list[list[Key]]()
    left = {key: at for at, key in enumerate(dict.fromkeys([base, *levels.names]))}
    while left:
        first = next(iter(left))
        logs = {first: 0.0}
        for key in levels.beside(first) & left.keys():
            rows = (row for row in levels.rows(key, first) if row.is_comparable)
            ratios = [row.value / row.base_value for row in rows if row.value and row.base_value]
            if len(ratios) >= LEAST_IN_COMMON and min(ratios) > 0:
                logs[key] = fmean(map(log, ratios))
        parts.append(sorted(logs, key=lambda key: (sign * logs[key], left[key])))
        for key in logs:
            del left[key]
    return parts


def _asks_different_questions(levels: Levels, base: Group) -> bool:
    """Whether groups of different levels may have no ratio, so that one baseline for all would leave some without."""
    of_base = levels.series_of(base)
    return not are_comparable([group for level in levels.table.values() for group in level.get(of_base, [])])


def _along(comparison: Comparison, levels: Levels | None) -> list[tuple[Group, Group]]:
    """The two levels of each curve that a loss is asked between, the later first. Nobody asks of one system over sizes
    which size is best: the rule asks what is lost.
    """
    question = comparison.question
    ranks = levels is not None and not levels.ranks_nothing
    by_rule = not question.kind and not ranks and comparison.axes.asks_of_levels
    if question.kind not in OF_CURVES and not by_rule:
        return []
    ends = (ends_of_curve(curve, question) for curve in comparison.curves)
    return [(pair[1], pair[0]) for pair in ends if not isinstance(pair, Missing)]


def _pairs(
    comparison: Comparison, best: Sequence[Group], base: Group, metric: Metric, fact: str, *, is_sweep: bool,
    equal: Levels | None,
) -> list[tuple[Group, Group]]:  # fmt: skip
    """All; of too many those with the baseline, and with each other the best of each curve, of each value of `fact`,
    and of each value at each of the `equal` levels.

    A question that ranks nothing needs those with the baseline only, and a sweep has its levels.
    """
    question = comparison.question
    if is_sweep:
        is_of_most = question.kind in OF_PAIRS and _asks_for_most(comparison, best, fact, metric)
        return pairs_to_judge(by_value(best, metric), None) if is_of_most else []
    valued = by_value(comparison.groups, metric)
    of_base = [(group, base) for group in valued if group.key != base.key]
    if question.kind == PUBLISHED:
        printed = [pair for pair in printed_pairs(comparison.groups) if pair[1].dots]
        claimed = [(each.group, each.base) for each in claimed_pairs(comparison.groups, metric.name)]
        return [*printed, *claimed, *of_base]
    if question.kind not in OF_PAIRS:
        return of_base
    if len(valued) <= MOST_IN_A_MATRIX:
        return pairs_to_judge(valued, base)
    ranked = [group for group in valued if group.ranked]
    of_values = {fact_value(group, fact): group for group in reversed(ranked)}.values()
    leaders = best if len(best) < len(valued) else ranked[:1]
    leading = {group.key: group for group in (*leaders, *of_values)}
    pairs = pairs_to_judge(by_value(leading.values(), metric), base)
    judged = {(group.key, other.key) for group, other in pairs}
    first = [(ranked[0], group) for group in ranked[1:] if len(best) == len(valued) and group.key != base.key]
    at_levels = [pair for leaders in (equal.leaders(metric) if equal else ()) for pair in combinations(leaders, 2)]
    extra = [
        (group, other)
        for group, other in (*of_base, *first, *(at_levels if len(at_levels) <= MOST_COMPARISONS else ()))
        if not {(group.key, other.key), (other.key, group.key)} & judged
    ]
    by_key = {group.key: group for group in valued}
    keys = [((group.key,), (other.key,)) for group, other in (*pairs, *extra)]
    named = _not_among(keys, _asked(comparison, base, None))
    return [*pairs, *extra, *((by_key[one], by_key[other]) for (one,), (other,) in named)]


def best_of_curves(axes: Axes, groups: list[Group], metric: Metric) -> list[Group]:
    """The best group of each curve, so that a system is set against the others and not against itself. A table may have
    names on x, which make no curve.
    """
    if not axes.kind and axes.x != DATE:
        return groups
    best: dict[tuple[str, ...], Group] = {}
    for group in by_value(groups, metric):
        if group.ranked:
            best.setdefault(axes.curve_of(group), group)
    return groups if len(best) < 2 else [*best.values()]
