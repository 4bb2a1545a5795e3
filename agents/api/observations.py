"""The agent protocol, for an agent that observes a run of another."""

from __future__ import annotations

from benchagent.protocol import Ack
from benchagent.protocol.observed import ObservedBatch, Ordered, Watch
from django.http import HttpRequest

from agents.api.endpoint import Body, Refusal, agent_of, approved, as_uuid, endpoint, observation_of
from agents.api.messages import BadMessage, check
from agents.jobs import deliver, life, observing
from agents.machines import registry
from agents.models import ObserverOrder


@endpoint
def claim(request: HttpRequest, body: Body, run_id: str) -> Ordered:
    agent = approved(agent_of(request))
    try:
        return observing.claim(agent=agent, run_id=as_uuid(run_id))
    except life.NotAssigned:
        raise Refusal(409, "this agent is not to observe that run (any more)") from None


@endpoint
def heartbeat(request: HttpRequest, body: Body, run_id: str) -> Watch:
    observation = observation_of(request, run_id)
    _touch(observation)
    try:
        return observing.watch(observation)
    except life.JobClosed:
        raise Refusal(409, "the observation has ended") from None


@endpoint
def batch(request: HttpRequest, body: Body, run_id: str) -> Ack:
    observation = observation_of(request, run_id)
    message = check(ObservedBatch, body)
    if message["seq"] < 1:
        raise BadMessage("seq", "batches are numbered from 1")
    _touch(observation)
    try:
        return observing.apply(run_id=observation.pk, batch=message)
    except deliver.OutOfSequence as error:
        raise Refusal(409, str(error), expected=error.expected) from error
    except life.JobClosed:
        raise Refusal(409, "the observation has ended") from None
    except deliver.BadItem as error:
        raise BadMessage(error.field, str(error)) from error


def _touch(observation: ObserverOrder) -> None:
    if observation.agent is not None:
        registry.touch(observation.agent)
