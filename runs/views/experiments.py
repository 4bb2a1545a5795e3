"""Pages of experiments: all of them, one filling up; deleted, brought back, accepted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.db import transaction
from django.db.models import Exists, OuterRef
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from runs.access import changes
from runs.access.rules import changeable, may_operate
from runs.charts.experiment import fingerprint, overview
from runs.listing.experiments import experiment_rows
from runs.models import Experiment, Publication, Run
from runs.models.choices import OPEN_STATES
from runs.publications.material import Material
from runs.publications.page.reproductions import gaps_of, is_told, table
from runs.results import editing
from runs.views.guards import PersonRequest, contributor_required, operator_required
from runs.views.runs import NOTHING_NEW

PER_PAGE = 50


@require_safe
def experiment_list(request: HttpRequest) -> HttpResponse:
    """The newest first, with how many of its runs are in which state; not those whose runs were all deleted."""
    runs = Run.objects.filter(experiment=OuterRef("pk"))
    rows = Experiment.objects.listed_for(request.user).exclude(~Exists(runs.present()) & Exists(runs))
    page = Paginator(rows.select_related("created_by").defer("plan"), PER_PAGE).get_page(request.GET.get("page"))
    return render(request, "experiments.html", {"page": page, "experiments": experiment_rows(page)})


@require_safe
def experiment(request: HttpRequest, slug: str) -> HttpResponse:
    chosen = get_object_or_404(Experiment.objects.readable_by(request.user).select_related("created_by"), slug=slug)
    runs = list(Run.objects.present().for_lists().filter(experiment=chosen).order_by("order_index", "repeat"))
    seen = fingerprint(runs)
    if request.GET.get("seen") == seen:
        return HttpResponse(status=NOTHING_NEW)
    context = {
        "experiment": chosen, "runs": runs, "seen": seen,
        "deleted": not runs and chosen.runs.exclude(deleted_at=None).count(), "gaps": gaps_of(chosen), **overview(runs),
        "accepted": may_operate(request.user) and changes.history(chosen).filter(field="brought").first(),
        **_published(chosen, runs),
    }  # fmt: skip
    if changed := dict.fromkeys(words for run in runs for words in run.ignored_settings):
        context["warnings"] = [*context["warnings"], f"Not in force as given: {'; '.join(changed)}."]
    return render(request, "experiment.html#runs" if "seen" in request.GET else "experiment.html", context)


@require_POST
@contributor_required
def delete_experiment(request: PersonRequest, slug: str) -> HttpResponse:
    """All its runs at once; it can be brought back as a whole."""
    chosen = changeable(request.user, get_object_or_404(Experiment.objects.readable_by(request.user), slug=slug))
    if chosen.runs.present().filter(state__in=OPEN_STATES).exists():
        messages.error(request, "A run of it has not ended. Cancel it first.")
    else:
        editing.delete_runs(chosen, by=request.user)
    return redirect(chosen)


@require_POST
@contributor_required
def restore_experiment(request: PersonRequest, slug: str) -> HttpResponse:
    chosen = changeable(request.user, get_object_or_404(Experiment.objects.readable_by(request.user), slug=slug))
    count = editing.restore_runs(chosen, by=request.user)
    messages.success(request, f"{count} run{'s' * (count != 1)} brought back.")
    return redirect(chosen)


@require_POST
@operator_required
def accept_experiment(request: PersonRequest, slug: str) -> HttpResponse:
    """What somebody brought with a bundle stands among the re-runs of its article, or with `undo` no longer."""
    chosen = get_object_or_404(Experiment.objects.readable_by(request.user), slug=slug)
    is_undone = "undo" in request.POST
    if is_undone and not changes.history(chosen).filter(field="brought").exists():
        raise Http404("It did not come with a bundle.")
    with transaction.atomic():
        if chosen.change(brought=is_undone):
            changes.record(target=chosen, field="brought", old=not is_undone, new=is_undone, by=request.user)
    return redirect("experiment", slug=slug)


def _published(experiment: Experiment, runs: Sequence[Run]) -> dict[str, Any]:
    """`article` that it repeats, and `reproduction`: the table of its runs beside what was published."""
    slug = experiment.plan.get("publication")
    article = Publication.objects.filter(slug=slug).first() if slug else None
    if article is None:
        return {}
    reproduction = table(experiment, runs, Material(article)) if is_told(experiment) else None
    return {"article": article, "reproduction": reproduction}
