"""What went wrong, in words: as JSON for programs, for people as a page that asks no database."""

from __future__ import annotations

import sys

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.template.loader import render_to_string

from runs import space

RETRY_AFTER_S = 5
LOCKED = "The database is busy: something else has held its write lock for too long."
SILENT = "The database does not answer."
AGAIN = f"Try again in {RETRY_AFTER_S} seconds; what was acknowledged is safe."
# The log has the error itself: it may name addresses and people.
UNKNOWN = "Something went wrong on the server; its log says what."
UNREADABLE = "Its address, headers or body are not what they are said to be."
HEADINGS = {400: "This request cannot be read", 500: "Something went wrong"}


# Django's own handlers of these look for a form's token in the body once more: one that cannot be read made it a 500.


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    return _answer(request, 400, UNREADABLE)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "403.html", {"exception": str(exception)}, status=403)


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return render(request, "404.html", status=404)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500, called while the exception is being handled, wherever it was raised.

    A database that is locked or away is no error of the server's code but a state that passes: 503, with the time
    after which to ask again.
    """
    error = sys.exc_info()[1]
    if space.is_full(error):  # outside of a view, as when a login is stored
        return _answer(request, 507, space.shortage() or space.FULL)
    if not isinstance(error, OperationalError | InterfaceError):
        return _answer(request, 500, UNKNOWN)
    words = f"{LOCKED if 'locked' in str(error) else SILENT} {AGAIN}"
    response = _answer(request, 503, words)
    response["Retry-After"] = str(RETRY_AFTER_S)
    return response


def _answer(request: HttpRequest, status: int, words: str) -> HttpResponse:
    if request.path.startswith("/api/"):
        return JsonResponse({"detail": words}, status=status)
    heading = HEADINGS.get(status, "Not available just now")
    return HttpResponse(
        render_to_string("error.html", {"status": status, "heading": heading, "words": words}), status=status
    )
