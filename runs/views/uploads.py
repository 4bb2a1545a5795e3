"""What one brings in: uploads with their runs and files; files of tools: drop, look, say what is missing, store."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID, uuid4

from benchagent.importers import PARSER_VERSION, Report
from benchagent.importers.described import BadDescription
from benchagent.importers.report import becomes_a_run, headline, missing_details
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import ValidationError as FormError
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Count, F, Max, OuterRef, Q, Subquery
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from rest_framework.exceptions import ValidationError

from runs import imports
from runs.access import changes
from runs.access.rules import changeable
from runs.api.bundles import taken_in
from runs.api.errors import flatten
from runs.api.uploads import files_of
from runs.formatting import few_listed, grouped
from runs.imports import tools
from runs.imports.documents import may_fail_by_intent, repeated
from runs.imports.forms import SubjectForm, answered, factors_text, readable_tools, tables, ticked_together
from runs.listing.rows import RunRow
from runs.models import FileImport, Run, ToolDescription, Upload
from runs.models.choices import ImportState, Visibility
from runs.results import bundle, editing
from runs.views.forms import UNPROCESSABLE, form_page
from runs.views.guards import PersonRequest, contributor_required, person_required

PER_PAGE = 50
GONE = 410
# What a page shows of a document; the whole of it is in the JSON of its runs.
MAX_SHOWN = 100_000
DELETED, RESTORED = "deleted. They can be brought back below.", "brought back."
THERE_ALREADY = "These files are stored already, and nothing was changed. Another label or commit is said here below."


@require_safe
@person_required
def upload_list(request: HttpRequest) -> HttpResponse:
    """What the person has uploaded, also by their tokens."""
    present = Count("runs", filter=Q(runs__deleted_at=None))
    rows = Upload.objects.filter(owner=request.user.pk).annotate(run_count=present, newest=Max("runs__measured_at"))
    # Those of one request came at one time.
    ordered = rows.defer("document").order_by("-received_at", F("newest").desc(nulls_last=True), "id")
    page = Paginator(ordered, PER_PAGE).get_page(request.GET.get("page"))
    first = Run.objects.filter(upload=OuterRef("pk")).order_by("repeat", "id").values("pk")[:1]
    keys = Upload.objects.filter(pk__in=[row.pk for row in page]).values_list(Subquery(first), flat=True)
    firsts = {run.upload_id: run for run in Run.objects.for_rows().filter(pk__in=list(keys))}
    return render(request, "uploads.html", {"page": page, "firsts": firsts})


@require_safe
def upload(request: HttpRequest, upload_id: UUID) -> HttpResponse:
    rows = Upload.objects.readable_by(request.user).select_related("owner", "token", "file_import")
    kept = get_object_or_404(rows, id=upload_id)
    runs = list(Run.objects.filter(upload=kept).for_lists().order_by("repeat", "id"))
    present, deleted = [run for run in runs if run.deleted_at is None], [run for run in runs if run.deleted_at]
    if not present:
        return render(request, "upload_deleted.html", {"upload": kept, "deleted": deleted}, status=GONE)
    # The numbers of a deleted run stand in the document too.
    numbers = {run.repeat for run in present}
    repeats = [sent for number, sent in enumerate(kept.document.get("repeats", ()), 1) if number in numbers]
    document = json.dumps({**kept.document, "repeats": repeats}, indent=2, ensure_ascii=False)
    context = {
        "upload": kept,
        "rows": [RunRow(run) for run in present],
        "deleted": deleted,
        "document": document[:MAX_SHOWN],
        "shortened": len(document) > MAX_SHOWN,
        "artefacts": kept.artefacts.all(),
        "changes": changes.history(kept),
    }
    return render(request, "upload.html", context)


@require_POST
@contributor_required
def delete_upload(request: PersonRequest, upload_id: UUID) -> HttpResponse:
    kept = get_object_or_404(Upload.objects.readable_by(request.user), id=upload_id)
    _change(request, [kept], editing.delete_runs, DELETED)
    return redirect(kept)


@require_POST
@contributor_required
def restore_upload(request: PersonRequest, upload_id: UUID) -> HttpResponse:
    kept = get_object_or_404(Upload.objects.readable_by(request.user), id=upload_id)
    _change(request, [kept], editing.restore_runs, RESTORED)
    return redirect(kept)


def _change(request: PersonRequest, uploads: Iterable[Upload], change: Callable[..., int], words: str) -> None:
    """All of them or none."""
    with transaction.atomic():
        theirs = [changeable(request.user, each) for each in uploads]
        count = sum(change(each, by=request.user) for each in theirs)
    messages.success(request, f"{count} run{'s' * (count != 1)} {words}")


IMPORTS_PER_PAGE = 20
# Names of the API's fields -> those of the form.
_FIELDS = {"dbms.name": "dbms_name", "dbms.version": "dbms_version"}


def smallest_document() -> dict[str, Any]:
    """The least that `POST /api/v1/results/` takes: two repeats of one cell, under an id of their own."""
    return {
        "schema_version": 1,
        "id": str(uuid4()),
        "workload": "tpcb",
        "dbms": {"name": "PostgreSQL", "version": "17.2"},
        "hardware": {"name": "my server"},
        "factors": {"scale_factor": 10, "terminals": 4},
        "repeats": [{"metrics": {"tps": 4450}}, {"metrics": {"tps": 4489}}],
    }


@require_safe
def by_api(request: HttpRequest) -> HttpResponse:
    """One command with the reader's own address, before the reference of everything."""
    context = {
        "url": request.build_absolute_uri(reverse("api-results")),
        "document": json.dumps(smallest_document(), indent=1),
    }
    return render(request, "upload_by_api.html", context)


