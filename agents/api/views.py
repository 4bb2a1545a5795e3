"""The agent protocol: benchagent/protocol describes it, these views speak it."""

from __future__ import annotations

from typing import Literal, cast

from benchagent.protocol import POLL_IDLE_S, Ack, Batch, Claimed, Lease, Poll, PollAnswer, Registered, Registration
from django.http import HttpRequest

from agents.api.endpoint import Body, Refusal, agent_of, approved, as_uuid, check_protocol, endpoint, job_of
from agents.api.messages import BadMessage, check
from agents.jobs import deliver, life, observing
from agents.jobs.dispatch import queued
from agents.machines import registry
from agents.models import Agent, AgentStatus, Job

# While there is work, an idle agent asks often: the next run of an experiment begins within half a second.
POLL_BUSY_S = 0.5
POLL_PENDING_S = 3.0
POLL_DISABLED_S = 10.0
MESSAGES = {
    AgentStatus.PENDING: "waits for approval by an operator on the agents page",
    AgentStatus.DISABLED: "an operator has disabled this agent on the agents page",
    AgentStatus.APPROVED: "",
}


@endpoint
def register(request: HttpRequest, body: Body) -> Registered:
    check_protocol(body)
    try:
        agent, secret = registry.register(message=check(Registration, body))
    except registry.TooManyPending:
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
    registry.update(agent, poll=check(Poll, body))
    works = agent.status == AgentStatus.APPROVED
    job = life.assigned_to(agent) if works else None
    observation = observing.waiting_for(agent) if works and agent.observations else None
    answer: PollAnswer = {
        "status": cast(Literal["pending", "approved", "disabled"], agent.status),
        "poll_after_s": _tempo_s(agent),
        "job": str(job.pk) if job else None,
        "message": MESSAGES[AgentStatus(agent.status)],
    }
    if observation is not None:
        answer["observe"] = str(observation.pk)
    return answer


def _tempo_s(agent: Agent) -> float:
    if agent.status == AgentStatus.PENDING:
        return POLL_PENDING_S
    if agent.status == AgentStatus.DISABLED:
        return POLL_DISABLED_S
    return POLL_BUSY_S if queued().exists() else POLL_IDLE_S


@endpoint
def claim(request: HttpRequest, body: Body, run_id: str) -> Claimed:
    agent = approved(agent_of(request))
    try:
        return life.claim(agent=agent, run_id=as_uuid(run_id))
    except Job.DoesNotExist:
        raise Refusal(404, "no such run") from None
    except life.NotAssigned:
        raise Refusal(409, "the run is not assigned to this agent (any more)") from None


@endpoint
def heartbeat(request: HttpRequest, body: Body, run_id: str) -> Lease:
    job = job_of(request, run_id)
    _touch(job)
    try:
        return life.heartbeat(job)
    except life.JobClosed:
        raise Refusal(409, "the job has ended") from None


@endpoint
def batch(request: HttpRequest, body: Body, run_id: str) -> Ack:
    job = job_of(request, run_id)
    message = check(Batch, body)
    if message["seq"] < 1:
        raise BadMessage("seq", "batches are numbered from 1")
    _touch(job)
    try:
        return deliver.apply(run_id=job.pk, batch=message)
    except deliver.OutOfSequence as error:
        raise Refusal(409, str(error), expected=error.expected) from error
    except life.JobClosed:
        raise Refusal(409, "the job has ended") from None
    except deliver.BadItem as error:
        raise BadMessage(error.field, str(error)) from error


def _touch(job: Job) -> None:
    if job.agent is not None:
        registry.touch(job.agent)
