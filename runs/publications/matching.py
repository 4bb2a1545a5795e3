"""Which cells of an experiment answer which published figure.

The matching is never guessed: the plan of an experiment that repeats an article carries it (`published`), one entry a
line of the table that `runs.publications.page.reproductions` makes of it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from runs.models import Experiment

PLAN_KEY, GAPS_KEY = "published", "gaps"
CellFacts = Mapping[str, str | float]


@dataclass(frozen=True)
class Match:
    """One published figure and the cells that answer it.

    `ours` and `base` choose runs of the experiment: "dbms", "version" (how it begins), else a factor. With `base` the
    line is a relation: how many times as fast `ours` is. The published side is a claim (its source id), or the
    published runs that `theirs` chooses ("version" is then a source id), again with a base or without one.
    """

    label: str
    metric: str = ""
    ours: CellFacts = field(default_factory=dict)
    base: CellFacts = field(default_factory=dict)
    claim: str = ""
    theirs: CellFacts = field(default_factory=dict)
    their_base: CellFacts = field(default_factory=dict)
    their_metric: str = ""
    # With `base`: a published observation (its metric) of how many seconds longer `ours` takes, and on how many.
    extra: str = ""
    extra_on_s: float = 0
    # What differs, beyond what the rows tell.
    differs: str = ""
    # Why nothing can be run for it.
    gap: str = ""
    # A relation that is read as a loss or a gain: also said in per cent.
    percent: bool = False

    def as_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value}


def matches_of(experiment: Experiment) -> list[Match]:
    """Those that its plan carries; entries of another shape are left out."""
    names = {field.name for field in fields(Match)}
    entries = experiment.plan.get(PLAN_KEY) or []
    return [
        Match(**entry) for entry in entries if isinstance(entry, dict) and "label" in entry and names.issuperset(entry)
    ]


@dataclass(frozen=True)
class PlanGap:
    """What a plan could not run. `version`: the id of the engine in the published data, where the article tested it."""

    label: str
    reason: str
    version: str = ""

    @property
    def as_list(self) -> list[str]:
        return [self.label, self.reason, self.version]


def gaps_of(experiment: Experiment) -> list[PlanGap]:
    entries = experiment.plan.get(GAPS_KEY) or []
    return [PlanGap(*map(str, entry)) for entry in entries if isinstance(entry, list) and len(entry) in (2, 3)]
