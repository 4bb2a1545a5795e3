"""Pages of runs: the front page, the list, one run, taking it out, who may see it; an experiment filling up."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from typing import Any, cast
from urllib.parse import urlencode

from benchagent.catalog import number_in
from benchagent.exporters import exporters
from django.conf import settings
from django.contrib import messages
from django.core.exceptions import PermissionDenied
from django.core.paginator import Paginator
from django.db.models import Prefetch, QuerySet
from django.http import Http404, HttpRequest, HttpResponse, QueryDict, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.template import Context
from django.utils.cache import patch_vary_headers
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from rest_framework.exceptions import ValidationError

from runs.access.rules import Target, candidates, change_visibility, changeable, changeable_run
from runs.answers.questions import questions
from runs.answers.words.gaps import refusal_words
from runs.charts.compare import bars_figures
from runs.charts.experiment import fingerprint, overview
from runs.charts.run import csv_pieces, figures, series_rows
from runs.compare.compare import compare
from runs.compare.configurations import differences_between
from runs.compare.groups import Contrast
from runs.compare.guard import blocking
from runs.incoming.reading import read
from runs.listing import cursor
from runs.listing.cursor import WrongCursor
from runs.listing.experiments import experiment_rows
from runs.listing.filters import RunFilter, columns_of, without, without_blanks
from runs.listing.rows import RunRow, in_words
from runs.models import Alert, Annotation, Experiment, Publication, Report, Run, Upload
from runs.models.base import NamedModel
from runs.models.choices import RunState, Visibility
from runs.models.visible import may_open
from runs.results import editing
from runs.results import purge as purging
from runs.run import derived, diff, series
from runs.templatetags.show import visibility_control
from runs.views.guards import (
    PersonRequest,
    administrator_required,
    as_uuid,
    contributor_required,
    page_before,
    token_may_read,
)
from runs.views.run_page import About, Counting, Measured, result_of

RECENT = 8
NOTHING_NEW = 204


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """What there is to see: the demonstration filling up, the latest runs, the published results."""
    experiments = Experiment.objects.listed_for(request.user).filter(brought=False)
    demonstration = experiments.filter(demonstration=True).first()
    present = Run.objects.present().listed_for(request.user).for_lists()
    runs = list(present.filter(experiment=demonstration).order_by("order_index")) if demonstration else []
    seen = fingerprint(runs)
    if request.GET.get("seen") == seen:
        return HttpResponse(status=NOTHING_NEW)
    context: dict[str, Any] = {
        "demonstration": demonstration,
        "runs": runs,
        "seen": seen,
        "first_run": settings.FIRST_RUN,
    }
    context |= overview(runs)
    if "seen" in request.GET:
        return render(request, "home.html#demonstration", context)
    # What was measured or uploaded last; what still waits in the queue is shown by its experiment.
    begun = present.filter(publication=None).exclude(state=RunState.QUEUED)
    recent = cursor.first_rows(begun.order_by("-measured_at", "-created_at", "repeat", "id"), RECENT)
    context["recent"] = [RunRow(run) for run in recent]
    # Made to show the product at work, it gives way to what people have measured once it has ended.
    has_others = any(row.run.counts and not row.run.demonstration for row in context["recent"])
    if demonstration and not has_others:
        others = Run.objects.with_values().listed_for(request.user).filter(demonstration=False, publication=None)
        has_others = others.exists()
    context["demonstration_first"] = context["is_open"] or not has_others
    context["publications"] = Publication.objects.counted()
    context["experiments"] = experiment_rows(experiments.filter(demonstration=False).defer("plan")[:5])
    context["questions"] = questions(request.user)
    context["alerts_open"] = Alert.objects.listed_for(request.user).open().count()
    return render(request, "home.html", context)


PER_PAGE = 50
# Pages have numbers while there are few of them; beyond, older and newer rows follow each other.
NUMBERED_PAGES = 20
CONTROLS = ("page", "part", "cursor")
# Lost values of articles are hidden unless a reader asks for them, by this or by a filter that speaks of them.
SHOW_LOST = "show_lost"


@require_safe
def run_list(request: HttpRequest) -> HttpResponse:
    params = without_blanks(request.GET)
    rows = candidates(request.user, experiments=params.getlist("experiment")).for_rows()
    chosen = RunFilter(params, queryset=rows, user=request.user, is_shown=True)
    problems = chosen.problems(*CONTROLS, SHOW_LOST)
    page: dict[str, Any] = {}
    lost, hides = 0, not {"lost", "status", "state"} & set(params)
    if not problems:
        if hides:
            lost, _ = cursor.bounded_count(chosen.qs.filter(state=RunState.VALUE_MISSING))
        try:
            page = _page(chosen.qs, params, hidden=0 if SHOW_LOST in params else lost)
        except WrongCursor as error:
            problems["cursor"] = [str(error)]
    chosen_by = without(params, *CONTROLS)
    context = {
        "filter": chosen,
        "params": chosen_by,
        "problems": problems,
        "page": page,
        "ordering": params.get("ordering", ""),
        "newest_first": params.get("ordering", "") in ("", "-created_at", "-measured_at"),
        "filtered": any(name not in (*CONTROLS, SHOW_LOST, "ordering") for name in params),
        "lost": lost,
        "lost_switch": (
            without(chosen_by, SHOW_LOST) if SHOW_LOST in params else _with(chosen_by, SHOW_LOST, "1")
        ).urlencode(),
        "lost_shown": SHOW_LOST in params,
        "export_query": without(chosen_by, SHOW_LOST).urlencode(),
        "formats": list(exporters()),
    }
    template = "runs.html#table" if request.headers.get("HX-Target") == "run-table" else "runs.html"
    response = render(request, template, context, status=400 if problems else 200)
    # The page and its table share an address: without this the back button shows the bare table.
    patch_vary_headers(response, ["HX-Target"])
    response["HX-Push-Url"] = f"{request.path}?{params.urlencode()}" if params else request.path
    return response


def _page(runs: QuerySet[Run], params: QueryDict, *, hidden: int = 0) -> dict[str, Any]:
    """What the table and its links show: `hidden` of the runs are lost values, which are left out.

    `number` is 0 where pages have none; queries are "" where there is no page.

    Raises WrongCursor.
    """
    previous: int | str | None
    following: int | str | None
    if hidden:
        runs = runs.exclude(state=RunState.VALUE_MISSING)
    ordering = params.get("ordering", "")
    by: dict[str, Any] = {"columns": columns_of(ordering), "name": ordering}
    number, total, control = 0, 0, "cursor"
    if "cursor" in params:
        count, exact = cursor.bounded_count(runs)
        shown = cursor.page(runs, cursor=params.get("cursor", ""), size=PER_PAGE, **by)
        rows, previous, following = shown.rows, shown.previous, shown.next
    else:
        # Where filters read every run, counting and listing them at once takes half as long as one after the other.
        ids = cursor.first_ids(runs, by["columns"], cursor.COUNT_LIMIT + 1)
        count, exact = min(len(ids), cursor.COUNT_LIMIT), len(ids) <= cursor.COUNT_LIMIT
        pages = max(1, -(-count // PER_PAGE))
        if exact and pages <= NUMBERED_PAGES:
            text = params.get("page", "1")
            total, control = pages, "page"
            number = min(max(int(text), 1), total) if text.isascii() and text.isdecimal() and len(text) < 10 else 1
            previous, following = number - 1 or None, number + 1 if number < total else None
        start = max(0, number - 1) * PER_PAGE
        rows = cursor.of_ids(runs, ids[start : start + PER_PAGE])
        if not number:
            previous, following = None, cursor.cursor_at(rows[-1], **by) if rows else None
    return {
        "rows": [RunRow(run) for run in rows], "count": count, "count_is_exact": exact, "number": number,
        "total": total, "previous_query": _at(params, control, previous),
        "next_query": _at(params, control, following),
    }  # fmt: skip


def _at(params: QueryDict, control: str, value: int | str | None) -> str:
    """The query of another page of the same list; "" for none."""
    if value is None:
        return ""
    return _with(without(params, *CONTROLS), control, str(value)).urlencode()


def _with(params: QueryDict, name: str, value: str) -> QueryDict:
    changed = params.copy()
    changed[name] = value
    return changed


STOP_POLLING = 286


@require_safe
def run_detail(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    rows = Run.objects.for_lists().select_related("upload", "invalid_by", "copy_of")
    rows = rows.prefetch_related(
        "state_changes", "config__parameters", Prefetch("annotations", Annotation.objects.select_related("by"))
    )
    run = get_object_or_404(rows.readable_by(request.user), id=run_id)
    if run.deleted_at is not None:
        return render(request, "run_deleted.html", {"run": run, "words": in_words(run)}, status=410)
    part = request.GET.get("part")
    if part == "state":
        shown = {"result": result_of(run), "so_far": derived.so_far(run)}
        status = 200 if run.is_open else STOP_POLLING
        return render(request, "run.html#state", {"run": run, "measured": shown}, status=status)
    if part == "charts" and request.GET.get("seen") == series.sampled(run):
        return HttpResponse(status=NOTHING_NEW if run.is_open else STOP_POLLING)
    samples = series.read_all(run)
    if part == "charts":
        charts = {"figures": figures(run, samples), "sampled": series.sampled(run)}
        return render(request, "run.html#charts", {"run": run, "measured": charts})
    measured = Measured(run, samples)
    context = {
        "run": run, "about": About(run, request.user), "measured": measured,
        "counting": Counting(run, measured, request.user),
    }  # fmt: skip
    return render(request, "run.html", context)


# Columns of the page of differences.
MOST_DIFFERED = 6


def _why_no_ratio(runs: Sequence[Run], metric: str = "") -> str:
    """Why the first and the last of these may not be compared by a metric; empty where they may."""
    return refusal_words(Contrast(blocking(differences_between(runs[:1], runs[-1:], metric=metric))))


@require_safe
def run_diff(request: HttpRequest) -> HttpResponse:
    """Runs side by side: the rows that differ, or with `all=` every one."""
    given = list(dict.fromkeys(filter(None, request.GET.getlist("run"))))[:MOST_DIFFERED]
    ids = {text: as_uuid(text) for text in given}
    rows = Run.objects.present().for_lists().prefetch_related("config__parameters").readable_by(request.user)
    by_id = {run.id: run for run in rows.filter(pk__in=filter(None, ids.values()))}
    runs = [by_id[run_id] for run_id in ids.values() if run_id in by_id]
    everything = bool(request.GET.get("all"))
    refused = _why_no_ratio(runs)
    names = {row.metric.name for run in runs for row in run.measurements.all()}
    refused_by_metric = {name: words for name in names if (words := _why_no_ratio(runs, name))}
    no_ratios = {name: "" if words == refused else words for name, words in refused_by_metric.items()}
    sections = diff.sections(runs, everything=everything, no_ratios=no_ratios)
    rows_shown = [row for section in sections for row in section.rows]
    differing = sum(row.differs for row in rows_shown)
    partial = sum(row.partial and not row.differs for row in rows_shown) + sum(section.foreign for section in sections)
    context: dict[str, Any] = {
        "runs": runs, "heads": [*zip(runs, diff.told_apart(runs), strict=True)], "refused": refused,
        "alone": len(runs) < 2, "unknown": [text for text, run_id in ids.items() if run_id not in by_id],
        "sections": sections, "same": [section for section in sections if not section.rows and not section.foreign],
        "everything": everything, "differing": differing, "partial": partial,
        "known": sum(len(section.rows) + section.alike + section.foreign for section in sections),
        "query": urlencode([("run", run.id) for run in runs]),
        "parts": bars_figures(comparison, id="runs") if (comparison := compare(runs)).metric else [],
    }  # fmt: skip
    return render(request, "run_diff.html", context, status=404 if context["unknown"] else 200)


@require_safe
@token_may_read
def series_csv(request: HttpRequest, run_id: uuid.UUID) -> HttpResponseBase:
    """Every sample of the run, or of the metrics that are named: one row per sample."""
    run = get_object_or_404(Run.objects.present().readable_by(request.user), id=run_id)
    pieces = csv_pieces(series_rows(series.read_all(run, names=request.GET.getlist("metric"))))
    response = StreamingHttpResponse(pieces, content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="run-{run.id}.csv"'
    return response


@require_POST
@contributor_required
def annotate(request: PersonRequest, run_id: uuid.UUID) -> HttpResponse:
    return _annotate(request, _annotatable(request, run_id))


@require_POST
@contributor_required
def annotation(request: PersonRequest, run_id: uuid.UUID, annotation_id: uuid.UUID) -> HttpResponse:
    """Change what was noted, or with the button `delete` take it away."""
    run = _annotatable(request, run_id)
    row = get_object_or_404(run.annotations, pk=annotation_id)
    if "delete" not in request.POST:
        return _annotate(request, run, row)
    editing.forget_annotation(row, by=request.user)
    return redirect(f"{run.get_absolute_url()}#notes")


def _annotatable(request: PersonRequest, run_id: uuid.UUID) -> Run:
    run = changeable_run(request.user, run_id)
    if run.publication_id is not None:
        raise PermissionDenied("This run is part of a publication and says what that says.")
    return run


def _annotate(request: PersonRequest, run: Run, row: Annotation | None = None) -> HttpResponse:
    try:
        given = {"at_s": number_in(request.POST.get("at_s", "").strip()), "text": request.POST.get("text", "")}
        wanted = read(editing.NewAnnotation, given)
        editing.annotate(run, wanted, by=request.user, annotation=row)
    except ValidationError as error:
        for field, words in cast(dict[str, list[str]], error.detail).items():
            messages.error(request, f"{'Second' if field == 'at_s' else 'Words'}: {' '.join(map(str, words))}")
    return redirect(f"{run.get_absolute_url()}#notes")


@require_POST
@contributor_required
def delete_run(request: PersonRequest, run_id: uuid.UUID) -> HttpResponse:
    run = changeable_run(request.user, run_id, deleted=True)
    if run.is_open:
        messages.error(request, "This run has not ended. Cancel it first.")
    else:
        editing.delete(run, by=request.user)
    return redirect(run)


@require_POST
@contributor_required
def restore_run(request: PersonRequest, run_id: uuid.UUID) -> HttpResponse:
    run = changeable_run(request.user, run_id, deleted=True)
    if editing.restore(run, by=request.user):
        messages.success(request, "The run is back.")
    return redirect(run)


@require_POST
@contributor_required
def invalidate_run(request: PersonRequest, run_id: uuid.UUID) -> HttpResponse:
    run = changeable_run(request.user, run_id, deleted=True)
    try:
        editing.invalidate(run, reason=request.POST.get("reason", ""), by=request.user)
    except editing.NoReason as error:
        messages.error(request, str(error))
    return redirect(run)


@require_POST
@contributor_required
def validate_run(request: PersonRequest, run_id: uuid.UUID) -> HttpResponse:
    run = changeable_run(request.user, run_id, deleted=True)
    if editing.validate(run, by=request.user):
        messages.success(request, "The run counts again.")
    return redirect(run)


@require_POST
@contributor_required
def set_visibility(request: PersonRequest, kind: str, key: str) -> HttpResponse:
    """One click decides who may see an experiment, an upload, a report, or a run that belongs to none of them."""
    target = changeable(request.user, _target(request, kind, key))
    chosen = request.POST.get("visibility", "")
    if chosen not in Visibility.values:
        return HttpResponse("visibility: must be public, unlisted or private", status=400, content_type="text/plain")
    change_visibility(target=target, visibility=chosen, by=request.user)
    if request.htmx:  # type: ignore[attr-defined]
        thing: Target = target
        if run_id := as_uuid(request.POST.get("on_run", "")):  # shown on a run's page, as that of the run
            thing = Run.objects.filter(pk=run_id).select_related("experiment", "upload").first() or target
        return render(request, "_visibility.html", visibility_control(Context({"user": request.user}), thing))
    messages.success(request, f"Now {Visibility(chosen).label.lower()}.")
    return redirect(page_before(request, target.get_absolute_url()) if may_open(request.user, target) else "runs")


def _target(request: HttpRequest, kind: str, key: str) -> Target:
    user = request.user
    if kind == "experiment":
        return get_object_or_404(Experiment.objects.readable_by(user), slug=key)
    if kind == "report":
        return get_object_or_404(Report.objects.present().readable_by(user), slug=key)
    if kind == "upload":
        return get_object_or_404(Upload.objects.readable_by(user), pk=as_uuid(key))
    if kind == "run":
        alone = Run.objects.readable_by(user).filter(experiment=None, upload=None, publication=None)
        return get_object_or_404(alone, pk=as_uuid(key))
    raise Http404


@require_http_methods(["GET", "HEAD", "POST"])
@administrator_required
@never_cache
def purge(request: PersonRequest, kind: str, key: str) -> HttpResponse:
    """Says what goes, and asks; a POST does it."""
    target: Target
    if kind == "report":
        target = get_object_or_404(Report, slug=key)
    elif kind == "run":
        target = get_object_or_404(Run, pk=as_uuid(key), publication=None)
    else:
        target = _target(request, kind, key)
    return purge_page(request, target)


def purge_page(request: PersonRequest, target: Target | NamedModel) -> HttpResponse:
    if request.method == "POST":
        try:
            purging.purge(target, by=request.user, reason=request.POST.get("reason", "")[: editing.REASON_LIMIT])
        except purging.CannotPurge as error:
            messages.error(request, str(error))
            return redirect(request.path)
        messages.success(request, "Purged for good.")
        return redirect("purges")
    context = {
        "target": target, "kind": target._meta.verbose_name, "what": purging.what(target),
        "made_at": purging.made_at(target),
    }  # fmt: skip
    return render(request, "purge.html", context)


@require_safe
@administrator_required
def purge_list(request: PersonRequest) -> HttpResponse:
    """What was purged, by whom and when."""
    page = Paginator(purging.purges(), PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "purges.html", {"page": page})
