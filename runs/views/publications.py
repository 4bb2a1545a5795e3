"""Published articles: the list, and a page that rebuilds each from its data."""

from __future__ import annotations

import csv

from django.db.models import Count, Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.text import slugify
from django.views.decorators.http import require_GET

from runs.models import Publication
from runs.models.choices import RunState
from runs.publications.article import article_of
from runs.publications.page import export
from runs.publications.page.page import page


@require_GET
def publication_list(request: HttpRequest) -> HttpResponse:
    present = Q(runs__deleted_at=None)
    publications = Publication.objects.annotate(
        valued=Count("runs", filter=present & Q(runs__state=RunState.FINISHED, runs__invalid_at=None), distinct=True),
        lost=Count("runs", filter=present & Q(runs__state=RunState.VALUE_MISSING), distinct=True),
        claimed=Count("claims", distinct=True),
    )
    rows = [(one, article_of(one)) for one in publications]
    return render(request, "publications.html", {"rows": rows})


@require_GET
def publication(request: HttpRequest, slug: str) -> HttpResponse:
    """`?baseline=` chooses what ratios are taken to."""
    found = get_object_or_404(Publication, slug=slug)
    shown = page(found, request.user, request.GET.dict())
    return render(request, "publication.html", {"page": shown, "publication": found, "checks": shown.material.checks})


@require_GET
def publication_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Every number of the page with where it comes from, one a line; `?figure=` those of one chart or table."""
    found = get_object_or_404(Publication, slug=slug)
    rows = export.rows(page(found, request.user, request.GET.dict()), only=request.GET.get("figure", ""))
    name = "-".join(part for part in (slug, request.GET.get("figure", "")) if part)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{slugify(name)}.csv"'
    csv.writer(response, lineterminator="\n").writerows([export.HEAD, *rows])
    return response
