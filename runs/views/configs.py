"""Configurations: list, one with what ran with it, several side by side; made, revised, corrected. DBMSs too."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.utils.text import get_valid_filename
from django.views.decorators.http import require_http_methods, require_safe

from runs import configs
from runs.access import changes
from runs.access.rules import describable, may_describe, nameable
from runs.configs.forms import (
    FORMAT_CHOICES,
    ConfigForm,
    FactsForm,
    ReasonForm,
    given_files,
    initial_of,
    labelled,
    preview,
)
from runs.configs.pages import MOST_COMPARED, ConfigRow, choices_of, diff_table, matching
from runs.dbms import rankings, system_rows, unverified, version_rows, versions_for, words_filter
from runs.listing.cursor import bounded_count, first_rows
from runs.listing.rows import RunRow
from runs.machines.usage import MOST_COUNTED
from runs.models import Config, Dbms, Run
from runs.models.base import clean
from runs.views.forms import add_errors, changed, form_page, remembering
from runs.views.guards import PersonRequest, contributor_required

PER_PAGE = 50
# DBMSs, and versions of one.
SYSTEMS_PER_PAGE = 100
RECENT = 10
# What a choice of a configuration shows.
SHOWN = ("slug", "name", "revision")
MOST_LISTED = 500


@require_safe
def config_list(request: HttpRequest) -> HttpResponse:
    words, dbms = clean(request.GET.get("q", "").strip(), 100), clean(request.GET.get("dbms", "").strip(), 120)
    rows = matching(configs.for_pages(configs.listed_configs(request.user)), words, dbms)
    page = Paginator(rows.order_by("name", "revision", "pk"), PER_PAGE).get_page(request.GET.get("page"))
    counts = _runs_of(page, request)
    context = {
        "rows": [ConfigRow(config, counts[config.pk]) for config in page],
        "page": page,
        "q": words,
        "dbms": dbms,
        "systems": choices_of(configs.listed_configs(request.user)),
    }
    return render(request, "configs/list.html", context)


@require_safe
def config_detail(request: HttpRequest, slug: str) -> HttpResponse:
    config = _config(request, slug)
    runs = Run.objects.present().listed_for(request.user).filter(config=config)
    run_count, is_exact = bounded_count(runs)
    context = {
        "config": config,
        "dbms": configs.dbms_of(config),
        "parameters": configs.parameter_rows(config),
        "promise": configs.durability_of(config),
        "stated": configs.stated_by(runs),
        "meanings": configs.meanings_of(config),
        "files": configs.files_of(config),
        "family": configs.family_of(config, request.user),
        "run_count": run_count,
        "run_count_is_exact": is_exact,
        "rows": [RunRow(run) for run in runs.for_lists()[:RECENT]],
        "may_edit": may_describe(request.user, config),
        "history": changes.history(config)[:20],
        "others": configs.listed_configs(request.user)
        .exclude(pk=config.pk)
        .only(*SHOWN)
        .order_by("name")[:MOST_LISTED],
    }
    return render(request, "configs/detail.html", context)


@require_safe
def config_file(request: HttpRequest, slug: str, position: int) -> HttpResponse:
    """A file exactly as it was given, but for its secrets."""
    files = {file.position: file for file in configs.files_of(_config(request, slug))}
    if position not in files:
        raise Http404("No such file.")
    response = HttpResponse(files[position].text.encode(), content_type="text/plain; charset=utf-8")
    name = get_valid_filename(files[position].name.rsplit("/", 1)[-1].lstrip(".") or "file")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


@require_safe
def config_diff(request: HttpRequest) -> HttpResponse:
    given = (clean(slug, 120) for slug in request.GET.getlist("config"))
    wanted = [slug for slug in dict.fromkeys(given) if slug][:MOST_COMPARED]
    table, unknown = diff_table(wanted, request.user, request.GET)
    others = configs.listed_configs(request.user).exclude(pk__in=[config.pk for config in table.configs])
    context = {"table": table, "unknown": unknown, "choices": others.order_by("name")[:MOST_LISTED]}
    return render(request, "configs/diff.html", context)


@contributor_required
@require_http_methods(["GET", "HEAD", "POST"])
def config_new(request: PersonRequest) -> HttpResponse:
    form = ConfigForm(request.POST or None, user=request.user)
    return _taken(request, form, "A new configuration")


@contributor_required
@require_http_methods(["GET", "HEAD", "POST"])
def config_edit(request: PersonRequest, slug: str) -> HttpResponse:
    """The next revision: this one stays as runs have used it."""
    config = _editable(request, slug)
    form = ReasonForm(request.POST or None, user=request.user, initial=initial_of(config))
    return _taken(request, form, f"Revise {config}", config)


@contributor_required
@require_http_methods(["GET", "HEAD", "POST"])
def config_correct(request: PersonRequest, slug: str) -> HttpResponse:
    """Name, note, and what is known of the database: what the configuration holds stays."""
    config = _editable(request, slug)
    versions = configs.versions_for(config, request.user)
    form = remembering(FactsForm(request.POST or None, initial=initial_of(config), versions=versions))
    if form.is_valid():
        try:
            configs.correct(config, changed(form), by=request.user)
            return redirect("config", slug=config.slug)
        except configs.ConfigError as error:
            add_errors(form, error)
    return form_page(request, "configs/correct.html", form, config=config)


def _taken(request: PersonRequest, form: ConfigForm, title: str, config: Config | None = None) -> HttpResponse:
    """Preview, then store. Nothing is stored by the preview."""
    problems: list[str] = []
    if request.method == "POST":
        files, problems = given_files(request)
    else:
        kept = configs.files_of(config) if config else []
        files = [configs.FileText(file.name, file.text, file.format) for file in kept]
    dbms = configs.dbms_of(config) if config else None
    understood, rows = preview(files, form.data.get("dbms", "") or (dbms.slug if dbms else ""))
    errors, is_to_be_stored = understood.errors, form.is_valid() and not problems and "preview" not in request.POST
    if is_to_be_stored:
        content, began = form.content(files), timezone.now()
        try:
            if config is None:
                made = configs.create_config(content, by=request.user)
            else:
                made = configs.revise(config, content, by=request.user, note=form.cleaned_data.get("reason", ""))
            if made.created_at >= began:
                messages.success(request, f"{made} is stored.")
            else:
                may_rename = may_describe(request.user, made)
                messages.warning(request, _equal_words(made, content.name, may_rename=may_rename))
            return redirect("config", slug=made.slug)
        except configs.ConfigError as error:
            errors = error.errors
    context = {
        "form": form, "title": title, "config": config, "understood": understood, "previews": rows,
        "problems": problems, "formats": FORMAT_CHOICES, "errors": labelled(errors, files) if form.is_bound else [],
    }  # fmt: skip
    status = 422 if form.errors or problems or is_to_be_stored else 200
    return render(request, "configs/form.html", context, status=status)


def _equal_words(there: Config, name: str, *, may_rename: bool) -> str:
    words = f"Nothing was stored: {there} is there already with the same content."
    if not name or name == there.name:
        return words
    remedy = "Rename it, or give" if may_rename else "Give"
    return f"{words} The name {name} was dropped. {remedy} yours another setting or a comment, to store it beside."


def _editable(request: HttpRequest, slug: str) -> Config:
    return describable(request.user, configs.for_pages(configs.readable_configs(request.user)), slug)


def _runs_of(rows: Iterable[Config], request: HttpRequest) -> dict[Any, int]:
    return Run.objects.present().listed_for(request.user).counts_up_to(MOST_COUNTED, "config", rows)


def _config(request: HttpRequest, slug: str) -> Config:
    return get_object_or_404(configs.for_pages(configs.readable_configs(request.user)), slug=slug)


MOST_CONFIGS = 100


@require_safe
def dbms_list(request: HttpRequest) -> HttpResponse:
    words = clean(request.GET.get("q", "").strip(), 100)
    rows = words_filter(nameable(Dbms.objects.all(), request.user), words)
    page = Paginator(rows.order_by("name", "pk"), SYSTEMS_PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "dbms/list.html", {"rows": system_rows(page, request.user), "page": page, "q": words})


@require_safe
def dbms_detail(request: HttpRequest, slug: str) -> HttpResponse:
    dbms = get_object_or_404(nameable(Dbms.objects.all(), request.user, by_address=True), slug=slug)
    page = Paginator(versions_for(dbms, request.user), SYSTEMS_PER_PAGE).get_page(request.GET.get("page"))
    # They are named by their ids: of a few versions PostgreSQL knows how many runs they have.
    versions = list(dbms.versions.values_list("pk", flat=True))
    runs = Run.objects.listed_for(request.user).filter(dbms_version__in=versions)
    run_count, is_exact = bounded_count(runs.present())
    recent = first_rows(runs.present().for_lists(), RECENT)
    kept = matching(configs.for_pages(configs.listed_configs(request.user)), "", dbms.slug)
    shown = list(kept.order_by("name", "revision", "pk")[:MOST_CONFIGS])
    counts = _runs_of(shown, request)
    context = {
        "dbms": dbms,
        "page": page,
        "versions": version_rows(list(page), request.user),
        "unverified": unverified(dbms.slug),
        "rankings": rankings(runs),
        "configs": [ConfigRow(config, counts[config.pk]) for config in shown],
        "run_count": run_count,
        "run_count_is_exact": is_exact,
        "rows": [RunRow(run) for run in recent],
    }
    return render(request, "dbms/detail.html", context)
