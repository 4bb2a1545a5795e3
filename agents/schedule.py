"""From a plan to an experiment: checked, expanded into interleaved runs, each with its job."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from benchagent.catalog import DBMSS, WORKLOADS, FactorDef, FactorKind
from benchagent.protocol import JobSpec
from django.db import IntegrityError, transaction
from django.db.models import Max

from agents import hints, registry
from agents.models import Agent, AgentStatus, Job
from agents.offers import approved_agents, engine_key
from runs import ingest
from runs.choices import Visibility
from runs.ingest.text import redact
from runs.models import Experiment, Run, User
from runs.visibility import default_visibility

MAX_RUNS = 500
MAX_REPEATS = 50
NAME_LIMIT = 200
SEED_LIMIT = 2**31 - 1

TEXT_LIMIT = 100_000

Settings = tuple[tuple[str, str], ...]
FactorValue = int | str
# What follows from the value of a varied factor: (name, value, what it sets).
Override = tuple[str, FactorValue, Mapping[str, FactorValue]]


@dataclass(frozen=True)
class Engine:
    """`connection`: the agent's name for a server that it did not start; on it nothing is set."""

    dbms: str
    version: str
    connection: str = ""

    @classmethod
    def of_key(cls, key: str) -> Engine:
        dbms, _, rest = key.partition(":")
        version, _, connection = rest.rpartition("@") if "@" in rest else (rest, "", "")
        return cls(dbms, version, connection)

    @property
    def key(self) -> str:
        return engine_key(self.dbms, self.version, self.connection)

    @property
    def label(self) -> str:
        entry = DBMSS.get(self.dbms)
        where = f" on connection {self.connection}" if self.connection else ""
        return f"{entry.name if entry else self.dbms} {self.version}{where}"


@dataclass(frozen=True)
class Cell:
    """One combination that is run `repeats` times."""

    engine: Engine
    factors: Mapping[str, FactorValue]


@dataclass(frozen=True)
class Plan:
    """What to run: every engine with every combination of the varied factors, `repeats` times.

    `settings` by DBMS; one that is left out takes the catalogue's.
    """

    workload: str
    engines: tuple[Engine, ...]
    factors: Mapping[str, FactorValue]
    repeats: int = 1
    # Factors that are varied, each with its values; they stand over `factors`.
    sweep: Mapping[str, tuple[FactorValue, ...]] = field(default_factory=dict)
    overrides: tuple[Override, ...] = ()
    settings: Mapping[str, Settings] = field(default_factory=dict)
    # What people call these settings, by DBMS; empty takes a name made of what differs from the standard ones.
    called: Mapping[str, str] = field(default_factory=dict)
    # None: the first agent that is free and offers every engine; the whole experiment then stays on it.
    agent: Agent | None = None
    name: str = ""
    # Who may see it; empty takes the setting's default.
    visibility: str = ""
    # Slug of the publication that it repeats, and the figure that its runs fill there.
    publication: str = ""
    figure: str = ""

    @property
    def run_count(self) -> int:
        return len(self.engines) * prod(len(values) for values in self.sweep.values()) * self.repeats

    @property
    def title(self) -> str:
        if self.name:
            return self.name
        names = dict.fromkeys(DBMSS[engine.dbms].name for engine in self.engines if engine.dbms in DBMSS)
        workload = WORKLOADS[self.workload].name if self.workload in WORKLOADS else self.workload
        return f"{workload}: {', '.join(names)}"[:NAME_LIMIT]

    def settings_of(self, engine: Engine) -> Settings:
        if engine.connection:
            return ()
        return tuple(self.settings.get(engine.dbms, DBMSS[engine.dbms].settings))

    def cells(self) -> list[Cell]:
        names = list(self.sweep)
        combinations = [dict(zip(names, values, strict=True)) for values in product(*self.sweep.values())]
        return [
            Cell(engine, self._stored({**self.factors, **varied, **self._following(varied)}))
            for varied in combinations
            for engine in self.engines
        ]

    def _following(self, varied: Mapping[str, FactorValue]) -> dict[str, FactorValue]:
        found: dict[str, FactorValue] = {}
        for name, value, factors in self.overrides:
            if varied.get(name) == value:
                found |= factors
        return found

    def _stored(self, factors: Mapping[str, FactorValue]) -> dict[str, FactorValue]:
        """Without optional factors that are as if nobody had asked: a run does not name what was not varied."""
        definitions = {factor.name: factor for factor in WORKLOADS[self.workload].factors}
        return {name: value for name, value in factors.items() if name in self.sweep or _said(definitions[name], value)}

    def in_order(self) -> list[tuple[Cell, int]]:
        """(cell, repeat) as they are run: A B C A B C, so that a drift of the machine hits all alike."""
        cells = self.cells()
        return [(cell, repeat) for repeat in range(1, self.repeats + 1) for cell in cells]

    def as_json(self) -> dict[str, Any]:
        """For the experiment, which is public: without secrets."""
        return {
            "workload": self.workload,
            "engines": [engine.key.split(":", 1) for engine in self.engines],
            "settings": {
                engine.dbms: [[name, redact(name, value)] for name, value in self.settings_of(engine)]
                for engine in self.engines
            },
            "factors": dict(self.factors),
            "overrides": [[name, value, dict(factors)] for name, value, factors in self.overrides],
            "sweep": {name: list(values) for name, values in self.sweep.items()},
            "repeats": self.repeats,
            "agent": self.agent.slug if self.agent else None,
            "name": self.name,
            "visibility": self.visibility or default_visibility(),
            "publication": self.publication,
            "figure": self.figure,
        }


