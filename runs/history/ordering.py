"""The order of a series where the uploader does not number each commit: by the parents that he tells, else by when it
was measured.
"""

from __future__ import annotations

from collections import defaultdict
from datetime import datetime

from django.db.models import Max, Q

from runs.models import Benchmark, SeriesBatch
from runs.run.facets import commit_number


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


def order_by_time(benchmark: Benchmark, since: datetime | None) -> None:
    """Give what has neither number nor parents the number of the newest commit that was measured before it, so that it
    stands behind that one. `since`: nothing has changed before then.
    """
    earlier = Q(measured_at__lt=since) if since else Q(pk=None)
    numbers = benchmark.series.aggregate(newest=Max("commit_number"), earlier=Max("commit_number", filter=earlier))
    if not numbers["newest"]:
        return
    rows = benchmark.series.exclude(earlier).order_by("measured_at", "pk").select_related("run__batch")
    newest, moved = numbers["earlier"] or 0, []
    for row in rows.only("commit_number", "run__tested", "run__batch__tested"):
        tested = row.run.effective_tested if row.run else {}
        if commit_number(tested) or tested.get("parents"):
            newest = max(newest, row.commit_number)
        elif row.commit_number != newest:
            row.commit_number = newest
            moved.append(row)
    SeriesBatch.objects.bulk_update(moved, ["commit_number"], batch_size=500)
