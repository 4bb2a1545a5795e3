"""The agent protocol: benchagent/protocol describes it, these views speak it."""

from __future__ import annotations

from typing import Literal, cast

from benchagent.protocol import (
    POLL_IDLE_S,
    Ack,
    Batch,
    Claimed,
    Lease,
    ObservedBatch,
    Ordered,
    Poll,
    PollAnswer,
    Registered,
    Registration,
    Watch,
)
from django.http import HttpRequest

from agents import machines
from agents.api.endpoint import Body, agent_of, approved, as_uuid, check_protocol, endpoint, job_of, order_of
from agents.api.messages import check
from agents.jobs import deliver, life, observers
from agents.jobs.dispatch import queued
from agents.jobs.refusals import Refusal
from agents.models import AgentStatus, Job

# While there is work, an idle agent asks often: the next run of an experiment begins within half a second.
POLL_BUSY_S = 0.5
POLL_WITHOUT_WORK_S = {AgentStatus.PENDING: 3.0, AgentStatus.DISABLED: 10.0}
MESSAGES = {
    AgentStatus.PENDING: "waits for approval by an operator on the agents page",
    AgentStatus.DISABLED: "an operator has disabled this agent on the agents page",
    AgentStatus.APPROVED: "",
}


@endpoint
def register(request: HttpRequest, body: Body) -> Registered:
    check_protocol(body)
    try:
        agent, secret = machines.register(message=check(Registration, body))
    except machines.TooManyPending:
        raise Refusal(429, "too many agents wait for approval already") from None
    return {
        "agent_id": str(agent.pk),
        "token": secret,
        "status": "approved" if agent.status == AgentStatus.APPROVED else "pending",
    }


@endpoint
def poll(request: HttpRequest, body: Body) -> PollAnswer:
    check_protocol(body)
    agent = agent_of(request)
    machines.update(agent, poll=check(Poll, body))
    status = AgentStatus(agent.status)
    works = status == AgentStatus.APPROVED
    job = life.assigned_to(agent) if works else None
    observation = observers.waiting_for(agent) if works and agent.observations else None
    answer: PollAnswer = {
        "status": cast(Literal["pending", "approved", "disabled"], status.value),
        "poll_after_s": POLL_WITHOUT_WORK_S.get(status) or (POLL_BUSY_S if queued().exists() else POLL_IDLE_S),
        "job": str(job.pk) if job else None,
        "message": MESSAGES[status],
    }
    if observation is not None:
        answer["observe"] = str(observation.pk)
    return answer


@endpoint
def claim(request: HttpRequest, body: Body, run_id: str) -> Claimed:
    agent = approved(agent_of(request))
    try:
        return life.claim(agent=agent, run_id=as_uuid(run_id))
    except Job.DoesNotExist:
        raise Refusal(404, "no such run") from None


@endpoint
def heartbeat(request: HttpRequest, body: Body, run_id: str) -> Lease:
    return life.heartbeat(job_of(request, run_id))


@endpoint
def batch(request: HttpRequest, body: Body, run_id: str) -> Ack:
    job = job_of(request, run_id)
    return deliver.apply(run_id=job.pk, batch=check(Batch, body))


# Of an agent that observes a run of another


@endpoint
def observer_claim(request: HttpRequest, body: Body, run_id: str) -> Ordered:
    return observers.claim(agent=approved(agent_of(request)), run_id=as_uuid(run_id))


@endpoint
def observer_heartbeat(request: HttpRequest, body: Body, run_id: str) -> Watch:
    return observers.watch(order_of(request, run_id))


@endpoint
def observer_batch(request: HttpRequest, body: Body, run_id: str) -> Ack:
    order = order_of(request, run_id)
    return deliver.apply_observed(run_id=order.pk, batch=check(ObservedBatch, body))
