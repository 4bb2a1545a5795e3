"""Who asks, and what their token may do."""

from __future__ import annotations

from datetime import datetime

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api.outgoing import Outgoing, answered
from runs.api.permissions import person_of, token_of
from runs.models import SCOPES


class TokenAnswer(Outgoing):
    name: str
    scopes: list[str]
    expires_at: datetime | None


class Me(Outgoing):
    """`user` null is a stranger; `token` null is a login, which may do what its person may."""

    user: str | None
    role: str | None
    token: TokenAnswer | None


class WhoAmI(APIView):
    # Whatever a token may do, it may ask this.
    reading_scopes = SCOPES

    @extend_schema(responses={200: Me})
    def get(self, request: Request) -> Response:
        """Who asks, with which role and which scopes."""
        person, token = person_of(request), token_of(request)
        return answered(
            Me(
                user=person.username if person else None, role=person.role if person else None,
                token=TokenAnswer.of(token) if token else None,
            )
        )  # fmt: skip
