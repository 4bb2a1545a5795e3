"""GET /api/v1/artefacts/<id>/: a kept file, as it was given but for its secrets."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from uuid import UUID

from django.db.models import Q, QuerySet
from django.http import HttpResponseBase, StreamingHttpResponse
from django.shortcuts import get_object_or_404
from django.utils.http import content_disposition_header
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.negotiation import DefaultContentNegotiation
from rest_framework.request import Request
from rest_framework.views import APIView

from runs.api.serializers import ErrorSerializer
from runs.models import Artefact, Run
from runs.models.visible import Reader, readable, sees_all

PIECE_BYTES = 64 * 1024
# Anything else is bytes to the browser, which is told not to guess.
SHOWN_TYPES = frozenset({"text/plain", "text/csv", "application/json", "application/xml"})


class Anything(DefaultContentNegotiation):
    """A file is what it is, whatever the client would like; errors are JSON."""

    def select_renderer(self, request, renderers, format_suffix=None):  # type: ignore[no-untyped-def]  # noqa: ANN001, ANN201
        return renderers[0], renderers[0].media_type


class ArtefactContent(APIView):
    content_negotiation_class = Anything

    @extend_schema(
        responses={
            (200, "application/octet-stream"): OpenApiResponse(OpenApiTypes.BINARY, description="The file."),
            404: ErrorSerializer,
        }
    )
    def get(self, request: Request, artefact_id: UUID) -> HttpResponseBase:
        """A file kept beside runs: raw output of a tool, a log, a plan."""
        artefact = get_object_or_404(readable_artefacts(request.user), id=artefact_id)
        try:
            packed = artefact.file.open("rb")
        except FileNotFoundError as error:
            raise NotFound("The file is gone from the server's disk.") from error
        media_type = artefact.media_type if artefact.media_type in SHOWN_TYPES else "application/octet-stream"
        response = StreamingHttpResponse(_pieces(gzip.GzipFile(fileobj=packed)), content_type=media_type)
        response["Content-Length"] = str(artefact.size_bytes)
        response["Content-Disposition"] = content_disposition_header(True, artefact.name) or "attachment"
        response["X-Content-Type-Options"] = "nosniff"
        return response


def readable_artefacts(user: Reader) -> QuerySet[Artefact]:
    """Files of present runs and of uploads that this person may open; those of an import are its owner's alone."""
    if sees_all(user):
        return Artefact.objects.all()
    by_run = Q(run__in=Run.objects.present().readable_by(user))
    by_upload = Q(upload__isnull=False) & readable(user, prefix="upload__")
    mine = Q(file_import__isnull=False, file_import__owner=user.pk) if user.pk else Q()
    return Artefact.objects.filter(by_run | by_upload | mine)


def _pieces(file: gzip.GzipFile) -> Iterator[bytes]:
    with file:
        while piece := file.read(PIECE_BYTES):
            yield piece