@require_POST
@contributor_required
def import_bundle(request: PersonRequest) -> HttpResponse:
    """An experiment of another Benchsite."""
    try:
        experiment, created = taken_in(request, request.user)
    except (bundle.BadBundle, imports.BadFiles) as error:
        messages.error(request, f"Nothing was stored. {error}")
        return redirect("imports")
    messages.success(request, "The experiment is here." if created else "It was here already.")
    return redirect(experiment)


@contributor_required
@require_http_methods(["GET", "HEAD", "POST"])
def import_list(request: PersonRequest) -> HttpResponse:
    owner = request.user
    problem = ""
    if request.method == "POST":
        try:
            taken, _ = imports.receive(files=files_of(request, owner), owner=owner)
            if taken.stored_at:
                messages.info(request, THERE_ALREADY)
            return redirect("import", import_id=taken.id)
        except imports.BadFiles as error:
            problem = str(error)
    rows = FileImport.objects.filter(owner=owner).prefetch_related("artefacts").order_by("-created_at", "pk")
    page = Paginator(rows, IMPORTS_PER_PAGE).get_page(request.GET.get("page"))
    held = _held_words([taken.pk for taken in page])
    context = {
        "problem": problem,
        "page": page,
        "rows": [(taken, held.get(taken.pk, "")) for taken in page],
        "tools": readable_tools(),
        "visibilities": Visibility.choices,
        "streamed_mb": settings.IMPORT_STREAMED_MB,
        "request_bytes": settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
    }
    return render(request, "imports.html", context, status=422 if problem else 200)


def _held_words(import_ids: Sequence[UUID]) -> dict[UUID, str]:
    """How many runs of each import are there, on which machines and of which systems."""
    runs = Run.objects.present().filter(upload__file_import__in=import_ids)
    counted = runs.order_by("hardware__name", "dbms_version__name").values_list(
        "upload__file_import", "hardware__name", "dbms_version__name", Count("pk")
    )
    words = {}
    for pk, held in grouped((row[0], row[1:]) for row in counted).items():
        count = sum(number for *_, number in held)
        machines, systems = dict.fromkeys(filter(None, (of[0] for of in held))), dict.fromkeys(of[1] for of in held)
        told = [f"{count} run{'s' * (count != 1)}", few_listed([*machines]), few_listed([*systems])]
        words[pk] = " · ".join(filter(None, told))
    return words


@contributor_required
@require_http_methods(["GET", "HEAD", "POST"])
def own_tools(request: PersonRequest) -> HttpResponse:
    """Tools that somebody described: one's own, and public ones to take over; a POST keeps or removes one."""
    owner, form = request.user, request.POST
    problem = ""
    reports: Sequence[Report] = ()
    if "remove" in form:
        ToolDescription.objects.filter(owner=owner, name=form["remove"]).delete()
        return redirect("own-tools")
    taken_over = ToolDescription.objects.listed_for(owner).filter(name=request.GET.get("tool", "")).first()
    shown = {"text": taken_over.text, "example": taken_over.example} if taken_over else {}
    if request.method == "POST":
        shown = {name: form.get(name, "") for name in ("text", "example", "visibility")}
        try:
            visibility = form.get("visibility") or Visibility.PRIVATE
            if visibility not in Visibility.values:
                raise BadDescription("visibility: public, unlisted or private is expected")
            kept, reports, _ = tools.keep(
                owner=owner, text=shown["text"], example=shown["example"].replace("\r\n", "\n"), visibility=visibility
            )
            messages.success(request, f"{kept.name} is kept, and asked of your files from now on.")
        except BadDescription as error:
            problem = str(error)
    rows = ToolDescription.objects.listed_for(owner).select_related("owner")
    context = {"rows": rows, "problem": problem, "shown": shown, "read": reports, "visibilities": Visibility.choices}
    return render(request, "own_tools.html", context, status=422 if problem else 200)


