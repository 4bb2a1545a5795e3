"""Pages of agents, of the schedule form, of the experiments of articles; what pages of runs show of their jobs."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.db.models import Q, QuerySet
from django.forms import Form
from django.http import FileResponse, Http404, HttpRequest, HttpResponse, HttpResponseBadRequest, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe
from django.views.decorators.vary import vary_on_headers
from django_htmx.http import reselect, reswap, retarget

from agents import enqueueing, getting, machines
from agents.forms import AgainForm, DescribeForm, ErrandForm, ReservationForm, StorageForm, TemplateForm, TimesForm
from agents.jobs import errands, life, reservations
from agents.jobs import queue as queueing
from agents.jobs.status import experiment_progress, job_status
from agents.jobs.status import first_experiment as first_experiment_status
from agents.machines import approved_agents, offers
from agents.models import (
    Agent,
    AgentStatus,
    Bisection,
    EnrolmentCode,
    Errand,
    ErrandState,
    Job,
    Reservation,
    Schedule,
    Template,
)
from agents.plans import bisect as bisection
from agents.plans import estimate as estimating
from agents.plans import halving, timetable
from agents.plans import schedule as scheduling
from agents.plans.form import ScheduleForm, initial_of
from agents.plans.plan import plan_words
from agents.refusals import FieldErrors
from agents.reruns import first, rerun
from agents.reruns.rerun import EXPERIMENTS, best_agent
from runs.access import changes
from runs.access.rules import may_operate
from runs.models import Experiment, Publication, Run
from runs.models.base import clean
from runs.models.choices import ON_AGENT_STATES, RunState
from runs.models.visible import Reader
from runs.publications.article import article_of
from runs.publications.page.reruns import schedule_query
from runs.results.checking import runs_not_judged
from runs.views.experiments import experiment as experiment_page
from runs.views.guards import PersonRequest, administrator_required, as_uuid, operator_required, page_before
from runs.views.runs import purge_page

# Agents


@require_safe
@vary_on_headers("HX-Request")
def agents(request: HttpRequest) -> HttpResponse:
    """Who waits for approval is shown to those who approve: a stranger may have chosen the name."""
    kept = list(_shown(request))
    context = {
        "rows": _rows(request, [agent for agent in kept if agent.status != AgentStatus.RETIRED]),
        "retired": [agent for agent in kept if agent.status == AgentStatus.RETIRED],
        "server_url": request.build_absolute_uri("/").rstrip("/"),
        "open_registration": settings.OPEN_REGISTRATION,
        "not_judged": runs_not_judged() if may_operate(request.user) else 0,
    }
    template = "agents/list.html#rows" if request.htmx else "agents/list.html"  # type: ignore[attr-defined]
    return render(request, template, context)


def _shown(request: HttpRequest) -> QuerySet[Agent]:
    rows = Agent.objects.with_reservations()
    return rows if may_operate(request.user) else rows.exclude(status=AgentStatus.PENDING)


def _rows(request: HttpRequest, agents: list[Agent], *, linked: bool = True) -> list[dict[str, Any]]:
    """What each of them is and does, for agents/_agent.html."""
    doing = Job.objects.filter(run__state__in=ON_AGENT_STATES).select_related("run__workload", "run__dbms_version")
    jobs = {job.agent_id: job for job in doing}
    begun = {errand.agent_id: errand for errand in Errand.objects.filter(state=ErrandState.RUNNING)}
    listed = Run.objects.listed_for(request.user).filter(pk__in=[job.pk for job in doing])
    shown = set(listed.values_list("pk", flat=True))
    return [
        {"agent": agent, "engines": offers([agent]), "job": job, "linked": linked,
         "may_see_job": job is not None and job.pk in shown, "errand": begun.get(agent.pk)}
        for agent in agents
        for job in [jobs.get(agent.pk)]
    ]  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
def agent(request: HttpRequest, slug: str) -> HttpResponse:
    """An agent, and for operators what to do with it: POST with `action`."""
    chosen = get_object_or_404(_shown(request), slug=slug)
    return _act(request, chosen) if request.method == "POST" else _agent_page(request, chosen)


def _agent_page(request: HttpRequest, agent: Agent, *, status: int = 200, **forms: Form) -> HttpResponse:
    context = {
        "row": _rows(request, [agent], linked=False)[0],
        "describe": DescribeForm.of(agent),
        "reserve": ReservationForm(),
        "timeline": queueing.timeline(agent, request.user),
        "again": AgainForm.of(agent),
        "errand": ErrandForm.of(agent),
        "storage": StorageForm(),
        "asked": [(each, errands.undo_of(each)) for each in agent.asked.select_related("agent", "by")[:10]],
        "changes": changes.history(agent)[:50] if may_operate(request.user) else (),
        "runs": Run.objects.listed_for(request.user).present().filter(job__agent=agent).for_rows()[:10],
    } | forms
    return render(request, "agents/agent.html", context, status=status)


@operator_required
def _act(request: PersonRequest, agent: Agent) -> HttpResponse:
    action = request.POST.get("action", "")
    forms: dict[str, type[DescribeForm | ReservationForm | AgainForm | ErrandForm | StorageForm]] = {
        "describe": DescribeForm, "reserve": ReservationForm, "again": AgainForm, "errand": ErrandForm,
        "storage": StorageForm,
    }  # fmt: skip
    if action in forms:
        form = forms[action](request.POST)
        if not form.save(agent, by=request.user):
            return _agent_page(request, agent, status=422, **{action: form})
    elif action in ("undo", "drop"):
        _undo_or_drop(request, agent, action)
    elif action == "resume":
        reservations.resume(agent, by=request.user)
    elif action == "retire":
        machines.retire(agent, by=request.user)
    else:
        return HttpResponseBadRequest(f"action: must be one of {', '.join(forms)}, undo, drop, resume, retire")
    return redirect("agent", slug=agent.slug)


def _undo_or_drop(request: PersonRequest, agent: Agent, action: str) -> None:
    errand = get_object_or_404(Errand, agent=agent, pk=as_uuid(request.POST.get("errand", "")))
    if action == "drop":
        errands.cancel(errand)
        return
    try:
        errands.undo(errand, by=request.user)
    except FieldErrors as error:
        messages.error(request, error.words)


@require_POST
@operator_required
@never_cache
def issue_code(request: HttpRequest) -> HttpResponse:
    """A one-time code, shown this once. With `agent` it gives that agent another token."""
    slug = request.POST.get("agent", "")
    renewed = get_object_or_404(Agent, slug=slug) if slug else None
    server_url = request.build_absolute_uri("/").rstrip("/")
    code = EnrolmentCode.issue(agent=renewed)
    context = {"code": code, "server_url": server_url, "renewed": renewed, "wheel": getting.wheel()}
    context["authority"] = getting.authority()
    return render(request, "agents/code.html", context)


@require_safe
def install(request: HttpRequest) -> HttpResponse:
    """A script that installs the agent from this server and starts it. It holds no secret."""
    context = {"server_url": request.build_absolute_uri("/").rstrip("/"), "wheel": getting.wheel()}
    return render(request, "agents/install.sh", context, content_type="text/x-shellscript; charset=utf-8")


@require_safe
def agent_wheel(_request: HttpRequest, name: str) -> FileResponse:
    wheel = getting.wheel()
    if name != wheel.name:
        raise Http404
    return FileResponse(wheel.path.open("rb"), as_attachment=True, filename=name)


@require_POST
@operator_required
def approve(request: PersonRequest, slug: str) -> HttpResponse:
    agent = get_object_or_404(Agent.objects.exclude(status=AgentStatus.RETIRED), slug=slug)
    machines.approve(agent, by=request.user)
    messages.success(request, f"{agent.name} is approved and gets runs from now on.")
    return redirect("agents")


@require_POST
@operator_required
def disable(request: PersonRequest, slug: str) -> HttpResponse:
    agent = get_object_or_404(Agent.objects.exclude(status=AgentStatus.RETIRED), slug=slug)
    machines.disable(agent, by=request.user)
    messages.success(request, f"{agent.name} is disabled: it gets no more runs. One that it is making goes on.")
    return redirect("agents")


@require_POST
@operator_required
def delete(request: HttpRequest, slug: str) -> HttpResponse:
    agent = get_object_or_404(Agent, slug=slug)
    if machines.remove(agent):
        messages.success(request, f"{agent.name} is deleted. It may register again.")
    else:
        messages.error(request, f"{agent.name} is in use: disable or retire it instead.")
    return redirect("agents")


# The queue


@require_http_methods(["GET", "HEAD", "POST"])
def queue(request: HttpRequest) -> HttpResponse:
    """What runs and what waits. POST with `action`: reserve, end, resume, cancel; else with `to` (first, last) the
    order.
    """
    if request.method == "POST":
        actions = {"reserve": _reserve, "end": _end, "resume": _resume, "cancel": _cancel}
        return actions.get(request.POST.get("action", ""), _move)(request)
    return _queue_page(request, ReservationForm())


def _queue_page(request: HttpRequest, form: ReservationForm, *, status: int = 200) -> HttpResponse:
    calendar = reservations.Calendar(timezone.now())
    context = {
        "entries": queueing.entries(request.user), "reserve": form, "paused": calendar.of_queue,
        "reservations": calendar.ahead, "stalled": queueing.stalled(),
    }  # fmt: skip
    template = "agents/queue.html#entries" if request.htmx else "agents/queue.html"  # type: ignore[attr-defined]
    return render(request, template, context, status=status)


@operator_required
def _reserve(request: PersonRequest) -> HttpResponse:
    form = ReservationForm(request.POST)
    return redirect("queue") if form.save(None, by=request.user) else _queue_page(request, form, status=422)


@operator_required
def _end(request: PersonRequest) -> HttpResponse:
    """A reservation, of an agent or of the whole queue."""
    given = as_uuid(request.POST.get("reservation", ""))
    reservations.end(get_object_or_404(Reservation, pk=given), by=request.user)
    return redirect(page_before(request, reverse("queue")))


@operator_required
def _resume(request: PersonRequest) -> HttpResponse:
    reservations.resume(None, by=request.user)
    return redirect("queue")


@operator_required
def _cancel(request: PersonRequest) -> HttpResponse:
    """What waits of the experiments and runs that are ticked."""
    rows = Run.objects.present().readable_by(request.user).filter(job__isnull=False, state=RunState.QUEUED)
    of_experiments = Q(experiment__slug__in=request.POST.getlist("experiment"))
    ids = [run_id for text in request.POST.getlist("run") if (run_id := as_uuid(text))]
    if not (ids or request.POST.getlist("experiment")):
        messages.error(request, "Nothing is ticked.")
        return redirect("queue")
    count = life.cancel_waiting(rows.filter(of_experiments | Q(pk__in=ids)), by=request.user)
    messages.success(request, f"{count} waiting {'run' if count == 1 else 'runs'} cancelled.")
    return redirect("queue")


@operator_required
def _move(request: PersonRequest) -> HttpResponse:
    if slug := request.POST.get("experiment", ""):
        moved: Experiment | Run = _experiment(request, slug)
    else:
        run_id = as_uuid(request.POST.get("run", ""))
        if run_id is None:
            return HttpResponseBadRequest("run: must be the id of a run")
        moved = _scheduled(request, run_id)
    count = queueing.move(moved, first=request.POST.get("to") == "first")
    messages.success(request, f"{count} waiting {'run' if count == 1 else 'runs'} moved.")
    return redirect("queue")


# The first experiment, as the home page shows it


@require_safe
@never_cache
def first_experiment(request: HttpRequest) -> HttpResponse:
    return render(request, "agents/_first_experiment.html", first_experiment_status(request.user))


@require_POST
@operator_required
def first_experiment_again(request: HttpRequest) -> HttpResponse:
    if scheduling.set_failed_first_aside():
        enqueueing.enqueue(enqueueing.SWEEP)
        messages.success(request, "The first experiment starts again.")
    return redirect("home")


# The schedule form


@require_http_methods(["GET", "HEAD", "POST"])
def schedule(request: HttpRequest) -> HttpResponse:
    """The form; with the button Preview it only tells what would be run, with Start it starts.

    `switch` to another workload keeps what was typed, as far as that one has it.
    """
    if request.method != "POST":
        return _page(request, ScheduleForm(initial=_initial(request.GET, request.user), user=request.user))
    if workload := request.POST.get("switch"):
        given = ScheduleForm(request.POST, user=request.user).given() | {"workload": workload}
        return _page(request, ScheduleForm(initial=given, user=request.user))
    if request.POST.get("action") == "preview":
        form = ScheduleForm(request.POST, user=request.user)
        return _page(request, form, estimate=_estimate(request, form))
    return _start(request)


@operator_required
def _start(request: PersonRequest) -> HttpResponse:
    form = ScheduleForm(request.POST, user=request.user)
    if not form.is_valid():
        return _page(request, form, status=422)
    try:
        experiment = scheduling.start(form.plan, user=request.user)
    except FieldErrors as error:  # an agent has gone since the form was checked
        form.add_plan_error(error)
        return _page(request, form, status=422)
    return redirect("experiment", slug=experiment.slug)


@require_POST
def estimate(request: HttpRequest) -> HttpResponse:
    """Number of runs and time of the form as it stands. Changes nothing; for htmx."""
    form = ScheduleForm(request.POST, user=request.user)
    return render(request, "schedule.html#estimate", {"form": form, "estimate": _estimate(request, form)})


def _estimate(request: HttpRequest, form: ScheduleForm) -> estimating.Estimate | None:
    return estimating.estimate(form.plan, user=request.user) if form.is_valid() else None


def _page(request: HttpRequest, form: ScheduleForm, *, status: int = 200, **context: Any) -> HttpResponse:
    return render(request, "schedule.html", {"form": form, "articles": EXPERIMENTS.values(), **context}, status=status)


def _initial(query: QueryDict, user: Reader) -> dict[str, Any]:
    """Values of the address (`?scale_factor=10&engines=sqlite:3.50`), so that a link can fill the form.

    `experiment=SLUG` fills it as that experiment was planned, here or where its bundle comes from; `template=SLUG` as
    that template says.
    """
    if slug := query.get("template"):
        if found := Template.objects.visible_to(user).filter(slug=clean(slug, 120)).first():
            return initial_of(found.plan)
        # The first experiment, as the agent that has most engines can run it.
        agent = best_agent(approved_agents()) if slug == first.SLUG else None
        plan = rerun.prepare(first.EXPERIMENT, first.PART, agent).plan if agent else None
        return initial_of(plan.as_json()) if plan else {}
    if slug := query.get("experiment"):
        rows = Experiment.objects.readable_by(user)
        planned, visibility = rows.filter(slug=clean(slug, 120)).values_list("plan", "visibility").first() or ({}, "")
        # Who may see it may have been changed since it was planned.
        return initial_of(planned | {"visibility": visibility})
    return {name: query.getlist(name) if name == "engines" else query[name] for name in query}


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def bisect(request: PersonRequest) -> HttpResponse:
    """The form, filled with what lies between two runs (`?run=…&run=…`), the ends among it; without any what was
    measured in steps. POST measures in steps.
    """
    texts = (request.POST if request.method == "POST" else request.GET).getlist("run")
    if not texts and request.method != "POST":
        return _bisections(request)
    try:
        old, new = bisection.ends_of(Run.objects.readable_by(request.user), map(uuid.UUID, texts))
    except (ValueError, FieldErrors):
        messages.error(request, "Tick two batches: what lies between them is measured.")
        return redirect("benchmarks")
    try:
        if request.method == "POST":
            halving.begin(old, new, user=request.user)
            return redirect("schedule-between")
        plan = bisection.plan_between(old, new)
    except FieldErrors as error:
        messages.error(request, error.words)
        return _bisections(request, ends=(old, new), status=422)
    return _page(request, ScheduleForm(initial=initial_of(plan), user=request.user), ends=(old, new))


def _bisections(request: PersonRequest, *, ends: Sequence[Run] = (), status: int = 200) -> HttpResponse:
    """One's own, the newest first."""
    rows = Bisection.objects.filter(owner=request.user).select_related("agent", "experiment")
    shown = [(row, halving.steps_of(row), _measured_now(row, request.user)) for row in rows[: halving.MOST_SHOWN]]
    context = {"bisections": shown, "ends": ends}
    return render(request, "agents/bisections.html", context, status=status)


