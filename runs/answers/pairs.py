"""Two against each other: one against another, what each setting did, here against published, what differs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchagent.catalog import Role

from runs.answers.answer import (
    REFUSED,
    Amount,
    Answer,
    Changed,
    Claimed,
    Effect,
    EffectBeside,
    LevelChange,
    Published,
    amount_of,
    begun,
    change_of,
)
from runs.answers.ranking import level_change, too_few_repeats
from runs.compare.asked import A_B, Missing, Question
from runs.compare.asked_pair import asked_pair, without_values
from runs.compare.axes import are_days_apart
from runs.compare.choosing import published_beside
from runs.compare.comparison import Comparison
from runs.compare.configurations import given_by_config, swept
from runs.compare.facts import DATE, MOMENT, NEVER_TAKEN, fact_value
from runs.compare.grouping import position_of
from runs.compare.groups import Contrast, Group
from runs.compare.guard import Difference, bare_field, blocking, have_same_settings, machine_facts, unlike
from runs.compare.levels import Key, Levels, LevelSeries
from runs.compare.panels import in_order_of_series
from runs.compare.published import claimed_pairs, printed_alone, printed_pairs
from runs.run.facets import STORAGE
from runs.stats import MIN_REPEATS


def a_against_b(comparison: Comparison, question: Question) -> Answer:
    """The first that is asked for against the second: groups or series by a value of the fact or a group's key."""
    base, levels, valued = comparison.baseline, comparison.levels, comparison.valued
    set_apart = comparison.failed
    pair: tuple[Key, Key] | Missing = Missing("another_ranked" if set_apart else "another")
    if base is not None and len(valued) > 1:
        if are_days_apart(comparison, question.fact):
            apart = begun(comparison, question, lacking=[Missing("days_apart")])
            # The question is told as it was asked.
            both = {"first": question.a, "second": question.b}
            return apart.model_copy(update=both) if all(both.values()) else apart
        pair = asked_pair(question, valued, base, levels)
    if isinstance(pair, Missing):
        named = without_values(question, comparison.groups) or [pair]
        return begun(comparison, question, set_apart=set_apart, lacking=named)
    first, second = pair
    if levels:
        answer = _series_against(comparison, levels, question, first, second)
    else:
        by_key = {group.key: group for group in valued}
        answer = _groups_against(comparison, question, by_key[first[0]], by_key[second[0]])
    # Who names two asks of nobody else.
    return answer if question.a and question.b else answer.model_copy(update={"set_apart": set_apart})


def newest_against_before(comparison: Comparison, groups: Sequence[Group]) -> Answer | None:
    """The newest against the one before it, else against the baseline that a reader chose, of what was measured on
    several days: nobody asks which day wins. None where there is no other, nor another day. What is newer still and has
    no number is set apart.
    """
    by_time = sorted(groups, key=lambda group: position_of(group.facts[MOMENT]))
    in_order = in_order_of_series(by_time, comparison.places)
    valued = [group for group in in_order if group.dots]
    chosen = comparison.baseline if {"baseline", "base_set"} & {*comparison.controls} else None
    base = chosen or (valued[-2] if len(valued) > 1 else None)
    is_one_day = len({group.facts[DATE] for group in valued}) < 2
    if base is None or is_one_day or valued[-1].key == base.key:
        return None
    answer = _groups_against(comparison, Question(kind=A_B), valued[-1], base)
    later = {group.label: group for group in in_order[in_order.index(valued[-1]) + 1 :] if not group.is_to_come}
    return answer.model_copy(update={"set_apart": later})


def _groups_against(comparison: Comparison, question: Question, group: Group, base: Group) -> Answer:
    differing, ratio = comparison.verdicts.differences_of(group, base), _ratio_of(comparison, group, base)
    of_pair: dict[str, Any] = {"first": group.label, "second": base.label}
    claim = LevelChange(label="", ratio=ratio, runs=[*group.run_ids, *base.run_ids], **of_pair)
    return begun(
        comparison, question, claims=[claim], sure=claim.ratio.is_sure, **of_pair,
        lacking=_one_configuration(group, base),
        differing={} if blocking(differing) else {base.label: unlike(differing, comparison.named)},
    )  # fmt: skip


