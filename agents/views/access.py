from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec
from urllib.parse import urlsplit

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.utils.http import url_has_allowed_host_and_scheme

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


def operator_required(view: View[P]) -> View[P]:
    """For forms that change something: a stranger is sent to the login, who may not operate gets 403."""

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_login(page_before(request))
        if not request.user.can_operate:
            raise PermissionDenied("Only operators and administrators may do this.")
        return view(request, *args, **kwargs)

    return guarded


def page_before(request: HttpRequest, default: str = "/") -> str:
    """Path of the page whose form was sent, for the way back; `default` when it is not one of ours."""
    referer = request.headers.get("Referer", "")
    if not url_has_allowed_host_and_scheme(referer, {request.get_host()}, require_https=request.is_secure()):
        return default
    parts = urlsplit(referer)
    return f"{parts.path}?{parts.query}" if parts.query else parts.path or default
