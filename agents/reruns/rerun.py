"""The experiments of the four articles as they are re-run today, and what one agent can make of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from django.db import transaction

from agents.machines import SecondStorage
from agents.models import Agent
from agents.plans import schedule
from agents.plans.plan import Plan
from agents.reruns import cubrid, firebird, gbak, tpcb
from agents.reruns.parts import ArticleExperiment, Part, Wanted
from runs.access.rules import default_visibility
from runs.compare.guard import WINDOW
from runs.models import ApiToken, Experiment, User
from runs.models.choices import Visibility
from runs.models.shapes import Match, PlanGap

EXPERIMENTS: Mapping[str, ArticleExperiment] = {
    article.EXPERIMENT.publication: article.EXPERIMENT for article in (gbak, tpcb, firebird, cubrid)
}


def best_agent(agents: Sequence[Agent]) -> Agent | None:
    """The agent that has most of the engines of all parts; the first of those that have the same."""
    wanted = {engine for experiment in EXPERIMENTS.values() for part in experiment.parts for engine in part.engines}
    return max(agents, key=lambda agent: sum(engine.on(agent) is not None for engine in wanted), default=None)


@dataclass(frozen=True)
class Prepared:
    """A part as one agent can run it. `plan` is None when it has no engine of it."""

    experiment: ArticleExperiment
    part: Part
    plan: Plan | None
    gaps: tuple[PlanGap, ...]
    # Which of its cells answer which published figure.
    published: tuple[Match, ...] = ()

    @property
    def name(self) -> str:
        return f"{self.experiment.title}: {self.part.title}"


def prepare(
    experiment: ArticleExperiment, part: Part, agent: Agent, *, quick: bool = False, window_s: int | None = None
) -> Prepared:
    """`quick`: the same cells with one repeat. `window_s`: how long each is measured, where a part says how long."""
    by_wanted = {wanted: wanted.on(agent) for wanted in part.engines}
    missing = {
        wanted: PlanGap(
            wanted.label, f"{agent.name} has none that can be used; `benchagent engines` tells how to get it"
        )
        for wanted, engine in by_wanted.items()
        if engine is None
    }
    other = SecondStorage.of(agent, part.second)
    published = tuple(_without(missing, match) for match in (part.matches(other) if part.matches else ()))
    prepared = Prepared(experiment, part, None, (*part.gaps, *missing.values()), published)
    engines = tuple(engine for engine in by_wanted.values() if engine is not None)
    if not engines:
        return prepared
    storages = dict.fromkeys(part.storage_factors, ("", other.name)) if other else {}
    apart = dict.fromkeys(part.apart, other.name) if other else {}
    window = {WINDOW: window_s} if window_s and WINDOW in part.factors else {}
    plan = Plan(
        workload=part.workload, engines=engines, factors={**part.factors, **window, **apart},
        sweep={**part.sweep, **storages}, repeats=1 if quick else part.repeats, overrides=part.overrides,
        extra=part.extra, settings=part.settings, called=part.called, agent=agent, name=prepared.name,
        publication=experiment.publication, figure=part.figure,
    )  # fmt: skip
    return replace(prepared, plan=plan)


def _without(missing: Mapping[Wanted, PlanGap], match: Match) -> Match:
    """A match whose cells cannot be run is a gap with the reason."""
    for wanted, gap in missing.items():
        if any(facts and wanted.is_meant_by(facts) for facts in (match.ours, match.base)):
            return replace(match, ours={}, base={}, gap=f"{gap.label}: {gap.reason}")
    return match


def start(prepared: Prepared, *, user: User | None, token: ApiToken | None = None) -> Experiment:
    """Without an engine the experiment has no runs: its gaps are told all the same. Raises as `schedule.start`."""
    with transaction.atomic():
        if prepared.plan:
            experiment = schedule.start(prepared.plan, user=user, token=token)
        else:
            part, name = prepared.part, prepared.name
            experiment = Experiment(
                slug=Experiment.free_slug(name, is_hidden=default_visibility() != Visibility.PUBLIC), name=name,
                created_by=user, visibility=default_visibility(),
                plan={"workload": part.workload, "name": name, "publication": prepared.experiment.publication,
                      "figure": part.figure},
            )  # fmt: skip
        experiment.plan |= {
            "gaps": list(map(list, prepared.gaps)),
            "published": [match.as_json() for match in prepared.published],
        }
        experiment.save()
    return experiment
