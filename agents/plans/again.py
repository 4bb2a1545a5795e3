"""A suspicion is measured again by itself, where the operator of its agent allows it.

Three batches of the same cell, each in a job of its own, one after the other at a distance, within the time that the
agent gives a day. What they say is read as every batch is (`runs.history.watching`).
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.db import transaction
from django.utils import timezone

from agents import enqueueing
from agents.models import Agent, Confirmation
from agents.plans.schedule import outdated, queue_again
from runs.models import Batch, Benchmark, ChangePoint, Run
from runs.models.choices import OPEN_STATES, AlertState, ChangeKind, ChangeState
from runs.stats.watch import CONFIRMING

DAY = timedelta(days=1)


def confirm_suspicions() -> int:
    """Schedule what is due. Returns how many batches."""
    now = timezone.now()
    suspected = ChangePoint.objects.filter(
        state=ChangeState.SUSPECTED,
        kind=ChangeKind.STEP,
        benchmark__in=Benchmark.objects.watched(),
        at__run__job__agent__measures_again=True,
    ).exclude(alert__state=AlertState.NOISE)
    # What its own batch has still to say comes first.
    suspected = suspected.exclude(at__batch__runs__state__in=OPEN_STATES)
    suspected = suspected.select_related("at__run__job__agent", "at__batch", "benchmark")
    return sum(_measure(point, now) for point in suspected.order_by("found_at")[:100])


def _measure(point: ChangePoint, now: datetime) -> bool:
    run = point.at.run
    if run is None or run.job.agent is None or outdated(run):
        return False
    agent = run.job.agent
    with transaction.atomic():
        Agent.objects.select_for_update().get(pk=agent.pk)
        # Several of its metrics may be suspected: what is measured for one tells of all.
        made = list(Confirmation.objects.filter(point__at__run=run).order_by("-made_at"))
        runs = Run.objects.filter(batch__in=[each.batch_id for each in made])
        if len(made) >= CONFIRMING or runs.filter(state__in=OPEN_STATES).exists():
            return False
        ended = [each.finished_at for each in (*runs, run) if each.finished_at]
        if ended and now - max(ended) < timedelta(seconds=agent.again_after_s):
            return False
        repeats = max(1, len(point.at.runs))
        if spent_s(agent, now) + repeats * _lasts_s(run) > agent.again_daily_s:
            return False
        before = point.at.batch
        batch = Batch.objects.create(  # about the same commit, owned by whoever owns the suspected one
            owner=before.owner, label=before.label, tags=before.tags, tested={**before.tested, **run.tested},
            note=f"measured again by itself: the batch of {point.at.measured_at:%Y-%m-%d %H:%M} was suspected",
        )  # fmt: skip
        for repeat in range(1, repeats + 1):
            queue_again(run, repeat, batch)
        Confirmation.objects.create(point=point, batch=batch, agent=agent, made_at=now)
    enqueueing.enqueue(enqueueing.DISPATCH)
    return True


def spent_s(agent: Agent, now: datetime) -> float:
    """Seconds of the last day spent on measuring again; what has not ended counts as long as what it repeats took."""
    batches = Confirmation.objects.filter(agent=agent, made_at__gt=now - DAY).select_related("point__at__run")
    spent = 0.0
    for each in batches:
        like = each.point.at.run
        spent += sum(
            _lasts_s(run) or (_lasts_s(like) if like else 0.0) for run in Run.objects.filter(batch=each.batch_id)
        )
    return spent


def _lasts_s(run: Run) -> float:
    return (run.finished_at - run.started_at).total_seconds() if run.finished_at and run.started_at else 0.0
