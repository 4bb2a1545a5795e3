"""What agents do, for pages of other apps: `{% load jobs %}`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchagent.catalog import WORKLOADS
from django import template

from agents.jobs import status
from agents.models import Schedule
from agents.plans import schedule
from runs.access.rules import may_operate
from runs.listing.rows import RunRow
from runs.models import Experiment, Run

register = template.Library()


@register.inclusion_tag("agents/_job_status.html", takes_context=True)
def job_status(context: template.Context, run: Run) -> dict[str, Any]:
    """Why a run waits, how far it has come, its log, and the button that cancels it. Nothing for uploads."""
    return status.job_status(run, context.get("user"))


@register.inclusion_tag("agents/_experiment_progress.html", takes_context=True)
def experiment_progress(context: template.Context, experiment: Experiment) -> dict[str, Any]:
    """How far an experiment has come, and the button that cancels what is left. Nothing if nothing was scheduled."""
    return status.experiment_progress(experiment, context.get("user"))


@register.inclusion_tag("agents/_first_experiment.html", takes_context=True)
def first_experiment(context: template.Context) -> dict[str, Any]:
    """Why the first experiment does not start or has failed, and the button that starts it again."""
    return status.first_experiment(context.get("user"))


@register.inclusion_tag("agents/_repeat_button.html", takes_context=True)
def repeat_button(context: template.Context, run: Run) -> dict[str, Any]:
    """A button that runs this cell once more, for operators, on scheduled runs that have ended."""
    shown = run.has_ended and may_operate(context.get("user")) and status.job_of(run) is not None
    return {"run": run, "shown": shown, "outdated": schedule.outdated(run) if shown else ""}


@register.simple_tag
def deleted_schedules() -> list[Schedule]:
    """Newest first."""
    return list(Schedule.objects.exclude(deleted_at=None).order_by("-deleted_at"))


@register.filter
def workload_name(slug: str) -> str:
    """The name of what a plan names by its slug."""
    return WORKLOADS[slug].name if slug in WORKLOADS else slug


@register.simple_tag
def cell_left(rows: Sequence[RunRow]) -> str:
    """How long what has not ended of an experiment's cell is expected to take; empty if all has."""
    return status.cell_left([row.run for row in rows])
