"""Published articles: the list, and a page that rebuilds each from its data."""

from __future__ import annotations

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import slugify
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from runs.models import Publication, PublicationFiles
from runs.publications.article import article_of
from runs.publications.document import statements_of
from runs.publications.folder import FolderError, comes_with_program, own, read_zip
from runs.publications.importer import bring_back, import_given, remove
from runs.publications.material import Material
from runs.publications.page import export
from runs.publications.page.page import Page
from runs.views.forms import form_page
from runs.views.guards import operator_required


@require_GET
def publication_list(request: HttpRequest) -> HttpResponse:
    rows = [(each, article_of(each), len(statements_of(each).claims)) for each in Publication.objects.counted()]
    deleted = PublicationFiles.objects.exclude(deleted_at=None).order_by("-deleted_at").defer("archive")
    return render(request, "publications.html", {"rows": rows, "deleted": deleted})


class ImportForm(forms.Form):
    file = forms.FileField(
        label="ZIP file", help_text="results.json, article.md, checks.json and page.json of one article"
    )


@operator_required
@require_http_methods(["GET", "HEAD", "POST"])
def publication_import(request: HttpRequest) -> HttpResponse:
    """A publication out of its files: all of it, or nothing and what is wrong with which field of which file."""
    form = ImportForm(request.POST, request.FILES) if request.method == "POST" else ImportForm()
    if form.is_valid():
        file = form.cleaned_data["file"]
        try:
            folder = read_zip(file, file.size)
            import_given(folder)
        except FolderError as error:
            for fault in error.faults:
                form.add_error("file", fault)
        else:
            messages.success(request, "Imported. What is wrong on its page is mended in its files: import them again.")
            return redirect("publication", slug=folder.slug)
    return form_page(request, "publications/import.html", form)


@operator_required
@require_POST
def publication_delete(request: HttpRequest, slug: str) -> HttpResponse:
    row = get_object_or_404(Publication, slug=slug)
    remove(row)
    messages.success(request, f"“{row.title_en}” is deleted. {_way_back(slug)}")
    return redirect("publications")


@operator_required
@require_POST
def publication_restore(request: HttpRequest, slug: str) -> HttpResponse:
    kept = get_object_or_404(PublicationFiles.objects.exclude(deleted_at=None), slug=slug)
    try:
        bring_back(kept)
    except FolderError as error:
        messages.error(request, f"“{kept.title_en}” cannot be brought back. {error}")
        return redirect("publications")
    return redirect("publication", slug=slug)


@operator_required
@require_POST
def publication_forget(request: HttpRequest, slug: str) -> HttpResponse:
    """The files of a deleted article: nothing here brings it back any more."""
    kept = get_object_or_404(PublicationFiles.objects.exclude(deleted_at=None), slug=slug)
    kept.delete()
    messages.success(request, f"The files of “{kept.title_en}” are gone, too.")
    return redirect("publications")


def _way_back(slug: str) -> str:
    """How it comes back once it is deleted."""
    if comes_with_program(slug):
        return "It comes with the program: the next import brings it back."
    # What was imported before files were kept has none.
    return "The list of publications can bring it back." if _has_files(slug) else "Only its files bring it back."


def _has_files(slug: str) -> bool:
    return comes_with_program(slug) or PublicationFiles.objects.filter(slug=slug).exists()


@require_GET
def publication(request: HttpRequest, slug: str) -> HttpResponse:
    """`?baseline=` chooses what ratios are taken to."""
    row = get_object_or_404(Publication, slug=slug)
    shown = Page(row, request.user, request.GET.dict())
    context = {
        "page": shown, "publication": row, "checks": shown.material.checks, "way_back": _way_back(slug),
        "has_files": _has_files(slug),
    }  # fmt: skip
    return render(request, "publication.html", context)


@require_GET
def publication_zip(request: HttpRequest, slug: str) -> HttpResponse:
    """The files that it was imported from, as another site imports them."""
    get_object_or_404(Publication, slug=slug)
    kept = own()[slug].zipped() if comes_with_program(slug) else get_object_or_404(PublicationFiles, slug=slug).archive
    return HttpResponse(
        bytes(kept), content_type="application/zip",
        headers={"Content-Disposition": f'attachment; filename="{slug}.zip"'},
    )  # fmt: skip


@require_GET
def publication_csv(request: HttpRequest, slug: str) -> HttpResponse:
    """Every number of the page with where it comes from, one a line; `?figure=` those of one chart or table."""
    row = get_object_or_404(Publication, slug=slug)
    only = request.GET.get("figure", "")
    name = slugify("-".join(part for part in (slug, only) if part))
    return HttpResponse(
        export.text(Material(row, request.GET.dict()), only), content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}.csv"'},
    )  # fmt: skip
