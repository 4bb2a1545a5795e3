"""What a sender is told of results that were stored: nothing of it is wrong in itself, all of it may be meant so."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, timedelta
from itertools import chain

from benchagent.importers.report import DRIVER, speaks_to
from django.db.models import Max, Min

from runs.access.rules import nameable
from runs.formatting import few_listed, grouped
from runs.machines import MACHINE_FIELDS
from runs.machines.facts import are_different
from runs.models import HardwareProfile, Run, RunFactor
from runs.models.choices import RunState
from runs.models.visible import Reader
from runs.results.document import NO_ZONE
from runs.run.likeness import alike
from runs.run.number import why_no_number

# Batch and key.
Cell = tuple[object, str]
# Noise does not make one repeat so many times as large as another: what differs between them was not stated.
SEVERAL_FOLD = 3.0
# Repeats of one sitting come within so much time; a night's results come a day after the last night's.
TOGETHER = timedelta(hours=1)
# Names in one query.
MOST_CELLS = 500
PARTED = (
    "repeats of the same cell were stored within the last hour in another import or batch, with the same label and "
    "day: they are not pooled with these. Send what was measured together in one import, or with one `batch`"
)


def are_far_apart(values: Sequence[float]) -> bool:
    return len(values) > 1 and 0 < SEVERAL_FOLD * min(values) <= max(values)


def far_apart_words(number: int, least: float, most: float, metric: str) -> str:
    return (
        f"{number} repeats of one cell go from {least:,.6g} to {most:,.6g} {metric}, {most / least:,.0f}-fold, and "
        "nothing that was stated tells them apart. If they are of different settings, say which: else they are pooled"
    )


def other_driver_words(driver: str, dbms: str) -> str:
    return f"spoken to by the driver {driver}, and called {dbms}: say which DBMS it was"


def warnings_of(runs: Sequence[Run], reader: Reader, *, are_of_files: bool = False) -> dict[Cell, list[str]]:
    """Batch and cell of these runs -> what is to be said of it, to somebody who sees what `reader` sees.

    `are_of_files`: they are those of an import, whose files are named.
    """
    cells: dict[Cell, Run] = {(run.batch_id, run.cell_key): run for run in runs}
    said: dict[Cell, list[str]] = {}
    second: dict[object, list[str]] = {}
    for cell, run in cells.items():
        if run.hardware_id not in second:
            second[run.hardware_id] = _of_machine(run, reader)
        said[cell] = [*second[run.hardware_id]]
    for run in runs:
        told = said[run.batch_id, run.cell_key]
        told += [words for words in run.warnings if words.startswith(NO_ZONE) and words not in told]
    for cell, words in chain(_uncounted(runs, are_of_files), _of_other_drivers(cells)):
        said[cell].append(words)
    rows = Run.objects.with_values().filter(batch__in={batch for batch, _ in cells}, primary_value__gt=0)
    if len(cells) <= MOST_CELLS:
        rows = rows.filter(cell_key__in={key for _, key in cells})
    ends = (
        rows.order_by().values_list("batch", "cell_key").annotate(least=Min("primary_value"), most=Max("primary_value"))
    )
    wide: dict[Cell, list[Run]] = {
        (batch, key): [] for batch, key, least, most in ends if (batch, key) in said and are_far_apart((least, most))
    }
    if wide:
        for run in rows.filter(cell_key__in={key for _, key in wide}).for_lists():
            wide.get((run.batch_id, run.cell_key), []).append(run)
    for cell, several in wide.items():
        for repeats in alike(several, by_day=True):
            values = [run.primary_value for run in repeats if run.primary_value is not None]
            if are_far_apart(values):
                metric = cells[cell].workload.primary_metric
                said[cell].append(far_apart_words(len(values), min(values), max(values), metric))
    if cells:
        for cell, words in _parted(cells):
            said[cell].append(words)
    return said


def _uncounted(runs: Sequence[Run], are_of_files: bool) -> Iterator[tuple[Cell, str]]:
    """Repeats that are stored and count nowhere, by why. Of a copy its answer says so, of a failure without a number
    its sender; of files nobody has.
    """
    named = {run.pk: _file_of(run) if are_of_files else str(run.repeat) for run in runs}
    results = Counter(named.values())
    by_reason = grouped(
        (((run.batch_id, "" if are_of_files else run.cell_key), why_no_number(run)), run)
        for run in runs
        if not run.copy_of_id
        and (run.invalid_at or (run.state == RunState.FAILED and (are_of_files or run.primary_value is not None)))
    )
    for (_, why), some in by_reason.items():
        names = [
            name if count == results[name] or not are_of_files else f"{count} of {results[name]} results of {name}"
            for name, count in Counter(named[run.pk] for run in some).items()
        ]
        noun = "" if are_of_files else "repeat " if len(names) == 1 else "repeats "
        verb = "counts" if len(names) == 1 else "count"
        yield (some[0].batch_id, some[0].cell_key), f"{noun}{few_listed(names)} {verb} nowhere: {why}"


def _file_of(run: Run) -> str:
    """As `runs.imports` has noted it."""
    return str(run.info["files"][run.repeat - 1])


def _of_other_drivers(cells: Mapping[Cell, Run]) -> Iterator[tuple[Cell, str]]:
    """Cells of a DBMS that their client library does not speak to."""
    cell_by_run = {run.pk: cell for cell, run in [*cells.items()][:MOST_CELLS]}
    for factor in RunFactor.objects.filter(name=DRIVER, run__in=cell_by_run):
        cell = cell_by_run[factor.run_id]
        name = cells[cell].dbms_version.dbms.name
        if not speaks_to(factor.text, name):
            yield cell, other_driver_words(factor.text, name)


def _parted(cells: Mapping[Cell, Run]) -> Iterator[tuple[Cell, str]]:
    """Cells of which other repeats, with nothing that tells them apart, came with them or a moment ago in another
    batch."""
    firsts: dict[str, tuple[object, Run]] = {}
    for (batch, key), run in cells.items():
        _, first = firsts.setdefault(key, (batch, run))
        if first is not run and first.counts and run.counts and _stated(first) == _stated(run):
            yield (batch, key), PARTED
    times = [run.created_at for run in cells.values()]
    owners = {run.owner_id for run in cells.values()} - {None}
    rows = Run.objects.with_values().filter(owner__in=owners, created_at__range=(min(times) - TOGETHER, max(times)))
    if len(cells) <= MOST_CELLS:
        rows = rows.filter(cell_key__in=firsts)
    told = rows.exclude(batch__in={batch for batch, _ in cells}).select_related("batch").order_by("-created_at")
    for row in told[:MOST_CELLS]:
        if row.cell_key in firsts:
            batch, run = firsts.pop(row.cell_key)
            if _stated(run) == _stated(row):
                yield (batch, row.cell_key), PARTED


def _stated(run: Run) -> tuple[str, object, object]:
    """What tells a run from the same cell measured another time."""
    day = run.started_at.astimezone(UTC).date() if run.started_at else run.measured_on
    return run.label or run.batch.label, run.tested or run.batch.tested, day


def warnings_of_import(runs: Sequence[Run], reader: Reader) -> list[str]:
    """The same of all cells of one import, each once."""
    told = warnings_of(runs, reader, are_of_files=True)
    return list(dict.fromkeys(words for lines in told.values() for words in lines))


def _of_machine(run: Run, reader: Reader) -> list[str]:
    """A machine that was made for this result although one of its name is known, from which its facts tell it: a new
    kernel, or more memory, leaves it the same.
    """
    machine = run.hardware
    if machine is None or run.upload is None or machine.created_at < run.upload.received_at:
        return []
    before = HardwareProfile.objects.filter(name=machine.name, merged_into=None, created_at__lt=machine.created_at)
    others = list(nameable(before, reader).order_by("created_at"))
    if not others or not all(are_different(machine, other) for other in others):
        return []
    other = others[-1]
    return [
        f"{machine.name} is a second machine of this name, {machine.slug}, as {other.slug} has other facts"
        f"{_differences(machine, other)}: its benchmarks begin anew. If it is the same one with a new part, an "
        "operator joins them to those before, on their pages"
    ]


def _differences(machine: HardwareProfile, other: HardwareProfile) -> str:
    pairs = ((name, getattr(machine, name), getattr(other, name)) for name in MACHINE_FIELDS if name != "name")
    words = [
        f"{name} {theirs or 'not stated'} there, {own or 'not stated'} here"
        for name, own, theirs in pairs
        if own != theirs
    ]
    return f" ({'; '.join(words)})" if words else ""