class PlanError(ValueError):
    """The plan cannot be run; `errors` names each wrong field."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        super().__init__("; ".join(f"{name}: {' '.join(words)}" for name, words in errors.items()))
        self.errors = errors


def check(plan: Plan) -> None:
    """Raises PlanError."""
    errors: dict[str, list[str]] = {}
    workload = WORKLOADS.get(plan.workload)
    if workload is None:
        errors["workload"] = [f"Unknown workload; known: {', '.join(WORKLOADS)}."]
    else:
        errors |= _factor_errors(plan)
    if not 1 <= plan.repeats <= MAX_REPEATS:
        errors["repeats"] = [f"Must be between 1 and {MAX_REPEATS}."]
    elif plan.run_count > MAX_RUNS:
        errors["repeats"] = [f"{plan.run_count} runs are more than the {MAX_RUNS} one experiment may have."]
    if problem := _engines_problem(plan):
        errors["engines"] = [problem]
    if plan.agent is not None and plan.agent.status != AgentStatus.APPROVED:
        errors["agent"] = [f"{plan.agent.name} is not approved."]
    if plan.visibility and plan.visibility not in Visibility.values:
        errors["visibility"] = [f"Must be one of {', '.join(Visibility.values)}."]
    if len(plan.name) > NAME_LIMIT:
        errors["name"] = [f"At most {NAME_LIMIT} characters."]
    if errors:
        raise PlanError(errors)


def _said(factor: FactorDef, value: FactorValue) -> bool:
    return not factor.optional or value != factor.default


def _factor_errors(plan: Plan) -> dict[str, list[str]]:
    known = {factor.name: factor for factor in WORKLOADS[plan.workload].factors}
    given = {**{name: (value,) for name, value in plan.factors.items()}, **plan.sweep}
    errors = {f"factors.{name}": [f"Unknown; known: {', '.join(known)}."] for name in given if name not in known}
    for name, factor in known.items():
        if name not in given:
            if not factor.optional:
                errors[f"factors.{name}"] = ["Required."]
            continue
        values = given[name]
        problems = [problem for value in values if (problem := _value_problem(plan, factor, value))]
        if len(set(values)) < len(values) or not values:
            problems.append("Name every value once.")
        if problems:
            errors[f"factors.{name}"] = problems
    return errors


def _value_problem(plan: Plan, factor: FactorDef, value: FactorValue) -> str:
    """Why a factor cannot have this value; empty when it can."""
    if factor.kind == FactorKind.NUMBER:
        if not isinstance(value, int) or not factor.minimum <= value <= factor.maximum:
            return f"{factor.label} must be between {factor.minimum} and {factor.maximum}."
    elif factor.kind == FactorKind.CHOICE and value not in factor.choices:
        return f"{factor.label} must be one of {', '.join(choice or '(empty)' for choice in factor.choices)}."
    elif len(str(value)) > TEXT_LIMIT:
        return f"{factor.label}: at most {TEXT_LIMIT:,} characters."
    elif factor.kind == FactorKind.PLACE:
        return _place_problem(plan, str(value))
    elif factor.engine_values and value != factor.default:
        return _lacking_problem(plan, factor, value)
    return ""


def _lacking_problem(plan: Plan, factor: FactorDef, value: FactorValue) -> str:
    for dbms in dict.fromkeys(engine.dbms for engine in plan.engines if engine.dbms in DBMSS):
        known = factor.engine_values.get(dbms, ())
        if value not in known:
            there = ", ".join(known) or "none"
            return f"{DBMSS[dbms].name} has no {factor.label.lower()} {value!r}; there are: {there}."
    return ""


def _place_problem(plan: Plan, name: str) -> str:
    if not name:
        return ""
    agents = [plan.agent] if plan.agent else approved_agents()
    if any(place["name"] == name and not place["problem"] for agent in agents for place in agent.places):
        return ""
    known = sorted({place["name"] for agent in agents for place in agent.places})
    return f"No usable storage {name!r}; there are: {', '.join(known) or 'none'}."


def _engines_problem(plan: Plan) -> str:
    """Why no agent can run this; empty when one can."""
    if not plan.engines:
        return "Choose at least one engine."
    if len(set(plan.engines)) < len(plan.engines):
        return "An engine is named twice."
    agents = [plan.agent] if plan.agent else approved_agents()
    if not agents:
        return "No agent is registered and approved yet."
    missing = {
        agent: [e for e in plan.engines if not registry.offers(agent, e.dbms, e.version, e.connection)]
        for agent in agents
    }
    if any(not lacks for lacks in missing.values()):
        return ""
    nowhere = [engine.label for engine in plan.engines if all(engine in lacks for lacks in missing.values())]
    if nowhere:
        where = plan.agent.name if plan.agent else "any agent"
        return f"Not available on {where}: {', '.join(nowhere)}."
    return "No single agent offers all of these engines; an experiment stays on one machine."


def start(plan: Plan, *, user: User | None, slug: str = "", demonstration: bool = False, note: str = "") -> Experiment:
    """Make the experiment with all its queued runs. Raises PlanError; IntegrityError when a given `slug` is taken."""
    check(plan)
    with transaction.atomic():
        experiment = _new_experiment(plan, user=user, slug=slug, demonstration=demonstration, note=note)
        seed = secrets.randbelow(SEED_LIMIT - MAX_REPEATS)
        for order_index, (cell, repeat) in enumerate(plan.in_order(), 1):
            # Each repeat has its own random numbers, the same for all engines.
            _add_run(experiment, plan, cell, repeat=repeat, order_index=order_index, seed=seed + repeat)
    hints.hint(hints.DISPATCH)
    return experiment


def _new_experiment(plan: Plan, *, user: User | None, slug: str, demonstration: bool, note: str) -> Experiment:
    values: dict[str, Any] = {
        "name": plan.title, "created_by": user, "demonstration": demonstration, "note": note, "plan": plan.as_json(),
        "visibility": plan.visibility or default_visibility(),
    }  # fmt: skip
    if slug:
        return Experiment.objects.create(slug=slug, **values)
    while True:
        try:
            with transaction.atomic():
                return Experiment.objects.create(slug=Experiment.free_slug(plan.title), **values)
        except IntegrityError:  # somebody took the same free slug in this moment
            continue


def _add_run(experiment: Experiment, plan: Plan, cell: Cell, *, repeat: int, order_index: int, seed: int) -> Run:
    engine = cell.engine
    run = ingest.scheduled_run(
        experiment=experiment,
        workload=plan.workload,
        dbms=engine.dbms,
        dbms_version=engine.version,
        settings=plan.settings_of(engine),
        called=plan.called.get(engine.dbms, ""),
        factors=cell.factors,
        repeat=repeat,
        order_index=order_index,
        hardware=plan.agent.hardware if plan.agent else None,
        demonstration=experiment.demonstration,
        context={"connection": engine.connection} if engine.connection else {},
    )
    spec: JobSpec = {
        "run_id": str(run.pk),
        "workload": plan.workload,
        "workload_version": WORKLOADS[plan.workload].version,
        "dbms": engine.dbms,
        "dbms_version": engine.version,
        "settings": list(plan.settings_of(engine)),
        "factors": dict(cell.factors),
        "seed": seed,
        "repeat": repeat,
    }
    if engine.connection:
        spec["connection"] = engine.connection
    Job.objects.create(run=run, spec=spec, requested_agent=plan.agent)
    return run


def repeat_cell(run: Run) -> Run:
    """One more repeat of a scheduled run's cell: same spec, same machine, its own seed; at the end of the queue.

    It belongs to who owns the cell and is seen by the same people.
    """
    spec: JobSpec = dict(run.job.spec)  # type: ignore[assignment]
    with transaction.atomic():
        if run.experiment_id is not None:  # two clicks at once must not get the same number
            Experiment.objects.select_for_update().get(pk=run.experiment_id)
        cell = Run.objects.filter(
            experiment=run.experiment_id, dbms_version=run.dbms_version, workload=run.workload, config=run.config
        ).select_related("job")
        repeats = [other.repeat for other in cell if other.job.spec["factors"] == spec["factors"]]
        place = Run.objects.filter(experiment=run.experiment_id).aggregate(last=Max("order_index"))["last"]
        again = ingest.scheduled_run(
            experiment=run.experiment,
            workload=spec["workload"],
            dbms=spec["dbms"],
            dbms_version=spec["dbms_version"],
            settings=[(name, value) for name, value in spec["settings"]],
            factors=spec["factors"],
            repeat=max(repeats, default=0) + 1,
            order_index=None if run.experiment_id is None else (place or 0) + 1,
            hardware=run.hardware,
            demonstration=run.demonstration,
            context=run.context,
            owner=run.owner,
            visibility=run.visibility,
        )
        fresh = {**spec, "run_id": str(again.pk), "seed": secrets.randbelow(SEED_LIMIT), "repeat": again.repeat}
        Job.objects.create(run=again, spec=fresh, requested_agent=run.job.agent or run.job.requested_agent)
    hints.hint(hints.DISPATCH)
    return again
