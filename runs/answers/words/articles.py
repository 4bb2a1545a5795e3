"""What is said of the numbers of an article. A sentence is its words and its numbers in their order, each number as it
came (`T`), so that a page can say where it comes from.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from runs.stats import Verdict

T = TypeVar("T")


def extremes(best: str, medians: Sequence[tuple[str, T]]) -> list[str | T]:
    """The systems, the highest median first: a winner needs a verdict, the order of medians is no more than that."""
    if len(medians) < 2:
        return []
    verdict = f"{best} is better than every other system" if best else "No system is better than every other"
    (first, highest), (second, next_to_it), (last, lowest) = medians[0], medians[1], medians[-1]
    return [
        f"{verdict} by a verdict. By medians: {first} with ", highest, f", {second} with ", next_to_it,
        f", last {last} with ", lowest, ".",
    ]  # fmt: skip


def gain(
    name: str, median: T, base: T, change: T, *, values: Sequence[float], base_values: Sequence[float],
    verdict: Verdict | None,
) -> list[str | T]:  # fmt: skip
    """The ratio of medians, and the verdict without its numbers, which are those of geometric means."""
    apart = min(values) > max(base_values) or max(values) < min(base_values)
    judged = f"; verdict: {verdict.kind.replace('_', ' ')}" if verdict else ""
    ranges = f"; the ranges of the repeats {'do not ' if apart else ''}overlap{judged}. "
    return [f"{name[:1].upper()}{name[1:]}: median ", median, " against ", base, ", ", change, ranges]


def between(name: str, least: T, most: T, *, unit: str, smallest: T, largest: T) -> list[str | T]:
    return [f"{name}: between ", least, " and ", most, f" {unit} at every size from ", smallest, " to ", largest, "."]


def losses(name: str, changes: Sequence[tuple[T, T]], smallest: T) -> list[str | T]:
    """Each as (change, the size at which it is reached)."""
    words: list[str | T] = [f"{name}: "]
    for number, (change, size) in enumerate(changes):
        words += [", " if number else "", change, " at ", size]
    return [*words, " against ", smallest, "."]


def largest_tables(tables: Sequence[str], share: T, indexes: T) -> list[str | T]:
    return [f"{', '.join(tables)} hold ", share, " of the data; the indexes add ", indexes, "."]


def deep_indexes(indexes: Sequence[str], recommended: T) -> list[str | T]:
    return ["Deeper than the recommended ", recommended, f" levels: {', '.join(indexes)}."] if indexes else []


def query_times(fastest: T, slowest: T) -> list[str | T]:
    return ["From ", fastest, " s to ", slowest, " s, with the plans as printed."]


def lost_cells(lost: T, cells: T, why: str) -> list[str | T]:
    return [lost, " of ", cells, f" cells have no value: {why}"]


def claimed_factor(words: str, ratio: T) -> list[str | T]:
    return [f"{words} about ", ratio, ", at a size not said."]