def _measured_now(row: Bisection, user: Reader) -> dict[str, Any]:
    """The present step of a search; empty once it has ended."""
    if row.outcome or row.experiment is None:
        return {}
    return experiment_progress(row.experiment, user) | {"halves": halving.present_halves(row)}


# Templates: plans to start from


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def templates(request: PersonRequest) -> HttpResponse:
    """Plans to start from. POST saves the plan of `experiment` as one, or with `delete` takes one's own away."""
    if slug := request.POST.get("delete", ""):
        get_object_or_404(Template, slug=slug, owner=request.user).delete()
        return redirect("templates")
    slug = request.POST.get("experiment", request.GET.get("experiment", ""))
    experiment = _experiment(request, slug) if slug or request.method == "POST" else None
    form = TemplateForm(request.POST or None, initial={"name": experiment.name} if experiment else None)
    if experiment and request.method == "POST" and form.save(experiment, owner=request.user):
        messages.success(request, f"{form.cleaned_data['name']} is a template now.")
        return redirect("templates")
    context = {
        "templates": Template.objects.visible_to(request.user).select_related("owner"), "form": form,
        "experiment": experiment, "articles": EXPERIMENTS.values(), "first": first.EXPERIMENT,
        "first_slug": first.SLUG,
    }  # fmt: skip
    return render(request, "agents/templates.html", context, status=422 if form.errors else 200)


