"""What to run: engines, factors, repeats; whether it can be run; its cells; the plan in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from itertools import chain, product
from math import inf, prod
from typing import Any, cast

from benchagent.catalog import DBMSS, WORKLOADS, FactorDef, FactorKind, factor_label
from benchagent.catalog.values import FACTORS, factor_words
from benchagent.plugins import LACKING
from benchagent.redaction import REDACTED, redact_value
from django.utils import timezone
from pydantic_core import to_jsonable_python

from agents.machines import Engine, SecondStorage, approved_agents
from agents.models import Agent, AgentStatus
from agents.plans import matrix
from agents.plans.matrix import Configuration, FactorValue, Order, Sets, Settings, Stop, Swept
from agents.refusals import FieldErrors
from runs.access.rules import nameable
from runs.models import Config, User
from runs.models.choices import Visibility
from runs.models.shapes import PlanDocument
from runs.results.brought_plan import MAX_REPEATS, MAX_RUNS, values_of

NAME_LIMIT = 200

# What a plan's document holds as the plan does, from the first on, and since there are matrices.
FROM_THE_FIRST = (
    "workload", "factors", "overrides", "extra", "repeats", "name", "tags", "tested", "note", "visibility",
    "publication", "figure",
)  # fmt: skip
SINCE = ("label", "machines", "labels", "each", "exclude", "order", "order_seed")
# A plan whose combinations are more, before any is left out, is not looked at further.
MOST_CELLS = 5_000
# What follows from the value of a varied factor: (name, value, what it sets).
Override = tuple[str, FactorValue, Mapping[str, FactorValue]]


@dataclass(frozen=True)
class Cell:
    """One combination that is run `repeats` times."""

    engine: Engine
    factors: Mapping[str, FactorValue]
    configuration: Configuration
    # Where it is run; None: on whichever machine the experiment is.
    agent: Agent | None = None

    @property
    def facts(self) -> dict[str, FactorValue]:
        """What tells it from the other cells, by the names with which one is left out or made the baseline."""
        machine = {"machine": self.agent.slug} if self.agent else {}
        own = {"dbms": self.engine.dbms, "version": self.engine.version, **machine}
        return {**own, **self.configuration.facts, **self.factors}


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
    # Cells beside these combinations, by what they set: the factors that they name are varied ones too.
    extra: tuple[Mapping[str, FactorValue], ...] = ()
    settings: Mapping[str, Settings] = field(default_factory=dict)
    # What people call these settings, by DBMS; empty takes a name made of what differs from the standard ones.
    called: Mapping[str, str] = field(default_factory=dict)
    # For each DBMS stored configurations by slug, instead of `settings`, and settings that are varied in each.
    configs: Mapping[str, Mapping[str, Settings]] = field(default_factory=dict)
    swept: Mapping[str, Swept] = field(default_factory=dict)
    # None: the first agent that is free and offers every engine; the whole experiment then stays on it.
    agent: Agent | None = None
    # Without an agent: which may run it, by slug and by the labels that it needs; all of these run it where `each`.
    machines: tuple[str, ...] = ()
    labels: tuple[str, ...] = ()
    each: bool = False
    # Cells that are left out, by what they have.
    exclude: tuple[Sets, ...] = ()
    order: Order = "interleaved"
    order_seed: int = 0
    # With it `repeats` are the most that are made.
    stop: Stop | None = None
    name: str = ""
    # What is said of its batch: a label where it is not the name, words to find it by, what was tested, a note.
    label: str = ""
    tags: tuple[str, ...] = ()
    tested: Mapping[str, str] = field(default_factory=dict)
    note: str = ""
    # Who may see it; empty takes the setting's default.
    visibility: str = ""
    # Runs that have not begun by then are cancelled.
    not_after: datetime | None = None
    # Slug of the publication that it repeats, and the figure that its runs fill there.
    publication: str = ""
    figure: str = ""

    @cached_property
    def candidates(self) -> list[Agent]:
        """Agents that may run it, as far as nobody has looked at its engines."""
        if self.agent:
            return [self.agent]
        return [agent for agent in approved_agents() if may_be_on(agent, self.machines, self.labels)]

    @property
    def run_count(self) -> int:
        """At most, where a rule stops repeats."""
        return (self.most_cells if self.most_cells > MOST_CELLS else len(self.cells())) * self.repeats

    @property
    def most_cells(self) -> int:
        """Before any is left out."""
        combinations = prod(len(values) for values in self.sweep.values()) + len(self.extra)
        configurations = sum(
            max(1, len(self.configs.get(engine.dbms, ())))
            * prod(len(values) for values in self.swept.get(engine.dbms, {}).values())
            for engine in self.engines
        )
        return combinations * configurations * (len(self.candidates) if self.each else 1)

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
        # A DBMS that is unknown here is another site's.
        usual = DBMSS[engine.dbms].settings if engine.dbms in DBMSS else ()
        return tuple(self.settings.get(engine.dbms, usual))

    @property
    def setting_names(self) -> list[str]:
        """The names of all settings that it gives."""
        given = [*self.settings.values(), *(pairs for stored in self.configs.values() for pairs in stored.values())]
        return [name for pairs in given for name, _ in pairs] + [
            name for swept in self.swept.values() for name in swept
        ]

    def configurations(self, engine: Engine) -> list[Configuration]:
        if engine.connection:
            return [Configuration((), {})]
        stored, swept = self.configs.get(engine.dbms, {}), self.swept.get(engine.dbms, {})
        return matrix.configurations(self.settings_of(engine), stored, swept)

    def cells(self) -> list[Cell]:
        """Without optional factors that are as if nobody had asked: a run does not name what was not varied.

        How transactions fall due is named wherever they do: runs from before there was a choice name nothing.
        """
        combinations = [dict(zip(self.sweep, values, strict=True)) for values in product(*self.sweep.values())]
        combinations += [dict(beside) for beside in self.extra]
        varied_names = {*self.sweep, *(name for beside in self.extra for name in beside)}
        usual = {factor.name: factor.default for factor in WORKLOADS[self.workload].factors if factor.optional}
        cells = []
        for varied in combinations:
            factors = {**self.factors, **varied}
            for name, value, sets in self.overrides:
                if varied.get(name) == value:
                    factors |= sets
            named = {
                name: value
                for name, value in factors.items()
                if name in varied_names or name not in usual or value != usual[name]
            }
            if factors.get("rate_per_s"):
                named.setdefault("arrivals", factors.get("arrivals", usual["arrivals"]))
            cells += [
                Cell(engine, named, configuration, agent)
                for engine in self.engines
                for configuration in self.configurations(engine)
                for agent in (self.candidates if self.each else [self.agent])
            ]
        return [cell for cell in cells if not any(matrix.fits(cell.facts, sets) for sets in self.exclude)]

    def as_json(self) -> dict[str, Any]:
        """For the experiment, which is public: without secrets."""
        alike = (*FROM_THE_FIRST, *SINCE, "sweep", "stop")
        document: dict[str, Any] = to_jsonable_python({name: getattr(self, name) for name in alike})
        return document | {
            "engines": [engine.key.split(":", 1) for engine in self.engines],
            "settings": {
                engine.dbms: [[name, redact_value(name, value)] for name, value in self.settings_of(engine)]
                for engine in self.engines
                if not engine.connection
            },
            "agent": self.agent.slug if self.agent else None,
            "configs": {dbms: list(stored) for dbms, stored in self.configs.items()},
            "swept": {
                dbms: {name: [redact_value(name, value) for value in values] for name, values in swept.items()}
                for dbms, swept in self.swept.items()
            },
        }

    @classmethod
    def of(cls, document: PlanDocument, *, user: User | None) -> Plan:
        """The plan that `as_json` told, to be run by `user`. Raises FieldErrors where it does not tell all of it."""
        settings = {dbms: tuple((name, value) for name, value in pairs) for dbms, pairs in document["settings"].items()}
        if hidden := [name for pairs in settings.values() for name, value in pairs if value == REDACTED]:
            raise FieldErrors(settings=f"The value of {', '.join(hidden)} is a secret, which a plan does not keep.")
        agent = Agent.objects.filter(slug=document.get("agent") or "").first()
        if document.get("agent") and agent is None:
            raise FieldErrors(agent=f"There is no agent {document['agent']} any more.")
        given = cast(dict[str, Any], document)
        alike: dict[str, Any] = {
            name: tuple(given[name]) if isinstance(given[name], list) else given[name]
            for name in (*FROM_THE_FIRST, *(name for name in SINCE if name in given))
        }
        return cls(
            **alike,
            engines=tuple(Engine(dbms, *version.split("@", 1)) for dbms, version in document["engines"]),
            settings=settings,
            sweep={name: tuple(values) for name, values in document["sweep"].items()},
            agent=agent,
            configs={dbms: stored_configs(dbms, slugs, user) for dbms, slugs in document.get("configs", {}).items()},
            swept={
                dbms: {name: tuple(values) for name, values in swept.items()}
                for dbms, swept in document.get("swept", {}).items()
            },
            stop=Stop.model_validate(document["stop"]) if document.get("stop") else None,
        )


def number_of(factors: Mapping[str, FactorValue], name: str) -> float:
    value = factors.get(name, 0)
    return 0 if isinstance(value, str) else value


def may_be_on(agent: Agent, machines: Iterable[str], labels: Iterable[str]) -> bool:
    """Whether it is one of these machines, which are all where none is named, and has these labels."""
    named = set(machines)
    return (not named or agent.slug in named) and set(labels) <= set(agent.labels)


def stored_configs(dbms: str, slugs: Iterable[str], user: User | None) -> dict[str, Settings]:
    """The settings of stored configurations that `user` (None: the system) may see. Raises FieldErrors."""
    wanted = list(slugs)
    rows = Config.objects.filter(slug__in=wanted, dbms__slug=dbms).prefetch_related("parameters")
    found = {config.slug: config for config in (nameable(rows, user) if user else rows)}
    if missing := [slug for slug in wanted if slug not in found]:
        raise FieldErrors(configs=f"There is no configuration of {dbms} called {', '.join(missing)}.")
    try:
        return {slug: matrix.stored_settings(found[slug]) for slug in wanted}
    except ValueError as error:
        raise FieldErrors(configs=str(error)) from error


def planned(document: Mapping[str, Any], *, user: User | None) -> Plan:
    """The plan of an experiment, to be run again by `user`. Raises FieldErrors, also for a document that is none."""
    try:
        return Plan.of(cast(PlanDocument, document), user=user)
    except KeyError as error:
        raise FieldErrors(experiment=f"Its plan cannot be run again: it names no {error.args[0]}.") from error


def check(plan: Plan) -> None:
    """Raises FieldErrors."""
    errors: dict[str, list[str]] = {}
    workload = WORKLOADS.get(plan.workload)
    if workload is None:
        errors["workload"] = [f"{plan.workload}: {LACKING}."]
    else:
        errors |= _factor_errors(plan)
    if not 1 <= plan.repeats <= MAX_REPEATS:
        errors["repeats"] = [f"Must be between 1 and {MAX_REPEATS}."]
    if unknown := next((engine.dbms for engine in plan.engines if engine.dbms not in DBMSS), ""):
        errors["engines"] = [f"{unknown}: {LACKING}."]
    elif problem := _engines_problem(plan):
        errors["engines"] = [problem]
    if not errors:
        errors |= _matrix_errors(plan)
    if plan.agent is not None and plan.agent.status != AgentStatus.APPROVED:
        errors["agent"] = [f"{plan.agent.name} is not approved."]
    if plan.visibility and plan.visibility not in Visibility.values:
        errors["visibility"] = [f"Must be one of {', '.join(Visibility.values)}."]
    if plan.not_after is not None and plan.not_after <= timezone.now():
        errors["not_after"] = ["This time is over."]
    if len(plan.name) > NAME_LIMIT:
        errors["name"] = [f"At most {NAME_LIMIT} characters."]
    if errors:
        raise FieldErrors(**errors)


def _matrix_errors(plan: Plan) -> dict[str, list[str]]:
    """What is wrong with the matrix of a plan whose factors, repeats and engines are right."""
    if plan.run_count > MAX_RUNS:
        return {"repeats": [f"{plan.run_count} runs are more than the {MAX_RUNS} one experiment may have."]}
    cells = plan.cells()
    errors: dict[str, list[str]] = {}
    if problem := next(filter(None, _settings_problems(plan, cells)), ""):
        errors["settings"] = [problem]
    if plan.agent and (plan.machines or plan.labels or plan.each):
        errors["machines"] = ["Name one agent, or which of several may run it."]
    if plan.each and (lacking := {agent.name: lacks for agent in plan.candidates if (lacks := lacks_of(plan, agent))}):
        errors["machines"] = [f"{name} lacks {', '.join(lacks)}." for name, lacks in lacking.items()]
    everything = replace(plan, exclude=()).cells()
    if idle := [sets for sets in plan.exclude if not any(matrix.fits(cell.facts, sets) for cell in everything)]:
        errors["exclude"] = [f"No cell has {matrix.cells_text([sets])}." for sets in idle]
    elif not cells:
        errors["exclude"] = ["Every cell is left out."]
    if plan.stop and plan.stop.baseline:
        machines = {cell.agent for cell in cells}
        fitting = [cell.agent for cell in cells if matrix.fits(cell.facts, plan.stop.baseline)]
        if set(fitting) != machines or len(fitting) > len(machines):
            errors["stop"] = ["Exactly one cell of each machine is the baseline: name what it alone has."]
    return errors


def _settings_problems(plan: Plan, cells: Iterable[Cell]) -> Iterator[str]:
    """As far as is known before a run. Each begins with the name of its setting, where it has one."""
    for dbms in (*plan.configs, *plan.swept):
        if dbms not in {engine.dbms for engine in plan.engines if not engine.connection}:
            yield f"No engine of {dbms} is chosen whose settings could be varied."
    for engine in plan.engines:
        stored = plan.configs.get(engine.dbms, {}) if not engine.connection else {}
        typed, swept = plan.settings_of(engine), plan.swept.get(engine.dbms, {})
        # A stored configuration may be a server's whole file: of that a run passes over what is the agent's to say.
        yield matrix.set_by_agent(engine.dbms, (*dict(typed), *swept))
        yield matrix.refused(engine.dbms, engine.version, (*typed, *chain.from_iterable(stored.values())), swept)
    for cell in cells:
        terminals = number_of(cell.factors, "terminals")
        yield matrix.too_few_connections(cell.engine.dbms, cell.configuration.settings, terminals)


# What a cell may be limited to, by the factor, and how a machine that has not so much is told of it.
LIMITS = {"memory_limit_mb": "memory for a limit of {:,} MB", "cpus": "{:,} CPUs"}


def most_of(agent: Agent, limit: str) -> float:
    """The most that the factor may be on the agent's machine, as far as that is known."""
    ram_bytes, threads = (agent.facts.get(name) for name in ("ram_bytes", "cpu_threads"))
    known = {"memory_limit_mb": ram_bytes and (ram_bytes - 1) // 1_000_000, "cpus": threads}
    return known[limit] or inf


def lacks_of(plan: Plan, agent: Agent) -> list[str]:
    """What the plan's cells need and the agent has not: engines, storages, memory and CPUs."""
    cells = [cell for cell in plan.cells() if cell.agent in (None, agent)]
    engines = dict.fromkeys(cell.engine for cell in cells)
    lacks = [each.label for each in engines if not agent.offers(each.dbms, each.version, each.connection)]
    usable = {storage["name"] for storage in agent.places if not storage["problem"]}
    storages = [factor.name for factor in WORKLOADS[plan.workload].factors if factor.kind == FactorKind.STORAGE]
    wanted = dict.fromkeys(str(cell.factors.get(name, "")) for cell in cells for name in storages)
    lacks += [f"storage {name}" for name in wanted if name and name not in usable]
    most = {name: max((number_of(cell.factors, name) for cell in cells), default=0) for name in LIMITS}
    return lacks + [LIMITS[name].format(value) for name, value in most.items() if value > most_of(agent, name)]


def _factor_errors(plan: Plan) -> dict[str, list[str]]:
    workload = WORKLOADS[plan.workload]
    factors = {factor.name: factor for factor in workload.factors}
    given = values_of(plan.factors, plan.sweep, (*plan.extra, *(sets for _, _, sets in plan.overrides)))
    refused = workload.refusals(given)
    errors = {f"factors.{name}": [f"Unknown; known: {', '.join(factors)}."] for name in given if name not in factors}
    for name, factor in factors.items():
        if name not in given:
            if not factor.optional:
                errors[f"factors.{name}"] = ["Required."]
            continue
        values = given[name]
        problems = [
            "A cell beside the combinations names none." for beside in plan.extra
            if not factor.optional and name not in plan.factors and name not in beside
        ][:1]  # fmt: skip
        problems += [
            problem for value in values if (problem := refused[name].get(value) or _not_here(plan, factor, value))
        ]
        if len(set(values)) < len(values) or not values:
            problems.append("Name every value once.")
        if problems:
            errors[f"factors.{name}"] = problems
    return errors


def _not_here(plan: Plan, factor: FactorDef, value: FactorValue) -> str:
    """Why no machine or engine of the plan has this value of a factor; empty when they have."""
    if factor.kind == FactorKind.STORAGE and value:
        storages = [storage for agent in plan.candidates for storage in agent.places]
        if all(storage["name"] != value or storage["problem"] for storage in storages):
            names = ", ".join(sorted({storage["name"] for storage in storages}))
            return f"No usable storage {value!r}; there are: {names or 'none'}."
    if factor.name in LIMITS and not isinstance(value, str):
        most = max((most_of(agent, factor.name) for agent in plan.candidates), default=inf)
        if value > most:
            return f"No machine has so much: {most:,} {factor.unit} at most."
    if factor.engine_values and value != factor.default:
        for engine in plan.engines:
            there = (factor.external_values if engine.connection else factor.engine_values).get(engine.dbms, ())
            if value not in there:
                name = engine.label if engine.connection or engine.dbms not in DBMSS else DBMSS[engine.dbms].name
                return f"{name} has no {factor.label.lower()} {value!r}; there are: {', '.join(there) or 'none'}."
    return ""


def _engines_problem(plan: Plan) -> str:
    """Why no agent can run this; empty when one can."""
    if not plan.engines:
        return "Choose at least one engine."
    if len(set(plan.engines)) < len(plan.engines):
        return "An engine is named twice."
    if not plan.candidates:
        asked = (" of these" if plan.machines else "") + (f" with {', '.join(plan.labels)}" if plan.labels else "")
        return f"No agent{asked} is registered and approved yet."
    missing = {
        agent: [engine for engine in plan.engines if not agent.offers(engine.dbms, engine.version, engine.connection)]
        for agent in plan.candidates
    }
    if plan.each or any(not lacks for lacks in missing.values()):
        return ""
    nowhere = [engine.label for engine in plan.engines if all(engine in lacks for lacks in missing.values())]
    if nowhere:
        where = plan.agent.name if plan.agent else "any agent"
        return f"Not available on {where}: {', '.join(nowhere)}."
    return "No single agent offers all of these engines; an experiment stays on one machine."


# In words


def plan_words(plan: Plan) -> list[tuple[str, str]]:
    """Every factor as (label, values with their units), what is varied first."""
    values = {**{name: (value,) for name, value in plan.factors.items()}, **plan.sweep}
    texts = {name: " · ".join(_words(name, value, plan) for value in values[name]) for name in (*plan.sweep, *values)}
    for name, words in _exceptions(plan):
        texts[name] = f"{texts[name]}; {words}" if name in texts else words
    return [(factor_label(name), words) for name, words in texts.items()]


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


def beyond_words(overrides: Iterable[Override], extra: Iterable[Mapping[str, FactorValue]]) -> list[str]:
    """What a plan says that no combination of values does, a line each."""

    def in_words(sets: Mapping[str, FactorValue]) -> str:
        return ", ".join(
            f"{FACTORS[name].label}: {factor_words(name, value)}" if name in FACTORS else f"{name}: {value}"
            for name, value in sets.items()
        )

    lines = [f"where {in_words({name: value})}, {in_words(sets)}" for name, value, sets in overrides]
    return [*lines, *(f"beside all combinations a cell with {in_words(beside)}" for beside in extra)]


def _words(name: str, value: FactorValue, plan: Plan) -> str:
    if plan.agent and FACTORS[name].kind == FactorKind.STORAGE:
        other = SecondStorage.of(plan.agent, str(value))
        if other and other.name == value:
            return other.words
    return factor_words(name, value)
