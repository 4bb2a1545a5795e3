"""A plan in words: every factor with its values and units, what is varied first."""

from __future__ import annotations

from collections.abc import Iterator

from benchagent.catalog.factors import FACTORS, factor_words
from benchagent.catalog.model import FactorKind

from agents.machines.second_storage import SecondStorage
from agents.plans.plan import FactorValue, Plan
from runs.run.facets import factor_label


def plan_words(plan: Plan) -> list[tuple[str, str]]:
    """(label, values) for a list of facts."""
    values = {**{name: (value,) for name, value in plan.factors.items()}, **plan.sweep}
    told = {name: " · ".join(_words(name, value, plan) for value in values[name]) for name in (*plan.sweep, *values)}
    for name, words in _exceptions(plan):
        told[name] = f"{told[name]}; {words}" if name in told else words
    return [(factor_label(name), words) for name, words in told.items()]


def _exceptions(plan: Plan) -> Iterator[tuple[str, str]]:
    """What another value of a varied factor sets, where that differs from all other cells; cells beside them."""
    for name, value, sets in plan.overrides:
        for follows, other in sets.items():
            if other != plan.factors.get(follows, FACTORS[follows].default):
                yield follows, f"{_words(follows, other, plan)} ({_words(name, value, plan)} only)"
    for beside in plan.extra:
        for name, value in beside.items():
            if value not in plan.sweep.get(name, ()):
                others = ", ".join(_words(other, each, plan) for other, each in beside.items() if other != name)
                yield name, f"{_words(name, value, plan)} ({others} only)"


def _words(name: str, value: FactorValue, plan: Plan) -> str:
    if plan.agent and FACTORS[name].kind == FactorKind.STORAGE:
        other = SecondStorage.of(plan.agent, str(value))
        if other and other.name == value:
            return other.words
    return factor_words(name, value)
