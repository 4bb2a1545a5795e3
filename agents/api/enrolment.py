"""One-time codes for agents over REST, for whoever sets up benchmark machines by a program."""

from __future__ import annotations

from typing import Any

from django.utils import timezone
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agents.models import CODE_VALID_FOR, EnrolmentCode
from runs.api.permissions import OperatorWithScope
from runs.api.serializers import ErrorSerializer


class EnrolmentCodeSerializer(serializers.Serializer[Any]):
    code = serializers.CharField(help_text="shown this once; good for one agent")
    expires_at = serializers.DateTimeField()


class EnrolmentCodes(APIView):
    permission_classes = [OperatorWithScope]
    required_scope = "agent"

    @extend_schema(
        request=None, responses={201: EnrolmentCodeSerializer, 401: ErrorSerializer, 403: ErrorSerializer}
    )  # fmt: skip
    def post(self, request: Request) -> Response:
        """Make a one-time code: the agent that registers with it is approved at once."""
        expires_at = timezone.now() + CODE_VALID_FOR
        body = {"code": EnrolmentCode.issue(), "expires_at": expires_at}
        return Response(EnrolmentCodeSerializer(body).data, status=201, headers={"Cache-Control": "no-store"})
