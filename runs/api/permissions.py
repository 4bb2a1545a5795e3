from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from runs.access.rules import may_contribute, may_operate
from runs.models import ApiToken, User

if TYPE_CHECKING:
    # The framework imports this module while it builds APIView.
    from rest_framework.views import APIView


class PublicReadScopedWrite(BasePermission):
    """Reading is public where the setting says so. Writing needs a contributor, by login or by a token of the view's
    `required_scope`: a login may do what its person may, a token only what its scopes say."""

    message = "This needs a token with the right scope, or a login with the role contributor or higher."
    may_write = staticmethod(may_contribute)

    def has_permission(self, request: Request, view: APIView) -> bool:
        if request.method in SAFE_METHODS:
            return settings.PUBLIC_READ or isinstance(request.user, User)
        if not hasattr(view, str(request.method).lower()):
            # A method that the view does not have answers 405, whoever asks.
            return True
        token = request.auth if isinstance(request.auth, ApiToken) else None
        in_scope = token is None or getattr(view, "required_scope", None) in token.scopes
        return in_scope and self.may_write(request.user)


class OperatorWithScope(PublicReadScopedWrite):
    """Scheduling and agents need an operator: logged in, or by a token of theirs with the view's `required_scope`."""

    message = "This needs a token with the right scope of an operator, or an operator's login."
    may_write = staticmethod(may_operate)
