"""Each request has an id, is counted, and leaves a line in the log: who, from where, what, how it ended, how long.

The line has neither the query nor a body: secrets stand there. A token is told by its name and beginning.
"""

from __future__ import annotations

import logging
import re
import time
import uuid
from urllib.parse import quote

from django.http import HttpRequest, HttpResponse
from prometheus_client import Counter, Histogram

from agents.models import Agent
from benchsite.log import current_request
from benchsite.middleware import GetResponse
from runs.models import ApiToken, User

logger = logging.getLogger(__name__)

HEADER = "X-Request-ID"
GIVEN = re.compile(r"[A-Za-z0-9._-]{1,64}")
# Asked every few seconds by machines.
QUIET = ("/healthz", "/readyz", "/metrics")
REQUESTS = Counter("benchsite_requests", "Requests that were answered.", ["route", "method", "status"])
SECONDS = Histogram(
    "benchsite_request_seconds", "Until the answer began.", ["route"], buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30)
)


def observed(get_response: GetResponse) -> GetResponse:
    def middleware(request: HttpRequest) -> HttpResponse:
        given = request.headers.get(HEADER, "")
        request_id = given if GIVEN.fullmatch(given) else uuid.uuid4().hex[:16]
        mark, began = current_request.set(request_id), time.perf_counter()
        try:
            response = get_response(request)
            _note(request, response.status_code, time.perf_counter() - began)
            response.headers[HEADER] = request_id
            return response
        finally:
            current_request.reset(mark)

    return middleware


def _note(request: HttpRequest, status: int, seconds: float) -> None:
    route = (request.resolver_match.url_name if request.resolver_match else None) or "none"
    # A method is whatever somebody sends.
    method = request.method if request.method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE") else "other"
    REQUESTS.labels(route, method, status).inc()
    SECONDS.labels(route).observe(seconds)
    level = logging.DEBUG if request.path in QUIET else logging.INFO
    address, path = request.META.get("REMOTE_ADDR", ""), quote(request.path)[:300]
    logger.log(
        level, "%s %s %d %.0f ms, %s, from %s", method, path, status, 1000 * seconds, who(request), address or "nowhere"
    )


def who(request: HttpRequest) -> str:
    """As far as answering the request has found out: nobody is looked up for the log."""
    auth = getattr(request, "auth", None)
    if isinstance(auth, ApiToken):
        return f"token {auth.name!r} {auth.prefix}… of {auth.owner.username!r}"
    if isinstance(agent := getattr(request, "agent", None), Agent):
        return f"agent {agent.slug}"
    user = getattr(request, "_cached_user", None)
    return f"person {user.username!r}" if isinstance(user, User) else "a stranger"
