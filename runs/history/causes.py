"""Why: what else changed at a place, and where the time went, before and after, the largest first."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runs.answers.answer import Amount, share_of
from runs.answers.words import share
from runs.history.page import differing
from runs.models import Alert, ChangePoint, Conditions, Measurement, SeriesBatch
from runs.models.choices import ChangeState
from runs.stats import ALPHA, PRACTICAL_THRESHOLD, ratio
from runs.stats.steps import LEAST_DAYS

# Batches on each side whose counters are set against each other.
EACH_SIDE = 10
MOST_SHOWN = 8
# Of one place, from which on the machine as a whole has moved.
LEAST_OF_A_MACHINE, SHARE_OF_A_MACHINE = 3, 0.8
# What a change is likeliest caused by, first: of what was recorded.
_ORDER = (
    "version",
    "commit",
    "setting",
    "workload",
    "durability",
    "disk",
    "machine",
    "driver",
    "dataset",
    "procedure",
    "info",
)


@dataclass(frozen=True)
class Where:
    """A counter before and after. `change` as a share of 1."""

    label: str
    unit: str
    change: Amount

    @property
    def words(self) -> str:
        return share(self.change)


@dataclass(frozen=True)
class Why:
    """`changed`: (kind, in words) of what was recorded differently; `where`: of one benchmark, the largest first.

    `is_machine`: nearly all that the machine runs has moved, and nothing of the systems tested changed, or several
    systems moved at once.
    """

    changed: list[tuple[str, str]]
    where: list[Where]
    is_machine: bool


def why(alert: Alert, points: Sequence[ChangePoint], watched: int) -> Why:
    """Of an alert and its changes, of `watched` benchmarks that its machine had."""
    standing = [point for point in points if point.state != ChangeState.REFUTED] or list(points)
    changed: dict[tuple[str, str], None] = {}
    for point in standing:
        changed |= dict.fromkeys(changed_at(point))
    ordered = sorted(changed, key=lambda each: _ORDER.index(each[0]) if each[0] in _ORDER else len(_ORDER))
    moved = len({point.benchmark_id for point in standing})
    of_system = {"version", "commit", "setting", "workload"} & {kind for kind, _ in ordered}
    systems = {point.benchmark.dbms_id for point in standing}
    nearly_all = watched >= LEAST_OF_A_MACHINE and moved >= SHARE_OF_A_MACHINE * watched
    is_machine = nearly_all and (not of_system or len(systems) > 1)
    largest = max(standing, key=lambda point: abs(point.change.get("value", 0.0)), default=None)
    return Why(ordered, where_it_went(largest) if largest else [], is_machine)


def changed_at(point: ChangePoint) -> list[tuple[str, str]]:
    """Facts, version and commit of the batch that differ from the one before it."""
    before, _ = around(point, 1)
    if not before:
        return []
    old, new = before[-1], point.at
    facts = Conditions.objects.in_bulk([old.conditions_id, new.conditions_id])
    a, b = facts[old.conditions_id].facts, facts[new.conditions_id].facts
    changed = []
    for name in b:
        for words in differing(a, {name: b[name]}):
            changed.append((name.partition(":")[0], words))
    if old.commit != new.commit and new.commit:
        changed.append(("commit", f"Commit {old.commit[:10] or 'not stated'} → {new.commit[:10]}"))
    return changed


def around(point: ChangePoint, most: int = EACH_SIDE) -> tuple[list[SeriesBatch], list[SeriesBatch]]:
    """So many batches before a change, and from it on, in order."""
    rows = list(point.benchmark.series.in_order())
    place = next((index for index, row in enumerate(rows) if row.pk == point.at_id), 0)
    return rows[max(0, place - most) : place], rows[place : place + most]


def where_it_went(point: ChangePoint) -> list[Where]:
    """Every other number of these runs, before and after: those that surely changed, the largest first."""
    before, after = around(point)
    sides = [_numbers(rows) for rows in (before, after)]
    found = []
    for key in sides[0].keys() & sides[1].keys():
        old, new = sides[0][key], sides[1][key]
        change = ratio(new, old)
        # A counter may not vary at all; then any difference is one.
        if change is None or min(len(old), len(new)) < LEAST_DAYS or (change.p or 0.0) >= ALPHA / len(sides[0]):
            continue
        if key[0] != point.benchmark.metric.name and abs(math.log(change.value)) >= math.log1p(PRACTICAL_THRESHOLD):
            found.append((abs(math.log(change.value)), Where(key[1], key[2], share_of(change))))
    return [where for _, where in sorted(found, key=lambda each: -each[0])[:MOST_SHOWN]]


def _numbers(rows: Iterable[SeriesBatch]) -> dict[tuple[str, str, str], list[float]]:
    """(metric, label, unit) -> of each batch the mean of its runs."""
    batch_of = {run: row.pk for row in rows for run in row.runs}
    by: dict[tuple[str, str, str], dict[int, list[float]]] = {}
    measured = Measurement.objects.filter(run__in=batch_of, phase="run").values_list(
        "run", "metric__name", "metric__label", "metric__unit", "value"
    )
    for run, name, label, unit, value in measured:
        by.setdefault((name, label, unit), {}).setdefault(batch_of[str(run)], []).append(value)
    return {key: [sum(values) / len(values) for values in batches.values()] for key, batches in by.items()}
