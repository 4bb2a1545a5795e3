"""A second agent on the machine of a run's server: it gets an order, samples, and its series are the run's.

Whatever it does or does not do, the run goes on; what came of it is said on the run's page. It may write what it was
ordered to and nothing else: some metrics, of one run, with a token for that.
"""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from typing import Any

from benchagent.protocol import COUNTED_STATES, LEASE_S, OBSERVED_MAXIMA, OBSERVED_MEANS, Ordered, StateItem, Watch
from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone

from agents.models import Agent, AgentStatus, Job, ObserverOrder
from agents.refusals import Conflict
from runs import results
from runs.models import digest_secret
from runs.models.choices import ENDED_STATES, RunState

TOKEN_PREFIX = "bso_"
# A run in one of these states has something to sample, or will have.
SAMPLED_STATES = (RunState.PREPARING, RunState.LOADING, RunState.WARMING_UP, RunState.MEASURING)
ALLOWED = frozenset((*OBSERVED_MEANS, *OBSERVED_MAXIMA))
# An observer that was cut off may deliver so long after the end of the run.
WAIT = timedelta(seconds=LEASE_S)

# The job's side


def order(job: Job, agent: Agent) -> None:
    """Order the observer that the connection of this job is paired with, if it is. Called when the job is claimed."""
    connection = job.spec.get("connection", "")
    named = (engine for engine in agent.engines if connection and engine.get("connection") == connection)
    # As "agent/observation"; empty for a connection that nobody observes.
    paired = next((str(engine.get("observed_by", "")) for engine in named), "")
    if not paired:
        return
    name, _, observation = paired.rpartition("/")
    approved = Agent.objects.filter(status=AgentStatus.APPROVED)
    # The slug is one agent's alone and wins.
    called = list(approved.filter(slug=name)) or list(approved.filter(name=name))
    problem = ""
    if not called:
        problem = f"no approved agent is called {name}"
    elif len(called) > 1:
        slugs = ", ".join(agent.slug for agent in called)
        problem = f"several agents are called {name}: pair with one of {slugs}"
    elif called[0].pk == agent.pk:
        problem = f"agent {name} runs the load itself"
    elif observation not in {offered["name"] for offered in called[0].observations}:
        problem = f"agent {name} has no observation {observation}"
    ObserverOrder.objects.create(
        job=job,
        agent=None if problem else called[0],
        agent_name=name[:200],
        name=observation[:40],
        problem=problem[:500],
        closed_at=timezone.now() if problem else None,
    )


def begin(job: Job, item: StateItem) -> None:
    """Note second 0 of the run by the server's clock, as far as the agent knows how its own differs."""
    clock = item.get("clock")
    if item["state"] in COUNTED_STATES and clock is not None:
        waiting = ObserverOrder.objects.filter(pk=job.pk, begun_at=None)
        waiting.update(begun_at=item["at"] + clock["offset_s"], load_clock=clock)


def settle(job: Job) -> None:
    """Say on a run that has ended what came of its observation; called again when more of that is known."""
    order = ObserverOrder.objects.filter(pk=job.pk).first()
    if order is None or job.run.state not in ENDED_STATES:
        return
    if order.claimed_at is None:
        _close(order, order.problem or f"agent {order.agent_name} did not come")
    observed = results.Observed(
        agent=order.agent_name, observation=order.name, problem=order.problem, clock=order.clock,
        load_clock=order.load_clock, over=order.closed_at is not None,
    )  # fmt: skip
    results.note_observer(run=job.run, observed=observed)


def _close(order: ObserverOrder, problem: str) -> None:
    order.problem = problem[:500]
    order.closed_at = order.closed_at or timezone.now()
    order.save(update_fields=["problem", "closed_at"])


def give_up(*, now: datetime | None = None) -> int:
    """End the observations of which nothing came for long after their run had ended. Returns how many."""
    now = now or timezone.now()
    ended = ObserverOrder.objects.filter(closed_at=None, job__run__state__in=ENDED_STATES)
    overdue = list(ended.filter(job__run__finished_at__lt=now - WAIT).values_list("pk", flat=True))
    for run_id in overdue:
        with transaction.atomic():
            job = Job.locked(run_id)
            order = ObserverOrder.objects.select_for_update().get(pk=run_id)
            if order.closed_at is None:
                came = "was not heard of again" if order.claimed_at else "did not come"
                _close(order, f"agent {order.agent_name} {came}")
                settle(job)
    return len(overdue)


# The observer's side


def open_orders() -> QuerySet[ObserverOrder]:
    """Their agents are to sample a run that is going on, and to do nothing else meanwhile."""
    return ObserverOrder.objects.filter(closed_at=None, agent__isnull=False, job__run__state__in=SAMPLED_STATES)


def claim(*, agent: Agent, run_id: Any) -> Ordered:
    """The order, once. Raises Conflict when there is none for this agent (any more)."""
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    waiting = open_orders().filter(pk=run_id, agent=agent, claimed_at=None)
    if not waiting.update(claimed_at=timezone.now(), token_digest=digest_secret(secret)):
        raise Conflict("this agent is not to observe that run (any more)")
    order = ObserverOrder.objects.select_related("job").get(pk=run_id)
    lengths = [order.job.spec["factors"].get(name) for name in ("warm_up_s", "duration_s")]
    window_s = float(sum(lengths)) if all(isinstance(length, int | float) for length in lengths) else None
    return {
        "job": {"run_id": str(run_id), "observation": order.name, "window_s": window_s},
        "job_token": secret,
        "lease_s": LEASE_S,
    }


def watch(order: ObserverOrder) -> Watch:
    """What the observer has to know of the run. Raises Conflict when it has ended."""
    if order.closed_at is not None:
        raise Conflict("the observation has ended")
    over = order.job.run.state not in SAMPLED_STATES or order.job.cancel_requested_at is not None
    return {"begun_at": order.begun_at, "over": over}
