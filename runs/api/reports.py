"""Saved comparisons over REST, with the numbers of now."""

from __future__ import annotations

from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from rest_framework import generics, serializers
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api.comparing import ComparisonSerializer
from runs.api.serializers import ErrorSerializer
from runs.compare import reports
from runs.models import Report


class ReportSerializer(serializers.ModelSerializer[Report]):
    url = serializers.SerializerMethodField()
    title = serializers.CharField(source="name")
    owner = serializers.CharField(source="owner.username", default=None, allow_null=True)

    class Meta:
        model = Report
        fields = ["slug", "url", "title", "note", "query", "visibility", "owner", "created_at"]

    def get_url(self, report: Report) -> str:
        """The report's page."""
        return str(self.context["request"].build_absolute_uri(report.get_absolute_url()))


class ReportDetailSerializer(ReportSerializer):
    comparison = ComparisonSerializer(help_text="as /compare/ answers it")

    class Meta(ReportSerializer.Meta):
        fields = [*ReportSerializer.Meta.fields, "comparison"]


class ReportPagination(PageNumberPagination):
    page_size = 50


class ReportList(generics.ListAPIView[Report]):
    """Reports, newest first: public ones and one's own."""

    serializer_class = ReportSerializer
    pagination_class = ReportPagination
    filter_backends: list[Any] = []

    def get_queryset(self) -> QuerySet[Report]:
        return Report.objects.present().listed_for(self.request.user).select_related("owner")


class ReportDetail(APIView):
    @extend_schema(responses={200: ReportDetailSerializer, 404: ErrorSerializer})
    def get(self, request: Request, slug: str) -> Response:
        """One report with its comparison, of the runs that the reader may see."""
        rows = Report.objects.present().readable_by(request.user).select_related("owner")
        report = get_object_or_404(rows, slug=slug)
        _, comparison = reports.live(report, request.user)
        body = ReportSerializer(report, context={"request": request}).data
        return Response({**body, "comparison": ComparisonSerializer(comparison).data})
