"""Who asks, how much a stranger may ask, and how large the body of a request may be.

How often one address may ask is counted by each web process for itself. Behind a proxy the address is told by a header,
from the proxies of TRUSTED_PROXIES only. Where a proxy stands before the site (BEHIND_TLS) and is not named there, all
people have one address: nothing is limited by it then, names still are (runs/access/backoff.py).

A body has at most 32 MB, whoever sends it; larger files come in parts (runs/imports/parts.py).
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.urls import Resolver404, resolve
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from rest_framework.exceptions import AuthenticationFailed

from agents.models import Agent, Job, ObserverOrder
from benchsite.errors import refusal
from benchsite.middleware import GetResponse
from runs.api.permissions import bearer_of, live_token
from runs.models import digest_secret

MOST_ADDRESSES = 10_000


def trusted(address: str) -> bool:
    try:
        return any(ipaddress.ip_address(address) in network for network in settings.TRUSTED_PROXIES)
    except ValueError:
        return False


def client_address(get_response: GetResponse) -> GetResponse:
    """REMOTE_ADDR becomes the last address before our proxies; what others say of themselves does not count."""
    header = f"HTTP_{settings.CLIENT_ADDRESS_HEADER.upper().replace('-', '_')}"

    def middleware(request: HttpRequest) -> HttpResponse:
        meta = request.META
        if trusted(meta.get("REMOTE_ADDR", "")):
            for hop in reversed(meta.get(header, "").split(",")):
                try:
                    meta["REMOTE_ADDR"] = str(ipaddress.ip_address(hop.strip()))
                except ValueError:
                    break
                if not trusted(meta["REMOTE_ADDR"]):
                    break
        elif settings.TRUSTED_PROXIES:
            meta.pop("HTTP_X_FORWARDED_PROTO", None)
        return get_response(request)

    return middleware


@dataclass
class Allowance:
    """`burst` at once, then `per_s`; by address, of IPv6 by the network of a household."""

    burst: float
    per_s: float
    _spent: OrderedDict[str, tuple[float, float]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def wait_s(self, address: str, now: float | None = None) -> int:
        """0: granted and counted; else the whole seconds after which one more is."""
        now = time.monotonic() if now is None else now
        key = str(ipaddress.ip_network(f"{address}/64", strict=False)) if ":" in address else address
        with self._lock:
            spent, at = self._spent.pop(key, (0.0, now))
            spent = max(0.0, spent - (now - at) * self.per_s)
            over = spent + 1 - self.burst
            self._spent[key] = (spent if over > 0 else spent + 1, now)
            if len(self._spent) > MOST_ADDRESSES:
                self._spent.popitem(last=False)
        return math.ceil(over / self.per_s) if over > 0 else 0


# Checking a password costs a third of a second of CPU; registering writes a row.
PER_ROUTE = {"login": Allowance(30, 1), "agent-register": Allowance(20, 0.2)}
STRANGERS = Allowance(300, 30)


def rate_limit(get_response: GetResponse) -> GetResponse:
    """Answers 429 with Retry-After. Static files come before, who is logged in or shows a token is not counted."""

    def middleware(request: HttpRequest) -> HttpResponse:
        wait_s = _wait_s(request) if settings.RATE_LIMITS else 0
        if not wait_s:
            return get_response(request)
        words = f"Too many requests came from your address. The next one is looked at in {wait_s} s."
        return refusal(request, 429, words, retry_after_s=wait_s)

    return middleware


def _wait_s(request: HttpRequest) -> int:
    if settings.BEHIND_TLS and not settings.TRUSTED_PROXIES:
        return 0
    address = request.META.get("REMOTE_ADDR", "")
    try:
        route = resolve(request.path_info)
    except Resolver404:
        route = None
    if request.method == "POST" and route and route.url_name in PER_ROUTE:
        return PER_ROUTE[route.url_name].wait_s(address)
    # Where tokens are asked for, a wrong one is answered 401 before any work. Elsewhere nobody looks at it.
    asks_token = request.path_info.startswith("/api/") or (route and getattr(route.func, "token_may_read", False))
    if asks_token and bearer_of(request.headers.get("Authorization", "")) is not None:
        return 0
    if request.path_info in ("/healthz", "/readyz"):
        return 0
    return 0 if request.user.is_authenticated else STRANGERS.wait_s(address)


# No request's body is larger. The web server refuses one by itself, unread (benchsite/management/commands/web.py).
BODY_BYTES: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
PARTS = "/api/v1/parts/"


def body_limit(get_response: GetResponse) -> GetResponse:
    """Answers 413 in words, and names the address for larger files, where a web server lets more through than ours."""

    def middleware(request: HttpRequest) -> HttpResponse:
        given = request.META.get("CONTENT_LENGTH") or ""
        if not given.isdecimal() or int(given) <= BODY_BYTES:
            return get_response(request)
        return refusal(
            request, 413, f"This request sends {int(given) / 1024**2:,.0f} MB; a request may have "
            f"{BODY_BYTES // 1024**2} MB. Larger files are sent in parts, to {PARTS}; benchctl and the upload page do "
            "so by themselves.",
        )  # fmt: skip

    return middleware


@require_safe
@never_cache
def may_send(request: HttpRequest) -> HttpResponse:
    """Whether the site knows who asks, so that the front lets a large body through (Caddyfile): a login, a live token
    of a person, the token of an agent or of what it measures.
    """
    secret = bearer_of(request.headers.get("Authorization", ""))
    if secret is None:
        known = request.user.is_authenticated
    else:
        digests = (model.objects.filter(token_digest=digest_secret(secret)) for model in (Agent, Job, ObserverOrder))
        known = bool(secret) and any(found.exists() for found in digests)
    words = "Only who shows a login or a token of this site sends more than 1 MB."
    try:
        if not known and secret is not None:
            live_token(secret)
            known = True
    except AuthenticationFailed as error:
        words = str(error.detail)
    return HttpResponse(status=204) if known else JsonResponse({"detail": words}, status=401)
