"""What a reader asks of a comparison, as its address says it (`ask=loss&x=factor:size_gb&from=10&to=500`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import urlencode

from benchagent.catalog import QUESTIONS
from django.http import QueryDict
from pydantic import BaseModel, ConfigDict

from runs.compare.baseline import Baseline, WrongBaseline
from runs.compare.facts import CORES
from runs.compare.guard import Difference
from runs.listing.filters import FACTOR_PREFIX, finite_number
from runs.run.facets import TESTED
from runs.stats import Ratio

BEST, RANK, A_B, LOSS, FALLS_OFF, SCALES, EFFECTS, LOAD, SINCE, NEWER, PUBLISHED, CHANGED = KINDS = QUESTIONS
# Those of a curve over a number, and those of a curve over dates.
OF_CURVES, OF_DATES = (LOSS, FALLS_OFF, SCALES), (SINCE, NEWER)
# Those that put the values of a fact in order.
OF_RANKS = (BEST, RANK, LOAD)
# All that rank what stands beside each other, so that every pair is judged.
OF_PAIRS = ("", *OF_RANKS, A_B)
# What a load is told by: the bytes of the database before those of the values, rows, and how long it took; then what
# senders and articles call them.
LOAD_METRICS = (
    "load_size_mb_per_s", "load_mb_per_s", "load_rows_per_s", "load_s", "load_time_s", "load_duration_s",
    "load_speed", "load_time",
)  # fmt: skip
# What is ranked: all groups, the best of each curve, or each at equal levels of all else.
RankedAt: TypeAlias = Literal["", "best", "equal_levels"]
PARAMETERS = ("ask", "fact", "from", "to", "a", "b", "than")


class Question(BaseModel):
    """`kind` is one of `KINDS`, or empty where the address asks nothing: then the rule chooses.

    `fact` is ranked; `x` is the axis, `start` and `end` levels on it; `a` and `b` are keys of groups or values of
    `fact`; `than` names the batches that the newest is set against (`last:10`, `days:30`, `label:main`).
    """

    model_config = ConfigDict(frozen=True, defer_build=True)

    kind: str = ""
    metric: str = ""
    fact: str = ""
    x: str = ""
    start: float | None = None
    end: float | None = None
    a: str = ""
    b: str = ""
    than: str = ""

    @property
    def query(self) -> str:
        """As a link carries it."""
        ends = {"from": self.start, "to": self.end}
        numbers = {name: f"{value:.10g}" for name, value in ends.items() if value is not None}
        texts = {"metric": self.metric, "x": self.x, "fact": self.fact, "a": self.a, "b": self.b, "than": self.than}
        return urlencode({"ask": self.kind, **{name: text for name, text in texts.items() if text}, **numbers})


Lacking: TypeAlias = Literal[
    "run", "number", "ranked", "positive", "load_speed", "better_side", "long_window", "varying", "order", "judging",
    "unknown", "unknown_too", "which", "value_of", "another", "another_ranked", "to_come", "repeats", "once_a_cell",
    "level_repeats", "own_levels", "more_repeats", "shared_levels", "zero_at_each", "above_zero", "parts",
    "parts_unlike", "levels_with_ratio", "two_groups", "difference",
    "single_setting", "interactions", "unpaired", "settings_together", "one_configuration",
    "other_systems", "printed", "printed_lost",
    "no_repeats_printed", "published", "number_axis", "clients_axis", "rate", "value",
    "unmeasured", "unmeasured_most",
    "level", "batches_apart", "again", "no_value", "zero", "zero_in_part", "level_asked", "two_levels",
    "positive_levels", "zero_now", "zero_before", "zero_both", "zero_as", "zero_in_part_of", "all_zero",
    "levels_for_knee", "levels_above_zero", "values_for_knee",
    "days", "days_apart", "batch", "base_batch", "first_batch", "baseline", "unlike_baseline", "batches",
    "batches_for_less", "batches_like_it", "unlike_batches", "steadier_batches", "step_within", "visibilities",
    "first_batches", "first_of_sender", "steady_batches",
    "lost_batches", "lost_repeats", "copies", "absent", "followed", "noise", "standing_apart", "left_out",
]  # fmt: skip


@dataclass(frozen=True)
class Missing:
    """What there is not, so that a question has no answer or no sure one: `of` which curve; `count` of how many there
    are, `least` of how many it takes; the `names` of what was asked for or concerned; in what groups are `differing`.
    `change`: from a series to another that follows it and is none with it.
    """

    kind: Lacking
    of: str = ""
    count: int = 0
    least: int = 0
    names: Sequence[str] = ()
    differing: Sequence[Difference] = ()
    change: Ratio | None = None


def read(params: QueryDict) -> tuple[Question, dict[str, list[str]]]:
    """The question of an address, and what of it was not understood."""
    problems: dict[str, list[str]] = {}
    kind, than = params.get("ask", ""), params.get("than", "")
    if kind and kind not in KINDS:
        problems["ask"] = [f"There is no question “{kind}”. There are: {', '.join(KINDS)}."]
        kind = ""
    try:
        than = than and str(Baseline.read(than))
    except WrongBaseline as error:
        problems["than"], than = [str(error)], ""
    texts = {name: text for name in ("from", "to") if (text := params.get(name, ""))}
    ends = {name: finite_number(text) for name, text in texts.items()}
    problems |= {name: [f"“{texts[name]}” is not a number."] for name, number in ends.items() if number is None}
    question = Question(
        kind=kind, metric=params.get("metric", "") if kind else "", fact=_fact(params.get("fact", "")),
        x=params.get("x", "") if kind in OF_CURVES else "", start=ends.get("from"), end=ends.get("to"),
        a=params.get("a", ""), b=params.get("b", ""), than=than,
    )  # fmt: skip
    return question, problems


def _fact(name: str) -> str:
    """A fact, also by the name of its filter: `branch` is `tested:branch`, `factor.terminals` is `factor:terminals`."""
    if name.startswith(FACTOR_PREFIX):
        return f"factor:{name.removeprefix(FACTOR_PREFIX)}"
    return f"tested:{name}" if name in TESTED else name


def with_controls(params: QueryDict, question: Question) -> QueryDict:
    """The address with what the question implies, where it does not say otherwise: which chart, which order."""
    implied: dict[str, str] = {}
    if question.kind in (RANK, A_B) and question.fact:
        implied["compared"] = question.fact
    elif question.kind == A_B and question.b:
        implied["baseline"] = question.b
    if question.kind in (BEST, LOAD) or (question.kind == RANK and question.fact):
        implied["order"] = "best"
    if question.kind in OF_DATES:
        implied["x"] = "date"
    if params.get("x") in CORES:
        implied["pool"] = "hardware"
    missing = {name: value for name, value in implied.items() if not params.get(name)}
    if not missing:
        return params
    complete = params.copy()
    for name, value in missing.items():
        complete[name] = value
    return complete
