"""Both sides of a match, runs of a re-run and published ones: their numbers, and whether these may be set together."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from benchagent.catalog import METRICS

from runs.answers.words.gaps import difference_words
from runs.compare.configurations import differences_between
from runs.compare.guard import Difference, blocking
from runs.compare.published import differences_from_published, is_chosen_here, is_chosen_there
from runs.models import Measurement, Run
from runs.models.choices import Provenance
from runs.models.shapes import CellFacts
from runs.publications.page.parts import INTERVAL, Amount, Words, computed, listed, stored
from runs.run.facets import doubt
from runs.run.number import number_of, why_no_number
from runs.stats import Interval, Summary, geometric_mean_interval, ratio, summarise

NOT_PART = "not a cell of this experiment"
# Differences between two cells of one experiment across which a ratio would mislead.
_REFUSED = ("workload", "durability")
# Metrics of which less is more: A is as many times as fast as B's value is of A's.
LOWER = "lower"
WELCH = "exp(difference of the means of ln ± t × standard error, Welch), of the same values as"


@dataclass(frozen=True)
class Side:
    """Runs of one side with their numbers of one metric; for `published` ones their median stands."""

    runs: list[Run]
    metric: str
    published: bool = False

    @classmethod
    def of(cls, runs: Iterable[Run], facts: CellFacts, metric: str, *, published: bool = False) -> Side:
        """The runs that these facts choose: of a publication, or of one experiment."""
        is_chosen = is_chosen_there if published else is_chosen_here
        chosen = [run for run in runs if is_chosen(run, facts)]
        return cls(chosen if published else sorted(chosen, key=lambda run: run.repeat), metric, published)

    @cached_property
    def counted(self) -> list[Run]:
        """The runs that have a number."""
        return [run for run in self.runs if run.counts and number_of(run, self.metric)]

    @cached_property
    def numbers(self) -> list[Measurement]:
        return [number for run in self.counted if (number := number_of(run, self.metric))]

    @cached_property
    def values(self) -> list[float]:
        return [number.value for number in self.numbers]

    @cached_property
    def summary(self) -> Summary | None:
        return summarise(self.values)

    @property
    def centre(self) -> float | None:
        """The geometric mean of ours, whose interval is given; the median of published runs, as articles print it."""
        return (self.summary.median if self.published else self.summary.centre) if self.summary else None

    @property
    def formula(self) -> str:
        name = self.summary.centre_name.replace(" ", "_") if self.summary and not self.published else "median"
        return f"{name}({listed(self.values)})"

    @property
    def amount(self) -> Amount | None:
        """Published values keep the digits of their source."""
        if self.centre is None:
            return None
        first, unit = self.numbers[0], self.numbers[0].metric.unit
        digits = _digits(self.centre) if first.provenance == Provenance.MEASURED else None
        if len(self.values) == 1:
            return replace(stored(first, unit=unit), digits=digits)
        return computed(self.centre, self.formula, unit=unit, digits=digits)

    @property
    def interval(self) -> Words:
        """That of the geometric mean, from three repeats on."""
        unit = self.numbers[0].metric.unit if self.numbers else ""
        return _interval(geometric_mean_interval(self.values), f"{INTERVAL} {listed(self.values)}", unit)

    @property
    def count(self) -> str:
        return str(len(self.values))

    @property
    def notes(self) -> list[str]:
        """What was measured against the durability class of its runs."""
        return [doubted] if (doubted := doubt(self.counted)) else []

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

    side: Side
    base: Side

    @property
    def amount(self) -> Amount | None:
        """None where a side has no number, or none that can be divided by."""
        top, bottom = (side.centre for side in self._turned)
        return computed(top / bottom, self.formula, unit="×", digits=2) if top and bottom else None

    @property
    def formula(self) -> str:
        return " / ".join(side.formula for side in self._turned)

    @property
    def interval(self) -> Words:
        compared = ratio(*(side.values for side in self._turned))
        return _interval(compared.interval if compared else None, f"{WELCH} {self.formula}", "×", digits=2)

    @property
    def counted(self) -> list[Run]:
        return [*self.side.counted, *self.base.counted]

    @property
    def count(self) -> str:
        return f"{self.side.count} and {self.base.count}"

    @property
    def gap(self) -> str:
        """Why there is no ratio, or why none should be made of two cells of one experiment."""
        if missing := self.side.gap or (self.base.gap and f"its baseline: {self.base.gap}"):
            return missing
        found = self._differences
        refused = [difference_words(each) for each in found if each.severity == "blocks" and each.field in _REFUSED]
        return f"no ratio: {'; '.join(refused)}" if refused else "" if self.amount else "no ratio: a value is zero"

    @property
    def notes(self) -> list[str]:
        """In which storages the two sides differ, a relation of two disks is one of those two; and what is doubtful."""
        storages = [difference_words(each) for each in self._differences if each.field.startswith("storage:")]
        return list(dict.fromkeys([*storages, *self.side.notes, *self.base.notes]))

    @cached_property
    def _differences(self) -> list[Difference]:
        return differences_between(self.side.counted, self.base.counted)

    @property
    def _turned(self) -> tuple[Side, Side]:
        numbers = self.side.numbers
        is_turned = bool(numbers) and numbers[0].metric.better == LOWER
        return (self.base, self.side) if is_turned else (self.side, self.base)


def _interval(interval: Interval | None, formula: str, unit: str, digits: int | None = None) -> Words:
    if interval is None:
        return ()
    low, high = (
        computed(end, formula, unit=unit, digits=_digits(end) if digits is None else digits)
        for end in (interval.low, interval.high)
    )
    return (" (", low, " to ", high, ")")


def _digits(value: float) -> int:
    """Decimals for about four significant digits."""
    return 0 if value >= 1000 else 1 if value >= 100 else 2


def refusal(here: Sequence[Run], there: Sequence[Run]) -> str:
    """Why what was measured here is set against nothing that is published; empty where it may be."""
    return "; ".join(map(difference_words, blocking(differences_from_published(here, there))))
