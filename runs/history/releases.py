"""Releases that are measured on beside a newer one: each is a benchmark of its own, of which its own batches tell.

What nobody calls a branch is of the newest release. An older one that comes back a second time after newer ones had
taken its place is measured beside them, from the first of theirs on. One that comes back once stays: for a day in its
place, for as many days as a step takes behind the newer one, as that was taken back. Batches that tell the place of
their commit (`runs.history.ordering`) stand there.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Sequence
from datetime import date, datetime
from itertools import groupby
from uuid import UUID

from django.db.models import Max, Min, Q, QuerySet

from runs.formatting import release_line, release_of, version_order
from runs.history.identity import digest
from runs.history.ordering import order_by_time
from runs.models import Benchmark, ChangePoint, DbmsVersion, SeriesBatch
from runs.models.base import clean, in_parts
from runs.run.facets import commit_number
from runs.stats.steps import LEAST_DAYS

# An older release that comes back so many times is measured beside the newer ones.
LEAST_RETURNS = 2
_AT_ONCE = 500
_LONGEST_NAME, _LONGEST_LINE = 400, 120


def lines_of(batches: Sequence[tuple[date, str]]) -> list[str]:
    """`batches`: the day and the version of each. For each what the line of its release is called, as 16 or 8.0, where
    that is measured beside a newer one; empty of the newest.
    """
    days: dict[str, set[date]] = defaultdict(set)
    for day, version in batches:
        days[release_of(version)].add(day)
    first = {release: min(own) for release, own in days.items()}
    beside: dict[str, list[str]] = {}
    newer, days_of_newer = list[str](), set[date]()
    for release in sorted(days, key=lambda each: (version_order(each), each), reverse=True):
        between = sorted(days_of_newer)
        # How many days of newer releases there were up to each of its own: where that has grown, it has come back.
        before = {day: bisect_right(between, day) for day in days[release]}
        beside[release] = [
            other for other in newer
            if len({count for day, count in before.items() if day >= first[other]}) >= LEAST_RETURNS
        ]  # fmt: skip
        newer.append(release)
        days_of_newer |= days[release]
    lines = []
    for day, version in batches:
        others = [other for other in beside[release_of(version)] if first[other] <= day]
        lines.append(clean(release_line(version, others), _LONGEST_LINE) if others else "")
    return lines


def orders_of(batches: Sequence[tuple[date, str]]) -> list[str]:
    """`batches`: the day and the version of each, in order of time. For each what its version is ordered by in the
    series: of one that took the place of a newer version again as that, so that it stands behind it.
    """
    orders, newest, known = list[str](), "", set[str]()
    for order, rows in groupby(batches, key=lambda batch: version_order(batch[1])):
        days = [day for day, _ in rows]
        is_back = order in known and order < newest and len({*days}) >= LEAST_DAYS
        orders += [newest if is_back else order] * len(days)
        newest = max(newest, order)
        known.add(order)
    return orders


def part(benchmark: Benchmark) -> dict[UUID, Benchmark]:
    """Move the batches of a benchmark that are of another line of releases by now, and put those of a version that was
    taken back behind the newer one. -> benchmarks of which any were moved.

    In the caller's transaction.
    """
    newest = benchmark.release_of or benchmark
    of_all = Benchmark.objects.filter(Q(pk=newest.pk) | Q(release_of=newest.pk))
    family = SeriesBatch.objects.filter(benchmark__in=of_all.values("pk"))
    if newest.branch or not _may_be_parted(family, newest):
        return {}
    known = {each.branch: each for each in newest.releases.select_related("metric")} | {"": newest}
    in_time = family.order_by("measured_at", "pk")
    rows = [*in_time.values_list("pk", "benchmark", "measured_at", "version__version", "version_order")]
    lines, placed = lines_of([(at.date(), version) for _, _, at, version, _ in rows]), _placed_by_commits(family)
    moves: dict[tuple[UUID, str], list[tuple[int, datetime]]] = defaultdict(list)
    of_lines: dict[str, list[tuple[int, datetime, str, str]]] = defaultdict(list)
    for (pk, source, at, version, order), line in zip(rows, lines, strict=True):
        own = "" if pk in placed else line
        if pk not in placed:
            of_lines[own].append((pk, at, version, order))
        if own not in known or known[own].pk != source:
            moves[source, own].append((pk, at))
    changed: dict[UUID, Benchmark] = {}
    for (source, line), moved in moves.items():
        to = known[line] = known.get(line) or _begun(newest, line)
        for some in in_parts([pk for pk, _ in moved], _AT_ONCE):
            SeriesBatch.objects.filter(pk__in=some).update(benchmark=to, commit_number=0, is_watched=False)
            # With what people have said of them.
            ChangePoint.objects.filter(at__in=some).update(benchmark=to)
        for each in known.values():
            if each.pk in (source, to.pk):
                each.series.look_again(min(at for _, at in moved))
                changed[each.pk] = each
    if newest.pk in changed:
        order_by_time(newest, None)
    return changed | {known[line].pk: known[line] for line, own in of_lines.items() if _put_behind(known[line], own)}


def _put_behind(benchmark: Benchmark, rows: Sequence[tuple[int, datetime, str, str]]) -> bool:
    """What was taken back stands behind what was newer. `rows`: id, time, version and order of all batches, in order of
    time. -> whether any has moved.
    """
    orders = orders_of([(at.date(), version) for _, at, version, _ in rows])
    moved = [(pk, at, order) for (pk, at, _, before), order in zip(rows, orders, strict=True) if order != before]
    if not moved:
        return False
    SeriesBatch.objects.bulk_update(
        [SeriesBatch(pk=pk, version_order=order) for pk, _, order in moved], ["version_order"], batch_size=_AT_ONCE
    )
    benchmark.series.look_again(min(at for _, at, _ in moved))
    return True


def _may_be_parted(family: QuerySet[SeriesBatch], newest: Benchmark) -> bool:
    """Whether it is, or any version was measured after a newer one."""
    # The index of the order tells that most series have one version; the versions are in the rows.
    some = [*family.order_by().values_list("version_order", "benchmark").distinct()[:2]]
    if len(some) < 2 and all(pk == newest.pk for _, pk in some):
        return False
    by_version = family.order_by().values("version", "benchmark")
    by_version = by_version.annotate(first=Min("measured_at"), last=Max("measured_at"))
    spans = [*by_version.values_list("version", "benchmark", "first", "last")]
    # By what the versions are: of a batch that was put behind another its order is that one's.
    versions = DbmsVersion.objects.in_bulk({version for version, *_ in spans})
    orders = {pk: version_order(version.version) for pk, version in versions.items()}
    newer = None
    for _, pk, first, last in sorted(spans, key=lambda span: orders[span[0]], reverse=True):
        if pk != newest.pk or (newer and last.date() >= newer.date()):
            return True
        newer = min(filter(None, (newer, first)))
    return False


def _placed_by_commits(family: QuerySet[SeriesBatch]) -> set[int]:
    """Those that tell the number or the parents of their commit; others may have the number of one before them."""
    rows = family.exclude(commit_number=0).select_related("run__batch").only("run__tested", "run__batch__tested")
    tested = {row.pk: row.run.effective_tested for row in rows if row.run}
    return {pk for pk, told in tested.items() if commit_number(told) or told.get("parents")}


def _begun(newest: Benchmark, line: str) -> Benchmark:
    return Benchmark.objects.create(
        key=digest([newest.key, "release", line]), line=newest.line, branch=line, release_of=newest,
        name=clean(f"{newest.name}, release {line}", _LONGEST_NAME), visibility=newest.visibility,
        owner_id=newest.owner_id, workload_id=newest.workload_id, metric=newest.metric, procedure=newest.procedure,
        dbms_id=newest.dbms_id, config_id=newest.config_id, hardware_id=newest.hardware_id,
        machine_id=newest.machine_id, is_beside=newest.is_beside,
    )  # fmt: skip
