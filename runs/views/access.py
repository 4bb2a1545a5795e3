from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Concatenate, ParamSpec

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

P = ParamSpec("P")
View = Callable[Concatenate[HttpRequest, P], HttpResponse]


def contributor_required(view: View[P]) -> View[P]:
    """For forms that change results: a stranger is sent to the login, a viewer gets 403."""

    @wraps(view)
    def guarded(request: HttpRequest, /, *args: P.args, **kwargs: P.kwargs) -> HttpResponse:
        if not request.user.is_authenticated:
            return redirect_to_login("/")
        if not request.user.can_contribute:
            raise PermissionDenied("Only contributors, operators and administrators may do this.")
        return view(request, *args, **kwargs)

    return guarded
