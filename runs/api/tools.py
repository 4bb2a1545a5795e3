"""Tools that persons described in YAML, over REST: `benchctl upload --tool FILE` keeps one here."""

from __future__ import annotations

from typing import Any

from benchagent.importers.described import BadDescription
from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.imports import tools
from runs.models import ToolDescription, User
from runs.models.choices import Visibility


class ToolSerializer(serializers.Serializer[Any]):
    id = serializers.UUIDField(read_only=True)
    name = serializers.CharField(read_only=True)
    text = serializers.CharField(max_length=20_000, help_text="the description, YAML")
    example = serializers.CharField(
        max_length=tools.MAX_EXAMPLE_BYTES, trim_whitespace=False, help_text="output that it is tried on"
    )
    visibility = serializers.ChoiceField(choices=Visibility.choices, default=Visibility.PRIVATE)


class Tools(APIView):
    required_scope = "upload"

    @extend_schema(operation_id="tools_list", responses={200: ToolSerializer(many=True)})
    def get(self, request: Request) -> Response:
        """One's own and what others made public."""
        rows = ToolDescription.objects.listed_for(request.user)
        return Response(ToolSerializer(rows, many=True).data)

    @extend_schema(request=ToolSerializer, responses={200: ToolSerializer, 201: ToolSerializer})
    def post(self, request: Request) -> Response:
        """Keep a description of a tool; one of the same name is replaced. It is asked of your files from now on."""
        message = ToolSerializer(data=request.data)
        message.is_valid(raise_exception=True)
        given: dict[str, Any] = message.validated_data
        assert isinstance(request.user, User)  # noqa: S101  # the permission class has seen to it
        try:
            kept, _, is_new = tools.keep(owner=request.user, **given)
        except BadDescription as error:
            raise ValidationError({"text": [str(error)]}) from error
        return Response(ToolSerializer(kept).data, status=201 if is_new else 200)
