"""Runs over REST: the list in pages, by `cursor` for any number of rows, by `page` for the first; each, and edits."""

from __future__ import annotations

import math
from typing import Annotated, Any
from uuid import UUID

from benchagent.exporters import exporters
from benchagent.plugins import LACKING
from django.db.models import QuerySet
from django.http import Http404, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django_filters.rest_framework import DjangoFilterBackend
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import Field
from rest_framework import generics
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import remove_query_param, replace_query_param
from rest_framework.views import APIView

from runs.access import changes
from runs.access.rules import candidates, changeable, changeable_run, may_change, readable_batch
from runs.api import outgoing
from runs.api.errors import Conflict, FileRenderer, JsonErrors, refuse_unknown
from runs.api.outgoing import Error, Outgoing, answered
from runs.api.permissions import person_of, readable_runs
from runs.charts.base import MOST_COLUMNS
from runs.incoming.reading import read
from runs.incoming.values import Strict, Text
from runs.listing import cursor as keyset
from runs.listing.filters import RunFilter, columns_of, unknown
from runs.listing.rows import exported
from runs.models import Run
from runs.models.choices import RunState
from runs.results import editing
from runs.run import series
from runs.run.latency import latency_of, map_of, types_of
from runs.run.likeness import pooled_with

PAGE_SIZE = 50
MAX_PAGE_SIZE = 500
PAGE_SIZES = {"type": "integer", "minimum": 1, "maximum": MAX_PAGE_SIZE, "default": PAGE_SIZE}
# A page is found by counting the rows before it: beyond this, by `next` only.
MAX_OFFSET = 10_000
FORMATS = ["json", *exporters()]
COUNTED = f"Where count_is_exact is false there are more: counting ends at {keyset.COUNT_LIMIT:,}."


class PaginatedRunList(Outgoing):
    count: Annotated[int, Field(description=COUNTED)]
    count_is_exact: bool
    note: Annotated[str, Field(description="Always empty: all runs are looked through.")]
    next: str | None
    previous: str | None
    results: list[outgoing.Run]


def _page(request: Request, runs: QuerySet[Run]) -> PaginatedRunList:
    """By its number, or after a cursor."""
    params, ordering = request.query_params, request.query_params.get("ordering", "")
    size = min(_number(params, "page_size") or PAGE_SIZE, MAX_PAGE_SIZE)
    number, cursor = _number(params, "page"), params.get("cursor", "")
    if number and cursor:
        raise ValidationError({"page": ["Give page or cursor, not both."]})
    start = (number - 1) * size
    if start > MAX_OFFSET:
        raise ValidationError({"page": [f"Beyond row {MAX_OFFSET:,} follow `next`."]})
    by: dict[str, Any] = {"columns": columns_of(ordering), "name": ordering, "size": size}
    try:
        page = keyset.numbered(runs, start=start, **by) if number else keyset.page(runs, cursor=cursor, **by)
    except keyset.WrongCursor as error:
        raise ValidationError({"cursor": [str(error)]}) from error
    if number > 1 and not page.rows:
        raise NotFound("There is no such page.")
    count, is_exact = keyset.bounded_count(runs)
    address = remove_query_param(request.build_absolute_uri(), "page")
    following, previous = (
        replace_query_param(address, "cursor", cursor) if cursor else None for cursor in (page.next, page.previous)
    )
    results = [outgoing.Run.of(run, request=request) for run in page.rows]
    return PaginatedRunList(
        count=count, count_is_exact=is_exact, note="", next=following, previous=previous, results=results
    )


def _number(params: Any, name: str) -> int:
    """A positive number, 0 where it is not given."""
    value = params.get(name)
    if value is None:
        return 0
    if not (value.isascii() and value.isdecimal() and len(value) < 10 and int(value) > 0):
        raise ValidationError({name: ["A whole number above 0 is required."]})
    return int(value)


