"""Published articles: the list, and a page that rebuilds each from its data."""

from __future__ import annotations

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_GET

from runs.charts.publication import page
from runs.choices import RunState
from runs.models import Publication


@require_GET
def publication_list(request: HttpRequest) -> HttpResponse:
    present = Q(runs__deleted_at=None)
    publications = Publication.objects.annotate(
        valued=Count("runs", filter=present & Q(runs__state=RunState.FINISHED), distinct=True),
        lost=Count("runs", filter=present & Q(runs__state=RunState.VALUE_MISSING), distinct=True),
        claimed=Count("claims", distinct=True),
        pictures=Count("missingitems", distinct=True),
    )
    return render(request, "publications.html", {"publications": publications})


@require_GET
def publication(request: HttpRequest, slug: str) -> HttpResponse:
    found = get_object_or_404(Publication, slug=slug)
    return render(request, "publication.html", {"page": page(found), "publication": found})
