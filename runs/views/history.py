"""Benchmarks over time and the inbox of alerts."""

from __future__ import annotations

import uuid
from typing import Any

from django import forms
from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import Case, QuerySet, When
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe
from rest_framework.exceptions import ValidationError

from runs.access import changes
from runs.access.rules import candidates
from runs.answers.words.history import baseline_words
from runs.compare.baseline import BASELINES, Baseline, WrongBaseline
from runs.compare.guard import beyond_span
from runs.history import alerts, joining, watching
from runs.history.causes import why
from runs.history.grids import MOST_BENCHMARKS, machine_matrix, release_maps
from runs.history.overview import listed_benchmarks, read_baseline, rows_of, with_doubts
from runs.history.page import DRAWN, MOST_DRAWN, context_of
from runs.history.words import change_words
from runs.listing.filters import RunFilter, without, without_blanks
from runs.models import Alert, Benchmark, Run
from runs.models.choices import AlertState, ChangeKind, ChangeState
from runs.views.guards import PersonRequest, operator_required

PER_PAGE, MOST_LINKS = 50, 20
ALERT_FILTERS = ("state", "all", "mine", "page")
FIRST_IN_INBOX = (AlertState.CONFIRMED, AlertState.NEW, AlertState.ACKNOWLEDGED)
CONTROLS = ("page", "than", "view")
LIST, RELEASES, MACHINES = "list", "releases", "machines"
VIEWS = {LIST: "List", RELEASES: "Releases", MACHINES: "Machines"}


@require_safe
def benchmark_list(request: HttpRequest) -> HttpResponse:
    params = without_blanks(request.GET)
    given = without(params, *CONTROLS)
    chosen = RunFilter(given, queryset=candidates(request.user), user=request.user, is_shown=True)
    problems = chosen.problems()
    try:
        baseline = read_baseline(params.get("than", ""))
    except WrongBaseline as error:
        problems["than"], baseline = [str(error)], read_baseline("")
    than = str(baseline)
    view = params.get("view", LIST)
    if view not in VIEWS:
        problems["view"] = [f"One of {', '.join(VIEWS)} is required."]
    rows = listed_benchmarks(request.user, None if problems or not given else chosen.qs)
    page = Paginator(rows if not problems else rows.none(), PER_PAGE).get_page(params.get("page"))
    joining.tell_apart(list(page))
    context = {
        "filter": chosen, "params": given, "problems": problems, "filtered": bool(given), "baselines": BASELINES,
        "than": than, "than_words": baseline_words(than), "page": page, "view": view, "views": VIEWS,
        **_shown(view, rows, page, baseline),
        "alerts_open": Alert.objects.listed_for(request.user).open().count(),
    }  # fmt: skip
    return render(request, "benchmarks/list.html", context, status=400 if problems else 200)


def _shown(view: str, rows: QuerySet[Benchmark], page: Page[Benchmark], baseline: Baseline) -> dict[str, Any]:
    """What a view of the list needs beside its page."""
    if view == RELEASES:
        return {"maps": release_maps(list(page), than=baseline.value if baseline.kind == "version" else "")}
    if view == MACHINES:
        return {"matrix": machine_matrix(list(rows[:MOST_BENCHMARKS])), "most": MOST_BENCHMARKS}
    return {"rows": with_doubts(rows_of(list(page), baseline))}


@require_safe
def benchmark(request: HttpRequest, benchmark_id: uuid.UUID) -> HttpResponse:
    shown = _readable(request, benchmark_id)
    if shown.joined_to is not None:
        return redirect(shown.joined_to)
    joining.tell_apart([shown])
    of_line = Benchmark.objects.readable_by(request.user).filter(line=shown.line, batches__gt=0, joined_to=None)
    alike = of_line.filter(visibility=shown.visibility, owner=shown.owner_id).exclude(pk=shown.pk)
    beside = list(alike.order_by("-newest_at"))
    siblings = [
        each for each in beside
        if each.branch != shown.branch and not beyond_span(each.procedure, shown.procedure, shown.procedure)
    ]  # fmt: skip
    drawn = MOST_DRAWN if request.GET.get("batches") == str(MOST_DRAWN) else DRAWN
    context = context_of(shown, siblings, drawn=drawn)
    context["releases"] = [each for each in siblings if each.release_of_id]
    context["apart"] = [each for each in beside if each.branch == shown.branch]
    context["quality"] = alerts.quality([shown])
    context["by_agents"] = shown.series.filter(run__upload=None).exists()
    context["joined"] = shown.joined.all()
    context["joinable"] = joining.candidates(shown)[:PER_PAGE]
    context["unknown"] = [name for name in request.GET if name != "batches"]
    return render(request, "benchmarks/detail.html", context, status=400 if context["unknown"] else 200)


def _readable(request: HttpRequest, benchmark_id: uuid.UUID) -> Benchmark:
    rows = Benchmark.objects.readable_by(request.user)
    return get_object_or_404(
        rows.select_related("metric", "hardware", "dbms", "workload", "config", "joined_to", "machine", "release_of"),
        pk=benchmark_id,
    )