# Schedules: experiments by the clock


@require_safe
@operator_required
def schedules(request: HttpRequest) -> HttpResponse:
    rows = Schedule.objects.present().select_related("owner").prefetch_related("occurrences__experiment")
    shown = [(row, timetable.cron_words(row), next(iter(row.occurrences.all()), None)) for row in rows]
    return render(request, "agents/schedules.html", {"schedules": shown})


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def new_schedule(request: PersonRequest) -> HttpResponse:
    """`?experiment=`: the one whose plan is run again by the clock."""
    slug = request.POST.get("experiment", request.GET.get("experiment", ""))
    experiment = _experiment(request, slug)
    form = TimesForm(request.POST) if request.method == "POST" else TimesForm(initial={"name": experiment.name[:180]})
    if request.method == "POST" and (made := form.make(experiment, owner=request.user)):
        messages.success(request, f"{made.name} starts by itself from now on.")
        return redirect("schedule-one", slug=made.slug)
    context = {"form": form, "experiment": experiment}
    return render(request, "agents/schedule_new.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
def one_schedule(request: PersonRequest, slug: str) -> HttpResponse:
    """A schedule, its next times and what came of the last.

    POST with `action`: times, pause, resume, delete, restore.
    """
    chosen = get_object_or_404(Schedule.objects.select_related("owner"), slug=slug)
    if request.method == "POST":
        return _change_schedule(request, chosen)
    if chosen.deleted_at is not None:
        return render(request, "agents/schedule_deleted.html", {"schedule": chosen}, status=HTTPStatus.GONE)
    return _schedule_page(request, chosen, TimesForm.of(chosen))


@require_http_methods(["GET", "HEAD", "POST"])
@administrator_required
@never_cache
def purge_schedule(request: PersonRequest, slug: str) -> HttpResponse:
    """A deleted schedule, with what came of its times; its experiments stay."""
    return purge_page(request, get_object_or_404(Schedule.objects.exclude(deleted_at=None), slug=slug))


def _change_schedule(request: PersonRequest, chosen: Schedule) -> HttpResponse:
    action = request.POST.get("action", "")
    if action == "restore":
        if timetable.restore(chosen):
            messages.success(request, "The schedule is back.")
    elif chosen.deleted_at is not None:
        raise Http404
    elif action == "delete":
        timetable.delete(chosen)
    elif action == "times":
        form = TimesForm(request.POST)
        if not form.save(chosen):
            return _schedule_page(request, Schedule.objects.get(pk=chosen.pk), form, status=422)
    elif action in ("pause", "resume"):
        try:
            timetable.set_paused(chosen, paused=action == "pause")
        except FieldErrors as error:
            messages.error(request, str(error))
    else:
        return HttpResponseBadRequest("action: must be one of times, pause, resume, delete, restore")
    return redirect("schedule-one", slug=chosen.slug)


def _schedule_page(request: HttpRequest, chosen: Schedule, form: TimesForm, *, status: int = 200) -> HttpResponse:
    context = {
        "schedule": chosen,
        "words": timetable.cron_words(chosen),
        "next_times": timetable.next_times(chosen),
        "occurrences": chosen.occurrences.select_related("experiment")[:50],
        "form": form,
    }
    return render(request, "agents/schedule.html", context, status=status)


# The experiment of an article


@require_http_methods(["GET", "HEAD", "POST"])
def article(request: HttpRequest, slug: str) -> HttpResponse:
    """The experiment of an article, as it is re-run today: what will be run, what stays a gap, and the start.

    `?quick=1`: the same cells with one repeat. `?window_s=120`: each is measured so long, as the article did.
    `?figure=…`: the parts that fill it are ticked, else all.
    """
    experiment = EXPERIMENTS.get(slug)
    figure = request.GET.get("figure", "")
    if experiment is None or (figure and all(part.figure != figure for part in experiment.parts)):
        return _schedule_form(slug, figure)
    agent = best_agent(approved_agents())
    given = request.POST if request.method == "POST" else request.GET
    quick, chosen = bool(given.get("quick")), given.getlist("part")
    text = given.get("window_s", "")
    window_s = int(text) if text.isascii() and text.isdecimal() and len(text) < 6 else None
    prepared = []
    if agent:
        prepared = [rerun.prepare(experiment, part, agent, quick=quick, window_s=window_s) for part in experiment.parts]
    if request.method == "POST":
        return _start_parts(request, slug, [each for each in prepared if each.plan and each.part.slug in chosen])
    estimates = [estimating.estimate(each.plan, user=request.user) if each.plan else None for each in prepared]
    facts = [plan_words(each.plan) if each.plan else [] for each in prepared]
    context = {
        "publication": Publication.objects.filter(slug=slug).first(), "experiment": experiment, "agent": agent,
        "quick": quick, "window_s": window_s, "figure": figure,
        "parts": list(zip(prepared, estimates, facts, strict=True)),
        "total": estimating.about(sum(guess.seconds for guess in estimates if guess)),
    }  # fmt: skip
    return render(request, "article_experiment.html", context)


def _schedule_form(slug: str, figure: str) -> HttpResponse:
    """For an article or figure that no part fills: runs of one's own choice do."""
    text = article_of(get_object_or_404(Publication, slug=slug))
    figures = {shown.id: shown.rerun for shown in text.figures} if text else {}
    wanted = figures.get(figure) if figure or text is None else text.rerun
    if wanted is None:
        raise Http404
    return redirect(f"{reverse('schedule')}?{schedule_query(slug, wanted, figure)}")


@operator_required
def _start_parts(request: PersonRequest, slug: str, parts: list[rerun.Prepared]) -> HttpResponse:
    try:
        started = [rerun.start(part, user=request.user) for part in parts]
    except FieldErrors as error:
        messages.error(request, f"Nothing more was started: {error}")
        return redirect("article-experiment", slug=slug)
    if not started:
        messages.error(request, "Choose at least one part that this machine can run.")
        return redirect("article-experiment", slug=slug)
    if len(started) == 1:
        return redirect("experiment", slug=started[0].slug)
    messages.success(request, f"{len(started)} experiments are queued, one after the other.")
    return redirect("publication", slug=slug)


# Scheduled runs


def _scheduled(request: HttpRequest, run_id: uuid.UUID) -> Run:
    runs = Run.objects.present().readable_by(request.user).filter(job__isnull=False)
    rows = runs.select_related("job__agent", "job__requested_agent", "experiment", "dbms_version__dbms", "owner")
    return get_object_or_404(rows, id=run_id)


def _experiment(request: HttpRequest, slug: str) -> Experiment:
    return get_object_or_404(Experiment.objects.readable_by(request.user), slug=slug)


@require_safe
@never_cache
def job(request: HttpRequest, run_id: uuid.UUID) -> HttpResponse:
    """The state of a run's job, asked for by htmx every few seconds; when it has ended the page is loaded anew."""
    run = _scheduled(request, run_id)
    response = render(request, "agents/_job_status.html", job_status(run, request.user))
    if run.has_ended:
        response["HX-Refresh"] = "true"
    return response


@require_safe
@never_cache
def progress(request: HttpRequest, slug: str) -> HttpResponse:
    """The progress of an experiment, asked for by htmx every few seconds; when it has ended all of its page, as its
    answer and buttons are not of this part. A page that loads itself anew would take back a click of that moment.
    """
    experiment = _experiment(request, slug)
    shown = experiment_progress(experiment, request.user)
    if shown["is_open"]:
        return render(request, "agents/_experiment_progress.html", shown)
    return reselect(reswap(retarget(experiment_page(request, slug), "#main"), "outerHTML"), "#main")


@require_POST
@operator_required
def cancel_run(request: PersonRequest, run_id: uuid.UUID) -> HttpResponse:
    run = _scheduled(request, run_id)
    if not life.cancel(run, by=request.user):
        messages.info(request, "The run had already ended.")
    return redirect(page_before(request, default=run.get_absolute_url()))


@require_POST
@operator_required
def cancel_experiment(request: PersonRequest, slug: str) -> HttpResponse:
    experiment = _experiment(request, slug)
    count = life.cancel_experiment(experiment, by=request.user)
    messages.success(request, f"{count} {'run' if count == 1 else 'runs'} cancelled.")
    return redirect("experiment", slug=experiment.slug)


@require_POST
@operator_required
def repeat_failed(request: PersonRequest, slug: str) -> HttpResponse:
    """One more repeat for what failed or was lost."""
    experiment = _experiment(request, slug)
    try:
        count = len(scheduling.repeat_failed(experiment, user=request.user))
    except FieldErrors as error:
        messages.error(request, f"Nothing was queued. {error.words} “Run again” opens the form, to change it there.")
    else:
        messages.success(request, f"{count} {'run' if count == 1 else 'runs'} queued once more.")
    return redirect("experiment", slug=slug)


@require_POST
@operator_required
def repeat_run(request: PersonRequest, run_id: uuid.UUID) -> HttpResponse:
    """One more repeat of the run's cell."""
    run = _scheduled(request, run_id)
    if reason := scheduling.outdated(run):
        messages.error(request, f"Cannot be run once more: {reason}.")
        return redirect(run)
    return redirect(scheduling.repeat_cell(run, user=request.user))
