"""Who asks, by login or token; what they may read and change: 404 for what they may not see, 403 for the rest."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.utils import timezone
from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.request import Request

from runs.access.rules import may_contribute, may_operate
from runs.models import ApiToken, Run, User, digest_secret
from runs.models.runs import RunQuerySet

if TYPE_CHECKING:
    # The framework imports this module while it builds APIView.
    from rest_framework.views import APIView

KEYWORD = "Bearer"
# What a token needs to read as its owner. Without it, it reads what a stranger reads.
READING_SCOPES = ("read",)
# When it was used last is noted so often: in SQLite each note waits for whoever writes, and then for the disk.
USED_EVERY = timedelta(minutes=1)


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
        now = timezone.now()
        if token.last_used_at is None or token.last_used_at < now - USED_EVERY:
            ApiToken.objects.filter(pk=token.pk).update(last_used_at=now)
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
        token = token_of(request)
        scope = getattr(view, "required_scope", None)
        if token is not None and scope not in token.scopes:
            self.message = f"This token has not the scope {scope}." if scope else self.message
            return False
        return self.may_write(request.user)


class OperatorWithScope(PublicReadScopedWrite):
    """Scheduling and agents need an operator: logged in, or by a token of theirs with the view's `required_scope`."""

    message = "This needs a token with the right scope of an operator, or an operator's login."
    may_write = staticmethod(may_operate)


def readable_runs(request: Request) -> RunQuerySet:
    """Also deleted ones."""
    return Run.objects.readable_by(request.user)


def person_of(request: Request) -> User | None:
    return request.user if isinstance(request.user, User) else None


def token_of(request: Request) -> ApiToken | None:
    return request.auth if isinstance(request.auth, ApiToken) else None
