from __future__ import annotations

from django.contrib.auth.models import AnonymousUser
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS
from rest_framework.request import Request

from runs.models import ApiToken, User, digest_secret

KEYWORD = "Bearer"
# What a token needs to read as its owner. Without it, it reads what a stranger reads.
READING_SCOPES = ("read",)


class TokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer bst_…`: the person whose token it is, and the token as `request.auth`.

    A view with `reading_scopes` lets tokens with one of these read there too.
    """

    def authenticate(self, request: Request) -> tuple[User | AnonymousUser, ApiToken] | None:
        secret = bearer_of(get_authorization_header(request).decode("latin-1"))
        if secret is None:
            return None
        token = live_token(secret)
        if request.method in SAFE_METHODS:
            # Reading writes nothing, not even when the token was used last.
            view = (request.parser_context or {}).get("view")
            may_read = not set(token.scopes).isdisjoint(getattr(view, "reading_scopes", READING_SCOPES))
            return (token.owner if may_read else AnonymousUser()), token
        ApiToken.objects.filter(pk=token.pk).update(last_used_at=timezone.now())
        return token.owner, token

    def authenticate_header(self, request: Request) -> str:
        return KEYWORD


def bearer_of(header: str) -> str | None:
    """The secret of an Authorization header; None where it is of another kind or missing."""
    scheme, _, secret = header.strip().partition(" ")
    return secret.strip() if scheme.lower() == KEYWORD.lower() else None


def live_token(secret: str) -> ApiToken:
    """The token with this secret. Raises AuthenticationFailed saying what is wrong: who asks holds the secret."""
    token = ApiToken.objects.select_related("owner").filter(digest=digest_secret(secret)).first()
    if token is None:
        raise AuthenticationFailed("This token is not known here. Tokens are made on the account page.")
    if token.revoked_at is not None:
        raise AuthenticationFailed(f"This token was revoked on {token.revoked_at:%Y-%m-%d}.")
    if token.expires_at is not None and token.expires_at <= timezone.now():
        expired = f"This token expired on {token.expires_at:%Y-%m-%d}."
        raise AuthenticationFailed(f"{expired} Make a new one on the account page.")
    if not token.owner.is_active:
        raise AuthenticationFailed("The account of this token is not active.")
    return token
