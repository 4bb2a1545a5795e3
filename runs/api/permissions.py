from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib.auth.models import AnonymousUser
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from runs.models import ApiToken, User

if TYPE_CHECKING:
    # The framework imports this module while it builds APIView.
    from rest_framework.views import APIView


class PublicReadScopedWrite(BasePermission):
    """Reading is public. Writing needs a contributor, logged in or with a token of the view's `required_scope`."""

    message = "This needs a token with the right scope, or a login with the role contributor or higher."

    def has_permission(self, request: Request, view: APIView) -> bool:
        if request.method in SAFE_METHODS or not hasattr(view, str(request.method).lower()):
            # A method that the view does not have answers 405, whoever asks.
            return True
        user: User | AnonymousUser = request.user
        if not isinstance(user, User) or not user.can_contribute:
            return False
        if isinstance(request.auth, ApiToken):
            scope: str | None = getattr(view, "required_scope", None)
            return scope is not None and request.auth.allows(scope)
        return True
