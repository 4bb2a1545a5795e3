"""Experiments as bundles over REST: one is taken along, another one is brought."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import APIException, ValidationError
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api.uploads import Anything, writer
from runs.models import Experiment
from runs.results import bundle


class BundleBusy(APIException):
    status_code, default_code, wait = 503, "busy", 5


class BundleRequest(serializers.Serializer[None]):
    file = serializers.FileField()
    visibility = serializers.CharField(required=False, help_text="public, unlisted or private, which is the default")


class BundleAnswer(serializers.Serializer[Experiment]):
    slug = serializers.CharField()
    url = serializers.CharField()
    runs = serializers.IntegerField()
    created = serializers.BooleanField(help_text="False: it was here already.")


class ExperimentBundle(APIView):
    content_negotiation_class = Anything

    @extend_schema(
        responses={(200, "application/zip"): OpenApiResponse(OpenApiTypes.BINARY, description="The bundle.")}
    )
    def get(self, request: Request, slug: str) -> HttpResponse:
        """An experiment as one file: plan, settings, results, raw files, machine facts and their checksums."""
        experiment = get_object_or_404(Experiment.objects.readable_by(request.user), slug=slug)
        try:
            content = bundle.export(
                experiment, request.user, address=request.build_absolute_uri(experiment.get_absolute_url())
            )
        except bundle.Busy as error:
            raise BundleBusy(str(error)) from error
        except bundle.BadBundle as error:
            raise ValidationError({"detail": str(error)}) from error
        response = HttpResponse(content, content_type="application/zip")
        response["Content-Disposition"] = f'attachment; filename="{experiment.slug}.benchsite.zip"'
        return response


class Bundles(APIView):
    required_scope = "upload"
    parser_classes = [MultiPartParser]

    @extend_schema(request={"multipart/form-data": BundleRequest}, responses={200: BundleAnswer, 201: BundleAnswer})
    def post(self, request: Request) -> Response:
        """Store the experiment of a bundle that another Benchsite made, whole or not at all; private unless said."""
        owner, _ = writer(request)
        sent = request.FILES.get("file")
        if sent is None:
            raise ValidationError({"file": ["No file was sent."]})
        if (sent.size or 0) > bundle.MAX_TOTAL_BYTES:
            raise ValidationError({"file": [f"It is larger than {bundle.MAX_TOTAL_BYTES // 1024**2} MB."]})
        try:
            experiment, created = bundle.take_in(
                sent.read(), owner=owner, visibility=str(request.POST.get("visibility", ""))
            )
        except bundle.Busy as error:
            raise BundleBusy(str(error)) from error
        except bundle.BadBundle as error:
            raise ValidationError({"file": [str(error)]}) from error
        body = {
            "slug": experiment.slug,
            "url": request.build_absolute_uri(experiment.get_absolute_url()),
            "runs": experiment.runs.present().count(),
            "created": created,
        }
        return Response(body, status=201 if created else 200)
