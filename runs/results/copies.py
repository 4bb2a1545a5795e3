"""A result is known by what it holds: the second time it comes it is a copy, shown and counted nowhere.

Looked for is only across uploads, in one import also across its files, and only among what lists show to the sender:
nobody learns from it of what they may not see. Repeats within one document are never copies of each other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any
from uuid import UUID

from benchagent.catalog import SECONDS_EACH
from benchagent.catalog.metrics import RATE_ENDS, RATES
from django.contrib.auth.models import AnonymousUser
from django.db.models import F, Model, Prefetch, Q, QuerySet

from runs.access import changes
from runs.models import Batch, Change, FileImport, Measurement, Metric, Run, SeriesChunk, User
from runs.models.base import in_parts
from runs.models.choices import Provenance, RunState
from runs.models.runs import STAGED_AT
from runs.models.visible import listed
from runs.run.artefacts import file_of
from runs.run.number import refresh_primary
from runs.run.series import decode

# Digits of a figure that two measurements hardly share, and how many such figures they do not share.
LEAST_DIGITS, LEAST_FIGURES = 4, 3
# Samples of a series, and different values among them, that two measurements do not share.
LEAST_SAMPLES, LEAST_DIFFERENT = 10, 5
# Among stored runs that share a figure or a series with new ones, so many of the newest are looked at.
MOST_CANDIDATES = 500
VALUES_AT_ONCE = 300
TRANSACTIONS = "transactions"
ALL_EQUAL = "all that it says is equal"
# What is noted of a run that counts in the place of one that was deleted.
COPY_OF, IN_ITS_PLACE = "copy of", "the result that it is a copy of was deleted: it counts in its place"
MARKED = ["copy_of", "invalid_at", "invalid_reason", "invalid_by", "primary_value"]
NUMBERS: Sequence[tuple[str, type[Model]]] = (("measurements", Measurement), ("series", SeriesChunk))


@dataclass
class Content:
    """What one run holds. `source`: what is measured by one and the same hand at one time, an upload or one file of it.

    `rows`: its numbers, but for computed ones; `chunks` of its series.
    """

    run: Run
    source: tuple[UUID | None, str]
    factors: Mapping[str, Any]
    rows: list[Measurement] = field(default_factory=list)
    chunks: list[SeriesChunk] = field(default_factory=list)

    @cached_property
    def all_figures(self) -> dict[tuple[int, str], float]:
        return {(row.metric_id, row.phase): row.value for row in self.rows}

    @cached_property
    def figures(self) -> dict[tuple[int, str], float]:
        """Those that noise touches, with digits enough."""
        return {(row.metric_id, row.phase): row.value for row in self.rows if _tells(row.metric, row.value)}

    @cached_property
    def telling_chunks(self) -> dict[int, SeriesChunk]:
        """The chunks of series that are one chunk long, by metric."""
        by_metric: dict[int, list[SeriesChunk]] = {}
        for chunk in self.chunks:
            by_metric.setdefault(chunk.metric_id, []).append(chunk)
        single = {metric: of for metric, (of, *more) in by_metric.items() if not more}
        return {
            metric: of
            for metric, of in single.items()
            if _is_noisy(of.metric) and of.count >= LEAST_SAMPLES and of.minimum != of.maximum
        }

    @property
    def facts(self) -> tuple[Any, ...]:
        run = self.run
        return (
            run.workload_id, run.dbms_version_id, run.hardware_id, run.started_at, run.measured_on, run.driver,
            run.command_lines, run.config_id, self.factors,
        )  # fmt: skip


def _is_noisy(metric: Metric) -> bool:
    """Times, rates and what was done in a time: sizes and settings are the same in every honest repeat."""
    is_rate = metric.unit in RATES or metric.unit.endswith(RATE_ENDS)
    return metric.unit in SECONDS_EACH or is_rate or metric.name == TRANSACTIONS


def _tells(metric: Metric, value: float) -> bool:
    digits = f"{value:.15g}".partition("e")[0].replace(".", "").lstrip("-0").rstrip("0")
    return _is_noisy(metric) and len(digits) >= LEAST_DIGITS


def why_copy(new: Content, old: Content) -> str:
    """What shows that one is a copy of the other; empty where nothing does."""
    if new.source == old.source:
        return ""
    for metric, chunk in new.telling_chunks.items():
        other = old.telling_chunks.get(metric)
        if other and _same_values(chunk, other):
            return f"equal {chunk.metric.label.lower()} over time, {chunk.count} values"
    shared = new.figures.keys() & old.figures.keys()
    equal = [key for key in shared if new.figures[key] == old.figures[key]]
    least = 2 * LEAST_FIGURES if _are_of_two_places(new.run, old.run) else LEAST_FIGURES
    if len(equal) >= least and 2 * len(equal) > len(shared):
        return f"{len(equal)} equal figures of {LEAST_DIGITS} digits or more"
    whole = equal and new.all_figures == old.all_figures and new.facts == old.facts
    return ALL_EQUAL if whole and len(new.chunks) == len(old.chunks) else ""


def _are_of_two_places(a: Run, b: Run) -> bool:
    """Whether two machines and two days are stated: then three figures that follow from one, as a rate and a mean from
    a count, are one coincidence.
    """
    days = {run.measured_at.date() for run in (a, b) if run.measured_at and _is_dated(run)}
    return len(days) == 2 and None not in (a.hardware_id, b.hardware_id) and a.hardware_id != b.hardware_id


def _is_dated(run: Run) -> bool:
    return bool(run.started_at or run.measured_on)


def _same_values(a: SeriesChunk, b: SeriesChunk) -> bool:
    if (a.count, a.minimum, a.maximum, a.total) != (b.count, b.minimum, b.maximum, b.total):
        return False
    values = decode(bytes(a.data), codec=a.codec)
    return len(set(values)) >= LEAST_DIFFERENT and values == decode(bytes(b.data), codec=b.codec)


def mark_copies(new: Sequence[Content], *, owner: User | None, file_import: FileImport | None = None) -> None:
    """Marks, in memory, each run that is a copy of one that is stored, or of an earlier one of these.

    An import that is read again replaces its own runs: they are no originals, nor is what an attempt left that was
    broken off.
    """
    finished = [content for content in new if content.run.state == RunState.FINISHED]
    shown = Run.objects.present()
    if file_import:
        shown = shown.exclude(upload__file_import=file_import).exclude(copy_of__upload__file_import=file_import)
        staged = Run.objects.filter(
            deleted_at=STAGED_AT, upload__file_import=file_import, upload__received_at__gte=file_import.stored_at
        )  # fmt: skip
        shown = Run.objects.filter(Q(pk__in=shown.values("pk")) | Q(pk__in=staged.values("pk")))
    known = _candidates(finished, shown.filter(listed(owner or AnonymousUser())))
    originals = originals_of(finished, known)
    for content in finished:
        if content.run.pk in originals and content.run.invalid_at is None:
            _mark(content.run, *originals[content.run.pk])


def originals_of(new: Sequence[Content], known: Sequence[Content]) -> dict[UUID, tuple[Run, str]]:
    """For each run that is a copy of a known one or of an earlier one of these: its original, and why.

    One or two figures of one run may be equal by chance: such runs are copies, each of another one, where all of their
    upload are, or where they have figures enough together.
    """
    found: dict[UUID, tuple[Run, str]] = {}
    by_chance: dict[tuple[UUID | None, str], dict[UUID, Content]] = {}
    before = [*known]
    for content in new:
        taken = by_chance.setdefault(content.source, {})
        for old in before:
            why = why_copy(content, old)
            is_little = _is_little(content, why)
            if why and not (is_little and old.run.pk in taken):
                found[content.run.pk] = (old.run, why)
                if is_little:
                    taken[old.run.pk] = content
                break
        before.append(content)
    for source, taken in by_chance.items():
        count = sum(content.source == source for content in new)
        if len(taken) < count and sum(len(content.figures) for content in taken.values()) < LEAST_FIGURES:
            for content in taken.values():
                del found[content.run.pk]
    return found


def _is_little(content: Content, why: str) -> bool:
    return why == ALL_EQUAL and len(content.figures) < LEAST_FIGURES


def _mark(run: Run, original: Run, why: str) -> None:
    run.copy_of_id = original.copy_of_id or original.pk
    is_later = original.created_at > run.created_at
    was_sent = "was sent while this one was deleted" if is_later else "was there before"
    if is_later and _is_dated(original) and not _is_dated(run):
        was_sent = "tells when it was measured"
    run.mark_by_rules(f"a copy of a result that {was_sent}: {why}")


def mark_stored(run: Run, *, earlier_only: bool) -> bool:
    """A run that is stored, in place: as a copy of another that is there, or as none by the rules of today. -> whether
    that is new. `earlier_only`: what came later makes none of it."""
    original = _original_of_stored(run, earlier_only=earlier_only and run.copy_of_id is None)
    is_left = run.copy_of is not None and run.copy_of.deleted_at is not None
    if (original is None) == (run.copy_of_id is None) and not is_left:
        return False
    if original:
        _mark(run, *original)
    else:
        run.copy_of, run.invalid_at, run.invalid_reason = None, None, ""
    run.save(update_fields=MARKED)
    if original is None:
        refresh_primary(Run.objects.filter(pk=run.pk))
    Batch.objects.refile(Run.objects.filter(pk=run.pk))
    return True


def _original_of_stored(run: Run, *, earlier_only: bool) -> tuple[Run, str] | None:
    rows = Run.objects.present().exclude(pk=run.pk).exclude(copy_of=run).exclude(copy_of__deleted_at__isnull=False)
    if earlier_only:
        rows = rows.filter(Q(created_at__lt=run.created_at) | Q(created_at=run.created_at, pk__lt=run.pk))
    rows = rows.filter(listed(run.owner or AnonymousUser()))
    (content,) = contents_of(Run.objects.filter(pk=run.pk))
    originals = originals_of([content], _candidates([content], rows))
    if run.pk in originals and _is_little(content, originals[run.pk][1]):
        finished = Run.objects.present().filter(upload=run.upload_id, state=RunState.FINISHED).order_by("pk")
        beside = [other for other in contents_of(finished[:MOST_CANDIDATES]) if other.source == content.source]
        rows = rows.exclude(pk__in=[other.run.pk for other in beside])
        originals = originals_of(beside, _candidates(beside, rows))
    return originals.get(run.pk)


def _candidates(new: Sequence[Content], rows: QuerySet[Run]) -> list[Content]:
    """Stored runs that have a figure or a series in common with one of these, the oldest first."""
    figures = {(metric, value) for content in new for (metric, _), value in content.figures.items()}
    chunks = {(metric, chunk.total) for content in new for metric, chunk in content.telling_chunks.items()}
    ids: set[UUID] = set()
    for model, column, wanted in ((Measurement, "value", figures), (SeriesChunk, "total", chunks)):
        for some in in_parts(sorted(wanted), VALUES_AT_ONCE):
            metrics, values = {metric for metric, _ in some}, {value for _, value in some}
            rows_alike: QuerySet[Any] = model._default_manager.filter(
                **{"metric__in": metrics, f"{column}__in": values}
            ).order_by()
            ids.update(rows_alike.values_list("run", flat=True)[:MOST_CANDIDATES])
    if not ids:
        return []
    newest = rows.filter(pk__in=[*ids][: 2 * MOST_CANDIDATES]).order_by("-created_at", "-pk")[:MOST_CANDIDATES]
    return contents_of(newest)[::-1]


def contents_of(runs: QuerySet[Run]) -> list[Content]:
    """The contents of stored runs."""
    read = runs.prefetch_related(
        "factors", *(Prefetch(name, model._default_manager.select_related("metric")) for name, model in NUMBERS)
    )
    return [
        Content(
            run, source_of(run), run.factor_values,
            [row for row in run.measurements.all() if row.provenance != Provenance.COMPUTED], list(run.series.all()),
        )
        for run in read
    ]  # fmt: skip


def source_of(run: Run) -> tuple[UUID | None, str]:
    """An upload; of an import the file; of an agent's run the run itself."""
    return run.upload_id or run.pk, file_of(run)


