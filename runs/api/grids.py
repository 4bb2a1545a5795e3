"""Benchmarks side by side over REST: releases as a map, and machines against workloads."""

from __future__ import annotations

import uuid

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.answers.answer import Amount
from runs.answers.words.verdicts import explained
from runs.api.history import BenchmarkHead, baseline_of, chosen_benchmarks, head_of, next_of, part_of
from runs.api.outgoing import Outgoing, answered, page_of
from runs.history.grids import MOST_BENCHMARKS, MachineCell, ReleaseCell, machine_matrix, release_maps


class OfRelease(Outgoing):
    """`mean`: geometric, of its batches since the last confirmed change among them; `change`: as a ratio to the release
    before, or to the chosen one; `besides`: facts of machine and disks that differ between both.
    """

    mean: float
    batches: int
    change: Amount | None
    besides: list[str]


class ReleaseRow(BenchmarkHead):
    """`cells` by the releases of its map; null where the benchmark has none."""

    cells: list[OfRelease | None]


class ReleaseMapOfSystem(Outgoing):
    """Releases in their order, the newest at the end."""

    system: str
    releases: list[str]
    benchmarks: list[ReleaseRow]


class ReleaseMaps(Outgoing):
    """`count`: benchmarks in all. A map a system, of the benchmarks of this part."""

    count: int
    next: str | None
    results: list[ReleaseMapOfSystem]


class OfMachine(Outgoing):
    """`mean`: geometric, of the newest ten batches of the release of its row, since the last confirmed change among
    them; `share` of the best; `is_best`: no other is surely better.
    """

    id: uuid.UUID
    url: str
    mean: float
    share: float
    is_best: bool


class MachineRow(Outgoing):
    """`cells` by machine; null where it has no such benchmark of this release."""

    name: str
    release: str
    metric: str
    unit: str
    better: str
    cells: list[OfMachine | None]


class MachineMatrixAnswer(Outgoing):
    """`means`: of each machine the geometric mean of its shares, over the `common` rows that all have.

    Left out are `alone`, benchmarks of which no two machines have one release, and `at_zero`, those of which one of the
    newest ten batches is 0, as nothing is a share of it.
    """

    machines: list[str]
    results: list[MachineRow]
    means: list[float]
    common: int
    alone: int
    at_zero: int


class Releases(APIView):
    @extend_schema(
        operation_id="v1_benchmarks_releases",
        parameters=[
            OpenApiParameter("than", str, description="version:18.1: the release that all are set against."),
            OpenApiParameter("offset", int, description="Benchmarks to pass over."),
        ],
        responses={200: ReleaseMaps},
    )
    def get(self, request: Request) -> Response:
        """Benchmarks by release of their system, of those that the filters of the list of runs choose."""
        params, rows = request.query_params, chosen_benchmarks(request, "than", "offset")
        baseline = baseline_of(params.get("than", ""))
        if params.get("than") and baseline.kind != "version":
            raise ValidationError(
                {"than": ["Releases are set against version:NUMBER, or each against the one before."]}
            )
        shown = list(part_of(rows, params.get("offset", "0")))
        results = [
            ReleaseMapOfSystem(
                system=each.system, releases=each.releases,
                benchmarks=[
                    ReleaseRow(
                        **head_of(benchmark, request), cells=[_of_release(cell) if cell else None for cell in cells]
                    )
                    for benchmark, cells in each.rows
                ],
            )
            for each in release_maps(shown, than=baseline.value if baseline.kind == "version" else "")
        ]  # fmt: skip
        count = rows.count()
        return answered(ReleaseMaps(count=count, next=next_of(request, count), results=results))


class Machines(APIView):
    @extend_schema(operation_id="v1_benchmarks_machines", responses={200: MachineMatrixAnswer})
    def get(self, request: Request) -> Response:
        """Benchmarks that differ in nothing but their machine, side by side; of at most 300 that the filters choose."""
        matrix = machine_matrix(list(chosen_benchmarks(request)[:MOST_BENCHMARKS]))
        rows = [
            MachineRow(
                name=benchmark.name, release=release, metric=benchmark.metric.name, unit=benchmark.metric.unit,
                better=benchmark.metric.better, cells=[_of_machine(cell, request) if cell else None for cell in cells],
            )
            for benchmark, release, cells in matrix.rows
        ]  # fmt: skip
        machines, means = matrix.machines, matrix.means
        return answered(MachineMatrixAnswer(
            machines=machines, means=means, common=matrix.common, alone=matrix.alone, at_zero=matrix.at_zero,
            results=rows,
        ))  # fmt: skip


def _of_release(cell: ReleaseCell) -> OfRelease:
    change = cell.change and explained(cell.change)
    return OfRelease(mean=cell.mean, batches=cell.batches, change=change, besides=list(cell.besides))


def _of_machine(cell: MachineCell, request: Request) -> OfMachine:
    row = cell.benchmark
    return OfMachine(id=row.pk, url=page_of(row, request), mean=cell.mean, share=cell.share, is_best=cell.is_best)
