"""A published experiment as it is re-run today: its parts, and what one agent can make of them.

One `Part` is one experiment with a chart of its own. An engine is named by its DBMS and how its version begins; what
no approved agent has becomes a gap with the reason, beside the gaps that are known beforehand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchagent.catalog import DBMSS

from agents import published, registry, schedule
from agents.models import Agent
from agents.offers import version_order
from agents.schedule import Engine, FactorValue, Plan, Settings
from agents.second_storage import SecondStorage
from runs.models import Experiment, User
from runs.reproduction import PLAN_KEY, Match


@dataclass(frozen=True)
class Wanted:
    """`version`: how it begins, as "9.2" or "15"; empty takes the newest one."""

    dbms: str
    version: str = ""

    @property
    def label(self) -> str:
        return f"{DBMSS[self.dbms].name} {self.version}".rstrip()

    def on(self, agent: Agent) -> Engine | None:
        """The newest installed version that fits; None when the agent has none that can be used."""
        versions = [
            engine["version"]
            for engine in registry.engines_of(agent)
            if engine["dbms"] == self.dbms
            and engine["available"]
            and not engine.get("connection")
            and _begins(engine["version"], self.version)
        ]
        return Engine(self.dbms, max(versions, key=version_order)) if versions else None


def _begins(version: str, wanted: str) -> bool:
    return not wanted or version == wanted or version.startswith((f"{wanted}.", f"{wanted} "))


@dataclass(frozen=True)
class Gap:
    """A cell of the published grid that stays empty. `version`: the id of the engine in the published data."""

    label: str
    reason: str
    version: str = ""


@dataclass(frozen=True)
class Part:
    """`place_factors`: factors whose values are storages; they take the machine's second storage where it has one."""

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
    place_factors: tuple[str, ...] = ()
    # Roles that lie on the second storage in every cell, but for what `overrides` says.
    apart: tuple[str, ...] = ()
    overrides: tuple[tuple[str, FactorValue, Mapping[str, FactorValue]], ...] = ()
    figure: str = ""
    gaps: tuple[Gap, ...] = ()


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

    part: Part
    plan: Plan | None
    gaps: tuple[Gap, ...]
    # Which of its cells answer which published figure.
    published: tuple[Match, ...] = ()


def prepare(experiment: ArticleExperiment, part: Part, agent: Agent, *, quick: bool = False) -> Prepared:
    """`quick`: the same cells with one repeat."""
    found = {wanted: wanted.on(agent) for wanted in part.engines}
    missing = tuple(
        Gap(wanted.label, f"{agent.name} has none that can be used; `benchagent engines` tells how to get it")
        for wanted, engine in found.items()
        if engine is None
    )
    engines = tuple(engine for engine in found.values() if engine is not None)
    gaps = (*part.gaps, *missing)
    if not engines:
        return Prepared(part, None, gaps)
    plan = Plan(
        workload=part.workload,
        engines=engines,
        factors={**part.factors, **_apart(part, agent)},
        sweep={**part.sweep, **_places(part, agent)},
        overrides=part.overrides,
        repeats=1 if quick else part.repeats,
        settings=part.settings,
        called=part.called,
        agent=agent,
        name=f"{experiment.title}: {part.title}",
        publication=experiment.publication,
        figure=part.figure,
    )
    matches = published.of(experiment.publication, part.slug, SecondStorage.of(agent))
    return Prepared(part, plan, gaps, matches)


def _places(part: Part, agent: Agent) -> dict[str, tuple[FactorValue, ...]]:
    other = SecondStorage.of(agent)
    return dict.fromkeys(part.place_factors, ("", other.name)) if other else {}


def _apart(part: Part, agent: Agent) -> dict[str, FactorValue]:
    other = SecondStorage.of(agent)
    return dict.fromkeys(part.apart, other.name) if other else {}


def start(prepared: Prepared, *, user: User | None) -> Experiment | None:
    """None when there is nothing to run. Raises PlanError."""
    if prepared.plan is None:
        return None
    experiment = schedule.start(prepared.plan, user=user)
    experiment.plan = {
        **experiment.plan,
        "gaps": [[gap.label, gap.reason, gap.version] for gap in prepared.gaps],
        PLAN_KEY: [match.as_json() for match in prepared.published],
    }
    experiment.save(update_fields=["plan"])
    return experiment
