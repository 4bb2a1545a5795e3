"""What to run: engines, factors, repeats; whether it can be run; its cells; the plan in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, cast

from benchagent.catalog import DBMSS, WORKLOADS, FactorDef, FactorKind
from benchagent.catalog.values import FACTORS, factor_words
from benchagent.plugins import LACKING
from benchagent.redaction import REDACTED, redact_value
from django.utils import timezone

from agents.machines import Engine, SecondStorage, approved_agents
from agents.models import Agent, AgentStatus
from runs.models.choices import Visibility
from runs.models.shapes import PlanDocument
from runs.results.brought_plan import MAX_REPEATS, MAX_RUNS, values_of
from runs.run.facets import factor_label

NAME_LIMIT = 200

Settings = tuple[tuple[str, str], ...]
FactorValue = int | float | str
# What follows from the value of a varied factor: (name, value, what it sets).
Override = tuple[str, FactorValue, Mapping[str, FactorValue]]


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
    # Cells beside these combinations, by what they set: the factors that they name are varied ones too.
    extra: tuple[Mapping[str, FactorValue], ...] = ()
    settings: Mapping[str, Settings] = field(default_factory=dict)
    # What people call these settings, by DBMS; empty takes a name made of what differs from the standard ones.
    called: Mapping[str, str] = field(default_factory=dict)
    # None: the first agent that is free and offers every engine; the whole experiment then stays on it.
    agent: Agent | None = None
    name: str = ""
    # What is said of its batch, beside its name: words to find it by, build, commit and branch tested, a note.
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
        return [self.agent] if self.agent else approved_agents()

    @property
    def run_count(self) -> int:
        combinations = prod(len(values) for values in self.sweep.values()) + len(self.extra)
        return len(self.engines) * combinations * self.repeats

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
            cells += [Cell(engine, named) for engine in self.engines]
        return cells

    def as_json(self) -> dict[str, Any]:
        """For the experiment, which is public: without secrets."""
        return {
            "workload": self.workload,
            "engines": [engine.key.split(":", 1) for engine in self.engines],
            "settings": {
                engine.dbms: [[name, redact_value(name, value)] for name, value in self.settings_of(engine)]
                for engine in self.engines
                if not engine.connection
            },
            "factors": dict(self.factors),
            "overrides": [[name, value, dict(factors)] for name, value, factors in self.overrides],
            "sweep": {name: list(values) for name, values in self.sweep.items()},
            "extra": [dict(beside) for beside in self.extra],
            "repeats": self.repeats,
            "agent": self.agent.slug if self.agent else None,
            "name": self.name,
            "tags": list(self.tags),
            "tested": dict(self.tested),
            "note": self.note,
            "visibility": self.visibility,
            "publication": self.publication,
            "figure": self.figure,
        }

    @classmethod
    def of(cls, document: PlanDocument) -> Plan:
        """The plan that `as_json` told, to be run again. Raises PlanError where it does not tell all of it."""
        settings = {dbms: tuple((name, value) for name, value in pairs) for dbms, pairs in document["settings"].items()}
        if hidden := [name for pairs in settings.values() for name, value in pairs if value == REDACTED]:
            raise PlanError(
                {"settings": [f"The value of {', '.join(hidden)} is a secret, which a plan does not keep."]}
            )
        agent = Agent.objects.filter(slug=document.get("agent") or "").first()
        if document.get("agent") and agent is None:
            raise PlanError({"agent": [f"There is no agent {document['agent']} any more."]})
        alike = ("workload", "factors", "repeats", "name", "tested", "note", "visibility", "publication", "figure")
        return cls(
            engines=tuple(Engine(dbms, *version.split("@", 1)) for dbms, version in document["engines"]),
            settings=settings,
            overrides=tuple(document["overrides"]),
            sweep={name: tuple(values) for name, values in document["sweep"].items()},
            extra=tuple(document["extra"]),
            tags=tuple(document["tags"]),
            agent=agent,
            **{name: document[name] for name in alike},  # type: ignore[literal-required]
        )


class PlanError(ValueError):
    """The plan cannot be run; `errors` names each wrong field."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        super().__init__("; ".join(f"{name}: {' '.join(words)}" for name, words in errors.items()))
        self.errors = errors


def planned(document: Mapping[str, Any]) -> Plan:
    """The plan of an experiment, to be run again. Raises PlanError, also for a document that is none."""
    try:
        return Plan.of(cast(PlanDocument, document))
    except KeyError as error:
        raise PlanError({"experiment": [f"Its plan cannot be run again: it names no {error.args[0]}."]}) from error


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
    if unknown := next((engine.dbms for engine in plan.engines if engine.dbms not in DBMSS), ""):
        errors["engines"] = [f"{unknown}: {LACKING}."]
    elif problem := _engines_problem(plan):
        errors["engines"] = [problem]
    if plan.agent is not None and plan.agent.status != AgentStatus.APPROVED:
        errors["agent"] = [f"{plan.agent.name} is not approved."]
    if plan.visibility and plan.visibility not in Visibility.values:
        errors["visibility"] = [f"Must be one of {', '.join(Visibility.values)}."]
    if plan.not_after is not None and plan.not_after <= timezone.now():
        errors["not_after"] = ["This time is over."]
    if len(plan.name) > NAME_LIMIT:
        errors["name"] = [f"At most {NAME_LIMIT} characters."]
    if errors:
        raise PlanError(errors)


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
        return "No agent is registered and approved yet."
    missing = {
        agent: [engine for engine in plan.engines if not agent.offers(engine.dbms, engine.version, engine.connection)]
        for agent in plan.candidates
    }
    if any(not lacks for lacks in missing.values()):
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

    def told(sets: Mapping[str, FactorValue]) -> str:
        return ", ".join(
            f"{FACTORS[name].label}: {factor_words(name, value)}" if name in FACTORS else f"{name}: {value}"
            for name, value in sets.items()
        )

    lines = [f"where {told({name: value})}, {told(sets)}" for name, value, sets in overrides]
    return [*lines, *(f"beside all combinations a cell with {told(beside)}" for beside in extra)]


def _words(name: str, value: FactorValue, plan: Plan) -> str:
    if plan.agent and FACTORS[name].kind == FactorKind.STORAGE:
        other = SecondStorage.of(plan.agent, str(value))
        if other and other.name == value:
            return other.words
    return factor_words(name, value)
