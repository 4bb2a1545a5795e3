"""Publications over REST: everything of one as JSON, every number of its page as CSV."""

from __future__ import annotations

from django.http import HttpResponse
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api.negotiation import CsvRenderer, JsonErrors
from runs.api.publication_serializers import PublicationHeadSerializer, PublicationSerializer
from runs.api.serializers import ErrorSerializer
from runs.models import Publication
from runs.publications.material import Material
from runs.publications.page import export

FORMAT = OpenApiParameter("format", str, enum=["json", "csv"], description="csv: every number, one a line.")


class PublicationList(APIView):
    @extend_schema(responses=PublicationHeadSerializer(many=True))
    def get(self, request: Request) -> Response:
        """All publications, oldest first."""
        rows = Publication.objects.all()
        return Response(PublicationHeadSerializer(rows, many=True, context={"request": request}).data)


class PublicationDetail(JsonErrors, APIView):
    renderer_classes = [JSONRenderer, CsvRenderer]

    @extend_schema(
        parameters=[FORMAT],
        responses={
            (200, "application/json"): PublicationSerializer,
            (200, "text/csv"): OpenApiTypes.STR,
            404: ErrorSerializer,
        },
    )
    def get(self, request: Request, slug: str) -> Response | HttpResponse:
        """Everything of a publication, with its checks; `format=csv`: the numbers of its page with their provenance."""
        material = Material.of(get_object_or_404(Publication, slug=slug))
        if request.accepted_renderer.format == "csv":
            return HttpResponse(
                export.text(material), content_type="text/csv; charset=utf-8",
                headers={"Content-Disposition": f'attachment; filename="{slug}.csv"'},
            )  # fmt: skip
        return Response(PublicationSerializer(material, context={"request": request, "material": material}).data)
