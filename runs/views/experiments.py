"""The page of an experiment: its matrix of runs filling up, and its chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from runs.charts import matrix
from runs.models import Experiment, Publication, Run
from runs.publications.matching import Published, gaps_of
from runs.publications.page.reproductions import is_told, table

NOTHING_NEW = 204


@require_safe
def experiment(request: HttpRequest, slug: str) -> HttpResponse:
    chosen = get_object_or_404(Experiment.objects.readable_by(request.user).select_related("created_by"), slug=slug)
    runs = list(Run.objects.present().for_lists().filter(experiment=chosen).order_by("order_index", "repeat"))
    seen = matrix.fingerprint(runs)
    if request.GET.get("seen") == seen:
        return HttpResponse(status=NOTHING_NEW)
    context = {
        "experiment": chosen, "runs": runs, "seen": seen, "gaps": gaps_of(chosen), **matrix.overview(runs),
        **_published(chosen, runs),
    }  # fmt: skip
    return render(request, "experiment.html#runs" if "seen" in request.GET else "experiment.html", context)


def _published(experiment: Experiment, runs: Sequence[Run]) -> dict[str, Any]:
    """`article` that it repeats, and `reproduction`: the table of its runs beside what was published."""
    slug = experiment.plan.get("publication")
    article = Publication.objects.filter(slug=slug).first() if slug else None
    if article is None:
        return {}
    told = table(experiment, runs, Published.of(article)) if is_told(experiment) else None
    return {"article": article, "reproduction": told}
