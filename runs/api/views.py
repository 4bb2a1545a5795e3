"""Runs and results over REST: parse, call, answer."""

from __future__ import annotations

import math
from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import StreamingHttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers
from rest_framework.exceptions import ValidationError
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.access import changes
from runs.access.visibility import candidates
from runs.api.exceptions import Conflict
from runs.api.negotiation import CsvRenderer, JsonErrors
from runs.api.objects import changeable_run, person_of, readable_runs
from runs.api.pagination import RunPagination
from runs.api.serializers import (
    FIELD_ERRORS,
    ChangeSerializer,
    ErrorSerializer,
    RunDetailSerializer,
    RunSerializer,
    RunSeriesSerializer,
)
from runs.incoming.reading import read
from runs.listing import csv
from runs.listing.filters import FACTOR_PREFIX, RunFilter
from runs.models import Run
from runs.results import editing
from runs.run import series

FACTOR_PARAMETER = OpenApiParameter(
    "factor.NAME", str, description="Value of any factor, for example factor.scale_factor=4.", many=True
)


class RunList(JsonErrors, generics.ListAPIView[Run]):
    """Runs, newest first, without the deleted ones. As CSV (`format=csv`) all pages at once.

    A column for each factor and each metric of any run. Of a run with `durability_doubt`, which says what was measured
    against its `durability`, that class is not to be relied on: it is ranked with no other.
    """

    serializer_class = RunSerializer
    pagination_class = RunPagination
    filterset_class = RunFilter
    renderer_classes = [JSONRenderer, CsvRenderer]

    def get_queryset(self) -> QuerySet[Run]:
        named = self.request.query_params.getlist("experiment")
        return candidates(self.request.user, experiments=named).for_rows()

    @extend_schema(
        parameters=[FACTOR_PARAMETER, OpenApiParameter("format", str, enum=["json", "csv"])],
        responses={
            (200, "application/json"): RunSerializer(many=True),
            (200, "text/csv"): OpenApiTypes.STR,
            400: FIELD_ERRORS,
        },
    )
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Any:
        known = {*RunFilter.base_filters, "cursor", "page", "page_size", "format"}
        _refuse_unknown_parameters(request, known)
        if request.accepted_renderer.format != "csv":
            return self.list(request, *args, **kwargs)
        rows = self.filter_queryset(self.get_queryset())
        response = StreamingHttpResponse(csv.stream(rows), content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = 'attachment; filename="runs.csv"'
        return response


def _refuse_unknown_parameters(request: Request, known: set[str]) -> None:
    """A misspelt filter that is ignored gives wrong answers."""
    unknown = [name for name in request.query_params if name not in known and not name.startswith(FACTOR_PREFIX)]
    if unknown:
        raise ValidationError({name: ["Unknown parameter."] for name in unknown})


class RunDetail(APIView):
    required_scope = "upload"

    @extend_schema(responses={200: RunDetailSerializer, 404: ErrorSerializer})
    def get(self, request: Request, run_id: UUID) -> Response:
        """One run with its measurements and series."""
        rows = readable_runs(request).present().for_lists().prefetch_related("state_changes")
        run = get_object_or_404(rows, id=run_id)
        context = {"request": request, "series": series.read_all(run)}
        return Response(RunDetailSerializer(run, context=context).data)

    @extend_schema(responses={204: None, 404: ErrorSerializer, 409: ErrorSerializer})
    def delete(self, request: Request, run_id: UUID) -> Response:
        """Take a run out of every list, chart and median. It can be restored."""
        run = changeable_run(request, run_id)
        if run.is_open:
            raise Conflict("This run has not ended. Cancel it first.")
        editing.delete(run, by=person_of(request))
        return Response(status=204)

    @extend_schema(
        request=editing.RunEdit,
        responses={
            200: RunDetailSerializer,
            400: FIELD_ERRORS,
            403: ErrorSerializer,
            404: ErrorSerializer,
            409: ErrorSerializer,
        },
    )
    def patch(self, request: Request, run_id: UUID) -> Response:
        """Change what a run says about itself. The old value, who changed it and when are kept."""
        run = changeable_run(request, run_id)
        if run.publication_id is not None:
            raise Conflict("This run is part of a publication and says what that says.")
        editing.edit(run, read(editing.RunEdit, request.data), by=person_of(request))
        return _detail(request, run_id)


class RunChanges(APIView):
    @extend_schema(responses={200: ChangeSerializer(many=True), 404: ErrorSerializer})
    def get(self, request: Request, run_id: UUID) -> Response:
        """What was edited, by whom, from what to what; newest first. Also of a deleted run."""
        run = get_object_or_404(readable_runs(request), id=run_id)
        return Response(ChangeSerializer(changes.history(run), many=True).data)


class RunRestore(APIView):
    required_scope = "upload"

    @extend_schema(request=None, responses={200: RunDetailSerializer, 404: ErrorSerializer})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Undo a deletion. A run that is there already stays as it is."""
        editing.restore(changeable_run(request, run_id, deleted=True), by=person_of(request))
        return _detail(request, run_id)


class InvalidReasonSerializer(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=editing.REASON_LIMIT, help_text="why its numbers must not count")


class RunInvalidate(APIView):
    required_scope = "upload"

    @extend_schema(
        request=InvalidReasonSerializer,
        responses={200: RunDetailSerializer, 400: FIELD_ERRORS, 403: ErrorSerializer, 404: ErrorSerializer},
    )
    def post(self, request: Request, run_id: UUID) -> Response:
        """Mark a run invalid: it stays on its page and leaves every median, verdict and chart."""
        run = changeable_run(request, run_id)
        message = InvalidReasonSerializer(data=request.data)
        message.is_valid(raise_exception=True)
        editing.invalidate(run, reason=message.validated_data["reason"], by=person_of(request))
        return _detail(request, run_id)


class RunValidate(APIView):
    required_scope = "upload"

    @extend_schema(request=None, responses={200: RunDetailSerializer, 403: ErrorSerializer, 404: ErrorSerializer})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Let a run count again that was marked invalid. One that was not stays as it is."""
        editing.validate(changeable_run(request, run_id), by=person_of(request))
        return _detail(request, run_id)


def _detail(request: Request, run_id: UUID) -> Response:
    run = get_object_or_404(Run.objects.for_lists().prefetch_related("state_changes"), id=run_id)
    context = {"request": request, "series": series.read_all(run)}
    return Response(RunDetailSerializer(run, context=context).data)


class RunSeries(APIView):
    @extend_schema(
        parameters=[
            OpenApiParameter("metric", str, description="Name of one metric; without it all.", many=True),
            OpenApiParameter(
                "after", float, description="Only samples that begin later, in s from the warm-up's start."
            ),
        ],
        responses={200: RunSeriesSerializer, 400: FIELD_ERRORS, 404: ErrorSerializer},
    )
    def get(self, request: Request, run_id: UUID) -> Response:
        """A run's state and samples, also while it is going on."""
        _refuse_unknown_parameters(request, {"metric", "after"})
        run = get_object_or_404(readable_runs(request).present(), id=run_id)
        wanted = request.query_params.getlist("metric")
        sampled = series.read_all(run, _after_s(request))
        chosen = [item for item in sampled if not wanted or item.name in wanted]
        return Response(RunSeriesSerializer({"status": run.state, "series": chosen}).data)


def _after_s(request: Request) -> float | None:
    text = request.query_params.get("after")
    if text is None:
        return None
    try:
        after_s = float(text)
    except ValueError:
        after_s = math.nan
    if not math.isfinite(after_s):
        raise ValidationError({"after": ["A finite number of seconds is required."]})
    return after_s
