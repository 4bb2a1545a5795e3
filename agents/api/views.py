"""The agent protocol: benchagent/protocol describes it, these views speak it: POST, JSON in and out, tokens.

Messages are read by the protocol's TypedDicts, which are their one description.
"""

from __future__ import annotations

import hmac
import random
import time
from collections.abc import Callable
from functools import wraps
from typing import Any, Literal, TypeVar, cast
from uuid import UUID

from benchagent.protocol import (
    CLOCK_HEADER,
    POLL_IDLE_S,
    PROTOCOL_VERSION,
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
from django.core.cache import cache
from django.db.models import Q, QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt
from pydantic import TypeAdapter, ValidationError

from agents import machines
from agents.jobs import errands, life, observers
from agents.jobs.dispatch import queued, take_back_unclaimed
from agents.models import ONLINE_WITHIN, Agent, AgentStatus, Job, ObserverOrder
from agents.refusals import BadMessage, Refusal
from runs.api.permissions import bearer_of
from runs.incoming.reading import messages, parse_json
from runs.incoming.typed import reader_of, storable
from runs.models import digest_secret
from runs.models.choices import RunState

Body = dict[str, Any]
T = TypeVar("T")
Opened = TypeVar("Opened", Job, ObserverOrder)
# While there is work, an idle agent asks often: the next run of an experiment begins within half a second.
POLL_BUSY_S = 0.5
# So many polls all agents make together; how many are online is counted every few seconds.
POLLS_PER_S = 70.0
COUNTED_EVERY_S = 5
# An agent that asks more seldom would be taken for one that is gone.
SLOWEST_S = ONLINE_WITHIN.total_seconds() / 3
POLL_WITHOUT_WORK_S = {AgentStatus.PENDING: 3.0, AgentStatus.DISABLED: 10.0}
MESSAGES = {
    AgentStatus.PENDING: "waits for approval by an operator on the agents page",
    AgentStatus.DISABLED: "an operator has disabled this agent on the agents page",
    AgentStatus.APPROVED: "",
}


def endpoint(view: Callable[..., Any]) -> Callable[..., HttpResponse]:
    """`view(request, body, …)` returns the answer's JSON; agents have no cookies, so there is nothing to forge."""

    @csrf_exempt
    @wraps(view)
    def wrapped(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        received_at = time.time()
        try:
            response = JsonResponse(view(request, _body(request), **kwargs))
        except Refusal as refusal:
            headers = {405: {"Allow": "POST"}, 401: {"WWW-Authenticate": "Bearer"}}.get(refusal.status, {})
            response = JsonResponse(refusal.body, status=refusal.status, headers=headers)
        response[CLOCK_HEADER] = f"{received_at:.6f} {time.time():.6f}"
        return response

    return wrapped


def _body(request: HttpRequest) -> Body:
    if request.method != "POST":
        raise Refusal(405, "only POST")
    try:
        message = parse_json(request.body or b"{}")
    except ValueError as error:  # also for NaN and infinity, which JSON does not have
        raise BadMessage("", f"the body is not JSON: {error}") from error
    if not isinstance(message, dict):
        raise BadMessage("", "the body must be a JSON object")
    return message


def check(kind: Callable[..., T], value: object) -> T:
    """`value` as a message of this TypedDict, with text made storable; unknown fields are left out.

    Raises BadMessage naming the first wrong field.
    """
    reader: TypeAdapter[T] = reader_of(kind)
    try:
        return reader.validate_python(storable(value))
    except ValidationError as error:
        field, (problem, *_) = next(iter(messages(error, reader).items()))
        raise BadMessage("" if field == "detail" else field, problem) from error


def bearer(request: HttpRequest) -> str:
    return bearer_of(request.headers.get("Authorization", "")) or ""


def agent_of(request: HttpRequest) -> Agent:
    agent = Agent.objects.by_token(bearer(request))
    if agent is None:
        raise Refusal(401, "unknown agent token")
    request.agent = agent  # type: ignore[attr-defined]  # for the log (benchsite.requests)
    return agent


def approved(agent: Agent) -> Agent:
    if agent.status != AgentStatus.APPROVED:
        raise Refusal(403, f"agent {agent.name} is not approved")
    return agent


def job_of(request: HttpRequest, run_id: UUID) -> Job:
    """The job whose token came with the request, which is a sign of life of its agent."""
    return _opened(Job.objects.select_related("agent"), request, run_id, "run", "job token")


def order_of(request: HttpRequest, run_id: UUID) -> ObserverOrder:
    """The order whose token came with the request, which is a sign of life of its agent."""
    orders = ObserverOrder.objects.select_related("agent", "job__run")
    return _opened(orders, request, run_id, "observation", "token of an observation")


def _opened(rows: QuerySet[Opened], request: HttpRequest, run_id: UUID, what: str, token: str) -> Opened:
    row = rows.filter(pk=run_id).first()
    if row is None:
        raise Refusal(404, f"no such {what}")
    if not row.token_digest or not hmac.compare_digest(row.token_digest, digest_secret(bearer(request))):
        raise Refusal(401, f"unknown {token}")
    if row.agent is not None:
        machines.touch(row.agent)
    return row


def check_protocol(body: Body) -> None:
    """Before anything else is looked at: another version may have other fields."""
    theirs = body.get("protocol")
    if theirs != PROTOCOL_VERSION:
        raise Refusal(
            426, f"this server speaks version {PROTOCOL_VERSION} of the agent protocol, the agent {theirs!r}: "
            f"install the benchagent that belongs to this server", server=PROTOCOL_VERSION, agent=theirs,
        )  # fmt: skip


# What an agent asks


@endpoint
def register(request: HttpRequest, body: Body) -> Registered:
    check_protocol(body)
    agent, secret = machines.register(message=check(Registration, body))
    return {
        "agent_id": str(agent.pk),
        "token": secret,
        "status": "approved" if agent.status == AgentStatus.APPROVED else "pending",
    }


@endpoint
def poll(request: HttpRequest, body: Body) -> PollAnswer:
    check_protocol(body)
    agent = agent_of(request)
    message = check(Poll, body)
    machines.update(agent, poll=message)
    if "errand" in message:
        errands.record_report(agent, message["errand"])
    status = AgentStatus(agent.status)
    job = order = errand = None
    if body.get("leaving"):
        take_back_unclaimed(of=agent)
    elif status == AgentStatus.APPROVED:
        job = agent.jobs.filter(run__state=RunState.ASSIGNED).order_by("assigned_at").first()
        errand = errands.order_for(agent) if agent.is_asked and not job else None
        if agent.observations:
            waiting = observers.open_orders().filter(agent=agent, claimed_at=None)
            order = waiting.order_by("job__claimed_at").first()
    answer: PollAnswer = {
        "status": cast(Literal["pending", "approved", "disabled"], status.value),
        "poll_after_s": POLL_WITHOUT_WORK_S.get(status) or _tempo_s(agent),
        "job": str(job.pk) if job else None,
        "message": (agent.pause_words if agent.is_held else "") or MESSAGES[status],
    }
    if order is not None:
        answer["observe"] = str(order.pk)
    if errand is not None:
        answer["errand"] = errand
    return answer


def _tempo_s(agent: Agent) -> float:
    """Often while something waits that this agent may get; the more agents, the slower each, so that all are served.

    Somewhat different each time, or agents that began together would always ask together.
    """
    online = cache.get_or_set("agents-online", Agent.objects.online().count, COUNTED_EVERY_S)
    waits = queued().filter(Q(job__requested_agent=None) | Q(job__requested_agent=agent)).exists()
    tempo_s = max(POLL_BUSY_S if waits else POLL_IDLE_S, min((online or 0) / POLLS_PER_S, SLOWEST_S))
    return round(tempo_s * random.uniform(0.9, 1.1), 3) if tempo_s > POLL_IDLE_S else tempo_s  # noqa: S311 no secret


@endpoint
def claim(request: HttpRequest, body: Body, run_id: UUID) -> Claimed:
    agent = approved(agent_of(request))
    try:
        return life.claim(agent=agent, run_id=run_id)
    except Job.DoesNotExist:
        raise Refusal(404, "no such run") from None


@endpoint
def heartbeat(request: HttpRequest, body: Body, run_id: UUID) -> Lease:
    return life.heartbeat(job_of(request, run_id))


@endpoint
def batch(request: HttpRequest, body: Body, run_id: UUID) -> Ack:
    job = job_of(request, run_id)
    return life.apply(run_id=job.pk, batch=check(Batch, body))


# What an agent asks that observes a run of another


@endpoint
def observer_claim(request: HttpRequest, body: Body, run_id: UUID) -> Ordered:
    return observers.claim(agent=approved(agent_of(request)), run_id=run_id)


@endpoint
def observer_heartbeat(request: HttpRequest, body: Body, run_id: UUID) -> Watch:
    return observers.watch(order_of(request, run_id))


@endpoint
def observer_batch(request: HttpRequest, body: Body, run_id: UUID) -> Ack:
    order = order_of(request, run_id)
    return life.apply_observed(run_id=order.pk, batch=check(ObservedBatch, body))
