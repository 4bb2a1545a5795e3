"""What happens in the lab and is worth telling: rules of telling take it from here (`runs.telling`).

Looked for every minute; a notice has a key, so that each thing is noticed once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime, timedelta

from django.db.models import Prefetch
from django.urls import reverse
from django.utils import timezone

from agents.jobs.dispatch import queued
from agents.jobs.queue import stalled
from agents.jobs.status import reason, silence
from agents.models import Job
from agents.plans import schedule
from runs.models import Experiment, Notice, Run, TellingRule
from runs.models.choices import ACTIVE_STATES, ON_AGENT_STATES, OPEN_STATES, RunState

# What ended or was lost longer ago was told, or nobody wanted to be.
LATELY = timedelta(days=1)
TOO_LONG = timedelta(hours=1)


def notice() -> int:
    """Note what is new, where a rule tells of it. Returns how many notices there are of it."""
    now = timezone.now()
    if not TellingRule.objects.filter(tells_lab=True, is_paused=False).exists():
        return 0
    found = [*_begun(now), *_ended(now), *_waiting(now), *_lost(now)]
    if words := stalled(now=now):
        found.append(Notice(key=f"stalled {now:%Y-%m-%d %H}", title=words, path=reverse("queue")))
    return len(Notice.objects.bulk_create(found, ignore_conflicts=True))


def _of(experiment: Experiment, key: str, title: str, *, at: datetime) -> Notice:
    """`at`: when it was so; a rule tells of nothing from before it was made."""
    return Notice(key=key, title=title[:400], path=experiment.get_absolute_url(), experiment=experiment, at=at)


def _begun(now: datetime) -> Iterator[Notice]:
    """Experiments of which something is to be measured or is being measured."""
    under_way = Run.objects.present().filter(job__isnull=False, state__in=OPEN_STATES)
    lately = Experiment.objects.filter(created_at__gt=now - LATELY)
    for experiment in lately.filter(pk__in=under_way.order_by().values("experiment")):
        title = f"{experiment} is in progress"
        yield _of(experiment, f"{Notice.BEGUN} {experiment.pk}", title, at=experiment.created_at)


def _ended(now: datetime) -> Iterator[Notice]:
    """Experiments, with what became of their runs; the last that ended is part of the key: repeats end it anew."""
    lately = Run.objects.present().filter(job__isnull=False, finished_at__gt=now - LATELY)
    scheduled = Prefetch("runs", Run.objects.present().filter(job__isnull=False).select_related("job"))
    for experiment in Experiment.objects.filter(runs__in=lately).distinct().prefetch_related(scheduled):
        runs = list(experiment.runs.all())
        states = Counter(run.state for run in runs)
        if not any(states[state] for state in OPEN_STATES):
            last = max(run.finished_at for run in runs if run.finished_at)
            how = ", ".join(f"{count} {RunState(state).label.lower()}" for state, count in sorted(states.items()))
            failed = schedule.not_made_up(experiment, runs)
            if not failed and states[RunState.FAILED] + states[RunState.LOST]:
                how += "; what failed was repeated"
            partly = " in part" * (states[RunState.FINISHED] > 0)
            ended = (
                f"failed{partly}" if failed else f"was cancelled{partly}" if states[RunState.CANCELLED] else "is done"
            )
            key = f"{Notice.ENDED} {experiment.pk} {last.isoformat()}"
            yield _of(experiment, key, f"{experiment} {ended}: {how}", at=last)


def _waiting(now: datetime) -> Iterator[Notice]:
    """Experiments of which nothing runs and whose next run has waited too long."""
    seen: set[object] = set()
    running = set(Run.objects.filter(state__in=ON_AGENT_STATES).values_list("experiment", flat=True))
    for run in (
        queued().filter(state_changed_at__lt=now - TOO_LONG).select_related("job__requested_agent", "experiment")
    ):
        if run.experiment and run.experiment.pk not in seen | running:
            seen.add(run.experiment.pk)
            title = f"{run.experiment} waits for over an hour: {reason(run, now=now)}"
            yield _of(run.experiment, f"waits {run.pk}", title, at=now)


def _lost(now: datetime) -> Iterator[Notice]:
    """Agents that fell silent over a run."""
    jobs = Job.objects.filter(run__state__in=ACTIVE_STATES, agent__isnull=False)
    for job in jobs.select_related("agent", "run__experiment"):
        job.run.job = job
        if job.agent and (words := silence(job.run, now=now)):
            path = reverse("agent", args=[job.agent.slug])
            yield Notice(key=f"silent {job.pk} {job.agent.last_seen_at}", title=words[:400], path=path)
