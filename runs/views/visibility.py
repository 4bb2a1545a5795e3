"""One click decides who may see an experiment, an upload, a report, or a run that belongs to none of them."""

from __future__ import annotations

import uuid

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.template import Context
from django.views.decorators.http import require_POST

from runs.access.rules import Target, change_visibility, changeable
from runs.models import Experiment, Report, Run, Upload
from runs.models.choices import Visibility
from runs.models.visible import may_open
from runs.templatetags.show import visibility_control
from runs.views.guards import PersonRequest, contributor_required, page_before


@require_POST
@contributor_required
def set_visibility(request: PersonRequest, kind: str, key: str) -> HttpResponse:
    target = changeable(request.user, _target(request, kind, key))
    chosen = request.POST.get("visibility", "")
    if chosen not in Visibility.values:
        return HttpResponse("visibility: must be public, unlisted or private", status=400, content_type="text/plain")
    change_visibility(target=target, visibility=chosen, by=request.user)
    if request.htmx:  # type: ignore[attr-defined]
        return _control(request, target)
    messages.success(request, f"Now {Visibility(chosen).label.lower()}.")
    return redirect(page_before(request, target.get_absolute_url()) if may_open(request.user, target) else "runs")


def _target(request: HttpRequest, kind: str, key: str) -> Target:
    user = request.user
    if kind == "experiment":
        return get_object_or_404(Experiment.objects.readable_by(user), slug=key)
    if kind == "report":
        return get_object_or_404(Report.objects.present().readable_by(user), slug=key)
    if kind == "upload":
        return get_object_or_404(Upload.objects.readable_by(user), pk=_uuid(key))
    if kind == "run":
        alone = Run.objects.readable_by(user).filter(experiment=None, upload=None, publication=None)
        return get_object_or_404(alone, pk=_uuid(key))
    raise Http404


def _uuid(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise Http404 from None


def _control(request: HttpRequest, target: Target) -> HttpResponse:
    """The control as it stands now; on a run's page that of the run."""
    thing: Target = target
    if on_run := request.POST.get("on_run"):
        thing = Run.objects.filter(pk=_uuid(on_run)).select_related("experiment", "upload").first() or target
    return render(request, "_visibility.html", visibility_control(Context({"user": request.user}), thing))
