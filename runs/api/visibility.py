"""Who may see an experiment, an upload or a report, over REST: what one click does on its page."""

from __future__ import annotations

from typing import Any, ClassVar

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.access.rules import change_visibility, changeable
from runs.api.permissions import person_of
from runs.models import Experiment, Report, Upload
from runs.models.choices import Visibility
from runs.models.visible import VisibleQuerySet


class VisibilitySerializer(serializers.Serializer[Any]):
    visibility = serializers.ChoiceField(choices=Visibility.choices)


class _SetVisibility(APIView):
    required_scope = "upload"
    rows: ClassVar[VisibleQuerySet[Any]]

    @extend_schema(request=VisibilitySerializer, responses={200: VisibilitySerializer})
    def put(self, request: Request, **key: Any) -> Response:
        """Decide who may see it, with all its runs: everybody, whoever has the address, or its owner alone."""
        target = changeable(request.user, get_object_or_404(self.rows.readable_by(request.user), **key))
        message = VisibilitySerializer(data=request.data)
        message.is_valid(raise_exception=True)
        change_visibility(target=target, visibility=message.validated_data["visibility"], by=person_of(request))
        return Response({"visibility": target.visibility})


class UploadVisibility(_SetVisibility):
    rows = Upload.objects.all()


class ExperimentVisibility(_SetVisibility):
    rows = Experiment.objects.all()


class ReportVisibility(_SetVisibility):
    rows = Report.objects.present()
