"""Which cells of an experiment answer which published figure, and what was measured in them.

The matching is never guessed: the plan of an experiment that repeats an article carries it (`published`), one entry a
line of the table that `runs.publications.page.reproductions` makes of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from benchagent.catalog import METRICS, Role, factor_span

from runs.compare.guard import Difference, conditions_of, differences
from runs.models import Experiment, Measurement, Run
from runs.publications.material import Material
from runs.run.facets import doubt
from runs.run.number import number_of, why_no_number
from runs.stats import Interval, geometric_mean_interval, ratio, summarise

PLAN_KEY, GAPS_KEY = "published", "gaps"
NOT_PART = "not a cell of this experiment"
# Differences between two cells of one experiment across which a ratio would mislead.
_REFUSED = ("workload", "durability")
# Checks of a run that do not hold: something else kept the machine busy, or a few terminals did the work of all.
_DISTURBED = ("machine_alone", "terminals_fair")
WINDOW = "duration_s"
# Metrics of which less is more: A is as many times as fast as B's value is of A's.
LOWER = "lower"

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


def published_side(material: Material, facts: CellFacts, metric: str) -> Side:
    return Side([run for run in material.runs if _fits(run, facts, _published_fact)], metric, published=True)


@dataclass(frozen=True)
class Side:
    """Runs of one side with their numbers of one metric; for `published` ones their median stands."""

    runs: list[Run]
    metric: str
    published: bool = False

    def also(self, metric: str) -> Side:
        """Another number of the same runs."""
        return replace(self, metric=metric)

    @cached_property
    def numbers(self) -> list[Measurement]:
        return [number for run in self.counted if (number := number_of(run, self.metric))]

    @cached_property
    def values(self) -> list[float]:
        return [number.value for number in self.numbers]

    @cached_property
    def counted(self) -> list[Run]:
        """The runs that have a number."""
        return [run for run in self.runs if run.counts and number_of(run, self.metric) is not None]

    @property
    def centre(self) -> float | None:
        """The geometric mean of ours, whose interval is given; the median of published runs, as articles print it."""
        summary = summarise(self.values)
        return (summary.median if self.published else summary.centre) if summary else None

    @property
    def formula(self) -> str:
        summary = summarise(self.values)
        name = summary.centre_name.replace(" ", "_") if summary and not self.published else "median"
        return f"{name}({', '.join(f'{value:.10g}' for value in self.values)})"

    @property
    def interval(self) -> Interval | None:
        """The interval of the geometric mean; None below three repeats."""
        return geometric_mean_interval(self.values)

    @property
    def unit(self) -> str:
        return self.numbers[0].metric.unit if self.numbers else ""

    @property
    def lower_is_better(self) -> bool:
        return bool(self.numbers) and self.numbers[0].metric.better == LOWER

    @property
    def notes(self) -> list[str]:
        """What was measured against the durability class of its runs."""
        doubted = doubt(self.counted)
        return [doubted] if doubted else []

    @property
    def gap(self) -> str:
        """Why there is no number; empty when there is one."""
        if self.values:
            return ""
        if not self.runs:
            return NOT_PART
        label = METRICS[self.metric].label if self.metric in METRICS else self.metric
        return "; ".join(dict.fromkeys(why_no_number(run, label) for run in self.runs))


@dataclass(frozen=True)
class Relation:
    """How many times as fast one side is: ratio of what stands for each; the interval is that of geometric means."""

    of: Side
    base: Side

    @property
    def value(self) -> float | None:
        """None where a side has no number, or none that can be divided by."""
        top, bottom = self._turned
        return top.centre / bottom.centre if top.centre and bottom.centre else None

    @property
    def interval(self) -> Interval | None:
        top, bottom = self._turned
        compared = ratio(top.values, bottom.values)
        return compared.interval if compared else None

    @property
    def formula(self) -> str:
        return " / ".join(side.formula for side in self._turned)

    @property
    def gap(self) -> str:
        if missing := self.of.gap or (self.base.gap and f"its baseline: {self.base.gap}"):
            return missing
        refused = [
            difference.words
            for difference in self._differences
            if difference.severity == "blocks" and difference.field in _REFUSED
        ]
        return f"no ratio: {'; '.join(refused)}" if refused else ""

    @property
    def notes(self) -> list[str]:
        """In which storages the two sides differ, a relation of two disks is one of those two; and what is doubtful."""
        storages = [difference.words for difference in self._differences if difference.field.startswith("storage:")]
        return list(dict.fromkeys([*storages, *self.of.notes, *self.base.notes]))

    @cached_property
    def _differences(self) -> list[Difference]:
        return differences(conditions_of(self.of.counted), conditions_of(self.base.counted))

    @property
    def _turned(self) -> tuple[Side, Side]:
        return (self.base, self.of) if self.of.lower_is_better else (self.of, self.base)


def refusal(ours: Sequence[Side], theirs: Sequence[Side]) -> str:
    """Why what was measured here is set against nothing that is published: by the rules of every comparison, and where
    a run was disturbed. Empty where it may be.

    The workload is the one that the match names; an article measures it in its own way.
    """
    here = [run for each in ours for run in each.counted]
    there = [run for each in theirs for run in each.counted]
    reasons = [
        f"repeat {run.repeat}: {check.get('detail')}"
        for run in here
        for check in run.checks
        if check.get("name") in _DISTURBED and not check.get("ok")
    ]
    reasons += [
        difference.words
        for difference in differences(conditions_of(here), conditions_of(there))
        if difference.severity == "blocks" and (difference.field == "durability" or difference.role == Role.PROCEDURE)
    ]
    lengths = [sorted(filter(None, map(_window_s, runs))) for runs in (here, there)]
    if all(lengths) and max(*lengths[0], *lengths[1]) > factor_span(WINDOW) * min(*lengths[0], *lengths[1]):
        reasons.append(f"windows of {lengths[0][0]:g} s here, {lengths[1][0]:g} s there")
    return "; ".join(dict.fromkeys(reasons))


def _window_s(run: Run) -> float | None:
    """The window of what was measured: articles say it of their workload."""
    if isinstance(own := run.factor(WINDOW), int | float):
        return float(own)
    minutes = run.workload.details.get("duration_minutes")
    return 60.0 * minutes if isinstance(minutes, int | float) else None


def side(runs: Iterable[Run], facts: CellFacts, metric: str) -> Side:
    """The side of the runs of one experiment."""
    chosen = (run for run in runs if _fits(run, facts, _measured_fact))
    return Side(sorted(chosen, key=lambda run: run.repeat), metric)


def _fits(run: Run, facts: CellFacts, fact: Any) -> bool:
    return all(fact(run, name, wanted) for name, wanted in facts.items())


def _measured_fact(run: Run, name: str, wanted: str | float) -> bool:
    if name == "dbms":
        return run.dbms_version.dbms.slug == wanted
    if name == "version":
        return f"{run.dbms_version.version}.".startswith(f"{wanted}.")
    # A run does not name an optional factor that nobody varied: it is as if it were empty.
    return (run.factor(name) or "") == wanted


def _published_fact(run: Run, name: str, wanted: str | float) -> bool:
    if name == "version":
        return run.dbms_version.source_id == wanted
    if name == "workload":
        return run.workload.source_id == wanted
    return run.factor(name) == (None if wanted == "" else wanted)
