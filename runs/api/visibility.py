"""Who may see an experiment, an upload or a report, over REST: what one click does on its page."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.access import visibility
from runs.api.objects import changeable, person_of
from runs.api.serializers import FIELD_ERRORS, ErrorSerializer
from runs.models import Experiment, Report, Upload
from runs.models.choices import Visibility


class VisibilitySerializer(serializers.Serializer[Any]):
    visibility = serializers.ChoiceField(choices=Visibility.choices)


class _SetVisibility(APIView, ABC):
    required_scope = "upload"

    @abstractmethod
    def things(self, request: Request) -> QuerySet[Any]:
        """Those that this person may open."""

    @extend_schema(
        request=VisibilitySerializer,
        responses={200: VisibilitySerializer, 400: FIELD_ERRORS, 403: ErrorSerializer, 404: ErrorSerializer},
    )
    def put(self, request: Request, **key: Any) -> Response:
        """Decide who may see it, with all its runs: everybody, whoever has the address, or its owner alone."""
        target = changeable(request, get_object_or_404(self.things(request), **key))
        message = VisibilitySerializer(data=request.data)
        message.is_valid(raise_exception=True)
        visibility.change(target=target, visibility=message.validated_data["visibility"], by=person_of(request))
        return Response({"visibility": target.visibility})


class UploadVisibility(_SetVisibility):
    def things(self, request: Request) -> QuerySet[Any]:
        return Upload.objects.readable_by(request.user)


class ExperimentVisibility(_SetVisibility):
    def things(self, request: Request) -> QuerySet[Any]:
        return Experiment.objects.readable_by(request.user)


class ReportVisibility(_SetVisibility):
    def things(self, request: Request) -> QuerySet[Any]:
        return Report.objects.present().readable_by(request.user)
