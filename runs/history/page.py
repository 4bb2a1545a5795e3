"""A benchmark's page: every repeat, the mean of each batch, where the next is expected, what changed, what happened."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import Q
from django.urls import reverse
from django.utils.text import capfirst

from runs.answers.answer import Newer
from runs.answers.history import batches_apart, judged_by_repeats
from runs.answers.words.gaps import lacking_sentences, lacking_words
from runs.answers.words.history import newest_words
from runs.charts.base import EventSpec, Figure, LineSeries, LinesSpec, Mark, TextColumn, lines
from runs.charts.curves import ZOOMED_NOTE
from runs.compare.asked import SINCE, Missing, Question
from runs.compare.grouping import rising
from runs.compare.select import CELL_PREFIX
from runs.formatting import few_listed, percent_of
from runs.history.alerts import ends_of
from runs.history.watching import BASELINE, BenchmarkSeries, goes_on, is_rejected, newest_against
from runs.history.words import apart_of, change_words, moments, short_change, tested_of
from runs.models import Benchmark, Conditions, Metric, Run, SeriesBatch
from runs.models.base import clean
from runs.models.choices import OF_LEVEL, Better, ChangeKind, ChangeState, RunState
from runs.run import likeness
from runs.run.circumstances import OF_MACHINE, TOLD_FIRST, changes
from runs.run.events import CHECKPOINT, NOTE
from runs.run.facets import branch_of
from runs.stats import Interval
from runs.stats.watch import outlying
from runs.tables import Column, Table, TableCell

# How many batches a page draws, how many a reader may ask for, and how many its table and its branches show.
DRAWN, MOST_DRAWN, MOST_LISTED, MOST_BRANCHES = 300, 1_000, 100, 4
# Rows that stand open; the others are folded away.
UNFOLDED = 10
# So many characters of a note stand beside its flag on the axis.
LONGEST_NOTE = 60
# So many batches that failed are named.
MOST_FAILED = 5
# So many other metrics of its batches are linked, and so many cells of it, the newest, stand in an address.
MOST_METRICS, MOST_CELLS = 12, 50
# What says once more, of one commit, what is promised or was seen of all.
TOLD_TWICE = tuple(f"{likeness.heading(name)} " for name in ("promised", "storage_holds", "observed"))
BAND_COLOUR = 7
# A benchmark says what it would need to see a change of so much.
TO_SEE = 0.05
NO_MEAN = lacking_words(Missing("positive"))
# The axis of values begins at 0 where the least is no larger a part of the most.
FROM_ZERO = 0.2


@dataclass(frozen=True)
class Row:
    """A batch in the table. `events`: what was recorded differently of the one before it. `lost`: how many of its
    repeats failed. `doubts`: what speaks against its number.
    """

    index: int
    batch: SeriesBatch
    events: list[str]
    commit_url: str
    note: str
    lost: int = 0
    doubts: str = ""

    @property
    def tested(self) -> str:
        return tested_of(self.batch)


def context_of(benchmark: Benchmark, siblings: Sequence[Benchmark], *, drawn: int = DRAWN) -> dict[str, Any]:
    """What its template shows. `siblings`: other branches that the reader may see."""
    series = BenchmarkSeries.of(benchmark, drawn)
    events, notes, ends = events_of(series.rows), notes_of(series.rows), ends_of(series.points)
    above = series.above_zero
    when = moments(above.rows)
    apart = [(when[at], ratio) for at, ratio in outlying(above.logs, benchmark.metric.threshold)]
    failed, lost = failed_of(benchmark, series.rows)
    listed = [*enumerate(series.rows)][-MOST_LISTED:]
    doubts = SeriesBatch.objects.filter(pk__in=[row.pk for _, row in listed]).doubts("pk")
    rows = [
        Row(
            index,
            row,
            events.get(index, []),
            commit_url(benchmark, row.commit),
            notes.get(index, ""),
            lost.get(index, 0),
            doubts[row.pk],
        )
        for index, row in reversed(listed)
    ]
    changes = [
        (point, change_words(point, is_last=point.pk not in ends))
        for point in sorted([*series.points, *series.too_small()], key=lambda point: point.at.place, reverse=True)
    ]
    band = series.band()
    # Where the level falls or rises, no next batch is expected at its mean.
    least = series.least_told() if band else 0.0
    is_blind = least > max(TO_SEE, benchmark.metric.threshold)
    last_start = series.rows[series.starts[-1]].pk if series.starts else None
    drifts = any(each.kind == ChangeKind.DRIFT and each.at_id == last_start for each in series.points)
    expected = band.interval if band and not drifts else None
    return {
        "benchmark": benchmark,
        "standing_apart": " ".join(lacking_sentences(batches_apart("standing_apart", "", apart))),
        "failed": failed[:MOST_FAILED],
        "more_failed": len(failed[MOST_FAILED:]),
        "figure": _figure(series, events, notes, siblings, expected) if series.rows else None,
        "answer": answer_words(series),
        "changes": [(point, words) for point, words in changes if point.state != ChangeState.REFUTED],
        "least_seen": percent_of(least) if band else "",
        "drifts": drifts,
        "is_at_zero": series.is_at_zero,
        "is_blind": is_blind,
        "repeats_needed": series.repeats_needed(band, TO_SEE) if band and is_blind else None,
        "rows": rows,
        "unfolded": rows[:UNFOLDED],
        "folded": rows[UNFOLDED:],
        "siblings": siblings,
        "other_metrics": other_metrics(benchmark, series.rows),
        "since_when": since_when(benchmark, series.rows),
        "drawn": len(series.rows),
        "more": MOST_DRAWN if benchmark.batches > drawn == DRAWN else 0,
    }  # fmt: skip


def other_metrics(benchmark: Benchmark, rows: Sequence[SeriesBatch]) -> list[tuple[str, str]]:
    """The label of each other metric with a better side that its newest batch has, and the address of the benchmark of
    it, or that asks whether it has changed in the cells of these batches.
    """
    if len(rows) < 2:
        return []
    metrics = Metric.objects.filter(measurements__run__in=rows[-1].runs).exclude(pk=benchmark.metric_id)
    others = [*metrics.exclude(better=Better.NONE).distinct().order_by("name")[:MOST_METRICS]]
    cells = _cells_of(rows) if others else ""
    watched = Benchmark.objects.filter(series__run=rows[-1].run_id, branch=benchmark.branch)
    pages = {each.metric_id: each.get_absolute_url() for each in watched}
    asked = {each.pk: f"{reverse('compare')}?{cells}&{Question(kind=SINCE, metric=each.name).query}" for each in others}
    return [(each.label, pages.get(each.pk, asked[each.pk])) for each in others]


def since_when(benchmark: Benchmark, rows: Sequence[SeriesBatch]) -> str:
    """The address that asks since when a branch has changed, of which no alert tells; empty of the main one."""
    if benchmark.is_watched or len(rows) < 2:
        return ""
    branch, asked = urlencode({"branch": benchmark.branch}), Question(kind=SINCE, metric=benchmark.metric.name)
    return f"{reverse('compare')}?{_cells_of(rows)}&{branch}&{asked.query}"


def _cells_of(rows: Sequence[SeriesBatch]) -> str:
    """The query of the runs of these batches."""
    runs = Run.objects.filter(pk__in=[row.run_id for row in rows]).order_by("-measured_at")
    keys = dict.fromkeys(runs.values_list("cell_key", flat=True))
    return urlencode([("cell", key[:CELL_PREFIX]) for key in [*keys][:MOST_CELLS]])


def commit_url(benchmark: Benchmark, commit: str) -> str:
    """Where a commit of the system is shown; empty where nobody has said it (`COMMIT_URLS`)."""
    template = settings.COMMIT_URLS.get(benchmark.dbms.slug) or settings.COMMIT_URLS.get("*", "")
    return template.replace("{commit}", commit) if template and commit.isalnum() else ""


def answer_words(series: BenchmarkSeries) -> str:
    """The newest batch against those of its level before it, with what was recorded differently of it; and before that
    the change that was confirmed among the last. Where each batch is of a release of its own, the newest against the
    one before it, by the repeats of the two: all before it pooled are no release.
    """
    if (amount := newest_against(series)) is None:
        return ""
    newest, metric, (before, _, apart) = series.rows[-1], series.benchmark.metric, series.baseline
    if len({row.version_id for row in series.rows}) == len(series.rows):
        before, apart = series.rows[-2:-1], []
        amount = judged_by_repeats(newest.values, before[0].values, better=metric.better, threshold=metric.threshold)
    name = " · ".join(filter(None, (moments(series.rows)[-1], tested_of(newest))))
    claim = Newer(label="", newest=name, of=f"last:{len(before)}", batches=len(before), ratio=amount)
    among = {row.pk for row in series.rows[-BASELINE:]}
    confirmed = [
        point for point in series.points
        if point.at_id in among and point.state == ChangeState.CONFIRMED and point.kind in OF_LEVEL
        and not is_rejected(point)
    ]  # fmt: skip
    told = max(confirmed, key=lambda point: series.index[point.at_id], default=None)
    before_it = goes_on(series.points, metric) if told else None
    return " ".join(
        filter(None, (
            change_words(before_it) if before_it else "",
            change_words(told) if told else "",
            newest_words(claim, metric.label),
            *lacking_sentences(apart_of(apart)),
            _differently(series.rows),
        ))
    )  # fmt: skip


def _differently(rows: Sequence[SeriesBatch]) -> str:
    """What was recorded differently of the newest batch than of the one before it, and whether a comparison of the two
    would give a ratio.
    """
    changed = _changed(rows, [len(rows) - 1]).get(len(rows) - 1, [])
    wanted = [(kind, words) for kind, words in changed if kind in TOLD_FIRST and not words.startswith(TOLD_TWICE)]
    if not wanted:
        return ""
    names = [words for _, words in sorted(wanted, key=lambda each: TOLD_FIRST.index(each[0]))]
    is_refused = any(words.startswith(f"{likeness.heading('commits')} ") for _, words in wanted)
    refused = " A comparison gives no ratio of these two: their commits survive different things." if is_refused else ""
    return f"Recorded differently than of the batch before: {few_listed(names)}.{refused}"


def events_of(rows: Sequence[SeriesBatch]) -> dict[int, list[str]]:
    """At a batch: what was recorded differently of the one before it, in words: Kernel 6.1.0 → 6.12.5."""
    changed = _changed(rows, range(1, len(rows)))
    return {index: [words for _, words in found] for index, found in changed.items()}


def _changed(rows: Sequence[SeriesBatch], places: Iterable[int]) -> dict[int, list[tuple[str, str]]]:
    """At those of these places where anything was recorded differently of the batch before: its kind, and in words.

    Of machine and disks the one that was measured before it: an older release may be measured after a newer one.
    """
    in_time = sorted(range(len(rows)), key=lambda at: rows[at].measured_at)
    measured_before = dict(zip(in_time[1:], in_time, strict=False))
    pairs = [(at, at - 1, measured_before.get(at, at)) for at in places if at]
    changed = [pair for pair in pairs if len({rows[at].conditions_id for at in pair}) > 1]
    wanted = {rows[at].conditions_id for pair in changed for at in pair}
    facts = {row.digest: row.facts for row in Conditions.objects.filter(digest__in=wanted)} if wanted else {}
    told = {}
    for at, in_order, measured in changed:
        after, before, earlier = (facts.get(rows[each].conditions_id, {}) for each in (at, in_order, measured))
        found = [each for each in changes(before, after) if each[0] not in OF_MACHINE]
        found += [each for each in changes(earlier, after) if each[0] in OF_MACHINE]
        if found:
            told[at] = found
    return told


def notes_of(rows: Sequence[SeriesBatch]) -> dict[int, str]:
    """At a batch: what people noted of its first run, or of all of it."""
    runs = Run.objects.filter(pk__in={row.run_id for row in rows}).values_list("pk", "note", "batch__note")
    noted = {pk: own or of_batch for pk, own, of_batch in runs if own or of_batch}
    return {index: noted[row.run_id] for index, row in enumerate(rows) if row.run_id in noted}


def failed_of(benchmark: Benchmark, rows: Sequence[SeriesBatch]) -> tuple[list[Run], dict[int, int]]:
    """The first run of each batch that would be one of these, did any of it count, the newest first; and how many
    repeats of each of these failed or were lost.
    """
    if not rows:
        return [], {}
    cells = Run.objects.filter(pk__in=[row.run_id for row in rows]).values_list("cell_key", "owner").distinct()
    owners = {owner for _, owner in cells}
    ended = Run.objects.present().filter(
        Q(state__in=(RunState.FAILED, RunState.LOST)) | Q(invalid_at__isnull=False),
        cell_key__in={key for key, _ in cells}, visibility=benchmark.visibility, measured_at__gte=rows[0].measured_at,
    )  # fmt: skip
    runs = [
        run for run in ended.select_related("batch").order_by("measured_at", "pk")
        if run.owner_id in owners and branch_of(run) == ("" if benchmark.release_of_id else benchmark.branch)
    ]  # fmt: skip
    drawn = {row.batch_id for row in rows}
    # A batch is of when it began, as one over midnight.
    of_batches = {run.batch_id: run for run in reversed(runs) if run.batch_id not in drawn}
    failed = [run for run in runs if run.state != RunState.FINISHED]
    counted = Counter((run.batch_id, run.effective_tested.get("commit", "")) for run in failed)
    # Of what came together in several batches nothing tells whose repeats they were.
    alone = Counter((row.batch_id, row.commit) for row in rows)
    lost = {
        at: counted[row.batch_id, row.commit] for at, row in enumerate(rows) if alone[row.batch_id, row.commit] == 1
    }
    return [*of_batches.values()], lost


def _figure(
    series: BenchmarkSeries, events: Mapping[int, list[str]], notes: Mapping[int, str], siblings: Sequence[Benchmark],
    expected: Interval | None,
) -> Figure:  # fmt: skip
    benchmark, rows = series.benchmark, series.rows
    metric = benchmark.metric
    branches, times = _branches(series, siblings), rising([row.measured_at.timestamp() for row in rows])
    # What others measured before these or behind them stands there, each at a time of its own.
    of_others = {row.measured_at.timestamp(): row for _, own in branches for row in own}
    earlier = sorted(time for time in of_others if time < times[0])
    later = sorted(time for time in of_others if time > times[-1])
    shown, first = [*(of_others[at] for at in earlier), *rows, *(of_others[at] for at in later)], -len(earlier)
    times, last = [*earlier, *times, *later], len(rows) + len(later)
    place_of = {at: _place(at, times) + first for at in of_others}
    moment_at = dict(enumerate(moments(shown), first))
    own: LineSeries = {
        "label": "Geometric mean of a batch", "color": 0, "dash": False,
        "points": [(index, row.centre) for index, row in enumerate(rows)],
        "dots": [(index, value) for index, row in enumerate(rows) for value in row.values],
    }  # fmt: skip
    drawn = [own]
    if expected is not None:
        begin = max([0, *series.starts])
        ends = [(float(x), expected.low, expected.high) for x in (begin, last)]
        middle = (expected.low * expected.high) ** 0.5
        drawn.append(
            {
                "label": "Expected of the next batch (98 %)", "color": BAND_COLOUR, "dash": True,
                "points": [(x, middle) for x, _, _ in ends], "band": ends,
            }
        )  # fmt: skip
    for color, (branch, of_one) in enumerate(branches, 1):
        points = [(place_of[row.measured_at.timestamp()], row.centre) for row in of_one]
        drawn.append({"label": capfirst(branch.line_words), "color": color, "dash": True, "points": points})
    values = [value for row in rows for value in row.values]
    reached = [
        *values,
        *(row.centre for row in rows if row.centre),
        *((expected.low, expected.high) if expected else ()),
    ]
    is_zoomed = min(reached) > FROM_ZERO * max(reached)
    ticks = [(float(index), moment) for index, moment in moment_at.items()]
    spec: LinesSpec = lines(
        x={"label": "Batch", "unit": "", "scale": "linear", "ticks": [*ticks, (float(last), "next")]},
        y={
            "label": metric.label, "unit": metric.unit, "zero": not is_zoomed, "scale": "linear",
            "better": metric.better, "span": (min(reached) if is_zoomed else 0.0, max(reached) or 1.0),
        },
        series=drawn, marks=_marks(series),
    )  # fmt: skip
    batches = {place_of[at]: row for at, row in of_others.items()} | dict(enumerate(shown, first))
    spec["columns"] = _columns(batches)
    spec["events"] = [
        *(_event(index, words) for index, words in events.items()),
        *(_event(index, [clean(words, LONGEST_NOTE)], NOTE) for index, words in notes.items()),
    ]
    note = (
        f"{metric.unit}, {metric.better} is better. Dots: every repeat. ▲ what was recorded differently. "
        f"Flags: notes. {ZOOMED_NOTE if is_zoomed else ''}"
    ).strip()
    return Figure(
        id="history", title=f"{metric.label} of each batch", spec=spec, table=_table(series), note=note,
        alt=f"Batches from {moment_at[0]} to {moment_at[len(rows) - 1]}: {len(rows)}, "
            f"with changes: {len(spec['marks'])}.",
    )  # fmt: skip


def _event(index: int, words: Sequence[str], kind: str = CHECKPOINT) -> EventSpec:
    return cast(EventSpec, {"x": index, "kind": kind, "words": few_listed(words), "color": 0})


def _marks(series: BenchmarkSeries) -> list[Mark]:
    """The changes that stand: confirmed, and not rejected by a person."""
    points = [
        point for point in series.points
        if point.state == ChangeState.CONFIRMED and not is_rejected(point) and point.at_id in series.index
    ]  # fmt: skip
    marks: list[Mark] = []
    for point in points:
        marks.append({"axis": "x", "value": series.index[point.at_id], "label": short_change(point)})
    return marks


def _branches(series: BenchmarkSeries, siblings: Sequence[Benchmark]) -> list[tuple[Benchmark, Sequence[SeriesBatch]]]:
    """The newest batches of other branches, but for those before the first that is drawn of a longer series."""
    begin = series.rows[0].measured_at if series.benchmark.batches > len(series.rows) else None
    known = [each.series.in_order().select_related("version").exclude(centre=None) for each in siblings[:MOST_BRANCHES]]
    found = [list(rows.filter(measured_at__gte=begin) if begin else rows)[-MOST_LISTED:] for rows in known]
    return list(zip(siblings, found, strict=False))


def _place(time: float, times: Sequence[float]) -> float:
    """Among these times in their order, neither before the first nor behind the last."""
    at = bisect_left(times, time)
    return at if times[at] == time else at - (times[at] - time) / (times[at] - times[at - 1])


def _columns(batches: Mapping[float, SeriesBatch]) -> list[TextColumn]:
    """What a CSV file tells of batches beside their numbers, by their places."""
    told = {
        "Measured at": {place: f"{row.measured_at:%Y-%m-%dT%H:%M:%SZ}" for place, row in batches.items()},
        "Version": {place: row.version.name for place, row in batches.items()},
        "Commit": {place: row.commit for place, row in batches.items()},
    }
    return [{"label": label, "cells": [*cells.items()]} for label, cells in told.items()]


def _table(series: BenchmarkSeries) -> Table:
    unit = series.benchmark.metric.unit
    columns = [
        Column("Measured", numeric=False),
        Column("Tested", numeric=False),
        Column("Geometric mean", unit),
        Column("Repeats"),
    ]
    rows = [
        [
            TableCell(text=moment), TableCell(text=tested_of(row)),
            TableCell(gap=NO_MEAN) if row.centre is None else TableCell(row.centre), TableCell(len(row.values)),
        ]
        for moment, row in zip(moments(series.rows), series.rows, strict=True)
    ]  # fmt: skip
    return Table(columns, rows)
