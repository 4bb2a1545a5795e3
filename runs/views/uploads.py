"""One upload: its runs, its document, its files, who may see it; and the list of one's own."""

from __future__ import annotations

import json
import uuid

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from runs.access import changes
from runs.listing.rows import RunRow
from runs.models import Run, Upload
from runs.views.guards import check_may_change, contributor_required, person_required

PER_PAGE = 50
# What a page shows of a document; the whole of it is in the JSON of its runs.
MAX_SHOWN = 100_000


@require_safe
@person_required
def upload_list(request: HttpRequest) -> HttpResponse:
    """What the person has uploaded, also by their tokens."""
    present = Count("runs", filter=Q(runs__deleted_at=None))
    rows = Upload.objects.filter(owner=request.user.pk).annotate(run_count=present).defer("document")
    page = Paginator(rows.order_by("-received_at", "id"), PER_PAGE).get_page(request.GET.get("page"))
    measured = Run.objects.filter(upload__in=[row.pk for row in page]).order_by("repeat")
    names = measured.values_list("upload", "dbms_version__name", "workload__name")
    subjects = {upload: f"{dbms} · {workload}" for upload, dbms, workload in names}
    return render(request, "uploads.html", {"page": page, "subjects": subjects})


@require_safe
def upload(request: HttpRequest, upload_id: uuid.UUID) -> HttpResponse:
    rows = Upload.objects.readable_by(request.user).select_related("owner", "token", "file_import")
    kept = get_object_or_404(rows, id=upload_id)
    runs = list(Run.objects.filter(upload=kept).for_lists().order_by("repeat", "id"))
    document = json.dumps(kept.document, indent=2, ensure_ascii=False)
    context = {
        "upload": kept,
        "rows": [RunRow(run) for run in runs if run.deleted_at is None],
        "deleted": [run for run in runs if run.deleted_at is not None],
        "document": document[:MAX_SHOWN],
        "shortened": len(document) > MAX_SHOWN,
        "artefacts": kept.artefacts.all(),
        "changes": changes.history(kept),
    }
    return render(request, "upload.html", context)


@require_POST
@contributor_required
def delete_upload(request: HttpRequest, upload_id: uuid.UUID) -> HttpResponse:
    """Take all its runs out of lists and charts."""
    kept = _changeable(request, upload_id)
    with transaction.atomic():
        count = kept.runs.filter(deleted_at=None).update(deleted_at=timezone.now())
        changes.record(target=kept, field="runs deleted", old=0, new=count, by=request.user)
    messages.success(request, f"{count} run{'s' * (count != 1)} deleted. They can be brought back below.")
    return redirect(kept)


@require_POST
@contributor_required
def restore_upload(request: HttpRequest, upload_id: uuid.UUID) -> HttpResponse:
    kept = _changeable(request, upload_id)
    with transaction.atomic():
        count = kept.runs.exclude(deleted_at=None).update(deleted_at=None)
        changes.record(target=kept, field="runs brought back", old=0, new=count, by=request.user)
    messages.success(request, f"{count} run{'s' * (count != 1)} brought back.")
    return redirect(kept)


def _changeable(request: HttpRequest, upload_id: uuid.UUID) -> Upload:
    kept = get_object_or_404(Upload.objects.readable_by(request.user), id=upload_id)
    check_may_change(request, kept)
    return kept
