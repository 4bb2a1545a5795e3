"""Whether what was just measured is worse than a baseline: each cell, judged together, for a pipeline that must decide.

Against three batches or more a cell is judged by how batches differ; against fewer by its repeats. Either way one of a
set of cells that are all as before is called worse in at most 5 of 100 cases (Bonferroni's levels).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from uuid import UUID

from runs.answers.answer import Amount, change_of
from runs.answers.history import LEAST_BATCHES, expected_amount
from runs.history import filing
from runs.history.overview import Baseline
from runs.history.watching import threshold
from runs.models import Batch, Benchmark, Run, SeriesBatch
from runs.models.visible import Reader
from runs.stats import ALPHA, Kind, judge


@dataclass(frozen=True)
class Gated:
    """A cell: its new batch, the batches of the baseline, and the new one as a ratio to them."""

    row: SeriesBatch
    before: Sequence[SeriesBatch]
    change: Amount


def gated(runs: Collection[UUID], baseline: Baseline, user: Reader) -> list[Gated]:
    """The cells of these runs, as far as `user` may read them, against batches of their main branch."""
    mine = Run.objects.readable_by(user).present().filter(pk__in=runs)
    batches = set(mine.values_list("batch_id", flat=True))
    filing.file_batches(list(Batch.objects.filter(pk__in=batches, is_filed=False).values_list("pk", flat=True)))
    wanted = {str(pk) for pk in mine.values_list("pk", flat=True)}
    rows = SeriesBatch.objects.filter(batch__in=batches, benchmark__in=Benchmark.objects.readable_by(user))
    cells = [
        (row, _before(row, batches, baseline))
        for row in rows.select_related("benchmark__metric", "benchmark__hardware", "version").order_by(
            "benchmark__name"
        )
        if not wanted.isdisjoint(row.runs)
    ]
    return [Gated(row, before, _judged(row, before, confidence=1 - ALPHA / len(cells))) for row, before in cells]


def _before(row: SeriesBatch, batches: Collection[UUID], baseline: Baseline) -> list[SeriesBatch]:
    """What the baseline names of the main branch of the same benchmark; never what is judged itself."""
    main = SeriesBatch.objects.filter(benchmark__line=row.benchmark.line, benchmark__branch="").exclude(centre=None)
    rows = [*main.exclude(batch__in=batches).select_related("version", "benchmark").in_order()]
    return baseline.rows_of([*(each for each in rows if each.measured_at <= row.measured_at), row])


def _judged(row: SeriesBatch, before: Sequence[SeriesBatch], *, confidence: float) -> Amount:
    if not before:
        return Amount(verdict=Kind.TOO_FEW, why="the baseline has no batch")
    better, least = row.benchmark.metric.better, threshold(row.benchmark)
    if len(before) < LEAST_BATCHES:
        repeats = [value for each in before for value in each.values]
        return change_of(judge(row.values, repeats, better=better, threshold=least, confidence=confidence))
    centres = [each.centre for each in before if each.centre]
    return expected_amount(row.centre or 0.0, centres, better=better, threshold=least, confidence=confidence)
