"""The order of a series by the parents of its commits, where the uploader tells them and no numbers."""

from __future__ import annotations

from collections import defaultdict

from runs.models import Benchmark, SeriesBatch


def order_by_parents(benchmark: Benchmark) -> None:
    """Number its batches so that each stands behind those of its parents, else by when it was measured."""
    rows = benchmark.series.order_by("measured_at", "pk").exclude(commit="").select_related("run__batch")
    parents: dict[SeriesBatch, list[str]] = {}
    by_commit: dict[str, list[SeriesBatch]] = defaultdict(list)
    for row in rows.only("commit", "commit_number", "run__tested", "run__batch__tested"):
        tested = row.run.effective_tested if row.run else {}
        if tested.get("parents") and not tested.get("commit_number"):
            parents[row] = tested["parents"].split()
            by_commit[row.commit].append(row)
    places: dict[SeriesBatch, int] = {}
    entered: set[SeriesBatch] = set()
    for row in parents:
        waiting = [row]
        while waiting:
            entered.add(waiting[-1])
            earlier = [each for commit in parents[waiting[-1]] for each in by_commit[commit]]
            if before := [each for each in reversed(earlier) if each not in entered]:
                waiting += before
            else:
                places.setdefault(waiting.pop(), len(places) + 1)
    moved = [row for row, place in places.items() if row.commit_number != place]
    for row in moved:
        row.commit_number = places[row]
    SeriesBatch.objects.bulk_update(moved, ["commit_number"], batch_size=500)