@contributor_required
@require_http_methods(["GET", "HEAD", "POST"])
def import_detail(request: PersonRequest, import_id: UUID) -> HttpResponse:
    """The preview with its form; a POST stores, or keeps what was said when the button says so."""
    owner = request.user
    taken = get_object_or_404(imports.imports_of(owner), id=import_id)
    asks_how_far = request.htmx and request.method != "POST"  # type: ignore[attr-defined]
    if asks_how_far or taken.state == ImportState.READING:
        return _progress(request, taken)
    form = SubjectForm(request.POST if request.method == "POST" else None, taken=taken)
    if form.is_valid():
        try:
            runs, _ = imports.store(taken, subject=form.subject(), owner=owner)
            copies = sum(run.copy_of_id is not None for run in runs)
            stored = f"Stored {len(runs)} run{'s' if len(runs) != 1 else ''}"
            if copies:
                which = "which is" if len(runs) == 1 else f"{copies} of them"
                stored += f", {which} {'copies' if copies > 1 else 'a copy'} of what is there: copies count nowhere"
            messages.success(request, f"{stored}.")
            return redirect("import", import_id=taken.id)
        except ValidationError as error:
            _show(form, flatten(error.detail))
        except imports.StillRead:
            return redirect("import", import_id=taken.id)
    return _preview(request, taken, form)


def _progress(request: PersonRequest, taken: FileImport) -> HttpResponse:
    """How far a worker is with the files; when it has ended the page is loaded anew."""
    if taken.state != ImportState.READING:
        return HttpResponse(headers={"HX-Refresh": "true"})
    template = "import_reading.html#progress" if request.htmx else "import_reading.html"  # type: ignore[attr-defined]
    return render(request, template, {"taken": taken})


def _show(form: SubjectForm, errors: dict[str, list[str]]) -> None:
    """Errors of the one door beside the fields that caused them."""
    for path, words in errors.items():
        name = _FIELDS.get(path, path.partition(".")[0].partition("[")[0])
        is_named = name == path or path in _FIELDS
        form.add_error(name if name in form.fields else None, words if is_named else f"{path}: {' '.join(words)}")


def _figures(item: dict[str, Any]) -> dict[str, Any]:
    """What is shown of an item at once, and what else it tells: counts of 0 say the least."""
    first = headline(item["metrics"])
    others = [metric for metric in item["metrics"] if metric not in first]
    return {"headline": first, "others": sorted(others, key=lambda metric: not metric["value"])}


def _preview(
    request: HttpRequest,
    taken: FileImport,
    form: SubjectForm,
    *,
    columns_problem: str = "",
    answers: Mapping[str, str] | None = None,
) -> HttpResponse:
    """`answers` of the form of columns, which `columns_problem` is wrong with."""
    subject = form.subject() if form.is_bound and not form.errors else taken.subject
    rest = ticked_together(taken.items)
    together = {str(item["index"]) for item in rest}
    items = [
        {**item, "kept": becomes_a_run(item, taken.subject), "storable": becomes_a_run(item, {}), **_figures(item)}
        for item in taken.items if str(item["index"]) not in together
    ]  # fmt: skip
    asked: set[str] = set()
    told_apart: set[str] = set()
    without_day: set[str] = set()
    repeats = repeated(taken.items, subject)
    # What is said of a file sets it apart from others, not the results in it from each other.
    alike = {str(item["index"]) for cell in repeats if len({item["file"] for item in cell}) > 1 for item in cell}
    several = len({item["file"] for item in items if item["storable"]}) > 1
    for item in items:  # the DBMS of a file is asked for once, at its first entry
        lacking = missing_details([item], {}) if item["file"] not in asked else {}
        item["lacks_name"] = several and "dbms.name" in lacking
        item["lacks_version"] = "dbms.version" in lacking
        item["fails_by_share"] = may_fail_by_intent(item["tool"], item["reason"])
        item["expected"] = item["index"] in subject.get("failures_expected", [])
        of_file = subject.get("files", {}).get(item["file"], {})
        item["lacks_day"] = several and item["storable"] and not item["started_at"] and item["file"] not in without_day
        without_day |= {item["file"]} if item["lacks_day"] else set()
        item["own_day"] = of_file.get("measured_on", "")
        item["own_dbms"], item["apart"] = of_file.get("dbms", {}), factors_text(of_file.get("factors", {}))
        item["is_repeat"] = (str(item["index"]) in alike or item["apart"]) and item["file"] not in told_apart
        asked |= {item["file"]} if item["lacks_version"] else set()
        told_apart |= {item["file"]} if item["is_repeat"] else set()
    context: dict[str, Any] = {
        "taken": taken,
        "form": form,
        "items": [item for item in items if not item["part_of"]],
        "parts": [item for item in items if item["part_of"]],
        "rest": Counter(item["status"] for item in rest).most_common(),
        "rest_storable": sum(becomes_a_run(item, {}) for item in rest),
        "rest_kept": any(becomes_a_run(item, taken.subject) for item in rest),
        "entries": sum(not item["part_of"] for item in taken.items),
        "storable": sum(becomes_a_run(item, {}) for item in taken.items),
        "needs": missing_details(taken.items, subject),
        "runs": imports.runs_of(taken),
        "undated": sum(becomes_a_run(item, {}) and not item["started_at"] for item in taken.items),
        "repeats": [len(cell) for cell in repeats],
        "warnings": imports.warnings_of(taken, request.user),
        "deleted": imports.deleted_runs_of(taken),
        "described": imports.described(taken),
        "newer_parser": taken.parser_version < PARSER_VERSION,
        "columns_problem": columns_problem,
        "tables": tables(taken, answers) if taken.stored_at is None else [],
    }
    return form_page(request, "import.html", **context)


