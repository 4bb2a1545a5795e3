"""The experiment of an article, as it is re-run today: what will be run, what stays a gap, and the start."""

from __future__ import annotations

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from agents.machines.offers import approved_agents
from agents.plans.estimate import about, estimate
from agents.plans.plan import PlanError
from agents.plans.words import plan_words
from agents.reruns import experiments, rerun
from runs.models import Publication
from runs.publications.article import article_of
from runs.publications.page.reruns import schedule_query
from runs.views.guards import operator_required


@require_http_methods(["GET", "HEAD", "POST"])
def article(request: HttpRequest, slug: str) -> HttpResponse:
    """`?quick=1`: the same cells with one repeat. `?figure=…`: the parts that fill it are ticked, else all."""
    known = experiments.EXPERIMENTS.get(slug)
    figure = request.GET.get("figure", "")
    if known is None or (figure and all(part.figure != figure for part in known.parts)):
        return _schedule_form(slug, figure)
    agent = experiments.best_agent(approved_agents())
    given = request.POST if request.method == "POST" else request.GET
    quick, chosen = bool(given.get("quick")), given.getlist("part")
    prepared = [rerun.prepare(known, part, agent, quick=quick) for part in known.parts] if agent else []
    if request.method == "POST":
        return _start(request, slug, [each for each in prepared if each.plan and each.part.slug in chosen])
    estimates = [estimate(each.plan, user=request.user) if each.plan else None for each in prepared]
    facts = [plan_words(each.plan) if each.plan else [] for each in prepared]
    context = {
        "publication": Publication.objects.filter(slug=slug).first(), "experiment": known, "agent": agent,
        "quick": quick, "figure": figure, "parts": list(zip(prepared, estimates, facts, strict=True)),
        "total": about(sum(guess.seconds for guess in estimates if guess)),
    }  # fmt: skip
    return render(request, "article_experiment.html", context)


def _schedule_form(slug: str, figure: str) -> HttpResponse:
    """For an article or figure that no part fills: runs of one's own choice do."""
    told = article_of(get_object_or_404(Publication, slug=slug))
    figures = {shown.id: shown.rerun for shown in told.figures} if told else {}
    wanted = figures.get(figure) if figure or told is None else told.rerun
    if wanted is None:
        raise Http404
    return redirect(f"{reverse('schedule')}?{schedule_query(slug, wanted, figure)}")


@operator_required
def _start(request: HttpRequest, slug: str, parts: list[rerun.Prepared]) -> HttpResponse:
    user = request.user if request.user.is_authenticated else None
    try:
        started = [rerun.start(part, user=user) for part in parts]
    except PlanError as error:
        messages.error(request, f"Nothing more was started: {error}")
        return redirect("article-experiment", slug=slug)
    if not started:
        messages.error(request, "Choose at least one part that this machine can run.")
        return redirect("article-experiment", slug=slug)
    if len(started) == 1:
        return redirect("experiment", slug=started[0].slug)
    messages.success(request, f"{len(started)} experiments are queued, one after the other.")
    return redirect("publication", slug=slug)
