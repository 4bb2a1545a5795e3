from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ObjectDoesNotExist
from django.db import IntegrityError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import resolve_url
from django.utils.http import urlencode
from rest_framework.exceptions import AuthenticationFailed

from benchsite.errors import refusal
from runs import space
from runs.api.permissions import KEYWORD, bearer_of, live_token
from runs.views.guards import own_path

logger = logging.getLogger(__name__)
GetResponse = Callable[[HttpRequest], HttpResponse]

# A form or a base that somebody smuggles into a page leads nowhere else.
POLICY = (
    "default-src 'self'; img-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'self'; "
    "frame-ancestors 'none'"
)
# For charts that other sites show in a frame.
FRAMABLE = POLICY.replace("frame-ancestors 'none'", "frame-ancestors *")

# Open without a login also where PUBLIC_READ is off: health, the login itself, the link to a first password, and what
# asks by itself.
OPEN_ROUTES = frozenset({
    "healthz", "readyz", "login", "logout", "set-password", "may-send", "metrics", "agent-install", "agent-wheel"
})  # fmt: skip
# What brings uploads and runs: refused where the disk has no room for them.
ADDING_ROUTES = frozenset({
    "api-results", "api-imports", "api-import-store", "api-import-read-again", "api-experiments",
    "api-experiment-repeat", "api-bundles",
    "api-parts", "api-part",
    "imports", "import", "import-read-again", "import-bundle", "publication-import", "schedule",
    "article-experiment", "run-repeat", "first-experiment-again",
})  # fmt: skip
RETRY_AFTER_S = 60
# Agents show tokens of their own.
OPEN_PATHS = ("/api/agent/",)


def content_security_policy(get_response: GetResponse) -> GetResponse:
    """Everything a page loads comes from this server; no inline script or style."""

    def middleware(request: HttpRequest) -> HttpResponse:
        response = get_response(request)
        framable = getattr(response, "xframe_options_exempt", False)
        response.headers.setdefault("Content-Security-Policy", FRAMABLE if framable else POLICY)
        return response

    return middleware


class AroundViews:
    """Passes requests on; subclasses look at them just before the view, or at what it raises."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        return self.get_response(request)


class RoomForMore(AroundViews):
    """Where the disk has no room, what would begin something new is refused before its body is read."""

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        match = request.resolver_match
        adds = request.method in ("POST", "PATCH") and match is not None and match.url_name in ADDING_ROUTES
        return no_room(request) if adds and space.shortage() else None

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        if not space.is_full(error):
            return None
        logger.error("no room for %s %s: %s", request.method, request.path, error)
        return no_room(request)


def no_room(request: HttpRequest) -> HttpResponse:
    return refusal(request, 507, space.shortage() or space.FULL, retry_after_s=RETRY_AFTER_S)


class ReadAgain(AroundViews):
    """The queries of a page see different moments: what one of them named may be gone when the next one asks for it.
    Read once more, the page shows what there is; what is missing then, too, is an error. What is sent to a thing that
    is purged meanwhile finds none.
    """

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponse | None:
        match, is_gone = request.resolver_match, isinstance(error, ObjectDoesNotExist)
        reads = match is not None and request.method in ("GET", "HEAD")
        # As SQLite and PostgreSQL say it, at the end of the transaction: nothing of it is stored.
        is_cut_off = isinstance(error, IntegrityError) and "foreign key constraint" in str(error).lower()
        if is_cut_off or (is_gone and not reads):
            logger.warning("%s: what this is about is gone", request.path, exc_info=error)
            return refusal(request, 404, "What this is about was deleted meanwhile.")
        if match is None or not is_gone:
            return None
        logger.info("%s is read again: %s", request.path, error)
        response: HttpResponse = match.func(request, *match.args, **match.kwargs)
        return response


class ClosedReading(AroundViews):
    """Without PUBLIC_READ a stranger sees nothing: pages lead to the login and back, the API answers 401.

    A live token passes here; what it may do is asked where that is known (runs.api.permissions).
    """

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        match = request.resolver_match
        is_open = request.path.startswith(OPEN_PATHS) or (match is not None and match.url_name in OPEN_ROUTES)
        if settings.PUBLIC_READ or is_open or request.user.is_authenticated:
            return None
        secret = bearer_of(request.headers.get("Authorization", ""))
        if request.path.startswith("/api/") or (secret is not None and getattr(view, "token_may_read", False)):
            return _refusal(secret)
        if request.headers.get("HX-Request"):
            # A part of a page whose session has ended: the whole page goes to the login.
            back = urlencode({"next": own_path(request, request.headers.get("HX-Current-URL", ""))})
            return HttpResponse(status=401, headers={"HX-Redirect": f"{resolve_url(settings.LOGIN_URL)}?{back}"})
        return redirect_to_login(request.get_full_path())


def _refusal(secret: str | None) -> HttpResponse | None:
    try:
        if secret is not None:
            live_token(secret)
            return None
        words = "This server shows its results only to people with an account: send a token with the scope read."
    except AuthenticationFailed as error:
        words = str(error.detail)
    return JsonResponse({"detail": words}, status=401, headers={"WWW-Authenticate": KEYWORD})
