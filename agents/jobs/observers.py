"""A second agent on the machine of a run's server: it gets an order, samples, and its series are the run's.

Whatever it does or does not do, the run goes on; what came of it is said on the run's page.
"""

from __future__ import annotations

from typing import Any

from benchagent.protocol import COUNTED_STATES, StateItem
from django.db.models import QuerySet
from django.utils import timezone

from agents.models import Agent, AgentStatus, Job, ObserverOrder
from runs import results
from runs.models.choices import ENDED_STATES, RunState

# Of a run in one of these there is something to sample, or will be.
SAMPLED_STATES = (RunState.PREPARING, RunState.LOADING, RunState.WARMING_UP, RunState.MEASURING)


def order(job: Job, agent: Agent) -> None:
    """Order the observer that the connection of this job is paired with, if it is. Called when the job is claimed."""
    paired = paired_with(agent, job.spec.get("connection", ""))
    if not paired:
        return
    name, _, observation = paired.rpartition("/")
    found = _called(name)
    problem = _unable(found, agent, name, observation)
    ObserverOrder.objects.create(
        job=job,
        agent=None if problem else found[0],
        agent_name=name[:200],
        name=observation[:40],
        problem=problem[:500],
        closed_at=timezone.now() if problem else None,
    )


def paired_with(agent: Agent, connection: str) -> str:
    """As "agent/observation"; empty for a connection that nobody observes."""
    engines: list[dict[str, Any]] = agent.engines
    named = (engine for engine in engines if connection and engine.get("connection") == connection)
    return next((str(engine.get("observed_by", "")) for engine in named), "")


def _called(name: str) -> list[Agent]:
    """The slug is one agent's alone and wins."""
    approved = Agent.objects.filter(status=AgentStatus.APPROVED)
    return list(approved.filter(slug=name)) or list(approved.filter(name=name))


def _unable(found: list[Agent], loading: Agent, name: str, observation: str) -> str:
    if not found:
        return f"no approved agent is called {name}"
    if len(found) > 1:
        slugs = ", ".join(agent.slug for agent in found)
        return f"several agents are called {name}: pair with one of {slugs}"
    if found[0].pk == loading.pk:
        return f"agent {name} runs the load itself"
    if observation not in {one["name"] for one in found[0].observations}:
        return f"agent {name} has no observation {observation}"
    return ""


def open_orders() -> QuerySet[ObserverOrder]:
    """Their agents are to sample a run that is going on, and to do nothing else meanwhile."""
    return ObserverOrder.objects.filter(closed_at=None, agent__isnull=False, job__run__state__in=SAMPLED_STATES)


def waiting_for(agent: Agent) -> ObserverOrder | None:
    return open_orders().filter(agent=agent, claimed_at=None).order_by("job__claimed_at").first()


def begin(job: Job, item: StateItem) -> None:
    """Note second 0 of the run by the server's clock, as far as the agent knows how its own differs."""
    clock = item.get("clock")
    if item["state"] in COUNTED_STATES and clock is not None:
        waiting = ObserverOrder.objects.filter(pk=job.pk, begun_at=None)
        waiting.update(begun_at=item["at"] + clock["offset_s"], load_clock=clock)


def settle(job: Job) -> None:
    """Say on a run that has ended what came of its observation; called again when more of that is known."""
    observation = ObserverOrder.objects.filter(pk=job.pk).first()
    if observation is None or job.run.state not in ENDED_STATES:
        return
    if observation.claimed_at is None:
        close(observation, observation.problem or f"agent {observation.agent_name} did not come")
    told = results.Observed(
        agent=observation.agent_name,
        observation=observation.name,
        problem=observation.problem,
        clock=observation.clock,
        load_clock=observation.load_clock,
        over=observation.closed_at is not None,
    )
    results.note_observer(run=job.run, observed=told)


def close(observation: ObserverOrder, problem: str) -> None:
    observation.problem = problem[:500]
    observation.closed_at = observation.closed_at or timezone.now()
    observation.save(update_fields=["problem", "closed_at"])
