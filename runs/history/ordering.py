"""The order of a series by the parents of its commits, where the uploader tells them and no numbers."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from runs.models import Benchmark, SeriesBatch


@dataclass(frozen=True)
class _Child:
    """A batch of a commit, with the commits that came right before it."""

    pk: int
    number: int
    commit: str
    parents: list[str]


def order_by_parents(benchmark: Benchmark) -> None:
    """Number its batches so that each stands behind those of its parents, else by when it was measured."""
    batches = _with_parents(benchmark)
    by_commit: dict[str, list[_Child]] = defaultdict(list)
    for each in batches:
        by_commit[each.commit].append(each)
    places: dict[int, int] = {}
    entered: set[int] = set()
    for each in batches:
        waiting = [each]
        while waiting:
            entered.add(waiting[-1].pk)
            parents = [batch for commit in waiting[-1].parents for batch in by_commit[commit]]
            if before := [parent for parent in reversed(parents) if parent.pk not in entered]:
                waiting += before
            else:
                places.setdefault(waiting.pop().pk, len(places) + 1)
    moved = {each.pk: places[each.pk] for each in batches if each.number != places[each.pk]}
    rows = list(SeriesBatch.objects.filter(pk__in=moved))
    for row in rows:
        row.commit_number = moved[row.pk]
    SeriesBatch.objects.bulk_update(rows, ["commit_number"], batch_size=500)


def _with_parents(benchmark: Benchmark) -> list[_Child]:
    """Those with parents and without a number of their own, by when they were measured."""
    rows = benchmark.series.order_by("measured_at", "pk").exclude(commit="")
    columns = rows.values_list("pk", "commit_number", "commit", "run__tested", "run__batch__tested")
    found = []
    for pk, number, commit, own, of_batch in columns:
        tested = {**(of_batch or {}), **(own or {})}
        if tested.get("parents") and not tested.get("commit_number"):
            found.append(_Child(pk, number, commit, tested["parents"].split()))
    return found