@contributor_required
@require_POST
def import_columns(request: PersonRequest, import_id: UUID) -> HttpResponse:
    """Read the tables of a draft by what was said of their columns."""
    taken = get_object_or_404(imports.imports_of(request.user), id=import_id)
    problem = ""
    if taken.stored_at is None:
        try:
            imports.keep_subject(taken, {"mapping": answered(taken, request.POST)})
        except FormError as error:
            problem = " ".join(error.messages)
        except imports.BadFiles as error:
            problem = str(error)
        except ValidationError as error:
            problem = _in_words(error)
    if not problem:
        return redirect("import", import_id=import_id)
    page = _preview(request, taken, SubjectForm(taken=taken), columns_problem=problem, answers=request.POST)
    page.status_code = UNPROCESSABLE
    return page


def _in_words(error: ValidationError) -> str:
    """What the one door refuses, field by field."""
    return "; ".join(f"{path}: {' '.join(words)}" for path, words in flatten(error.detail).items())


@contributor_required
@require_POST
def read_again(request: PersonRequest, import_id: UUID) -> HttpResponse:
    taken = get_object_or_404(imports.imports_of(request.user), id=import_id)
    try:
        runs = imports.read_again(taken)
        if taken.state == ImportState.READING:
            return redirect("import", import_id=import_id)
        words = "1 run replaces" if len(runs) == 1 else f"{len(runs)} runs replace"
        messages.success(request, f"Read again; {words} the earlier ones." if runs else "Read again.")
    except imports.BadFiles as error:
        messages.error(request, str(error))
    except ValidationError as error:
        messages.error(request, f"Read again, but nothing was changed: {_in_words(error)}")
    return redirect("import", import_id=import_id)


@contributor_required
@require_POST
def delete_import(request: PersonRequest, import_id: UUID) -> HttpResponse:
    """Take all that it stored out of lists and charts."""
    taken = get_object_or_404(imports.imports_of(request.user), id=import_id)
    stored = imports.uploads_of(taken).filter(runs__deleted_at=None).distinct()
    _change(request, stored, editing.delete_runs, DELETED)
    return redirect("import", import_id=import_id)


@contributor_required
@require_POST
def restore_import(request: PersonRequest, import_id: UUID) -> HttpResponse:
    taken = get_object_or_404(imports.imports_of(request.user), id=import_id)
    deleted = imports.uploads_of(taken).filter(runs__deleted_at__isnull=False).distinct()
    _change(request, deleted, editing.restore_runs, RESTORED)
    return redirect("import", import_id=import_id)


@contributor_required
@require_POST
def forget(request: PersonRequest, import_id: UUID) -> HttpResponse:
    """Throw a draft away with its files. What was stored stays."""
    taken = get_object_or_404(imports.imports_of(request.user), id=import_id)
    if taken.stored_at is None:
        imports.forget(taken)
        messages.success(request, "The draft and its files are gone.")
    return redirect("imports")
