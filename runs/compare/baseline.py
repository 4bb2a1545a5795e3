"""The batches that the newest one is set against, as `than=` of an address says it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple, TypeVar

DEFAULT_BASELINE = "last:10"
# What a form offers; a name is typed behind its colon.
BASELINES = {
    "last:1": "the batch before", "last:10": "geometric mean of the last 10 batches",
    "days:30": "geometric mean of the last 30 days",
    "label:": "a label", "version:": "a version", "commit:": "a commit",
}  # fmt: skip
MOST, MOST_LETTERS = 99_999, 120


class Facts(NamedTuple):
    """What a baseline asks of a batch. `versions`: what the version of its DBMS is called."""

    measured_at: datetime
    label: str = ""
    commit: str = ""
    versions: Collection[str] = ()


Batch = TypeVar("Batch")


class WrongBaseline(ValueError):
    """The text says what a baseline may be."""


@dataclass(frozen=True)
class Baseline:
    """`kind`: last (so many batches), days, label, version or commit (its beginning); `value`: which, or how many."""

    kind: str
    value: str

    @classmethod
    def read(cls, text: str, *, most_batches: int = MOST) -> Baseline:
        """Raises WrongBaseline. `most_batches`: the largest number of `last`, where fewer are at hand."""
        kind, _, value = text.partition(":")
        if kind in ("last", "days"):
            most = most_batches if kind == "last" else MOST
            is_one = value.isdecimal() and len(value) <= len(str(MOST)) and 0 < int(value) <= most
        else:
            is_one = kind in ("label", "version", "commit") and 0 < len(value) <= MOST_LETTERS and "\x00" not in value
        if not is_one:
            forms = f"last:10 (1 to {most_batches}), days:30 (1 to {MOST}), label:…, version:… and commit:…"
            raise WrongBaseline(f"“{text}” is no baseline. There are: {forms}; of a commit the beginning is enough.")
        return cls(kind, value)

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"

    @property
    def is_recent(self) -> bool:
        """Whether it is told by how long ago a batch was measured, not by a name."""
        return self.kind in ("last", "days")

    def before(
        self, batches: Sequence[Batch], facts_of: Callable[[Batch], Facts], *, changed_at: Iterable[datetime] = ()
    ) -> list[Batch]:
        """Those before the newest that it is, `batches` in order; the recent ones are of one level, that since the last
        change before the newest: a mean of two levels is none.
        """
        *before, newest = [(facts_of(batch), batch) for batch in batches]
        if self.is_recent:
            places: dict[datetime, int] = {}
            for place, (facts, _) in enumerate(before):
                places.setdefault(facts.measured_at, place)
            before = before[max((places[at] for at in changed_at if at in places), default=0) :]
        if self.kind == "last":
            before = before[-int(self.value) :]
        elif self.kind == "days":
            begin = newest[0].measured_at.date() - timedelta(days=int(self.value))
            before = [(facts, batch) for facts, batch in before if facts.measured_at.date() >= begin]
        else:
            before = [(facts, batch) for facts, batch in before if self._is_named(facts)]
        return [batch for _, batch in before]

    def _is_named(self, facts: Facts) -> bool:
        if self.kind == "commit":
            return facts.commit.startswith(self.value)
        return self.value in ([facts.label] if self.kind == "label" else facts.versions)
