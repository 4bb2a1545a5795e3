"""Celery tasks: short, idempotent, each calls one function. Sent by `enqueueing` and by beat (benchsite/celery.py)."""

from __future__ import annotations

from datetime import timedelta

from celery import shared_task
from django.core.management import call_command
from django.utils import timezone

from agents import enqueueing, machines
from agents.jobs import dispatch as dispatching
from agents.jobs import life, noticing, observers, stopping
from agents.plans import again, halving, timetable
from agents.reruns.first import start_first
from runs import space
from runs.access import backoff
from runs.api import once
from runs.history import filing
from runs.imports import parts, worker
from runs.models import Run
from runs.results import staged
from runs.run import artefacts, series
from runs.telling import delivery

# Long after whatever wrote the file has ended: a backup, a restore, a reader of imports.
OWNERLESS_AFTER = timedelta(days=1)


@shared_task(name=enqueueing.DISPATCH)
def dispatch() -> None:
    stopping.stop_where_enough()
    dispatching.assign_queued()


@shared_task(name=enqueueing.SWEEP)
def sweep() -> None:
    """Find what lost messages and dead agents left behind, and large imports that wait to be read."""
    for run_id in life.expire_leases():
        enqueueing.enqueue(enqueueing.SUMMARISE, str(run_id))
    dispatching.take_back_unclaimed()
    life.cancel_deleted()
    life.cancel_overdue()
    observers.give_up()
    start_first()
    worker.wake()
    filing.keep_up()
    again.confirm_suspicions()
    halving.go_on()
    if dispatching.queued().exists():
        dispatch()


@shared_task(name=enqueueing.SUMMARISE)
def summarise(run_id: str) -> None:
    run = Run.objects.filter(pk=run_id).first()
    if run is not None and run.has_ended:
        series.merge(run)


@shared_task(name=enqueueing.FILE)
def file() -> None:
    """Into the series of benchmarks, what has been measured or sent."""
    filing.keep_up()


@shared_task(name=enqueueing.TICK)
def tick() -> None:
    """Start what schedules are due for, and tell people of alerts."""
    timetable.tick()
    noticing.notice()
    delivery.keep_up()


@shared_task(name="agents.housekeeping")
def tidy_up() -> None:
    """Take away what nobody needs any more."""
    machines.forget_stale()
    backoff.forget_old()
    once.forget_old()
    parts.forget_expired()
    artefacts.forget_ownerless(before=timezone.now() - OWNERLESS_AFTER)
    staged.undo_left(before=timezone.now() - OWNERLESS_AFTER)
    filing.look_at_left()
    call_command("clearsessions")
    space.count_for_sqlite()
