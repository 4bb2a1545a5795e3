"""Marks added up: one row a question and what was looked at, as a table for people and for docs/method/truth.md."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from benchmarks.bench_truth import judge
from benchmarks.bench_truth.judge import Mark

PAGES = "page without a difference"
# What is looked at, how it is headed, and the share of it that must be right.
COLUMNS = {
    PAGES: ("no false winner", 0.95), judge.SIGN: ("sign", 0.99), judge.PLACE: ("place", 0.99),
    judge.COUNT: ("count", 0.99), judge.NUMBER: ("number", 1.0), judge.ALIKE_CLAIM: ("alike", 0.95),
    judge.COVERAGE: ("coverage", 0.93), judge.DECIDED: ("decided", 0.90), judge.ANSWERED: ("answered", 1.0),
    judge.POOLED: ("nothing pooled", 1.0), judge.OMISSION: ("nothing omitted", 1.0),
    judge.CONTRADICTION: ("no contradiction", 1.0),
}  # fmt: skip


@dataclass
class Tally:
    """Right and all marks by row and column; `wrong`: examples by row and column."""

    right: Counter[tuple[str, str]] = field(default_factory=Counter)
    every: Counter[tuple[str, str]] = field(default_factory=Counter)
    wrong: dict[tuple[str, str], list[str]] = field(default_factory=lambda: defaultdict(list))

    def add(self, row: str, mark: Mark) -> None:
        key = row, mark.what
        self.every[key] += 1
        self.right[key] += mark.right
        if not mark.right:
            self.wrong[key].append(mark.words)

    @property
    def rows(self) -> list[str]:
        return sorted({row for row, _ in self.every})

    def share(self, row: str, what: str) -> float | None:
        every = self.every[row, what]
        return self.right[row, what] / every if every else None

    def misses(self) -> Iterator[str]:
        """Where an aim is missed in sum."""
        for what, (head, aim) in COLUMNS.items():
            every = sum(self.every[row, what] for row in self.rows)
            right = sum(self.right[row, what] for row in self.rows)
            if every and right / every < aim:
                yield f"{head}: {right:,} of {every:,} ({right / every:.1%}), aim {aim:.0%}"


def markdown(tally: Tally, heading: str) -> Iterator[str]:
    used = [what for what in COLUMNS if any(tally.every[row, what] for row in tally.rows)]
    yield f"| {heading} | {' | '.join(COLUMNS[what][0] for what in used)} |"
    yield f"|---|{'---|' * len(used)}"
    yield f"| aim | {' | '.join(f'≥ {COLUMNS[what][1]:.0%}'.replace('≥ 100%', '100%') for what in used)} |"
    for row in tally.rows:
        yield f"| {row} | {' | '.join(_cell(tally, [row], what) for what in used)} |"
    yield f"| **all** | {' | '.join(_cell(tally, tally.rows, what) for what in used)} |"


def _cell(tally: Tally, rows: Iterable[str], what: str) -> str:
    rows = list(rows)
    every, right = (sum(counter[row, what] for row in rows) for counter in (tally.every, tally.right))
    if not every:
        return ""
    share = f"{right / every:.1%}"
    return f"{'100%' if right == every else '99.9%' if share == '100.0%' else share} of {every:,}"
