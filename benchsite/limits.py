"""Who asks, how much a stranger may ask, and how large the body of a request may be.

How often one address may ask is counted by each web process for itself. Behind a proxy the address is told by a header,
from the proxies of TRUSTED_PROXIES only. Where a proxy stands before the site (BEHIND_TLS) and is not named there, all
people have one address: nothing is limited by it then, names still are (runs/access/backoff.py).

Only routes that take files or documents take large bodies, and only from whoever shows a token or a session. The web
server reads a body to its end before it is asked here; it refuses one that is too large for every route by itself.
"""

from __future__ import annotations

import ipaddress
import math
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve

from benchsite.middleware import GetResponse, refusal
from runs.api.permissions import bearer_of
from runs.imports.sent import MAX_TOTAL_BYTES
from runs.publications.folder import MAX_ZIP_BYTES
from runs.results.bundle import MAX_TOTAL_BYTES as MAX_BUNDLE_BYTES

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


# Bodies

MB = 1024 * 1024
USUAL_BYTES = 1 * MB
REGISTRATION_BYTES = 320 * 1024
AGENT_BYTES = 16 * MB
# Boundaries and the other fields of a form.
FORM_BYTES = 1 * MB
DOCUMENT_BYTES: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
LIMITS_BYTES = {
    **dict.fromkeys(("imports", "api-imports"), max(MAX_TOTAL_BYTES, settings.IMPORT_STREAMED_MB * MB) + FORM_BYTES),
    **dict.fromkeys(("import-bundle", "api-bundles"), MAX_BUNDLE_BYTES + FORM_BYTES),
    **dict.fromkeys(("publication-import", "api-publications"), MAX_ZIP_BYTES + FORM_BYTES),
    **dict.fromkeys(("api-results", "api-configs", "config-new", "config-edit", "config-correct"), DOCUMENT_BYTES),
    **dict.fromkeys(("agent-batch", "observation-batch"), AGENT_BYTES),
}

LARGEST_BYTES = max(LIMITS_BYTES.values())


def limit_bytes(path: str, *, known: bool) -> int:
    """`known`: whether the request shows a token or a session."""
    try:
        route = resolve(path).url_name or ""
    except Resolver404:
        return USUAL_BYTES
    if route == "agent-register":
        return REGISTRATION_BYTES
    return LIMITS_BYTES.get(route, USUAL_BYTES) if known else USUAL_BYTES


def body_limit(get_response: GetResponse) -> GetResponse:
    """Answers 413 in words before anything of ours reads the body."""

    def middleware(request: HttpRequest) -> HttpResponse:
        given = request.META.get("CONTENT_LENGTH") or ""
        size_bytes = int(given) if given.isdecimal() else 0
        known = "HTTP_AUTHORIZATION" in request.META or settings.SESSION_COOKIE_NAME in request.COOKIES
        # Most requests are small for every route.
        limit = limit_bytes(request.path_info, known=known) if size_bytes > REGISTRATION_BYTES else REGISTRATION_BYTES
        if size_bytes <= limit:
            return get_response(request)
        words = f"This request sends {in_words(size_bytes)}; this address takes at most {in_words(limit)}"
        return refusal(request, 413, words + ("." if known else " from who shows neither a login nor a token."))

    return middleware


def in_words(size_bytes: int) -> str:
    return f"{size_bytes / MB:,.0f} MB" if size_bytes >= MB else f"{size_bytes / 1024:,.0f} kB"
