"""Lists of what was measured together, what one has uploaded, which files one has sent."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Exists, OuterRef, Q
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs import imports, models
from runs.api.outgoing import PAGING, BatchRow, Outgoing, Page, page_of, paged
from runs.api.permissions import person_of
from runs.models import FileImport, Run, Upload


class BatchPage(Page):
    results: list[BatchRow]


class UploadRow(Outgoing):
    """`file_import`: the import of files that it was made of."""

    id: UUID
    url: str
    received_at: datetime
    visibility: str
    runs: int
    file_import: UUID | None


class UploadPage(Page):
    results: list[UploadRow]


class ImportRow(Outgoing):
    id: UUID
    url: str
    state: str
    created_at: datetime
    stored_at: datetime | None
    problem: str


class ImportPage(Page):
    results: list[ImportRow]


class Batches(APIView):
    @extend_schema(operation_id="v1_batches_list", parameters=PAGING, responses={200: BatchPage})
    def get(self, request: Request) -> Response:
        """What was measured together, newest first, as far as whoever asks sees runs of it in lists."""
        shown = Run.objects.listed_for(request.user).present()

        def batch_rows(batches: Sequence[models.Batch]) -> Iterator[BatchRow]:
            counts = shown.filter(batch__in=batches).counts_by("batch")
            for row in batches:
                yield BatchRow.of(row, url=page_of(row, request), tags=row.tag_list, runs=counts[row.pk])

        return paged(request, models.Batch.objects.filter(Exists(shown.filter(batch=OuterRef("pk")))), batch_rows)


class Uploads(APIView):
    # Who sends results with a token of the scope upload sees with the same what was taken.
    reading_scopes = ("read", "upload")

    @extend_schema(operation_id="v1_uploads_list", parameters=PAGING, responses={200: UploadPage})
    def get(self, request: Request) -> Response:
        """One's own uploads, newest first; nobody's for a stranger."""
        own = Upload.objects.filter(owner=person_of(request)) if person_of(request) else Upload.objects.none()
        rows = own.annotate(run_count=Count("runs", filter=Q(runs__deleted_at=None)))
        return paged(
            request, rows.defer("document").order_by("-received_at"),
            lambda uploads: (
                UploadRow.of(row, url=page_of(row, request), runs=row.run_count, file_import=row.file_import_id)
                for row in uploads
            ),
        )  # fmt: skip


def listed_imports(request: Request) -> Response:
    """One's own imports of files, newest first, administrators' all; nobody's for a stranger."""
    person = person_of(request)
    own = imports.imports_of(person) if person else FileImport.objects.none()
    return paged(
        request, own.defer("items", "subject"),
        lambda rows: (
            ImportRow.of(row, url=request.build_absolute_uri(reverse("import", args=[row.pk]))) for row in rows
        ),
    )  # fmt: skip
