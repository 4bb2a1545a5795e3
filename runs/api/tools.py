"""Tools that persons described in YAML, over REST: `benchctl upload --tool FILE` keeps one here."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from benchagent.importers.described import BadDescription
from drf_spectacular.utils import extend_schema
from pydantic import BaseModel, Field
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api.outgoing import Outgoing, Rows, answered
from runs.imports import tools
from runs.incoming.reading import read
from runs.incoming.values import OneOf, Text
from runs.models import ToolDescription, User
from runs.models.choices import Visibility


class NewTool(BaseModel):
    text: Annotated[str, Text(20_000), Field(description="the description, YAML")]
    example: Annotated[
        str, Field(min_length=1, max_length=tools.MAX_EXAMPLE_BYTES, description="output that it is tried on")
    ]
    visibility: Annotated[str, OneOf(tuple(Visibility.values))] = Visibility.PRIVATE


class Tool(Outgoing):
    id: UUID
    name: str
    text: str
    example: str
    visibility: Visibility


class ToolList(Rows[Tool]):
    """By name."""


class Tools(APIView):
    required_scope = "upload"

    @extend_schema(operation_id="tools_list", responses={200: ToolList})
    def get(self, request: Request) -> Response:
        """One's own and what others made public."""
        rows = ToolDescription.objects.listed_for(request.user)
        return answered(ToolList.of(rows))

    @extend_schema(request=NewTool, responses={200: Tool, 201: Tool})
    def post(self, request: Request) -> Response:
        """Keep a description of a tool; one of the same name is replaced. It is asked of your files from now on."""
        given = read(NewTool, request.data)
        assert isinstance(request.user, User)  # noqa: S101  # the permission class has seen to it
        try:
            kept, _, is_new = tools.keep(owner=request.user, **given.model_dump())
        except BadDescription as error:
            raise ValidationError({"text": [str(error)]}) from error
        return answered(Tool.of(kept), 201 if is_new else 200)