@require_POST
@operator_required
def join_benchmark(request: PersonRequest, benchmark_id: uuid.UUID) -> HttpResponse:
    """It goes on the one that is named; without one it goes on none any more."""
    shown = _readable(request, benchmark_id)
    try:
        if wanted := request.POST.get("to", ""):
            joining.join(shown, _readable(request, uuid.UUID(wanted)), by=request.user)
        else:
            joining.part(shown, by=request.user)
    except (ValidationError, ValueError) as error:
        messages.error(
            request, " ".join(map(str, getattr(error, "detail", {}).get("joined_to", ["No such benchmark."])))
        )
    shown = _readable(request, benchmark_id)
    return redirect(shown.joined_to or shown)


class AlertForm(forms.Form):
    state = forms.ChoiceField(choices=[(state.value, state.label) for state in alerts.SAID], required=False)
    reason = forms.CharField(required=False, max_length=2000)
    fixed_by = forms.CharField(required=False, max_length=200)
    note = forms.CharField(required=False, max_length=10_000)
    links = forms.CharField(required=False, max_length=10_000)
    mine = forms.BooleanField(required=False)

    def clean_links(self) -> list[str]:
        links = str(self.cleaned_data["links"]).split()
        if len(links) > MOST_LINKS or not all(link.startswith(("http://", "https://")) for link in links):
            raise forms.ValidationError(f"At most {MOST_LINKS} addresses of the form https://… are required.")
        return links


@require_safe
def alert_list(request: HttpRequest) -> HttpResponse:
    """The inbox: what is confirmed first, then suspicions that wait for further batches, then what people have seen."""
    rows, wanted = Alert.objects.listed_for(request.user), request.GET.getlist("state")
    problems = {name: "There is no such filter." for name in request.GET if name not in ALERT_FILTERS}
    if {*wanted} - {*AlertState.values}:
        problems["state"] = f"One of {', '.join(AlertState.values)} is required."
    if problems:
        rows = rows.none()
    elif wanted:
        rows = rows.filter(state__in=wanted)
    elif "all" not in request.GET:
        rows = rows.open()
    if "mine" in request.GET and request.user.pk:
        rows = rows.filter(assignee=request.user.pk)
    turn = Case(*(When(state=state, then=at) for at, state in enumerate(FIRST_IN_INBOX)), default=len(FIRST_IN_INBOX))
    ordered = alerts.with_changes(rows).order_by(turn, "-since", "pk")
    page = Paginator(ordered, PER_PAGE).get_page(request.GET.get("page"))
    ends = alerts.ends_of(point for row in page for point in row.changes.all())
    context = {
        "page": page, "states": AlertState.choices, "chosen": wanted, "mine": "mine" in request.GET,
        "problems": problems,
        "rows": [(row, alerts.title(row, ends)) for row in page],
        "quality": alerts.quality(Benchmark.objects.listed_for(request.user)),
    }  # fmt: skip
    return render(request, "alerts/list.html", context, status=400 if problems else 200)


@require_safe
def alert(request: HttpRequest, alert_id: uuid.UUID) -> HttpResponse:
    shown = get_object_or_404(alerts.with_changes(Alert.objects.readable_by(request.user)), pk=alert_id)
    # What proved to be none, as on another machine, stands last.
    points = sorted(shown.changes.all(), key=lambda point: point.state == ChangeState.REFUTED)
    before, after = ([(each, alerts.title(each)) for each in told] for told in alerts.told_again(shown))
    ends, of_alert = alerts.ends_of(points), why(points, alerts.watched_beside(shown))
    context = {
        "alert": shown,
        "title": alerts.title(shown, ends),
        "changes": [(point, change_words(point, is_last=point.pk not in ends)) for point in points],
        "told_before": before,
        "came_again": after,
        "machines": len({point.benchmark.machine_id for point in shown.standing()}),
        "places_differ": alerts.places_differ(shown),
        "is_drift": {point.kind for point in shown.standing()} == {ChangeKind.DRIFT},
        "why": of_alert,
        "by_agents": not Run.objects.filter(pk__in=of_alert.ends).exclude(upload=None).exists(),
        "history": changes.history(shown),
        "said": [(state.value, state.label) for state in alerts.SAID if state != shown.state],
    }
    return render(request, "alerts/detail.html", context)


@require_POST
@operator_required
def judge_alert(request: PersonRequest, alert_id: uuid.UUID) -> HttpResponse:
    """A person gives it a state, an assignee, a note."""
    shown = get_object_or_404(Alert.objects.readable_by(request.user), pk=alert_id)
    form = AlertForm(request.POST)
    if not form.is_valid():
        messages.error(
            request, " ".join(f"{name}: {' '.join(map(str, errors))}" for name, errors in form.errors.items())
        )
        return redirect(shown)
    said = form.cleaned_data
    if said["state"]:
        watching.set_alert_state(
            shown, said["state"], by=request.user, reason=said["reason"], fixed_by=said["fixed_by"]
        )
    written = {name: said[name] for name in ("note", "links") if name in request.POST}
    alerts.edit(shown, by=request.user, **written)
    if said["mine"]:
        alerts.edit(shown, by=request.user, assignee=request.user)
    elif "note" in request.POST and shown.assignee == request.user:
        alerts.edit(shown, by=request.user, assignee=None)
    return redirect(shown)
