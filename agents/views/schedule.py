"""The schedule form, and the experiments of articles that need no form."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST

from agents.machines import approved_agents
from agents.plans import estimate as estimating
from agents.plans import schedule as scheduling
from agents.plans.form import ScheduleForm
from agents.plans.plan import PlanError, plan_words
from agents.reruns import rerun
from agents.reruns.experiments import EXPERIMENTS, best_agent
from runs.models import Publication
from runs.publications.article import article_of
from runs.publications.page.reruns import schedule_query
from runs.views.guards import operator_required


@require_http_methods(["GET", "HEAD", "POST"])
def schedule(request: HttpRequest) -> HttpResponse:
    """The form; with the button Preview it only tells what would be run, with Start it starts."""
    if request.method != "POST":
        return _page(request, ScheduleForm(initial=_initial(request.GET)))
    if request.POST.get("action") == "preview":
        form = ScheduleForm(request.POST)
        return _page(request, form, estimate=_estimate(request, form))
    return _start(request)


@operator_required
def _start(request: HttpRequest) -> HttpResponse:
    form = ScheduleForm(request.POST)
    if not form.is_valid():
        return _page(request, form, status=422)
    user = request.user if request.user.is_authenticated else None
    try:
        experiment = scheduling.start(form.plan, user=user)
    except PlanError as error:  # an agent has gone since the form was checked
        form.add_plan_error(error)
        return _page(request, form, status=422)
    return redirect("experiment", slug=experiment.slug)


@require_POST
def estimate(request: HttpRequest) -> HttpResponse:
    """Number of runs and time of the form as it stands. Changes nothing; for htmx."""
    form = ScheduleForm(request.POST)
    return render(request, "schedule.html#estimate", {"form": form, "estimate": _estimate(request, form)})


def _estimate(request: HttpRequest, form: ScheduleForm) -> estimating.Estimate | None:
    return estimating.estimate(form.plan, user=request.user) if form.is_valid() else None


def _page(request: HttpRequest, form: ScheduleForm, *, status: int = 200, **context: Any) -> HttpResponse:
    return render(request, "schedule.html", {"form": form, "articles": EXPERIMENTS.values(), **context}, status=status)


def _initial(query: QueryDict) -> dict[str, Any]:
    """Values of the address (`?scale_factor=10&engines=sqlite:3.50`), so that a link can fill the form."""
    return {name: query.getlist(name) if name == "engines" else query[name] for name in query}


# Of an article


@require_http_methods(["GET", "HEAD", "POST"])
def article(request: HttpRequest, slug: str) -> HttpResponse:
    """The experiment of an article, as it is re-run today: what will be run, what stays a gap, and the start.

    `?quick=1`: the same cells with one repeat. `?figure=…`: the parts that fill it are ticked, else all.
    """
    known = EXPERIMENTS.get(slug)
    figure = request.GET.get("figure", "")
    if known is None or (figure and all(part.figure != figure for part in known.parts)):
        return _schedule_form(slug, figure)
    agent = best_agent(approved_agents())
    given = request.POST if request.method == "POST" else request.GET
    quick, chosen = bool(given.get("quick")), given.getlist("part")
    prepared = [rerun.prepare(known, part, agent, quick=quick) for part in known.parts] if agent else []
    if request.method == "POST":
        return _start_parts(request, slug, [each for each in prepared if each.plan and each.part.slug in chosen])
    estimates = [estimating.estimate(each.plan, user=request.user) if each.plan else None for each in prepared]
    facts = [plan_words(each.plan) if each.plan else [] for each in prepared]
    context = {
        "publication": Publication.objects.filter(slug=slug).first(), "experiment": known, "agent": agent,
        "quick": quick, "figure": figure, "parts": list(zip(prepared, estimates, facts, strict=True)),
        "total": estimating.about(sum(guess.seconds for guess in estimates if guess)),
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
def _start_parts(request: HttpRequest, slug: str, parts: list[rerun.Prepared]) -> HttpResponse:
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
