"""A benchmark that goes on another: after a new disk or mainboard a person may say that it does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import Case, F, Min, QuerySet, When
from rest_framework.exceptions import ValidationError

from runs.access import changes
from runs.compare.guard import beyond_span
from runs.history import releases
from runs.history.watching import watch
from runs.models import Batch, Benchmark, RunStorage, SeriesBatch, User
from runs.models.choices import StorageRole

JOINED_TO = "joined_to"


@transaction.atomic
def join(benchmark: Benchmark, to: Benchmark, *, by: User) -> None:
    """Its batches, these and those to come, are filed into the series of `to`. Raises ValidationError."""
    _lock(benchmark, to)
    alike = ("metric_id", "visibility", "owner_id", "branch", "release_of_id")
    if benchmark.pk == to.pk or to.joined_to_id is not None or benchmark.joined_to_id is not None:
        raise ValidationError({JOINED_TO: ["Join it to another benchmark that is not joined to one itself."]})
    if any(getattr(benchmark, name) != getattr(to, name) for name in alike):
        raise ValidationError({JOINED_TO: ["Both need the same metric, branch, visibility and owner."]})
    if beyond_span(benchmark.procedure, to.procedure, to.procedure):
        raise ValidationError({JOINED_TO: ["They were measured too differently for a ratio, as in their windows."]})
    benchmark.joined.update(joined_to=to)
    SeriesBatch.objects.of_all_releases(benchmark).update(benchmark=to, is_watched=False)
    benchmark.change(joined_to=to)
    changes.record(target=benchmark, field=JOINED_TO, old=None, new=str(to.pk), by=by)
    for each in (benchmark, to, *benchmark.releases.all(), *releases.part(to).values()):
        watch(each)


@transaction.atomic
def part(benchmark: Benchmark, *, by: User) -> None:
    """Undo it: its batches are filed anew. Raises ValidationError."""
    _lock(benchmark)
    to = benchmark.joined_to
    if to is None:
        return
    Batch.objects.filter(pk__in=SeriesBatch.objects.of_all_releases(to).values("batch")).update(is_filed=False)
    benchmark.change(joined_to=None)
    changes.record(target=benchmark, field=JOINED_TO, old=str(to.pk), new=None, by=by)


def _lock(*known: Benchmark) -> None:
    """As they are now: what has no batches any more goes by itself, and somebody else may join them."""
    try:
        for each in sorted(known, key=lambda each: each.pk):
            each.refresh_from_db(from_queryset=Benchmark.objects.select_for_update())
    except Benchmark.DoesNotExist:
        raise ValidationError({JOINED_TO: ["It is gone: its last batch was deleted."]}) from None


def candidates(benchmark: Benchmark) -> QuerySet[Benchmark]:
    """What it may go on: alike in all that joining asks, the same workload and system; what is called alike first."""
    rows = Benchmark.objects.filter(
        workload__name=benchmark.workload.name, dbms=benchmark.dbms_id, metric=benchmark.metric_id,
        owner=benchmark.owner_id, visibility=benchmark.visibility, branch=benchmark.branch, joined_to=None,
        release_of=benchmark.release_of_id,
    )  # fmt: skip
    machine = benchmark.hardware and benchmark.hardware.name
    called_alike = Case(When(name=benchmark.name, hardware__name=machine, then=0), default=1)
    return rows.exclude(line=benchmark.line).select_related("hardware").order_by(called_alike, "-newest_at")


def tell_apart(benchmarks: Sequence[Benchmark]) -> None:
    """Give what goes by one name on machines of one name, as after a new disk or mainboard, what tells it apart: the
    mainboard and the disk of its data where theirs differ, and from when until when it was measured.
    """
    # The mainboards of what is called alike.
    alike: dict[tuple[object, ...], dict[UUID, str]] = defaultdict(dict)
    names = {each.name for each in benchmarks}
    rows = Benchmark.objects.watched().filter(name__in=names, joined_to=None, batches__gt=0).exclude(hardware=None)
    for pk, motherboard, *called in rows.values_list(
        "pk", "hardware__motherboard", "name", "hardware__name", "metric", "visibility", "owner"
    ):
        alike[tuple(called)][pk] = motherboard
    shared = {each.pk: alike[_called(each)] for each in benchmarks if len(alike[_called(each)]) > 1}
    batches = SeriesBatch.objects.filter(benchmark__in=shared).order_by().values_list("benchmark")
    firsts = dict(batches.annotate(Min("measured_at"))) if shared else {}
    disks = _disks_of({pk for known in shared.values() for pk in known}) if shared else {}
    for each in benchmarks:
        if each.pk in shared and each.newest_at and each.hardware:
            boards = {*shared[each.pk].values()}
            board = [each.hardware.motherboard] if len(boards) > 1 and each.hardware.motherboard else []
            has_others = len({disks.get(pk) for pk in shared[each.pk]}) > 1
            disk = [disks[each.pk]] if has_others and each.pk in disks else []
            days = dict.fromkeys(f"{at:%Y-%m-%d}" for at in (firsts[each.pk], each.newest_at))
            each.told_apart = ", ".join([*board, *disk, " to ".join(days)])


def _disks_of(benchmarks: Iterable[UUID]) -> dict[UUID, str]:
    """What held the data of the newest batch of each."""
    series = "run__series_batches"
    rows = RunStorage.objects.filter(
        **{f"{series}__benchmark__in": benchmarks, f"{series}__measured_at": F(f"{series}__benchmark__newest_at")},
        role=StorageRole.DATA,
    )  # fmt: skip
    return dict(rows.values_list(f"{series}__benchmark", "device__name"))


def _called(benchmark: Benchmark) -> tuple[object, ...]:
    """What of a benchmark its row in a list shows, and whose it is."""
    machine = benchmark.hardware.name if benchmark.hardware else ""
    return benchmark.name, machine, benchmark.metric_id, benchmark.visibility, benchmark.owner_id
