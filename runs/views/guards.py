"""Guards of pages: who is not logged in is sent to the login, whose role does not allow it gets 403 with the reason."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec, cast
from urllib.parse import urlsplit
from uuid import UUID

from django.conf import settings
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.http.response import HttpResponseBase
from django.utils.http import url_has_allowed_host_and_scheme
from rest_framework.exceptions import AuthenticationFailed

from runs.access.rules import may_contribute, may_manage_people, may_operate
from runs.api.permissions import KEYWORD, bearer_of, live_token
from runs.models import User
from runs.models.visible import Person

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]
FileView = Callable[Concatenate[HttpRequest, P], HttpResponseBase]


class PersonRequest(HttpRequest):
    """What a view behind one of the guards below is given."""

    user: User


PersonView = Callable[Concatenate[PersonRequest, P], HttpResponse]


def _guard(view: PersonView[P], allowed: Callable[[Person], bool], refusal: str) -> View[P]:
    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            reading = request.method in ("GET", "HEAD")
            return redirect_to_login(request.get_full_path() if reading else page_before(request))
        if not allowed(request.user):
            raise PermissionDenied(refusal)
        return view(cast(PersonRequest, request), *args, **kwargs)

    return guarded


def person_required(view: PersonView[P]) -> View[P]:
    return _guard(view, lambda user: True, "")


def contributor_required(view: PersonView[P]) -> View[P]:
    return _guard(view, may_contribute, "Only contributors, operators and administrators may do this.")


def operator_required(view: PersonView[P]) -> View[P]:
    return _guard(view, may_operate, "Only operators and administrators may do this.")


def administrator_required(view: PersonView[P]) -> View[P]:
    return _guard(view, may_manage_people, "Only administrators may do this.")


def token_may_read(view: FileView[P]) -> FileView[P]:
    """For files that programs fetch: `Authorization: Bearer …` with the scope read stands for its owner.

    The middleware of a server that is closed to strangers knows such a view by its attribute.
    """

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponseBase:
        secret = bearer_of(request.headers.get("Authorization", ""))
        if secret is not None:
            try:
                token = live_token(secret)
            except AuthenticationFailed as error:
                return JsonResponse({"detail": str(error.detail)}, status=401, headers={"WWW-Authenticate": KEYWORD})
            if "read" in token.scopes:
                request.user = token.owner
            elif not settings.PUBLIC_READ:
                return JsonResponse({"detail": "This token has not the scope read."}, status=403)
        return view(request, *args, **kwargs)

    guarded.token_may_read = True  # type: ignore[attr-defined]
    return guarded


def page_before(request: HttpRequest, default: str = "/") -> str:
    """Path of the page whose form was sent, for the way back; `default` when it is not one of ours."""
    return own_path(request, request.headers.get("Referer", ""), default)


def own_path(request: HttpRequest, address: str, default: str = "/") -> str:
    """Path and query of an address of this site; `default` for any other, also for one that is another's as a path."""
    if not url_has_allowed_host_and_scheme(address, {request.get_host()}, require_https=request.is_secure()):
        return default
    parts = urlsplit(address)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    # "//elsewhere/" is a path here and a host to a browser that is led to it.
    return path if path.startswith("/") and url_has_allowed_host_and_scheme(path, None) else default


def as_uuid(text: str) -> UUID | None:
    """None is the id of no row."""
    try:
        return UUID(text)
    except ValueError:
        return None