def release(gone: QuerySet[Run]) -> None:
    """When runs go the oldest copy of each counts in its place, which is noted, and is the original of the others.

    One that is there comes before those that are deleted; such a one is looked at again when it is brought back.
    """
    for original in gone.filter(copies__isnull=False).distinct():
        copies = Run.objects.filter(copy_of=original).exclude(pk__in=gone.values("pk"))
        if first := copies.order_by(F("deleted_at").asc(nulls_first=True), "created_at", "pk").first():
            Run.objects.filter(pk=first.pk).update(copy_of=None, invalid_at=None, invalid_reason="")
            refresh_primary(Run.objects.filter(pk=first.pk))
            copies.exclude(pk=first.pk).update(copy_of=first)
            changes.record(target=first, field=COPY_OF, old=original.pk, new=None, by=None, reason=IN_ITS_PLACE)


def take_back(run: Run) -> None:
    """When a run is brought back, what has counted in its place since it was deleted is its copy again: but for what
    tells when it was measured, where the run does not. That is its correction, and goes on counting.
    """
    stand_ins, gone = list[UUID](), [run.pk]
    while gone:
        noted = Change.objects.filter(target_type="run", field=COPY_OF, old=str(gone.pop()))
        new = [pk for each in noted.values_list("target_id", flat=True) if (pk := UUID(each)) not in stand_ins]
        stand_ins, gone = [*stand_ins, *new], [*gone, *new]
    counted = Run.objects.filter(pk__in=stand_ins, copy_of=None, invalid_at=None)
    if not _is_dated(run) and any(map(_is_dated, counted)):
        return
    Run.objects.filter(copy_of__in=stand_ins).update(copy_of=run)
    for content in contents_of(counted) if stand_ins else ():
        _mark(content.run, run, why_copy(content, *contents_of(Run.objects.filter(pk=run.pk))) or ALL_EQUAL)
        content.run.save(update_fields=MARKED)
        changes.record(target=content.run, field=COPY_OF, old=None, new=run.pk, by=None)
        Batch.objects.refile(Run.objects.filter(pk=content.run.pk))


def hand_over(replaced: QuerySet[Run]) -> None:
    """When runs are replaced their copies are those of what is there now, or count where that is another result."""
    for run in Run.objects.present().filter(copy_of__in=replaced).select_related("copy_of", "owner"):
        mark_stored(run, earlier_only=False)
