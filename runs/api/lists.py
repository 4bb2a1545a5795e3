"""Lists of what was measured together, what one has uploaded, which files one has sent."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q
from django.urls import reverse
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs import imports
from runs.answers.answer import Part
from runs.api.errors import refuse_unknown
from runs.api.permissions import person_of
from runs.models import Batch, FileImport, Run, Upload


class Page(Part):
    count: int
    next: str | None
    previous: str | None


class BatchRow(Part):
    """`runs`: how many of its runs the reader may see."""

    id: UUID
    url: str
    label: str
    tags: list[str]
    tested: dict[str, str]
    created_at: datetime
    runs: int


class BatchPage(Page):
    results: list[BatchRow]


class UploadRow(Part):
    """`file_import`: the import of files that it was made of."""

    id: UUID
    url: str
    received_at: datetime
    visibility: str
    runs: int
    file_import: UUID | None


class UploadPage(Page):
    results: list[UploadRow]


class ImportRow(Part):
    id: UUID
    url: str
    state: str
    created_at: datetime
    stored_at: datetime | None
    problem: str


class ImportPage(Page):
    results: list[ImportRow]


class Pages(PageNumberPagination):
    page_size = 50
    page_size_query_param = "page_size"
    max_page_size = 500


PAGING = [OpenApiParameter("page", int), OpenApiParameter("page_size", int, description="50 by itself, at most 500.")]


class Batches(APIView):
    @extend_schema(operation_id="v1_batches_list", parameters=PAGING, responses={200: BatchPage})
    def get(self, request: Request) -> Response:
        """What was measured together, newest first, as far as whoever asks sees runs of it in lists."""
        refuse_unknown(request.query_params, {"page", "page_size"})
        shown = Run.objects.listed_for(request.user).present()
        rows = Batch.objects.filter(Exists(shown.filter(batch=OuterRef("pk"))))
        pages = Pages()
        batches = pages.paginate_queryset(rows, request) or []
        counts = dict(
            shown.filter(batch__in=batches).order_by().values_list("batch").annotate(runs=Count("pk"))
        )  # fmt: skip
        told = [
            BatchRow(
                **{name: getattr(row, name) for name in ("id", "label", "tested", "created_at")},
                url=request.build_absolute_uri(row.get_absolute_url()), tags=row.tag_list, runs=counts[row.pk],
            ).model_dump(mode="json")
            for row in batches
        ]  # fmt: skip
        return pages.get_paginated_response(told)


class Uploads(APIView):
    # Who sends results with a token of the scope upload sees with the same what was taken.
    reading_scopes = ("read", "upload")

    @extend_schema(operation_id="v1_uploads_list", parameters=PAGING, responses={200: UploadPage})
    def get(self, request: Request) -> Response:
        """One's own uploads, newest first; nobody's for a stranger."""
        refuse_unknown(request.query_params, {"page", "page_size"})
        own = Upload.objects.filter(owner=person_of(request)) if person_of(request) else Upload.objects.none()
        rows = own.annotate(present=Count("runs", filter=Q(runs__deleted_at=None)))
        rows = rows.defer("document").order_by("-received_at")
        pages = Pages()
        told = [
            UploadRow(
                **{name: getattr(row, name) for name in ("id", "received_at", "visibility")}, runs=row.present,
                url=request.build_absolute_uri(row.get_absolute_url()), file_import=row.file_import_id,
            ).model_dump(mode="json")
            for row in pages.paginate_queryset(rows, request) or []
        ]  # fmt: skip
        return pages.get_paginated_response(told)


def listed_imports(request: Request) -> Response:
    """One's own imports of files, newest first, administrators' all; nobody's for a stranger."""
    refuse_unknown(request.query_params, {"page", "page_size"})
    person = person_of(request)
    own = imports.imports_of(person) if person else FileImport.objects.none()
    pages = Pages()
    told = [
        ImportRow(
            **{name: getattr(row, name) for name in ("id", "state", "created_at", "stored_at", "problem")},
            url=request.build_absolute_uri(reverse("import", args=[row.pk])),
        ).model_dump(mode="json")
        for row in pages.paginate_queryset(own.defer("items", "subject"), request) or []
    ]
    return pages.get_paginated_response(told)
