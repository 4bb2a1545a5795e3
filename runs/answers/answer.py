"""An answer: numbers only, each claim with the runs behind it. `words.py` says them; pages and API show the same."""

from __future__ import annotations

from typing import Annotated, Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field

from runs.answers.verdicts import verdict_words
from runs.compare.asked import Question
from runs.compare.comparison import Comparison
from runs.stats import Interval, Ratio, Verdict

REFUSED = "refused"


class Part(BaseModel):
    model_config = ConfigDict(frozen=True)


class Amount(Part):
    """A ratio as a factor, or a change as a share of 1, with its interval; `verdict` is one of `runs.stats.Kind`, or
    `refused` where it may not be told, with the reason in `why`.
    """

    value: float | None = None
    low: float | None = None
    high: float | None = None
    verdict: str = ""
    more_repeats: int | None = None
    why: str = ""


class Claim(Part):
    """`label`: of what, as its legend names it."""

    label: str
    runs: list[UUID] = Field(default_factory=list)


class Standing(Claim):
    """A value of the fact that is ranked, by the best of its groups (`of`).

    `rank`: 1 and how many are surely better. `ratio`: of the first to this one. `variants`: how many groups have this
    value; `variants_differ`: whether the best of them is surely better than each other.
    """

    kind: Literal["standing"] = "standing"
    value: str
    of: str
    centre: float | None
    interval: tuple[float, float] | None
    n: int | None
    rank: int
    ratio: Amount
    variants: int = 1
    variants_differ: bool = False
    lost: str = ""


class LevelChange(Claim):
    """The first side against the second at one level; over all levels where the label is empty."""

    kind: Literal["level"] = "level"
    ratio: Amount


class FallsOff(Claim):
    """`shape`: knee, smooth, undecided (both fit alike), none (one line fits) or too_few.

    `at` on x; `memory`: where RAM stands there.
    """

    kind: Literal["falls_off"] = "falls_off"
    shape: str
    at: float | None = None
    interval: tuple[float, float] | None = None
    memory: float | None = None
    memory_words: str = ""
    up_to: float | None = None
    why: str = ""


class Loss(Claim):
    """From one level of x to another, where both stand on x and as they were asked for: `change` as a share of 1."""

    kind: Literal["loss"] = "loss"
    start: float
    end: float
    levels: tuple[str, str]
    change: Amount
    falls_off: FallsOff


class ScalesTo(Claim):
    """`most` at the level `most_at` that was measured, `efficiency` at the last level, a share of the ideal.

    `peak_at`: of the scaling law; `still_grows` where the last level has the most, and no peak before it is sure.
    """

    kind: Literal["scales"] = "scales"
    most_at: float
    most: float
    last: float
    efficiency: float | None
    gain: Amount
    peak_at: float | None = None
    peak_interval: tuple[float, float] | None = None
    peak_measured: bool = False
    still_grows: bool = False
    why_no_law: str = ""


class Effect(Claim):
    """A setting from one value to another, averaged over `pairs` of groups that are alike in all else."""

    kind: Literal["effect"] = "effect"
    start: str
    end: str
    ratio: Amount
    pairs: int


class Step(Claim):
    """Where a series of batches changes for good, by `threshold` or more; without a `day`, a date, it does not."""

    kind: Literal["step"] = "step"
    day: str = ""
    tested: str = ""
    change: Amount
    batches: int
    days: int
    threshold: float = 0.0
    batches_before: int = 0
    is_last: bool = True


class Newer(Claim):
    """The newest batch against those before it; `of` says how many and which."""

    kind: Literal["newer"] = "newer"
    newest: str
    of: str
    batches: int
    ratio: Amount


class Published(Claim):
    """A value measured here beside the printed one; without a ratio `why` says what forbids it."""

    kind: Literal["published"] = "published"
    here: float | None
    printed: float | None
    ratio: Amount


class Changed(Claim):
    """A fact in which two groups differ. `role`: question, condition or procedure."""

    kind: Literal["changed"] = "changed"
    a: str
    b: str
    role: str


AnyClaim = Annotated[
    Standing | LevelChange | FallsOff | Loss | ScalesTo | Effect | Step | Newer | Published | Changed,
    Field(discriminator="kind"),
]


class Answer(Part):
    """`sure`: whether the claim is asserted. `missing`: what it takes to be sure, in sentences. `over`: the levels that
    the ranking is over, in words; `by_level`: how the first stands to the next at them, where that differs. `first` is
    set against `second`, where two are. `unranked`: what has too few levels in common with the others; `apart`: by why
    they are not ranked with the others, what has no group that is.
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
    missing: list[str] = Field(default_factory=list)
    not_alike: str = ""
    threshold: float = 0.0
    family: int = 0
    over: str = ""
    by_level: str = ""
    first: str = ""
    second: str = ""
    unranked: list[str] = Field(default_factory=list)
    apart: dict[str, list[str]] = Field(default_factory=dict)


def begun(comparison: Comparison, question: Question, **told: Any) -> Answer:
    """An answer of the comparison's metric; `told` are its further fields."""
    metric = comparison.metric
    return Answer(
        question=question, metric=metric.name if metric else "", metric_label=metric.label if metric else "",
        unit=metric.unit if metric else "", better=metric.better if metric else "none",
        threshold=comparison.threshold, family=comparison.verdicts.family, **told,
    )  # fmt: skip


def change_of(verdict: Verdict | None, *, less: float = 0.0, refused: str = "") -> Amount:
    """`less` 1 makes a share of a ratio."""
    if verdict is None:
        return Amount(verdict=REFUSED, why=refused)
    estimate = verdict.ratio
    low, high = ends(estimate.interval if estimate else None, less)
    return Amount(
        value=estimate.value - less if estimate else None, low=low, high=high, verdict=verdict.kind,
        more_repeats=verdict.repeats_needed, why=verdict_words(verdict),
    )  # fmt: skip


def ends(interval: Interval | None, less: float = 0.0) -> tuple[float | None, float | None]:
    return (interval.low - less, interval.high - less) if interval else (None, None)


def pair_of(interval: Interval | None) -> tuple[float, float] | None:
    return (interval.low, interval.high) if interval else None


def share_of(estimate: Ratio | None, verdict: str = "") -> Amount:
    """A change without a verdict of its own family."""
    low, high = ends(estimate.interval if estimate else None, 1.0)
    return Amount(value=estimate.value - 1 if estimate else None, low=low, high=high, verdict=verdict)
