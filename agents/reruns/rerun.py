"""A published experiment as it is re-run today: its parts, and what one agent can make of them.

One `Part` is one experiment with a chart of its own. An engine is named by its DBMS and how its version begins; what
no approved agent has becomes a gap with the reason, beside the gaps that are known beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from benchagent.catalog import DBMSS
from django.db import transaction

from agents.machines import Engine, SecondStorage, newest
from agents.models import Agent
from agents.plans import schedule
from agents.plans.plan import FactorValue, Override, Plan, Settings
from agents.reruns.published import MATCHES
from runs.access.rules import default_visibility
from runs.models import Experiment, User
from runs.publications.matching import GAPS_KEY, PLAN_KEY, CellFacts, Match, PlanGap


@dataclass(frozen=True)
class Wanted:
    """`version`: how it begins, as "9.2" or "15"; empty takes the newest one."""

    dbms: str
    version: str = ""

    @property
    def label(self) -> str:
        return f"{DBMSS[self.dbms].name} {self.version}".rstrip()

    def is_meant_by(self, facts: CellFacts) -> bool:
        """Whether cells that are chosen so are of this engine."""
        return facts.get("dbms", self.dbms) == self.dbms and facts.get("version", self.version) == self.version

    def on(self, agent: Agent) -> Engine | None:
        """The newest installed version that fits; None when the agent has none that can be used."""
        return newest(agent, self.dbms, self.version)


@dataclass(frozen=True)
class Part:
    """`storage_factors`: factors whose values are storages; they take the machine's second storage where it has one."""

    slug: str
    title: str
    workload: str
    engines: tuple[Wanted, ...]
    factors: Mapping[str, FactorValue]
    repeats: int
    sweep: Mapping[str, tuple[FactorValue, ...]] = field(default_factory=dict)
    settings: Mapping[str, Settings] = field(default_factory=dict)
    # What people call these settings, by DBMS: names made of what differs are long, and alike at their beginning.
    called: Mapping[str, str] = field(default_factory=dict)
    storage_factors: tuple[str, ...] = ()
    # Roles that lie on the second storage in every cell, but for what `overrides` says.
    apart: tuple[str, ...] = ()
    # The storage that is the second one where the machine has several.
    second: str = ""
    # As of `Plan`.
    overrides: tuple[Override, ...] = ()
    extra: tuple[Mapping[str, FactorValue], ...] = ()
    figure: str = ""
    gaps: tuple[PlanGap, ...] = ()


@dataclass(frozen=True)
class ArticleExperiment:
    """`publication`: slug of the article that it repeats."""

    publication: str
    title: str
    parts: tuple[Part, ...]

    def part(self, slug: str) -> Part:
        """Raises KeyError."""
        return {part.slug: part for part in self.parts}[slug]


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


def prepare(experiment: ArticleExperiment, part: Part, agent: Agent, *, quick: bool = False) -> Prepared:
    """`quick`: the same cells with one repeat."""
    found = {wanted: wanted.on(agent) for wanted in part.engines}
    missing = {
        wanted: PlanGap(
            wanted.label, f"{agent.name} has none that can be used; `benchagent engines` tells how to get it"
        )
        for wanted, engine in found.items()
        if engine is None
    }
    engines = tuple(engine for engine in found.values() if engine is not None)
    other = SecondStorage.of(agent, part.second)
    matches = MATCHES[experiment.publication](part.slug, other)
    prepared = Prepared(
        experiment, part, None, (*part.gaps, *missing.values()), tuple(_without(missing, one) for one in matches)
    )
    if not engines:
        return prepared
    plan = _plan(prepared, engines, other)
    return replace(prepared, plan=replace(plan, agent=agent, repeats=1 if quick else part.repeats))


def _without(missing: Mapping[Wanted, PlanGap], match: Match) -> Match:
    """A match whose cells cannot be run is a gap with the reason."""
    for wanted, gap in missing.items():
        if any(facts and wanted.is_meant_by(facts) for facts in (match.ours, match.base)):
            return replace(match, ours={}, base={}, gap=f"{gap.label}: {gap.reason}")
    return match


def _plan(prepared: Prepared, engines: tuple[Engine, ...], other: SecondStorage | None) -> Plan:
    part = prepared.part
    storages = dict.fromkeys(part.storage_factors, ("", other.name)) if other else {}
    apart = dict.fromkeys(part.apart, other.name) if other else {}
    return Plan(
        workload=part.workload,
        engines=engines,
        factors={**part.factors, **apart},
        sweep={**part.sweep, **storages},
        overrides=part.overrides,
        extra=part.extra,
        settings=part.settings,
        called=part.called,
        name=prepared.name,
        publication=prepared.experiment.publication,
        figure=part.figure,
    )


def start(prepared: Prepared, *, user: User | None) -> Experiment:
    """Without an engine the experiment has no runs: its gaps are told all the same. Raises PlanError."""
    with transaction.atomic():
        if prepared.plan:
            experiment = schedule.start(prepared.plan, user=user)
        else:
            part, name = prepared.part, prepared.name
            experiment = Experiment(
                slug=Experiment.free_slug(name), name=name, created_by=user, visibility=default_visibility(),
                plan={"workload": part.workload, "name": name, "publication": prepared.experiment.publication,
                      "figure": part.figure},
            )  # fmt: skip
        experiment.plan |= {
            GAPS_KEY: [gap.as_list for gap in prepared.gaps],
            PLAN_KEY: [match.as_json() for match in prepared.published],
        }
        experiment.save()
    return experiment
