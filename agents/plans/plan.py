"""What to run: engines, factors, repeats; expanded into cells in the order in which they are run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import product
from math import prod
from typing import Any

from benchagent.catalog import DBMSS, WORKLOADS, FactorDef

from agents.machines.offers import engine_key
from agents.models import Agent
from runs.access.visibility import default_visibility
from runs.models.text import redact

NAME_LIMIT = 200

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
    # Cells beside these combinations, by what they set: the factors that they name are varied ones too.
    extra: tuple[Mapping[str, FactorValue], ...] = ()
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
        combinations = prod(len(values) for values in self.sweep.values()) + len(self.extra)
        return len(self.engines) * combinations * self.repeats

    @property
    def title(self) -> str:
        if self.name:
            return self.name
        names = dict.fromkeys(DBMSS[engine.dbms].name for engine in self.engines if engine.dbms in DBMSS)
        workload = WORKLOADS[self.workload].name if self.workload in WORKLOADS else self.workload
        return f"{workload}: {', '.join(names)}"[:NAME_LIMIT]

    def values(self) -> dict[str, tuple[FactorValue, ...]]:
        """All values that are asked for of each factor; those of `overrides` follow from them."""
        found = {**{name: (value,) for name, value in self.factors.items()}, **self.sweep}
        for one in self.extra:
            for name, value in one.items():
                found[name] = found.get(name, ()) if value in found.get(name, ()) else (*found.get(name, ()), value)
        return found

    def settings_of(self, engine: Engine) -> Settings:
        if engine.connection:
            return ()
        return tuple(self.settings.get(engine.dbms, DBMSS[engine.dbms].settings))

    def cells(self) -> list[Cell]:
        names = list(self.sweep)
        combinations = [dict(zip(names, values, strict=True)) for values in product(*self.sweep.values())]
        combinations += [dict(one) for one in self.extra]
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
        varied = {*self.sweep, *(name for one in self.extra for name in one)}
        return {name: value for name, value in factors.items() if name in varied or _said(definitions[name], value)}

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
            "extra": [dict(one) for one in self.extra],
            "repeats": self.repeats,
            "agent": self.agent.slug if self.agent else None,
            "name": self.name,
            "visibility": self.visibility or default_visibility(),
            "publication": self.publication,
            "figure": self.figure,
        }


def _said(factor: FactorDef, value: FactorValue) -> bool:
    return not factor.optional or value != factor.default


class PlanError(ValueError):
    """The plan cannot be run; `errors` names each wrong field."""

    def __init__(self, errors: dict[str, list[str]]) -> None:
        super().__init__("; ".join(f"{name}: {' '.join(words)}" for name, words in errors.items()))
        self.errors = errors
