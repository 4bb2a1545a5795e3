"""What went wrong, in words: as JSON for programs, for people as a page."""

from __future__ import annotations

import sys

from django.conf import settings
from django.core.exceptions import TooManyFilesSent
from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.template.loader import render_to_string

from runs import space

RETRY_AFTER_S = 5
LOCKED = "The database is busy: something else has held its write lock for too long."
SILENT = "The database does not answer."
AGAIN = f"Try again in {RETRY_AFTER_S} seconds; what was acknowledged is safe."
# The log has the error itself: it may name addresses and people.
UNKNOWN = "Something went wrong on the server; its log says what."
UNREADABLE = "Its address, headers or body are not what they are said to be."
TOO_MANY_FILES = f"It holds more than {settings.DATA_UPLOAD_MAX_NUMBER_FILES:,} files: send them in several requests."
GONE = "The address may be mistyped, or what was here has gone."
HEADINGS = {
    400: "This request cannot be read", 403: "This is not allowed", 404: "There is no such page",
    413: "Too much at once", 429: "Too many requests", 500: "Something went wrong", 503: "Not available just now",
    507: "There is no room for this",
}  # fmt: skip
# A page that asks nothing: the database may be what went wrong.
ALONE = "error.html"


def refusal(
    request: HttpRequest, status: int, words: str, *, retry_after_s: int = 0, template: str = "refused.html"
) -> HttpResponse:
    if request.path_info.startswith("/api/"):
        response: HttpResponse = JsonResponse({"detail": words}, status=status)
    else:
        context = {"status": status, "heading": HEADINGS[status], "words": words}
        page = render_to_string(template, context, None if template == ALONE else request)
        response = HttpResponse(page, status=status)
    if retry_after_s:
        response["Retry-After"] = str(retry_after_s)
    return response


# Django's own handlers of these look for a form's token in the body once more: one that cannot be read made it a 500.


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    words = TOO_MANY_FILES if isinstance(exception, TooManyFilesSent) else UNREADABLE
    return refusal(request, 400, words, template=ALONE)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    return refusal(request, 403, str(exception) or "Your account may not do this.")


def page_not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    return refusal(request, 404, GONE)


def server_error(request: HttpRequest) -> HttpResponse:
    """Django's handler500, called while the exception is being handled, wherever it was raised.

    A database that is locked or away is no error of the server's code but a state that passes: 503, with the time
    after which to ask again.
    """
    error = sys.exc_info()[1]
    if space.is_full(error):  # outside of a view, as when a login is stored
        return refusal(request, 507, space.shortage() or space.FULL, template=ALONE)
    if not isinstance(error, OperationalError | InterfaceError):
        return refusal(request, 500, UNKNOWN, template=ALONE)
    words = f"{LOCKED if 'locked' in str(error) else SILENT} {AGAIN}"
    return refusal(request, 503, words, retry_after_s=RETRY_AFTER_S, template=ALONE)
