"""Levels that a reader fixes or takes together."""

from __future__ import annotations

from dataclasses import replace

from runs.compare.axes import arrange
from runs.compare.comparison import Comparison
from runs.compare.facts import DATE, NEVER_TAKEN, fact_value, fact_values
from runs.compare.groups import Group, pooled
from runs.compare.guard import conditions_of
from runs.compare.panels import stands_at
from runs.run.facets import Facet

# What the groups have of a fact that is pooled.
POOLED = "pooled"


def at_chosen_levels(comparison: Comparison) -> Comparison:
    """Without the groups that a reader fixes away, and with those taken together that differ in what is pooled.

    Groups of two classes of durability are never pooled.
    """
    axes = arrange(comparison)
    if not axes.fixed and not axes.pooled:
        return comparison
    names = [name for name in axes.facts if name not in axes.pooled and name not in NEVER_TAKEN and name != DATE]
    pools: dict[tuple[str, ...], list[Group]] = {}
    for group in comparison.groups:
        if stands_at(group, axes.fixed):
            key = (group.durability_words, *fact_values(group, names)) if axes.pooled else (group.key,)
            pools.setdefault(key, []).append(group)
    headings = [fact.label for fact in comparison.varying if fact.field in axes.pooled]
    groups = []
    for pool in pools.values():
        group = pooled(pool)
        if len(pool) > 1:
            shown = [name for name in names if name not in axes.fixed and name not in axes.follow]
            label = " · ".join(axes.facts[name].in_legend(fact_value(group, name)) for name in shown)
            group = replace(
                group,
                label=label or "all",
                conditions=conditions_of(
                    group.runs or group.all_runs, metric=comparison.metric.name if comparison.metric else ""
                ),
            )
        # The day stays that of the first: it is a place on an axis.
        facts = {**group.facts, **dict.fromkeys(axes.pooled, POOLED), DATE: group.facts[DATE]}
        groups.append(replace(group, facts=facts, factors={**group.factors, **dict.fromkeys(headings, POOLED)}))
    varying, common = [], [*comparison.common]
    for fact in comparison.varying:
        values = list(dict.fromkeys(group.facts[fact.field] for group in groups))
        words = {**fact.words, POOLED: POOLED}
        if len(values) == 1:
            text = words[value := values[0]]
            common.append(Facet(fact.field, fact.label, value, text, text, value))
        else:
            varying.append(replace(fact, values=values, words=words))
    return replace(comparison, groups=groups, varying=varying, common=common, whole=comparison)
