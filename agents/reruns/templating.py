"""Templates to start from: plans that somebody saved, the first experiment, and the experiments of the articles."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from agents.models import Agent, Template
from agents.plans.plan import planned
from agents.refusals import FieldErrors
from agents.reruns import first
from agents.reruns.parts import ArticleExperiment
from agents.reruns.rerun import EXPERIMENTS, Prepared, prepare
from runs.models import User

# Those that come with the product, by slug. Their plans are made of what an agent has.
OWN: Mapping[str, ArticleExperiment] = {first.SLUG: first.EXPERIMENT, **EXPERIMENTS}


def make(plan: Mapping[str, Any], *, owner: User, name: str, note: str = "", is_shared: bool = True) -> Template:
    """Raises FieldErrors where the plan cannot be run again, and for a name of which the owner has one."""
    if Template.objects.filter(owner=owner, name=name).exists():
        raise FieldErrors(name=f"You have a template {name} already.")
    planned(plan, user=owner)
    slug = Template.free_slug(name)
    if slug in OWN:
        slug = Template.free_slug(f"{name} saved")
    given = {"owner": owner, "name": name, "note": note, "is_shared": is_shared}
    return Template.objects.create(slug=slug, plan=dict(plan), **given)


def prepared_on(experiment: ArticleExperiment, agent: Agent, *, part: str) -> Prepared:
    """A part, which needs no name where it is the only one. Raises FieldErrors where the agent has no engine of it."""
    parts = {each.slug: each for each in experiment.parts}
    chosen = experiment.parts[0] if not part and len(parts) == 1 else parts.get(part)
    if chosen is None:
        raise FieldErrors(part=f"Must be one of {', '.join(parts)}.")
    prepared = prepare(experiment, chosen, agent)
    if prepared.plan is None:
        lacking = ", ".join(engine.label for engine in chosen.engines)
        raise FieldErrors(agent=f"{agent.name} has no engine for it: {lacking}.")
    return prepared
