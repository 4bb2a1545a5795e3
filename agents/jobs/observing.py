"""The observer's side of an order: it is claimed once, tells when to stop, and takes samples.

An observer may write what it was ordered to and nothing else: some metrics, of one run, with a token for that.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any

from benchagent.protocol import LEASE_S, Ack, SamplesItem
from benchagent.protocol.observed import OBSERVED_MAXIMA, OBSERVED_MEANS, ObservedBatch, ObservedItem, Ordered, Watch
from django.db import transaction
from django.utils import timezone

from agents.jobs.deliver import BadItem, OutOfSequence
from agents.jobs.life import JobClosed, NotAssigned, locked
from agents.jobs.observers import SAMPLED_STATES, close, open_orders, settle
from agents.models import Agent, Job, ObserverOrder
from runs import results
from runs.models import digest_secret
from runs.models.choices import ENDED_STATES

TOKEN_PREFIX = "bso_"
ALLOWED = frozenset((*OBSERVED_MEANS, *OBSERVED_MAXIMA))
# An observer that was cut off may deliver so long after the end of the run.
WAIT = timedelta(seconds=LEASE_S)


def waiting_for(agent: Agent) -> ObserverOrder | None:
    return open_orders().filter(agent=agent, claimed_at=None).order_by("job__claimed_at").first()


def claim(*, agent: Agent, run_id: Any) -> Ordered:
    """The order, once. Raises NotAssigned when there is none for this agent (any more)."""
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    waiting = open_orders().filter(pk=run_id, agent=agent, claimed_at=None)
    if not waiting.update(claimed_at=timezone.now(), token_digest=digest_secret(secret)):
        raise NotAssigned
    observation = ObserverOrder.objects.select_related("job").get(pk=run_id)
    return {
        "job": {"run_id": str(run_id), "observation": observation.name, "window_s": _window_s(observation.job)},
        "job_token": secret,
        "lease_s": LEASE_S,
    }


def _window_s(job: Job) -> float | None:
    given = [job.spec["factors"].get(name) for name in ("warm_up_s", "duration_s")]
    return float(sum(given)) if all(isinstance(one, int | float) for one in given) else None


def watch(observation: ObserverOrder) -> Watch:
    """What the observer has to know of the run. Raises JobClosed."""
    if observation.closed_at is not None:
        raise JobClosed
    over = observation.job.run.state not in SAMPLED_STATES or observation.job.cancel_requested_at is not None
    return {"begun_at": observation.begun_at, "over": over}


def apply(*, run_id: Any, batch: ObservedBatch) -> Ack:
    """As `batches.apply`, of an observer. Raises OutOfSequence, JobClosed, BadItem; nothing is stored then."""
    with transaction.atomic():
        job = locked(run_id)
        observation = ObserverOrder.objects.select_for_update().get(pk=run_id)
        if batch["seq"] > observation.last_seq:
            if observation.closed_at is not None:
                raise JobClosed
            if batch["seq"] != observation.last_seq + 1:
                raise OutOfSequence(observation.last_seq + 1)
            for index, item in enumerate(batch["items"]):
                _apply_item(job, observation, item, f"items[{index}]")
            observation.last_seq = batch["seq"]
            observation.save(update_fields=["last_seq", "problem", "clock", "closed_at"])
            settle(job)
    return {"seq": batch["seq"], "cancel": False}


def _apply_item(job: Job, observation: ObserverOrder, item: SamplesItem | ObservedItem, field: str) -> None:
    if observation.closed_at is not None:
        raise BadItem(field, "nothing may follow the end")
    if item["kind"] == "observed":
        observation.problem, observation.clock = item["problem"][:500], item["clock"] or {}
        observation.closed_at = timezone.now()
    elif item["metric"] not in ALLOWED:
        raise BadItem(f"{field}.metric", f"an observer sends {', '.join(sorted(ALLOWED))}")
    else:
        try:
            results.append_samples(run=job.run, item=item)
        except ValueError as error:
            raise BadItem(field, str(error)) from error


def give_up(*, now: datetime | None = None) -> int:
    """End the observations of which nothing came for long after their run had ended. Returns how many."""
    now = now or timezone.now()
    ended = ObserverOrder.objects.filter(closed_at=None, job__run__state__in=ENDED_STATES)
    overdue = list(ended.filter(job__run__finished_at__lt=now - WAIT).values_list("pk", flat=True))
    for run_id in overdue:
        with transaction.atomic():
            job = locked(run_id)
            observation = ObserverOrder.objects.select_for_update().get(pk=run_id)
            if observation.closed_at is None:
                came = "was not heard of again" if observation.claimed_at else "did not come"
                close(observation, f"agent {observation.agent_name} {came}")
                settle(job)
    return len(overdue)
