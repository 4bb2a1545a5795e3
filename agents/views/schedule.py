from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from agents.plans import estimate as estimating
from agents.plans import schedule as scheduling
from agents.plans.form import ScheduleForm
from agents.plans.plan import PlanError
from agents.reruns.experiments import EXPERIMENTS
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
