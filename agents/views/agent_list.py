from __future__ import annotations

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST, require_safe
from django.views.decorators.vary import vary_on_headers

from agents import machines
from agents.machines import offers
from agents.models import Agent, EnrolmentCode, Job
from runs.models import Run
from runs.models.choices import ON_AGENT_STATES
from runs.views.guards import operator_required


@require_safe
@vary_on_headers("HX-Request")
def agents(request: HttpRequest) -> HttpResponse:
    doing = Job.objects.filter(run__state__in=ON_AGENT_STATES).select_related("run__workload", "run__dbms_version")
    jobs = {job.agent_id: job for job in doing}
    shown = set(Run.objects.listed_for(request.user).filter(job__in=doing).values_list("pk", flat=True))
    rows = [
        {"agent": agent, "engines": offers([agent]), "job": job, "may_see_job": job is not None and job.pk in shown}
        for agent in Agent.objects.all()
        for job in [jobs.get(agent.pk)]
    ]
    context = {"rows": rows, "server_url": request.build_absolute_uri("/").rstrip("/")}
    template = "agents/list.html#rows" if request.htmx else "agents/list.html"  # type: ignore[attr-defined]
    return render(request, template, context)


@require_POST
@operator_required
@never_cache
def issue_code(request: HttpRequest) -> HttpResponse:
    """A one-time code, shown this once."""
    context = {"code": EnrolmentCode.issue(), "server_url": request.build_absolute_uri("/").rstrip("/")}
    return render(request, "agents/code.html", context)


@require_POST
@operator_required
def approve(request: HttpRequest, slug: str) -> HttpResponse:
    agent = get_object_or_404(Agent, slug=slug)
    machines.approve(agent)
    messages.success(request, f"{agent.name} is approved and gets runs from now on.")
    return redirect("agents")


@require_POST
@operator_required
def disable(request: HttpRequest, slug: str) -> HttpResponse:
    agent = get_object_or_404(Agent, slug=slug)
    machines.disable(agent)
    messages.success(request, f"{agent.name} is disabled: it gets no more runs. One that it is making goes on.")
    return redirect("agents")
