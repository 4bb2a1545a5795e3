"""Rules by which people are told of alerts; alerts as an Atom feed; a benchmark as a badge."""

from __future__ import annotations

import uuid
from textwrap import shorten
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseBadRequest
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import format_html_join
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from runs.formatting import mid_sentence, quantity
from runs.history.alerts import ends_of, title, with_changes
from runs.history.words import change_words, short_change
from runs.models import Alert, Benchmark, ChangePoint, TellingRule
from runs.models.choices import OF_LEVEL, AlertState, ChangeState
from runs.models.telling import TellingWay
from runs.stats import WINNERS
from runs.telling import chat, delivery
from runs.telling.forms import RuleForm, machine_names
from runs.telling.messages import MOST_CHANGES
from runs.views.guards import PersonRequest, as_uuid, operator_required

FEED_ENTRIES = 50
# A rule has a name of so many characters.
MOST_OF_NAME = 120


@require_http_methods(["GET", "HEAD", "POST"])
@operator_required
@never_cache
def rules(request: PersonRequest) -> HttpResponse:
    """One's own rules with what they told, and the form for another. A webhook's secret is shown once."""
    initial: dict[str, Any] = {}
    if given := request.GET.get("benchmark"):
        chosen = get_object_or_404(Benchmark.objects.listed_for(request.user), pk=as_uuid(given))
        initial = {"benchmark": chosen.pk, "name": shorten(str(chosen), MOST_OF_NAME, placeholder=" …")}
    form = RuleForm(request.POST if request.method == "POST" else None, user=request.user, initial=initial)
    secret = ""
    if request.method == "POST" and form.is_valid():
        rule = form.save(commit=False)
        rule.owner, rule.site_url = request.user, request.build_absolute_uri("/").rstrip("/")
        secret = rule.secret = delivery.new_secret() if rule.way == TellingWay.WEBHOOK else ""
        rule.save()
        if not secret:
            return redirect("telling")
        form = RuleForm(user=request.user)
    own = TellingRule.objects.filter(owner=request.user).select_related(
        "machine", "workload", "dbms", "metric", "benchmark__hardware"
    )
    context = {
        "rules": [(rule, _shown(rule), rule.tellings.select_related("alert", "notice")[:10]) for rule in own],
        "form": form, "secret": secret, "machines": machine_names(request.user),
        "no_mail": "" if settings.EMAIL_HOST else delivery.NO_MAIL,
    }  # fmt: skip
    return render(request, "telling.html", context, status=422 if form.errors else 200)


def _shown(rule: TellingRule) -> str:
    """Where a rule sends to; of a chat service its name only, for the address holds its secrets."""
    return chat.service_of(rule.target) if rule.way == TellingWay.CHAT else rule.target


@require_POST
@operator_required
def change_rule(request: PersonRequest, rule_id: uuid.UUID) -> HttpResponse:
    """`action`: test, pause, resume, delete."""
    rule = get_object_or_404(TellingRule, pk=rule_id, owner=request.user)
    action = request.POST.get("action", "")
    if action == "test":
        problem = delivery.send(rule, [])
        if problem:
            messages.error(request, f"The test of {rule} did not arrive. {problem}")
        else:
            messages.success(request, f"The test of {rule} was sent to {_shown(rule)}.")
    elif action in ("pause", "resume"):
        rule.change(is_paused=action == "pause")
    elif action == "delete":
        rule.delete()
    else:
        return HttpResponseBadRequest("action: must be one of test, pause, resume, delete")
    return redirect("telling")


@require_safe
def feed(request: HttpRequest) -> HttpResponse:
    """Alerts with a confirmed change that the reader may see, the newest first; never what was only suspected."""
    address = request.build_absolute_uri
    made = Atom1Feed(
        "Benchsite: alerts", address("/alerts/"), "Changes of benchmarks", feed_url=address(), author_name="Benchsite",
    )  # fmt: skip
    confirmed = ChangePoint.objects.filter(state=ChangeState.CONFIRMED).values("alert")
    rows = with_changes(Alert.objects.listed_for(request.user).filter(pk__in=confirmed)).order_by("-state_changed_at")
    shown = list(rows[:FEED_ENTRIES])
    ends = ends_of(point for alert in shown for point in alert.changes.all())
    for alert in shown:
        changes = [point for point in alert.changes.all() if point.state == ChangeState.CONFIRMED]
        words = [
            f"{point.benchmark.on_machine}: {change_words(point, is_last=point.pk not in ends)}"
            for point in changes[:MOST_CHANGES]
        ]
        made.add_item(
            title(alert, ends), address(alert.get_absolute_url()),
            format_html_join("", "<p>{}</p>", [(each,) for each in (alert.get_state_display(), *words)]),
            unique_id=f"urn:uuid:{alert.pk}", pubdate=alert.created_at, updateddate=alert.state_changed_at,
        )  # fmt: skip
    return HttpResponse(made.writeString("utf-8"), content_type=made.content_type)


@require_safe
@never_cache
def badge(request: HttpRequest, benchmark_id: uuid.UUID) -> HttpResponse:
    """The newest value of a benchmark as a picture, with the last change that is open and in its colour; without one in
    that of the verdict against those before it.
    """
    shown = get_object_or_404(
        Benchmark.objects.readable_by(request.user).select_related("metric", "dbms"), pk=benchmark_id
    )
    newest = shown.series.newest_first().first()
    value = quantity(newest.centre, shown.metric.unit) if newest and newest.centre is not None else "not measured"
    opened = shown.changes.filter(
        state=ChangeState.CONFIRMED, kind__in=OF_LEVEL, alert__state__in=(AlertState.CONFIRMED, AlertState.ACKNOWLEDGED)
    )
    verdict = shown.verdict if shown.verdict in WINNERS else ""
    sure = (point for point in opened.select_related("at") if not point.is_unsure)
    if changed := max(sure, key=lambda point: point.at.place, default=None):
        value += f", {short_change(changed)}"
        verdict = f"{changed.side} since {changed.at.measured_at:%Y-%m-%d}"
    label = f"{shown.dbms} {mid_sentence(shown.metric.label)}"
    # About the width of the characters in the font that the picture names.
    inner = [6.5 * len(text) for text in (label, value)]
    widths = [10 + each for each in inner]
    context = {
        "label": label, "value": value, "verdict": verdict, "inner": inner, "widths": widths,
        "width": sum(widths), "value_x": widths[0] + 5,
    }  # fmt: skip
    return render(request, "benchmarks/badge.svg", context, content_type="image/svg+xml")
