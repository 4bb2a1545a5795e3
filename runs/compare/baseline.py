"""The batches that the newest one is set against, as `than=` of an address says it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

DEFAULT_BASELINE = "last:10"
# What a form offers; a name is typed behind its colon.
BASELINES = {
    "last:1": "the batch before", "last:10": "geometric mean of the last 10 batches",
    "days:30": "geometric mean of the last 30 days",
    "label:": "a label", "version:": "a version", "commit:": "a commit",
}  # fmt: skip
MOST, MOST_LETTERS = 99_999, 120


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
            raise WrongBaseline(f"“{text}” is no baseline. There are: {forms}, of which the beginning is enough.")
        return cls(kind, value)

    def __str__(self) -> str:
        return f"{self.kind}:{self.value}"

    @property
    def is_recent(self) -> bool:
        """Whether it is told by how long ago a batch was measured, not by a name."""
        return self.kind in ("last", "days")

    def is_named(self, *, label: str, commit: str, versions: Collection[str]) -> bool:
        """Whether it names a batch that has these."""
        if self.kind == "commit":
            return commit.startswith(self.value)
        return self.value in ([label] if self.kind == "label" else versions)
