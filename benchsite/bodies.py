"""How large the body of a request may be, by route: asked by the web worker before it keeps anything of it.

Only routes that take files or documents take much, and only from whoever shows a token or a session. Whether it is a
good one is asked by the view; until then `benchsite.web.SPOOL_BYTES` bounds what all of them send.
"""

from __future__ import annotations

from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.urls import Resolver404, resolve

from benchsite.middleware import no_room
from runs import space
from runs.imports.sent import MAX_TOTAL_BYTES
from runs.publications.folder import MAX_ZIP_BYTES
from runs.results.bundle import MAX_TOTAL_BYTES as MAX_BUNDLE_BYTES

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


def limit_bytes(path: str, *, known: bool) -> int:
    """`known`: whether the request shows a token or a session."""
    try:
        route = resolve(path).url_name or ""
    except Resolver404:
        return USUAL_BYTES
    if route == "agent-register":
        return REGISTRATION_BYTES
    return LIMITS_BYTES.get(route, USUAL_BYTES) if known else USUAL_BYTES


def body_limit(get_response: Callable[[HttpRequest], HttpResponse]) -> Callable[[HttpRequest], HttpResponse]:
    """Answers 413, or 507 where the disk has no room for it, in words before anything reads the body."""

    def middleware(request: HttpRequest) -> HttpResponse:
        if request.META.get(space.LACKS_ROOM):
            return no_room(request, space.shortage() or space.FULL)
        given = request.META.get("CONTENT_LENGTH") or ""
        size_bytes = int(given) if given.isdecimal() else 0
        known = "HTTP_AUTHORIZATION" in request.META or settings.SESSION_COOKIE_NAME in request.COOKIES
        # Most requests are small for every route.
        limit = limit_bytes(request.path_info, known=known) if size_bytes > REGISTRATION_BYTES else REGISTRATION_BYTES
        if size_bytes <= limit:
            return get_response(request)
        words = f"This request sends {in_words(size_bytes)}; this address takes at most {in_words(limit)}"
        words += "." if known else " from who shows neither a login nor a token."
        if request.path_info.startswith("/api/"):
            return JsonResponse({"detail": words}, status=413)
        return render(request, "413.html", {"words": words}, status=413)

    return middleware


def in_words(size_bytes: int) -> str:
    return f"{size_bytes / MB:,.0f} MB" if size_bytes >= MB else f"{size_bytes / 1024:,.0f} kB"
