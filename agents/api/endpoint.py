"""What every endpoint of the agent protocol shares: POST, JSON in and out, tokens, errors as JSON."""

from __future__ import annotations

import hmac
import logging
import time
import uuid
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

from benchagent.protocol import CLOCK_HEADER, PROTOCOL_VERSION
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from agents import machines
from agents.api.messages import parse
from agents.jobs.refusals import Refusal
from agents.models import Agent, AgentStatus, Job, ObserverOrder
from runs.models import digest_secret

logger = logging.getLogger(__name__)
MAX_BODY_BYTES = 16 * 1024 * 1024
Body = dict[str, Any]
Opened = TypeVar("Opened", Job, ObserverOrder)


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
    length = request.headers.get("Content-Length", "")
    if length.isdigit() and int(length) > MAX_BODY_BYTES:
        raise Refusal(413, f"the body is larger than {MAX_BODY_BYTES // 1024 // 1024} MB")
    return parse(request.body)


def bearer(request: HttpRequest) -> str:
    scheme, _, secret = request.headers.get("Authorization", "").partition(" ")
    return secret.strip() if scheme.lower() == "bearer" else ""


def agent_of(request: HttpRequest) -> Agent:
    agent = machines.by_token(bearer(request))
    if agent is None:
        raise Refusal(401, "unknown agent token")
    return agent


def approved(agent: Agent) -> Agent:
    if agent.status != AgentStatus.APPROVED:
        raise Refusal(403, f"agent {agent.name} is not approved")
    return agent


def job_of(request: HttpRequest, run_id: str) -> Job:
    """The job whose token came with the request, which is a sign of life of its agent."""
    return _opened(Job.objects.select_related("agent"), request, run_id, "run", "job token")


def order_of(request: HttpRequest, run_id: str) -> ObserverOrder:
    """The order whose token came with the request, which is a sign of life of its agent."""
    orders = ObserverOrder.objects.select_related("agent", "job__run")
    return _opened(orders, request, run_id, "observation", "token of an observation")


def _opened(rows: QuerySet[Opened], request: HttpRequest, run_id: str, what: str, token: str) -> Opened:
    row = rows.filter(pk=as_uuid(run_id)).first()
    if row is None:
        raise Refusal(404, f"no such {what}")
    if not row.token_digest or not hmac.compare_digest(row.token_digest, digest_secret(bearer(request))):
        raise Refusal(401, f"unknown {token}")
    if row.agent is not None:
        machines.touch(row.agent)
    return row


def as_uuid(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise Refusal(404, "no such run") from None


def check_protocol(body: Body) -> None:
    """Before anything else is looked at: another version may have other fields."""
    theirs = body.get("protocol")
    if theirs != PROTOCOL_VERSION:
        raise Refusal(
            426, f"this server speaks version {PROTOCOL_VERSION} of the agent protocol, the agent {theirs!r}: "
            f"install the benchagent that belongs to this server", server=PROTOCOL_VERSION, agent=theirs,
        )  # fmt: skip
