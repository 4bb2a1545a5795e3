"""The parts of a comparison: groups, their repeats and gaps, each against the baseline, and names for them."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from uuid import UUID

from django.utils.text import slugify

from runs.compare.guard import Difference, Stated
from runs.models import Run
from runs.run.facets import Facet
from runs.stats import Interval, Ratio, Summary, Verdict

# Consequences and bookkeeping: worth a column, never a name.
# A batch is named by the best of label, tested version and date.
_NEVER_IN_LABELS = frozenset({"durability", "provenance", "experiment", "label", "tags", "tested"})
NO_FACT = "–"
# A cell without a commit group must not let its configuration speak before the others' commit group.
_KINDS = ("workload", "dbms", "factor", "storage", "hardware", "config", "context", "batch")


@dataclass(frozen=True)
class CommonFact:
    """`value` as it is stored, `words` as people read it."""

    label: str
    value: str
    words: str


@dataclass(frozen=True)
class VaryingFact:
    """A field that differs between cells, with its stored value in each cell, in the cells' order.

    `words` says what people read for each of the values.
    """

    field: str
    label: str
    values: tuple[str, ...]
    words: Mapping[str, str]

    @property
    def distinct(self) -> list[str]:
        return [self.words[value] for value in dict.fromkeys(self.values)]


@dataclass(frozen=True)
class Naming:
    """`labels` and `keys` (URL-safe) are unique and in the order of the cells. `fields` are those that labels name."""

    labels: list[str]
    keys: list[str]
    fields: list[str]
    common: list[CommonFact]
    varying: list[VaryingFact]


# What a configuration is named after its settings ends with, where there are too many, or two of one name.
_CUT_NAME = re.compile(r"…|\([0-9a-f]{8}\)$")


def _short_configs(names: Iterable[str]) -> dict[str, str]:
    """Configurations that are named after their settings ("MySQL: a=1, b=2"), by what tells those of a DBMS apart."""
    parts: dict[str, dict[str, list[str]]] = {}
    for name in dict.fromkeys(names):
        product, _, settings = name.partition(": ")
        each = settings.split(", ")
        if all("=" in part or part.endswith(" not given") for part in each) and not _CUT_NAME.search(name):
            parts.setdefault(product, {})[name] = each
    short: dict[str, str] = {}
    for of in parts.values():
        shared = set.intersection(*map(set, of.values())) if len(of) > 1 else set()
        left = {name: ", ".join(part for part in each if part not in shared) for name, each in of.items()}
        short |= {name: words for name, words in left.items() if shared and words}
    return short


def name_cells(cells: Sequence[dict[str, Facet]]) -> Naming:
    short = _short_configs(cell["config"].value for cell in cells if "config" in cell)
    for cell in cells if short else ():
        if words := short.get(cell["config"].value if "config" in cell else ""):
            cell["config"] = replace(cell["config"], words=words, text=words)
    headings = {field: facet.label for cell in reversed(cells) for field, facet in cell.items()}

    def position(field: str) -> int:
        kind = field.partition(":")[0]
        return _KINDS.index(kind) if kind in _KINDS else len(_KINDS)

    fields = sorted(dict.fromkeys(field for cell in cells for field in cell), key=position)
    values = {field: [cell[field].value if field in cell else "" for cell in cells] for field in fields}
    varying = [field for field in fields if len(set(values[field])) > 1]
    # Each DBMS has a configuration of its own; once the DBMS is named, naming the configuration adds nothing.
    speaking = [field for field in varying if field.partition(":")[0] not in _NEVER_IN_LABELS]
    chosen = telling({field: values[field] for field in speaking}) or ["dbms"]
    # The DBMS leads also where the workload varies: it is what people look for.
    chosen.sort(key=lambda field: field != "dbms")
    heading = headings.get(chosen[0], "")
    unset = f"{heading[:1].lower()}{heading[1:]} not set"
    labels = [" · ".join(cell[field].text for field in chosen if field in cell) or unset for cell in cells]
    keys = [" · ".join(cell[field].key for field in chosen if field in cell) or unset for cell in cells]
    # An empty value and none at all are no difference, and nothing that all have in common.
    common = [cells[0][field] for field in fields if field not in varying and all(field in cell for cell in cells)]
    return Naming(
        labels=_unique(labels),
        fields=chosen,
        keys=_unique([slugify(key.replace(".", "-")) or "cell" for key in _unique(keys)], "-"),
        common=[CommonFact(facet.label, facet.value, facet.words) for facet in common],
        varying=[
            VaryingFact(
                field, headings[field], tuple(value or NO_FACT for value in values[field]),
                {NO_FACT: NO_FACT} | {
                    cell[field].value or NO_FACT: cell[field].words or NO_FACT for cell in cells if field in cell
                },
            )
            for field in varying
        ],
    )  # fmt: skip


def telling(values: Mapping[str, Sequence[str]]) -> list[str]:
    """As few fields as tell apart what has these values, first come first taken."""
    chosen: list[str] = []
    parts = 1
    for field in values:
        finer = len(set(zip(*(values[name] for name in (*chosen, field)), strict=True)))
        if finer > parts:
            chosen, parts = [*chosen, field], finer
    return chosen


def _unique(names: Sequence[str], joint: str = " #") -> list[str]:
    seen: Counter[str] = Counter()
    unique = []
    for name in names:
        seen[name] += 1
        unique.append(name if seen[name] == 1 else f"{name}{joint}{seen[name]}")
    return unique


@dataclass(frozen=True)
class Dot:
    """One finished repeat with its value."""

    run: Run
    value: float
    as_printed: str
    provenance: str


@dataclass(frozen=True)
class Gap:
    """A run of the group without a value, and why. Never a zero, never a dot.

    `stated`: it has one that counts nowhere.
    """

    run: Run
    reason: str
    stated: bool = False


@dataclass(frozen=True)
class Printed:
    """A statistic that a source prints of these repeats; shown beside ours, never counted as a repeat."""

    statistic: str
    value: float
    as_printed: str
    of: int


@dataclass(frozen=True)
class Against:
    """A group against the baseline, or the one with the key `base`.

    Without `ratio`, `refused` or the verdict says why, and `words` do in any case. `is_level`: it is refused for
    nothing but being another level of the chart's axis.
    """

    ratio: Ratio | None
    verdict: Verdict | None
    differences: list[Difference]
    words: str
    refused: str = ""
    base: str = ""
    is_level: bool = False

    @property
    def kind(self) -> str:
        """For colour and sign."""
        if self.refused:
            return "level" if self.is_level else "refused"
        return self.verdict.kind if self.verdict else "none"


@dataclass(frozen=True)
class Group:
    """A cell. `factors` and `facts`: what varies by its heading and by its field, as stored.

    `ranked` is false when its commits promise less than the strongest group's, or less than they claim.

    `runs` are those of `dots`, `all_runs` also those of `gaps`. `gap` is why the group has no value at all, None when
    it has one. `interval` is of what stands for the repeats. `doubt` is what was measured against its durability
    class, empty when nothing was. Only groups with the same `durability_words` are ever ranked together.
    """

    key: str
    label: str
    factors: dict[str, str]
    facts: Mapping[str, str]
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
    # Of all repeats together, from their merged histograms: of a percentile of latencies only.
    merged_percentile: float | None = None
    # The metric's name where that stands for the repeats, and one value a repeat whose mean and spread are its.
    percentile: str = ""
    compared: Sequence[float] = ()
    ranked: bool = True
    is_baseline: bool = False
    against: Against | None = None

    @property
    def judged(self) -> Sequence[float]:
        """What verdicts and intervals are of."""
        return self.compared or self.values

    @property
    def centre(self) -> float | None:
        """What stands for its repeats in charts and orders: their geometric mean, or a percentile of all of them."""
        return self.summary.centre if self.summary else None

    @property
    def centre_name(self) -> str:
        return self.summary.centre_name if self.summary else ""

    @property
    def run_ids(self) -> list[UUID]:
        return [run.id for run in self.all_runs]

    @property
    def batches(self) -> list[UUID]:
        return list(dict.fromkeys(run.batch_id for run in self.all_runs))

    @property
    def differences(self) -> list[Difference]:
        return self.against.differences if self.against else []

    @property
    def gap_words(self) -> str:
        """Why it has no value, as what it is: one that is not known, or one that is known and not counted."""
        stated = any(gap.stated for gap in self.gaps)
        return f"{'not counted' if stated else 'not known'}: {self.gap}" if self.gap else ""

    @property
    def gap_notes(self) -> list[str]:
        """The reasons with their counts ("2 × the cell is empty")."""
        counts = Counter(gap.reason for gap in self.gaps)
        return [f"{count} × {reason}" if count > 1 else reason for reason, count in counts.items()]
