"""Publications over REST: everything of one as JSON, every number of it as CSV."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Mapping
from typing import Any

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import BaseRenderer, JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api.negotiation import JsonErrors
from runs.api.publication_serializers import PublicationHeadSerializer, PublicationSerializer
from runs.api.serializers import ErrorSerializer
from runs.models import Claim, DbmsVersion, Publication, Run
from runs.models.visible import Reader
from runs.publications.article import article_of
from runs.publications.checks.model import Check
from runs.publications.numbers import HEAD, numbers_of, row_of
from runs.publications.page.claim_words import EITHER
from runs.publications.page.claims import speed_as_read, time_as_read
from runs.publications.page.material import Material
from runs.publications.page.reruns import experiments_of
from runs.stats.summary import CONFIDENCE, MIN_REPEATS

STATISTICS = {
    "interval": "of the geometric mean",
    "confidence_percent": CONFIDENCE * 100,
    "least_repeats": MIN_REPEATS,
}
FORMAT = OpenApiParameter("format", str, enum=["json", "csv"], description="csv: every number, one a line.")


class NumbersCsvRenderer(BaseRenderer):
    """The `numbers` of the answer as CSV, with a line of names; an error as a line of text."""

    media_type = "text/csv"
    format = "csv"

    def render(
        self, data: Any, accepted_media_type: str | None = None, renderer_context: Mapping[str, Any] | None = None
    ) -> bytes:
        if "numbers" not in data:
            return str(data.get("detail", data)).encode()
        out = io.StringIO()
        csv.writer(out, lineterminator="\n").writerows([HEAD, *map(row_of, data["numbers"])])
        return out.getvalue().encode()


class PublicationList(APIView):
    @extend_schema(responses=PublicationHeadSerializer(many=True))
    def get(self, request: Request) -> Response:
        """All publications, oldest first."""
        rows = Publication.objects.all()
        return Response(PublicationHeadSerializer(rows, many=True, context={"request": request}).data)


class PublicationDetail(JsonErrors, APIView):
    renderer_classes = [JSONRenderer, NumbersCsvRenderer]

    @extend_schema(
        parameters=[FORMAT],
        responses={
            (200, "application/json"): PublicationSerializer,
            (200, "text/csv"): OpenApiTypes.STR,
            404: ErrorSerializer,
        },
    )
    def get(self, request: Request, slug: str) -> Response:
        """Everything of a publication, with its checks; `format=csv`: every number with its provenance."""
        publication = get_object_or_404(Publication, slug=slug)
        material = Material.of(publication)
        checks = material.checks
        if request.accepted_renderer.format == "csv":
            name = f'attachment; filename="{publication.slug}.csv"'
            return Response({"numbers": numbers_of(material, checks)}, headers={"Content-Disposition": name})
        document = _document(material, checks) | {"reruns": _reruns(publication, request.user)}
        return Response(PublicationSerializer(document, context={"request": request}).data)


def _document(material: Material, checks: list[Check]) -> dict[str, Any]:
    article = article_of(material.publication)
    return {
        "publication": material.publication,
        "article": article.as_json() if article else None,
        "workloads": list(material.publication.workloads.all()),
        "systems": _systems(material),
        "hardware": material.hardware,
        "configs": material.configs,
        "schemas": material.schemas,
        "runs": material.runs,
        "aggregates": material.aggregates,
        "observations": material.observations,
        "claims": [_claim(claim, checks) for claim in material.claims],
        "missing_items": material.missing,
        "table_statistics": material.table_stats,
        "index_statistics": material.index_stats,
        "query_statistics": material.query_stats,
        "facts": material.facts,
        "statistics": STATISTICS,
        "checks": checks,
        "check_results": Counter(check.result.value for check in checks),
        "numbers": numbers_of(material, checks),
    }


def _reruns(publication: Publication, user: Reader) -> list[dict[str, Any]]:
    """Those that this person may see."""
    experiments = experiments_of(publication.slug, user)
    runs: dict[Any, list[Run]] = {one.pk: [] for one in experiments}
    for run in (
        Run.objects.present().listed_for(user).filter(experiment__in=experiments).for_lists() if experiments else ()
    ):
        runs[run.experiment_id].append(run)
    return [{"experiment": one, "figure": str(one.plan.get("figure", "")), "runs": runs[one.pk]} for one in experiments]


def _systems(material: Material) -> QuerySet[DbmsVersion]:
    """Versions that its runs, configurations and claims name: also those that were left out of the test."""
    named = {run.dbms_version.source_id for run in material.runs}
    named |= {version.source_id for config in material.configs for version in config.applies_to.all()}
    for claim in material.claims:
        for side in (claim.side_a.get("dbms"), claim.side_b.get("dbms")):
            named |= set(side) if isinstance(side, list) else {str(side)}
    return DbmsVersion.objects.filter(source_id__in=named - {""}).select_related("dbms")


def _claim(claim: Claim, checks: list[Check]) -> dict[str, Any]:
    own = {
        name: getattr(claim, name)
        for name in (
            "source_id", "metric", "side_a", "side_b", "percent", "ratio", "sense", "approximate", "ambiguous",
            "summary", "details",
        )
    }  # fmt: skip
    return own | {
        "where": str(claim.details.get("where", "")),
        "readings": _readings(claim),
        "checks": [check.number for check in checks if claim.source_id in check.claims],
    }


def _readings(claim: Claim) -> list[dict[str, Any]]:
    """Both readings of each percentage that says neither time nor speed."""
    percents = claim.details.get("percent_range") or ([claim.percent] if claim.percent else [])
    if claim.metric != EITHER:
        return []
    found = []
    for percent in (abs(float(one)) for one in percents):
        time, speed = time_as_read(claim, percent)
        found.append(_reading("time", percent, time, speed))
        speed, time = speed_as_read(claim, percent)
        found.append(_reading("speed", percent, time, speed))
    return found


def _reading(means: str, percent: float, time: Any, speed: Any) -> dict[str, Any]:
    return {
        "percent": percent, "means": means, "time_ratio": time.value, "speed_ratio": speed.value,
        "time_formula": time.formula, "speed_formula": speed.formula,
    }  # fmt: skip