# One parameter that stands for many: what clients are generated of cannot say `factor.NAME` otherwise.
NAMED = OpenApiParameter(
    "named",
    {
        "type": "object",
        "propertyNames": {"pattern": r"^(factor|setting|above|below)\..+"},
        "additionalProperties": {"type": "string"},
    },
    style="form",
    explode=True,
    description="By names of the server: `factor.NAME`, the value of any factor, as factor.scale_factor=4; "
    "`setting.NAME`, of any setting in force, else as it was given; `above.METRIC` and `below.METRIC`, limits of any "
    "metric. Each is a parameter of its own in the address.",
)


class RunList(JsonErrors, generics.GenericAPIView[Run]):
    """Runs, newest first, without the deleted ones. As a file (`format=csv`) all pages at once.

    A column for each factor and each metric of any run. Of a run with `durability_doubt`, which says what was measured
    against its `durability`, that class is not to be relied on: it is ranked with no other.
    """

    filter_backends = [DjangoFilterBackend]
    filterset_class = RunFilter

    def get_renderers(self) -> list[BaseRenderer]:
        return [JSONRenderer(), *(FileRenderer(name, each.MEDIA_TYPE) for name, each in exporters().items())]

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[BaseRenderer, str]:
        wanted = request.query_params.get("format", "json")
        if not force and wanted not in FORMATS:
            raise ValidationError({"format": [f"“{wanted}” is none of {', '.join(FORMATS)}: {LACKING}."]})
        return super().perform_content_negotiation(request, force)

    def get_queryset(self) -> QuerySet[Run]:
        named = self.request.query_params.getlist("experiment")
        return candidates(self.request.user, experiments=named).for_rows()

    @extend_schema(
        operation_id="v1_runs_list",
        filters=True,
        parameters=[
            NAMED,
            OpenApiParameter("format", str, enum=FORMATS),
            OpenApiParameter("cursor", str, description="Where the page begins: taken from `next` and `previous`."),
            OpenApiParameter("page", int, description=f"Number of a page within the first {MAX_OFFSET:,} rows."),
            OpenApiParameter("page_size", PAGE_SIZES, description="Rows on a page."),
        ],
        responses={(200, "application/json"): PaginatedRunList, (200, "text/csv"): OpenApiTypes.STR},
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        refuse_unknown(unknown(request.query_params, "cursor", "page", "page_size", "format"))
        name = request.accepted_renderer.format
        runs = self.filter_queryset(self.get_queryset())
        if name == "json":
            return answered(_page(request, runs))
        exporter, lines = exporters()[name], exported(runs)
        response = StreamingHttpResponse(exporter.export(lines), content_type=exporter.MEDIA_TYPE)
        response["Content-Disposition"] = f'attachment; filename="runs.{name}"'
        return response


class RunDetail(APIView):
    required_scope = "upload"

    @extend_schema(responses={200: outgoing.RunDetail})
    def get(self, request: Request, run_id: UUID) -> Response:
        """One run with its measurements and series."""
        return _detail(request, run_id)

    @extend_schema(responses={204: None, 409: Error})
    def delete(self, request: Request, run_id: UUID) -> Response:
        """Take a run out of every list, chart and median. It can be restored."""
        run = changeable_run(request.user, run_id)
        if run.is_open:
            raise Conflict("This run has not ended. Cancel it first.")
        editing.delete(run, by=person_of(request))
        return Response(status=204)

    @extend_schema(request=editing.RunEdit, responses={200: outgoing.RunDetail, 409: Error})
    def patch(self, request: Request, run_id: UUID) -> Response:
        """Change what a run says about itself. The old value, who changed it and when are kept."""
        editing.edit(_describable(request, run_id), read(editing.RunEdit, request.data), by=person_of(request))
        return _detail(request, run_id)


class RunAnnotations(APIView):
    required_scope = "upload"

    @extend_schema(operation_id="v1_runs_annotations_list", responses={200: outgoing.Annotations})
    def get(self, request: Request, run_id: UUID) -> Response:
        """What was noted at seconds of a run, in the order of time."""
        run = get_object_or_404(readable_runs(request).present(), id=run_id)
        return answered(outgoing.Annotations.of(run.annotations.select_related("by")))

    @extend_schema(request=editing.NewAnnotation, responses={201: outgoing.Annotation, 409: Error})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Note something at a second of a run: a checkpoint tuned, a neighbour that came."""
        run = _describable(request, run_id)
        made = editing.annotate(run, read(editing.NewAnnotation, request.data), by=person_of(request))
        return answered(outgoing.Annotation.of(made), status=201)


class RunAnnotation(APIView):
    required_scope = "upload"

    @extend_schema(request=editing.NewAnnotation, responses={200: outgoing.Annotation, 409: Error})
    def put(self, request: Request, run_id: UUID, annotation_id: UUID) -> Response:
        """Change what was noted. The old words are kept in the changes of the run."""
        run = _describable(request, run_id)
        row = get_object_or_404(run.annotations.select_related("by"), pk=annotation_id)
        wanted = read(editing.NewAnnotation, request.data)
        return answered(outgoing.Annotation.of(editing.annotate(run, wanted, by=person_of(request), annotation=row)))

    @extend_schema(responses={204: None, 409: Error})
    def delete(self, request: Request, run_id: UUID, annotation_id: UUID) -> Response:
        """Take a note away. Its words are kept in the changes of the run."""
        run = _describable(request, run_id)
        editing.forget_annotation(get_object_or_404(run.annotations, pk=annotation_id), by=person_of(request))
        return Response(status=204)


def _describable(request: Request, run_id: UUID) -> Run:
    run = changeable_run(request.user, run_id)
    if run.publication_id is not None:
        raise Conflict("This run is part of a publication and says what that says.")
    return run


class RunLatency(APIView):
    @extend_schema(
        parameters=[
            OpenApiParameter(
                "repeats", bool, description="Of all repeats of its cell in its batch together, histograms merged."
            )
        ],
        responses={200: outgoing.Latency},
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """Percentiles from the stored histogram, up to as many nines as the transactions bear; by transaction type."""
        refuse_unknown(request.query_params, {"repeats"})
        run = get_object_or_404(readable_runs(request).present(), id=run_id)
        of_repeats = request.query_params.get("repeats", "").lower() in ("1", "true", "yes")
        runs = [run]
        if of_repeats:
            # As public as the run that was asked for: an answer to everybody tells of nobody's private repeats.
            repeats = readable_runs(request).with_values().filter(cell_key=run.cell_key, batch=run.batch_id)
            repeats = repeats.filter(visibility=run.visibility).exclude(pk=run.pk)
            runs += pooled_with(run, list(repeats.select_related("dbms_version__dbms")))
        latency, over_time = latency_of(runs), map_of(runs)
        if latency is None and over_time is None:
            raise NotFound("No histogram of latencies is stored of this run, or not of all of its repeats.")
        types = [] if of_repeats else types_of(run)
        return answered(outgoing.Latency.model_validate({"latency": latency, "types": types, "over_time": over_time}))


class RunChanges(APIView):
    @extend_schema(operation_id="v1_runs_changes_list", responses={200: outgoing.Changes})
    def get(self, request: Request, run_id: UUID) -> Response:
        """What was edited, by whom, from what to what; newest first. Of a deleted run to those who may restore it."""
        run = get_object_or_404(readable_runs(request).select_related("experiment", "upload"), id=run_id)
        if run.deleted_at is not None and not may_change(request.user, run):
            raise Http404
        return answered(outgoing.Changes.of(changes.history(run)))


class RunRestore(APIView):
    required_scope = "upload"

    @extend_schema(request=None, responses={200: outgoing.RunDetail})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Undo a deletion. A run that is there already stays as it is."""
        editing.restore(changeable_run(request.user, run_id, deleted=True), by=person_of(request))
        return _detail(request, run_id)


class InvalidReason(Strict):
    reason: Annotated[str, Text(editing.REASON_LIMIT), Field(description="why its numbers must not count")]


class RunInvalidate(APIView):
    required_scope = "upload"

    @extend_schema(request=InvalidReason, responses={200: outgoing.RunDetail})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Mark a run invalid: it stays on its page and leaves every median, verdict and chart."""
        run = changeable_run(request.user, run_id)
        editing.invalidate(run, reason=read(InvalidReason, request.data).reason, by=person_of(request))
        return _detail(request, run_id)


class RunValidate(APIView):
    required_scope = "upload"

    @extend_schema(request=None, responses={200: outgoing.RunDetail})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Let a run count again that was marked invalid. One that was not stays as it is."""
        editing.validate(changeable_run(request.user, run_id), by=person_of(request))
        return _detail(request, run_id)


def _detail(request: Request, run_id: UUID) -> Response:
    rows = readable_runs(request).present().for_lists().prefetch_related("state_changes")
    run = get_object_or_404(rows, id=run_id)
    return answered(outgoing.RunDetail.of(run, request=request, series=series.read_all(run)))


class BatchDetail(APIView):
    required_scope = "upload"

    @extend_schema(responses={200: outgoing.Batch})
    def get(self, request: Request, batch_id: UUID) -> Response:
        """What is said of runs that were measured together. Who may see one of them may see it."""
        batch = readable_batch(request.user, batch_id)
        return answered(outgoing.Batch.of(batch, request=request))

    @extend_schema(request=editing.BatchEdit, responses={200: outgoing.Batch, 409: Error})
    def patch(self, request: Request, batch_id: UUID) -> Response:
        """Change what is said of it. The old value, who changed it and when are kept."""
        batch = changeable(request.user, readable_batch(request.user, batch_id))
        if batch.runs.exclude(publication=None).exists():
            raise Conflict("This batch is a publication and says what that says.")
        edited = editing.edit(batch, read(editing.BatchEdit, request.data), by=person_of(request))
        return answered(outgoing.Batch.of(edited, request=request))


class RunSeries(APIView):
    @extend_schema(
        parameters=[
            OpenApiParameter("metric", str, description="Name of one metric; without it all.", many=True),
            OpenApiParameter(
                "after", float, description="Only samples that begin later, in s from the warm-up's start."
            ),
            OpenApiParameter("before", float, description="Only samples that begin sooner, in s from there."),
            OpenApiParameter(
                "columns",
                {"type": "integer", "minimum": 1, "maximum": MOST_COLUMNS},
                description="Answer in `thinned`, with the lowest and the highest of each of so many stretches.",
            ),
        ],
        responses={200: outgoing.SampledRun},
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """A run's state and samples, also while it is going on."""
        refuse_unknown(request.query_params, {"metric", "after", "before", "columns"})
        run = get_object_or_404(readable_runs(request).present(), id=run_id)
        wanted = request.query_params.getlist("metric")
        chosen = series.read_all(run, _seconds(request, "after"), _seconds(request, "before"), names=wanted)
        columns = min(_number(request.query_params, "columns"), MOST_COLUMNS)
        if not columns:
            return answered(outgoing.SampledRun(status=RunState(run.state), series=chosen, thinned=[]))
        each = series.samples_each(chosen, columns)
        thinned = [
            series.ThinnedSeries(item.name, item.unit, [p for part in series.thinned(item, each) for p in part.points])
            for item in chosen
        ]
        return answered(outgoing.SampledRun(status=RunState(run.state), series=[], thinned=thinned))


def _seconds(request: Request, name: str) -> float | None:
    text = request.query_params.get(name)
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = math.nan
    if not math.isfinite(seconds):
        raise ValidationError({name: ["A finite number of seconds is required."]})
    return seconds
