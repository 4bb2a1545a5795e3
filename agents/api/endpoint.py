"""What every endpoint of the agent protocol shares: POST, JSON in and out, tokens, errors as JSON."""

from __future__ import annotations

import hmac
import logging
import time
import uuid
from collections.abc import Callable
from functools import wraps
from typing import Any

from benchagent.protocol import CLOCK_HEADER, PROTOCOL_VERSION
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.csrf import csrf_exempt

from agents.api.messages import BadMessage, parse
from agents.machines import registry
from agents.models import Agent, AgentStatus, Job, ObserverOrder
from runs.models import digest_secret

logger = logging.getLogger(__name__)
MAX_BODY_BYTES = 16 * 1024 * 1024
Body = dict[str, Any]


class Refusal(Exception):
    """An answer other than 2xx: `detail` says why in words."""

    def __init__(self, status: int, detail: str, **more: Any) -> None:
        super().__init__(detail)
        self.status = status
        self.body = {"detail": detail, **more}


def endpoint(view: Callable[..., Any]) -> Callable[..., HttpResponse]:
    """`view(request, body, …)` returns the answer's JSON; agents have no cookies, so there is nothing to forge."""

    @csrf_exempt
    @wraps(view)
    def wrapped(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        received_at = time.time()
        response = _answer(view, request, **kwargs)
        response[CLOCK_HEADER] = f"{received_at:.6f} {time.time():.6f}"
        return response

    return wrapped


def _answer(view: Callable[..., Any], request: HttpRequest, **kwargs: Any) -> HttpResponse:
    try:
        return JsonResponse(view(request, _body(request), **kwargs))
    except Refusal as refusal:
        return JsonResponse(refusal.body, status=refusal.status, headers=_headers(refusal.status))
    except BadMessage as error:
        return JsonResponse({error.field or "body": [str(error)]}, status=400)


def _headers(status: int) -> dict[str, str]:
    return {405: {"Allow": "POST"}, 401: {"WWW-Authenticate": "Bearer"}}.get(status, {})


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
    agent = registry.by_token(bearer(request))
    if agent is None:
        raise Refusal(401, "unknown agent token")
    return agent


def approved(agent: Agent) -> Agent:
    if agent.status != AgentStatus.APPROVED:
        raise Refusal(403, f"agent {agent.name} is not approved")
    return agent


def job_of(request: HttpRequest, run_id: str) -> Job:
    """The job whose token came with the request."""
    job = Job.objects.select_related("agent").filter(pk=as_uuid(run_id)).first()
    if job is None:
        raise Refusal(404, "no such run")
    if not job.token_digest or not hmac.compare_digest(job.token_digest, digest_secret(bearer(request))):
        raise Refusal(401, "unknown job token")
    return job


def observation_of(request: HttpRequest, run_id: str) -> ObserverOrder:
    """The order whose token came with the request."""
    known = ObserverOrder.objects.select_related("agent", "job__run")
    observation = known.filter(pk=as_uuid(run_id)).first()
    if observation is None:
        raise Refusal(404, "no such observation")
    given = digest_secret(bearer(request))
    if not observation.token_digest or not hmac.compare_digest(observation.token_digest, given):
        raise Refusal(401, "unknown token of an observation")
    return observation


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