def _one_configuration(group: Group, base: Group) -> list[Missing]:
    is_one = have_same_settings(group.conditions, base.conditions)
    return [Missing("one_configuration", names=[group.label, base.label])] if is_one else []


def _ratio_of(comparison: Comparison, group: Group, base: Group) -> Amount:
    if refused := blocking(comparison.verdicts.differences_of(group, base)):
        return change_of(None, refused=Contrast(refused))
    return change_of(comparison.verdicts.of(group, base), refused=Missing("judging"))


def _series_against(comparison: Comparison, levels: Levels, question: Question, first: Key, second: Key) -> Answer:
    names = levels.names
    series = levels.between(first, second) or LevelSeries(names[first], [])
    overall = change_of(series.overall, refused=Missing("levels_with_ratio"))
    of_levels = [level_change(row, names[first], names[second]) for row in series.rows if row.pairs]
    runs = list(dict.fromkeys(run for level in of_levels for run in level.runs))
    return begun(
        comparison, question, claims=[
            LevelChange(label="", first=names[first], second=names[second], ratio=overall, runs=runs), *of_levels,
        ],
        sure=overall.is_sure, over=series.over(levels.held_words), differing=levels.unlike({second: series}),
        first=names[first], second=names[second], series=series,
        lacking=_of_other_systems(levels, question.fact, {first, second}),
    )  # fmt: skip


def _of_other_systems(levels: Levels, fact: str, pair: set[Key]) -> list[Missing]:
    """Systems that have a value of the fact too, for which the best of them stands: two labels of a study that was done
    again with newer versions have no series in common.
    """
    systems, values = set[str](), set[str]()
    for group, key in levels.group_series:
        if key in pair:
            systems.add(group.all_runs[0].dbms_version.dbms.name)
            values.add(fact_value(group, fact))
    others = dict.fromkeys(
        name for group, _ in levels.group_series
        if group.dots and fact_value(group, fact) in values
        and (name := group.all_runs[0].dbms_version.dbms.name) not in systems
    )  # fmt: skip
    return [Missing("other_systems", names=[*others])] if others and fact not in ("", "dbms") else []


def effects(comparison: Comparison, question: Question) -> Answer:
    claims = []
    for setting, ends in zip(comparison.effects, comparison.effect_ends, strict=True):
        row = setting.row
        of_pairs = list(dict.fromkeys(run for pair in row.pairs for group in pair for run in group.run_ids))
        claims.append(Effect(
            label=setting.setting, start=setting.start, end=setting.end, pairs=len(row.pairs),
            configurations=setting.configurations,
            ratio=change_of(row.against.verdict, refused=row.against), runs=of_pairs or row.run_ids,
            besides=[f"{each.label}: {each.b} → {each.a}" for each in row.notes],
            only_with=setting.only_with,
            ends=[EffectBeside(beside=beside, ratio=amount_of(ratio)) for beside, ratio, _ in ends],
        ))  # fmt: skip
    settings = given_by_config(group.all_runs[0] for group in comparison.valued).values()
    told = {claim.label for claim in claims}
    together = [name for name in swept(settings) if name not in told]
    lacking = [Missing("settings_together", names=together)] if claims and together else []
    lacking = lacking if claims else [Missing("single_setting")]
    paired = {group.key: group for each in comparison.effects if each.row.pairs for group in each.row.both_sides}
    every = {group.all_runs[0].config_id for group in comparison.valued}
    used = {group.all_runs[0].config_id for group in comparison.valued if group.key in paired}
    if fitted := max((claim.configurations for claim in claims), default=0):
        lacking.append(Missing("interactions", count=fitted))
    elif used and every - used:
        lacking.append(Missing("unpaired", count=len(every - used), least=len(every)))
    if few := [group.label for group in paired.values() if group.n < MIN_REPEATS]:
        lacking.append(too_few_repeats(comparison, few))
    sure = any(claim.ratio.is_sure for claim in claims)
    return begun(comparison, question, claims=claims, lacking=lacking, sure=sure, set_apart=comparison.failed)


