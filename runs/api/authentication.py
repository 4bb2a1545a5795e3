from __future__ import annotations

from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from runs.models import ApiToken, User, digest_secret

KEYWORD = "Bearer"


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer bst_…`: the person whose token it is, and the token as `request.auth`."""

    def authenticate(self, request: Request) -> tuple[User, ApiToken] | None:
        scheme, _, secret = get_authorization_header(request).decode("latin-1").strip().partition(" ")
        if scheme.lower() != KEYWORD.lower():
            return None
        tokens = ApiToken.objects.live().select_related("owner")
        token = tokens.filter(digest=digest_secret(secret.strip()), owner__is_active=True).first()
        if token is None:
            raise AuthenticationFailed("This token is unknown, expired or revoked.")
        # Reading writes nothing, not even this.
        if request.method not in SAFE_METHODS:
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=timezone.now())
        return token.owner, token

    def authenticate_header(self, request: Request) -> str:
        return KEYWORD
