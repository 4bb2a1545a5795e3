"""Celery tasks: short, idempotent, each calls one function. Sent by `hints` and by beat (benchsite/celery.py)."""

from __future__ import annotations

from celery import shared_task
from django.core.management import call_command

from agents import hints, machines
from agents.jobs import dispatch as dispatching
from agents.jobs import life, observers
from agents.plans import schedule
from runs.access import backoff
from runs.imports import worker
from runs.models import Run
from runs.run import series


@shared_task(name=hints.DISPATCH)
def dispatch() -> None:
    dispatching.hand_out()


@shared_task(name=hints.SWEEP)
def sweep() -> None:
    """Find what lost messages and dead agents left behind, and large imports that wait to be read."""
    for run_id in life.expire_leases():
        hints.hint(hints.SUMMARISE, str(run_id))
    dispatching.take_back_unclaimed()
    life.cancel_deleted()
    observers.give_up()
    schedule.start_first()
    worker.wake()
    if dispatching.queued().exists():
        dispatch()


@shared_task(name=hints.SUMMARISE)
def summarise(run_id: str) -> None:
    run = Run.objects.filter(pk=run_id).first()
    if run is not None and run.has_ended:
        series.merge(run)


@shared_task(name="agents.housekeeping")
def tidy_up() -> None:
    """Take away what nobody needs any more."""
    machines.forget_stale()
    backoff.forget_old()
    call_command("clearsessions")