def published(comparison: Comparison, question: Question) -> Answer:
    """Each group that was measured here beside the printed one that its plan names or that was asked the same, else
    the nearest; then what the articles claim of two such groups.
    """
    claims, differing = list[Published | Claimed](), dict[str, list[Difference]]()
    for group, beside in printed_pairs(comparison.groups):
        lost = Missing("printed_lost", names=[beside.gap or ""])
        ratio = _ratio_of(comparison, group, beside) if beside.dots else change_of(None, refused=lost)
        runs = [*group.run_ids, *beside.run_ids]
        if ratio.value is not None:
            differing[group.label] = unlike(comparison.verdicts.differences_of(group, beside))
        as_printed = next((each.value for each in beside.printed if each.statistic == "median"), None)
        claims.append(Published(
            label=group.label, here=group.centre, beside=beside.label, runs=runs, ratio=ratio,
            printed=beside.centre if as_printed is None and beside.n == 1 else as_printed, mean=beside.centre,
        ))  # fmt: skip
    for group, row in printed_alone(comparison.groups, comparison.metric) if comparison.metric else ():
        # How many repeats it is of is not known: the ratio has no interval, and no verdict.
        value = group.centre / row.value if group.centre is not None and row.value > 0 else None
        of = f"{row.dbms_version} · {row.statistic} · {row.publication}"
        claims.append(Published(
            label=group.label, here=group.centre, beside=of, printed=row.value, runs=group.run_ids,
            ratio=Amount(value=value, verdict=REFUSED, basis=Missing("no_repeats_printed")),
        ))  # fmt: skip
    for said in claimed_pairs(comparison.groups, comparison.metric.name) if comparison.metric else ():
        claims.append(Claimed(
            label=said.group.label, beside=said.base.label, claim=said.words, claimed=said.ratio,
            ratio=_ratio_of(comparison, said.group, said.base), runs=[*said.group.run_ids, *said.base.run_ids],
        ))  # fmt: skip
    lacking = [] if claims else [Missing("printed")]
    if comparison.all_runs and not claims and not any(run.publication_id for run in comparison.all_runs):
        systems = {run.dbms_version.dbms_id for run in comparison.all_runs}
        articles = published_beside(comparison.all_runs).filter(dbms_version__dbms__in=systems)
        if slugs := articles.order_by("publication__slug").values_list("publication__slug", flat=True).distinct():
            lacking = [Missing("published", names=[f"publication={slug}" for slug in slugs])]
    sure = any(claim.ratio.is_sure for claim in claims)
    return begun(comparison, question, claims=claims, lacking=lacking, sure=sure, differing=differing)


def changed(comparison: Comparison, question: Question) -> Answer:
    """What the guard tells of two groups, what matters first."""
    groups = comparison.groups
    if len(groups) != 2:
        return begun(comparison, question, lacking=[Missing("two_groups")])
    first, second = groups
    runs = [*first.run_ids, *second.run_ids]
    # Who asks about two machines asks for more than their names.
    of_machines = machine_facts(first.conditions, second.conditions)
    every = {each.field: each for each in (*comparison.verdicts.differences_of(first, second), *of_machines)}
    differing = [each for each in every.values() if each.a != each.b]
    claims = [Changed(label=each.label, a=each.a, b=each.b, role=each.role, runs=runs) for each in differing]
    differing_fields = {each.field for each in differing}
    # One difference tells all roles of a disk.
    of_disks = {(each.a, each.b) for each in differing if each.field.startswith(STORAGE)}
    # What is compared is no condition of the comparison: the guard does not speak of the versions.
    for fact in comparison.varying:
        a, b = (fact.words[group.facts[fact.field]] for group in groups)
        is_one = fact.field == "config" and have_same_settings(first.conditions, second.conditions)
        is_told = bare_field(fact.field) in differing_fields or (fact.field.startswith(STORAGE) and (a, b) in of_disks)
        if not (is_one or is_told) and fact.field not in NEVER_TAKEN and a != b:
            claims.insert(0, Changed(label=fact.label, a=a, b=b, role=Role.QUESTION, runs=runs))
    lacking = [*_one_configuration(first, second), *([] if claims else [Missing("difference")])]
    return begun(
        comparison, question, claims=claims, lacking=lacking, sure=bool(claims), first=first.label, second=second.label
    )
