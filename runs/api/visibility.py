"""Who may see an experiment, an upload or a report, over REST: what one click does on its page."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.access.rules import change_visibility, changeable
from runs.api.outgoing import Outgoing, answered
from runs.api.permissions import person_of
from runs.incoming.reading import read
from runs.incoming.values import OneOf, Strict
from runs.models import Experiment, Report, Upload
from runs.models.choices import Visibility
from runs.models.visible import VisibleQuerySet


class VisibilityGiven(Strict):
    visibility: Annotated[str, OneOf(tuple(Visibility.values))]


class Visible(Outgoing):
    visibility: Visibility


class _SetVisibility(APIView):
    required_scope = "upload"
    rows: ClassVar[VisibleQuerySet[Any]]

    @extend_schema(request=VisibilityGiven, responses={200: Visible})
    def put(self, request: Request, **key: Any) -> Response:
        """Decide who may see it, with all its runs: everybody, whoever has the address, or its owner alone."""
        target = changeable(request.user, get_object_or_404(self.rows.readable_by(request.user), **key))
        wanted = read(VisibilityGiven, request.data).visibility
        change_visibility(target=target, visibility=wanted, by=person_of(request))
        return answered(Visible.of(target))


class UploadVisibility(_SetVisibility):
    rows = Upload.objects.all()


class ExperimentVisibility(_SetVisibility):
    rows = Experiment.objects.all()


class ReportVisibility(_SetVisibility):
    rows = Report.objects.present()
