"""What a plan varies beside factors: configurations and machines; which cells it leaves out, in which order it goes."""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product, starmap
from typing import Annotated, Any, Literal, TypeVar

from benchagent.configfiles.engines import ENGINES
from benchagent.configfiles.meaning import settings_of, unread_values
from benchagent.configfiles.refusals import refused_setting
from benchagent.configfiles.settings import Given
from benchagent.redaction import REDACTED
from pydantic import BaseModel, ConfigDict, Field

from runs.models import Config, Run
from runs.models.choices import RunState
from runs.run.facets import ignored_name

Settings = tuple[tuple[str, str], ...]
FactorValue = int | float | str
Sets = Mapping[str, FactorValue]
# Values of settings that are varied, by the engine's own names.
Swept = Mapping[str, tuple[str, ...]]
Order = Literal["interleaved", "random"]
C = TypeVar("C")
LONGEST_LINES = 4_000


@dataclass(frozen=True)
class Configuration:
    """Settings that cells of a DBMS are run with. `facts`: what tells it from the others of its plan, by name."""

    settings: Settings
    facts: Mapping[str, str]

    @property
    def label(self) -> str:
        return ", ".join(value if name == "config" else f"{name}={value}" for name, value in self.facts.items())

    @property
    def stored(self) -> str:
        """Slug of the stored configuration that these settings are; empty where anything is varied in it."""
        return self.facts.get("config", "") if len(self.facts) == 1 else ""


class Stop(BaseModel):
    """Repeats end where the interval is narrower than `percent` (`runs.stats.stopping`).

    It is that of a cell's mean, or with a `baseline` that of its ratio to the cell that has these values.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    percent: Annotated[float, Field(gt=0, le=100)]
    baseline: dict[str, FactorValue] = {}


def configurations(standard: Settings, stored: Mapping[str, Settings], swept: Swept) -> list[Configuration]:
    """Each stored one, or the standard settings without any, with every combination of the settings that are varied."""
    bases = [({"config": slug}, settings) for slug, settings in stored.items()] or [({}, standard)]
    found = []
    for (facts, settings), values in product(bases, product(*swept.values())):
        chosen = dict(zip(swept, values, strict=True))
        kept = tuple((name, value) for name, value in settings if name not in chosen)
        found.append(Configuration((*kept, *chosen.items()), {**facts, **chosen}))
    return found


def stored_settings(config: Config) -> Settings:
    """Raises ValueError where it holds a secret, which is not stored."""
    parameters = config.parameters.all()
    if hidden := [parameter.name for parameter in parameters if parameter.value == REDACTED]:
        raise ValueError(f"{config}: the value of {', '.join(hidden)} is a secret, which is not stored.")
    return tuple((parameter.name, parameter.value or "") for parameter in parameters)


def set_by_agent(dbms: str, names: Iterable[str]) -> str:
    """Which of these settings the agent alone decides on, so that none is in force as given; empty where none is."""
    engine = ENGINES.get(dbms)
    own = [name for name in names if engine and engine.canonical(name) in engine.set_by_agent]
    others = f", and {', '.join(own[1:])}" if own[1:] else ""
    return f"{own[0]}: the agent sets this itself{others}." if own else ""


def too_few_connections(dbms: str, given: Settings, terminals: FactorValue) -> str:
    """Why so many terminals cannot connect; empty where they can, or nothing is set."""
    settings = settings_of(dbms, starmap(Given, given))
    limits = settings.used("max_connections") if settings else []
    most = settings.means("max_connections") if settings else None
    if not limits or most is None or isinstance(most.value, str | None) or isinstance(terminals, str):
        return ""
    return f"{limits[-1].name}={limits[-1].value}: too few for {terminals} terminals." if most.value < terminals else ""


def refused(dbms: str, version: str, settings: Settings, swept: Swept) -> str:
    """Why this version does not take a setting, as far as it is known; empty where it may."""
    rows = Run.objects.filter(dbms_version__dbms__slug=dbms, dbms_version__version=version, job__isnull=False)
    canonical = ENGINES[dbms].canonical if dbms in ENGINES else str.lower
    ignored: set[str] = set()
    lists = rows.order_by("-created_at").values_list("ignored_settings", "effective_settings")[:50]
    for ignored_words, effective in lists:  # one that has a value in force is known, only the one given was not taken
        in_force = {canonical(name) for name, _ in effective}
        ignored |= {canonical(ignored_name(words)) for words in ignored_words} - in_force
    pairs = [*settings, *((name, value) for name, values in swept.items() for value in values)]
    messages = rows.filter(state=RunState.FAILED).order_by("-created_at").values_list("message", flat=True)[:50]
    not_taken = {(canonical(found[0]), found[1]) for message in messages if (found := refused_setting(message))}
    for name, value in pairs:
        if {(canonical(name), None), (canonical(name), value)} & not_taken:
            return f"{name}={value}: {dbms} {version} refused it in an earlier run."
    for name, values in swept.items():
        if canonical(name) in ignored:
            return f"{name}: {dbms} {version} ignored it in an earlier run."
        if len(set(values)) < len(values) or not values:
            return f"{name}: name every value once."
    return next(iter(unread_values(dbms, starmap(Given, pairs))), "")


def fits(facts: Mapping[str, Any], sets: Sets) -> bool:
    """Whether a cell of these facts has all of these values."""
    return all(name in facts and str(facts[name]) == str(value) for name, value in sets.items())


def in_order(cells: Sequence[C], repeats: int, order: Order, seed: int) -> Iterator[tuple[C, int]]:
    """Every cell once, then every cell again, so that a drift of the machine hits all alike: A B C A B C.

    `random`: in each repeat they are shuffled anew, so that no cell always follows the same one.
    """
    for repeat in range(1, repeats + 1):
        block = list(cells)
        if order == "random":
            random.Random(f"{seed} {repeat}").shuffle(block)  # noqa: S311 not for secrets
        yield from ((cell, repeat) for cell in block)


# As text, for forms


def swept_of(text: str) -> dict[str, tuple[str, ...]]:
    """The settings of lines `name = value, value`; a value cannot hold a comma. Raises ValueError."""
    found: dict[str, tuple[str, ...]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        name, equals, values = (part.strip() for part in line.partition("="))
        if not equals or not name or name in found:
            raise ValueError(f"Not of the form “name = value, value”, or named twice: {line[:80]}")
        found[name] = tuple(value.strip() for value in values.split(","))
    return found


def swept_text(swept: Mapping[str, Iterable[str]]) -> str:
    return "\n".join(f"{name} = {', '.join(values)}" for name, values in swept.items())


def cells_of(text: str) -> tuple[dict[str, FactorValue], ...]:
    """A line each: `dbms=sqlite, terminals=64`. Raises ValueError."""
    lines = filter(None, map(str.strip, text.splitlines()))
    cells = []
    for line in lines:
        pairs = [re.fullmatch(r"\s*([^=]+?)\s*=\s*(.*?)\s*", part) for part in line.split(",")]
        if not all(pairs):
            raise ValueError(f"Not of the form “name=value, name=value”: {line[:80]}")
        cells.append({pair[1]: pair[2] for pair in pairs if pair})
    return tuple(cells)


def cells_text(cells: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(", ".join(f"{name}={value}" for name, value in cell.items()) for cell in cells)
