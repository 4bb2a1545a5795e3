"""An answer: numbers and facts only, each claim with the runs behind it. The room of words says them; fields that are
excluded are what it says them from, and `why` and `lost` are empty until it
fills them for the API (`words.with_words`).
"""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import Annotated, Any, Literal, NamedTuple
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, InstanceOf

from runs.answers.places import NO_PLACE, Place
from runs.compare.asked import EFFECTS, LOSS, Missing, Question, RankedAt
from runs.compare.comparison import Comparison
from runs.compare.facts import fact_value
from runs.compare.groups import Contrast, Group
from runs.compare.guard import Difference
from runs.compare.levels import LevelRow, LevelSeries
from runs.models import Metric
from runs.stats import WINNERS, Interval, Kind, Ratio, Slope, Verdict, ends_of
from runs.stats.curves import Knee
from runs.stats.scaling import Scaling, Unfitted

REFUSED = "refused"


class LevelBest(NamedTuple):
    """`best`: what is surely better at a level than all others that have a value there, "" where nothing is; `absent`:
    the others.
    """

    row: LevelRow
    best: str
    absent: Sequence[str] = ()


class Part(BaseModel):
    model_config = ConfigDict(frozen=True, defer_build=True)


class Amount(Part):
    """A ratio as a factor, or a change as a share of 1, with its interval; `verdict` is one of `runs.stats.Kind`, or
    `refused` where it may not be told, with the reason in `why`. `basis`: what the verdict is, or why there is none.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: str = ""
    more_repeats: int | None = None
    why: str = ""
    basis: InstanceOf[Verdict] | InstanceOf[Contrast] | InstanceOf[Missing] | None = Field(default=None, exclude=True)

    @property
    def is_sure(self) -> bool:
        return self.verdict in {*WINNERS, Kind.EQUIVALENT, Kind.TOO_SMALL}


class Claim(Part):
    """`label`: of what, as its legend names it."""

    label: str
    runs: list[UUID] = Field(default_factory=list)


class Standing(Claim):
    """A value of the fact that is ranked, by the best of its groups (`of`, `group`).

    `rank`: 1 and how many are surely better; None of what is surely behind the best and was not set against each that
    stands before it. `ratio`: of the first to this one; of what shares levels with others than
    the first, of the one that is first among these (`than`). `variants`: how many groups have this
    value; `variants_differ`: whether the best of them is surely better than each other. `levels_left_out`: those at
    which one of the two was measured, and that the ratio over levels is not of.
    """

    kind: Literal["standing"] = "standing"
    value: str
    of: str
    centre: float | None
    interval: tuple[float, float] | None
    n: int | None
    rank: int | None
    ratio: Amount
    than: str = ""
    variants: int = 1
    variants_differ: bool = False
    levels_left_out: list[str] = Field(default_factory=list)
    over: str = ""
    lost: str = ""
    group: InstanceOf[Group] | None = Field(default=None, exclude=True)


class LevelChange(Claim):
    """The first side against the second at one level; over all levels where the label is empty."""

    kind: Literal["level"] = "level"
    first: str = ""
    second: str = ""
    ratio: Amount


class ScalesTo(Claim):
    """`most` at the level `most_at` that was measured, `efficiency_at_most` there, a share of the ideal line, and
    `efficiency` at the last level.

    `peak_at`: of the scaling law; `peak_measured` where it lies within the levels and one near it, no further than √2,
    has about its rate, and the most or not surely less, the last has not the most and none elsewhere lies above it;
    `still_grows` where the last has the most.
    `as_high`: the levels than which that of the most is not surely higher; `few_repeats`: those with too few to judge.
    `flat`: least and most of the levels from `flat_from` to the last, three or more that lie near each other, none of
    which is surely the most. `linear`: each level is as far above the first as it has more terminals, by the threshold.
    """

    kind: Literal["scales"] = "scales"
    most_at: float
    most: float
    last: float
    efficiency: float | None
    efficiency_at_most: float | None = None
    gain: Amount
    peak_at: float | None = None
    peak_interval: tuple[float, float] | None = None
    peak_measured: bool = False
    still_grows: bool = False
    as_high: list[float] = Field(default_factory=list)
    few_repeats: list[float] = Field(default_factory=list)
    flat_from: float | None = None
    flat: tuple[float, float] | None = None
    linear: bool = False
    why_no_law: str = ""
    law: InstanceOf[Scaling] | Unfitted | None = Field(default=None, exclude=True)
    repeats_at_most: int = Field(default=0, exclude=True)
    levels: int = Field(default=0, exclude=True)


class FallsOff(Claim):
    """`shape`: knee, step, smooth, undecided (knee and smooth fit alike), none (one line fits) or too_few; turn, where
    the curve rises and then falls, or the other way: it is `turn` (highest or lowest), `turns_to`, at `turns_at`. That
    is not surely higher, or lower, than the levels `turns_alike`.

    `at` on x, which a step has not: `step` is its change as a share of 1, `interval` the two levels it lies between.
    `before` and `after` a knee: shares of 1 per doubling; it `falls` where it gets worse behind, or faster than before.
    `per_doubling`: its pace by one fit over all levels, where it has no knee, step or turn; `evenly` where it surely
    gets worse by that one pace.
    `kept`: of offered rates, the highest up to which the throughput follows; 0 where it follows none.
    `memory`: where RAM stands on x.
    """

    kind: Literal["falls_off"] = "falls_off"
    shape: str
    at: float | None = None
    interval: tuple[float, float] | None = None
    before: float | None = None
    after: float | None = None
    falls: bool = False
    per_doubling: Amount | None = None
    evenly: bool = False
    kept: float | None = None
    memory: float | None = None
    memory_words: str = ""
    up_to: float | None = None
    turn: str = ""
    turns_at: float | None = None
    turns_to: float | None = None
    turns_alike: list[float] = Field(default_factory=list)
    step: Amount | None = None
    why: str = ""
    knee: InstanceOf[Knee] | None = Field(default=None, exclude=True)
    scales: InstanceOf[ScalesTo] | None = Field(default=None, exclude=True)


class Loss(Claim):
    """From one level of x to another, where both stand on x and as they were asked for: `change` as a share of 1."""

    kind: Literal["loss"] = "loss"
    start: float
    end: float
    levels: tuple[str, str]
    change: Amount
    falls_off: FallsOff


class EffectBeside(Part):
    """What a setting did beside these others: a ratio."""

    beside: str
    ratio: Amount


class Effect(Claim):
    """A setting from one value to another, averaged over `pairs` of groups that are alike in all else but `besides`:
    what a commit is worth, before and after. Without pairs it is the main effect of a least-squares fit over so many
    `configurations`, which differ in several settings at once. `ends`: the least and the most, where it depends on what
    else is set. `only_with`: what it was measured beside alone, of what has other values elsewhere.
    """

    kind: Literal["effect"] = "effect"
    start: str
    end: str
    ratio: Amount
    pairs: int
    configurations: int = 0
    besides: list[str] = Field(default_factory=list)
    ends: list[EffectBeside] = Field(default_factory=list)
    only_with: list[str] = Field(default_factory=list, exclude=True)


class Step(Claim):
    """Where a series of batches changes for good, by `threshold` or more; without a `day`, a date, it does not.

    `days_near`: the first and the last day that fit nearly as well. `besides`: what was recorded differently of one of
    their batches and of the one before it, but for what was `tested`. `back_to`: the day of the step before it, where
    it takes that one back. `is_drift`: it changes slowly from that day on, as a line fits its newest batches better
    than steps do. `is_expected`: a person said so of its alert; the newest batch is set against those since then.
    `is_suspected`: the batches after it will tell whether it is one. `zero`: whether each repeat is 0 before it (from)
    or since (to), and is not on the other side: it is sure and has no ratio. Not yet sure is a step whose change is
    undecided: all batches up to now do not show it surely, or not by as much as matters. One that is too small is
    surely there, below the `threshold` that matters.
    """

    kind: Literal["step"] = "step"
    day: str = ""
    days_near: tuple[str, str] | None = None
    tested: str = ""
    change: Amount
    batches: int
    days: int
    threshold: float = 0.0
    batches_before: int = 0
    is_last: bool = True
    back_to: str = ""
    is_drift: bool = False
    is_expected: bool = False
    is_suspected: bool = False
    zero: Literal["", "from", "to"] = ""
    besides: list[str] = Field(default_factory=list)
    may_begin: list[tuple[str, UUID, UUID]] = Field(default_factory=list, exclude=True)

    @property
    def is_settled(self) -> bool:
        """Whether all batches show it surely, and by as much as matters."""
        return not self.is_suspected and self.change.verdict not in (Kind.UNDECIDED, Kind.TOO_SMALL)


class Newer(Claim):
    """The newest batch against those before it; `of` says how many and which. Of those `before_change` do not count:
    they lie before the change with which its level began, `since`. `by_repeats`: judged by the repeats of each, as so
    few do not tell how far batches differ. `family`: so many newest batches are judged together.
    """

    kind: Literal["newer"] = "newer"
    newest: str
    of: str
    batches: int
    since: str = ""
    before_change: int = 0
    by_repeats: bool = False
    family: int = 1
    ratio: Amount


class Published(Claim):
    """A value measured here, and the one printed of the group `beside`, its median or only repeat; the ratio is to
    `mean`, ours of the repeats that are printed. Without a ratio `why` says what forbids it.
    """

    kind: Literal["published"] = "published"
    beside: str = ""
    here: float | None
    printed: float | None
    mean: float | None = None
    ratio: Amount


class Claimed(Claim):
    """What an article says of two groups that were measured here (`claim`): `claimed` times the group `beside`, against
    the ratio that they have.
    """

    kind: Literal["claimed"] = "claimed"
    beside: str
    claim: str
    claimed: float
    ratio: Amount


class Changed(Claim):
    """A fact in which two groups differ. `role`: question, condition or procedure."""

    kind: Literal["changed"] = "changed"
    a: str
    b: str
    role: str


AnyClaim = Annotated[
    Standing | LevelChange | FallsOff | Loss | ScalesTo | Effect | Step | Newer | Published | Claimed | Changed,
    Field(discriminator="kind"),
]


class Answer(Part):
    """`sure`: whether the claim is asserted; `lacking`: what it takes to be. `ranked_at`: whether what is ranked is set
    against each other at equal levels of all else (`held`), or the best of each (`best`), wherever that is. `over`: the
    levels that the ranking is over, and `series` of the first against the next at them. `first` is set against
    `second`, where two are. `lost`: why, by its label, what is unranked has none. `differing`: in what the
    first of the claim is not like each that it is set against, by the label of that one. `unranked`: what has too few
    levels in common with the others; `set_apart`: what has no group that is ranked, with one that it has;
    `without_order`: the groups that may not be ranked. `versions_of`: the only DBMS, so that systems are versions of
    it. `pooled`: what is pooled on request, in words. `unsaid`: the settings that hold where the name of a
    configuration does not say others. `alike_in`: the machines, disks or systems that the ranking is of, where not each
    was measured on all of them. `best_by_level`: each level with its best, where that depends on the
    level. `is_gain`: nothing is lost from the first level of x to the last. `beyond`: how many runs match that are not
    compared, as they are too many. `parts`: an answer for each of several parts of which none shares levels with
    another. `worse_by`: the metric by which the first is surely worse than the next, and its ratio to that one.
    `ahead`: at how many levels, which are all that it was measured at, the first is surely better than all others, and
    how many times theirs it has at least.
    """

    question: Question
    metric: str = ""
    metric_label: str = ""
    unit: str = ""
    better: str = "none"
    x_label: str = ""
    x_unit: str = ""
    x_kind: str = ""
    claims: list[AnyClaim] = Field(default_factory=list)
    sure: bool = False
    threshold: float = 0.0
    family: int = 0
    ranked_at: RankedAt = ""
    held: str = ""
    over: str = ""
    first: str = ""
    second: str = ""
    unranked: list[str] = Field(default_factory=list)
    pooled: str = ""
    alike_in: list[str] = Field(default_factory=list)
    beyond: int = 0
    lacking: list[InstanceOf[Missing]] = Field(default_factory=list, exclude=True)
    differing: dict[str, list[InstanceOf[Difference]]] = Field(default_factory=dict, exclude=True)
    series: InstanceOf[LevelSeries] | None = Field(default=None, exclude=True)
    lost: dict[str, list[InstanceOf[Missing]]] = Field(default_factory=dict, exclude=True)
    set_apart: dict[str, InstanceOf[Group]] = Field(default_factory=dict, exclude=True)
    without_order: list[InstanceOf[Group]] = Field(default_factory=list, exclude=True)
    best_by_level: list[InstanceOf[LevelBest]] = Field(default_factory=list, exclude=True)
    parts: list[Answer] = Field(default_factory=list, exclude=True)
    worse_by: tuple[str, InstanceOf[Amount]] | None = Field(default=None, exclude=True)
    versions_of: str = Field(default="", exclude=True)
    unsaid: str = Field(default="", exclude=True)
    is_gain: bool = Field(default=False, exclude=True)
    ahead: tuple[int, float] | None = Field(default=None, exclude=True)

    @property
    def x(self) -> Place:
        return Place(self.x_label, self.x_unit, self.x_kind)


def _is_gain(comparison: Comparison, x: str) -> bool:
    fact, values = comparison.axes.facts.get(x), dict[float, list[float]]()
    for group in comparison.valued if fact else ():
        if fact and (number := fact.numbers.get(fact_value(group, fact.field))) is not None:
            values.setdefault(number, []).append(group.centre or 0.0)
    if len(values) < 2 or comparison.metric is None:
        return False
    first, last = (fmean(values[level]) for level in (min(values), max(values)))
    return last < first if comparison.better == "lower" else last > first


def begun(
    comparison: Comparison, question: Question, x: Place = NO_PLACE, of_metric: Metric | None = None, **fields: Any
) -> Answer:
    """An answer of this metric, else of the comparison's; `x`: the axis that it is asked over, `fields` are its further
    fields.
    """
    metric = of_metric or comparison.metric
    if metric:
        fields |= {"metric": metric.name, "metric_label": metric.label, "unit": metric.unit, "better": metric.better}
    return Answer(
        question=question, x_label=x.label, x_unit=x.unit, x_kind=x.kind,
        threshold=comparison.threshold, family=comparison.verdicts.family,
        versions_of="".join(comparison.systems) if len(comparison.systems) == 1 else "", pooled=comparison.pooled,
        unsaid="" if question.kind == EFFECTS else comparison.unsaid, beyond=comparison.left_out,
        is_gain=question.kind == LOSS and _is_gain(comparison, question.x), **fields,
    )  # fmt: skip


def change_of(verdict: Verdict | None, *, refused: Contrast | Missing | None = None) -> Amount:
    """The ratio of a verdict; `refused` says why there is none."""
    if verdict is None:
        return Amount(verdict=REFUSED, basis=refused)
    return amount_of(verdict.ratio, verdict=verdict.kind, more_repeats=verdict.repeats_needed, basis=verdict)


def amount_of(estimate: Ratio | Slope | None, **fields: Any) -> Amount:
    low, high = ends_of(estimate.interval if estimate else None)
    return Amount(value=estimate.value if estimate else None, low=low, high=high, **fields)


def as_share(change: Amount) -> Amount:
    """A ratio as a change, a share of 1."""
    numbers = {name: value - 1 for name in ("value", "low", "high") if (value := getattr(change, name)) is not None}
    return change.model_copy(update=numbers)


def pair_of(interval: Interval | None) -> tuple[float, float] | None:
    return (interval.low, interval.high) if interval else None
