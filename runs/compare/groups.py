"""The parts of a comparison: groups, their repeats and gaps, and each group against the baseline."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from uuid import UUID

from runs.compare.guard import Difference, Stated
from runs.compare.labels import CommonFact, VaryingFact
from runs.models import Metric, Run
from runs.stats import Interval, Ratio, Summary, Verdict


@dataclass(frozen=True)
class Dot:
    """One finished repeat with its value."""

    run: Run
    value: float
    as_printed: str
    provenance: str


@dataclass(frozen=True)
class Gap:
    """A run of the group without a value, and why. Never a zero, never a dot."""

    run: Run
    reason: str


@dataclass(frozen=True)
class Printed:
    """A statistic that a source prints of these repeats; shown beside ours, never counted as a repeat."""

    statistic: str
    value: float
    as_printed: str
    of: int


@dataclass(frozen=True)
class Against:
    """A group against the baseline. Without `ratio`, `refused` or the verdict says why, and `words` do in any case."""

    ratio: Ratio | None
    verdict: Verdict | None
    differences: list[Difference]
    words: str
    refused: str = ""


@dataclass(frozen=True)
class Group:
    """A cell. `ranked` is false when its commits promise less than the strongest group's, or less than they claim.

    `runs` are those of `dots`, `all_runs` also those of `gaps`. `gap` is why the group has no value at all, None when
    it has one. `interval` is of the geometric mean. `doubt` is what was measured against its durability class, empty
    when nothing was. Only groups with the same `durability_words` are ever ranked together.
    """

    key: str
    label: str
    factors: dict[str, str]
    dots: list[Dot]
    gaps: list[Gap]
    printed: list[Printed]
    values: list[float]
    n: int
    median: float | None
    summary: Summary | None
    interval: Interval | None
    gap: str | None
    runs: list[Run]
    all_runs: list[Run]
    demonstration: bool
    provenances: list[str]
    stated: Stated
    durability: str
    durability_words: str
    doubt: str
    ranked: bool = True
    is_baseline: bool = False
    against: Against | None = None

    @property
    def run_ids(self) -> list[UUID]:
        return [run.id for run in self.all_runs]

    @property
    def differences(self) -> list[Difference]:
        return self.against.differences if self.against else []

    @property
    def gap_notes(self) -> list[str]:
        """The reasons with their counts ("2 × the cell is empty")."""
        counts = Counter(gap.reason for gap in self.gaps)
        return [f"{count} × {reason}" if count > 1 else reason for reason, count in counts.items()]


@dataclass(frozen=True)
class Comparison:
    """`metric` is None when no run of the set has any number. `baseline` is the group that the others are set against.

    `left_out`: runs beyond what is compared at once.
    """

    metric: Metric | None
    metrics: list[Metric]
    groups: list[Group]
    baseline: Group | None
    common: list[CommonFact]
    varying: list[VaryingFact]
    warnings: list[str]
    left_out: int = 0

    @property
    def ranked(self) -> list[Group]:
        return [group for group in self.groups if group.ranked]

    @property
    def apart(self) -> dict[str, list[Group]]:
        """The groups that are not ranked, by the words of their class: each class stands for itself."""
        classes: dict[str, list[Group]] = {}
        for group in self.groups:
            if not group.ranked:
                classes.setdefault(group.durability_words, []).append(group)
        return classes

    @property
    def all_runs(self) -> list[Run]:
        return [run for group in self.groups for run in group.all_runs]

    @property
    def run_count(self) -> int:
        return len(self.all_runs)

    @property
    def common_values(self) -> dict[str, str]:
        return {fact.label: fact.value for fact in self.common}

    @property
    def varying_labels(self) -> list[str]:
        return [fact.label for fact in self.varying]
