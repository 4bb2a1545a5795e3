"""REST for what is asked of a machine itself, beside runs: engines installed, storages named and measured."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from agents.api.agents import shown_agents
from agents.api.operators import OperatorView, refusals
from agents.jobs import errands
from agents.models import Errand, ErrandState
from runs.access.rules import may_operate
from runs.answers.answer import Part
from runs.api.outgoing import FIELD_ERRORS, REFUSALS, Outgoing, Username, answered
from runs.incoming.reading import read
from runs.incoming.values import Strict, Text

SHOWN = 50


class ErrandGiven(Strict):
    """`command` is one of the agent's `errands`, `words` what stands after it: a name, of a new storage its
    folder; nothing after `update`."""

    command: Annotated[str, Text(40)]
    words: Annotated[list[Annotated[str, Text(500)]], Field(max_length=2)] = []


class Undo(Part):
    command: str
    words: list[str]


class ErrandAnswer(Outgoing):
    """`log`: the end of what the command said. `undo`: what to ask for to have it undone; null where nothing does."""

    id: UUID
    command: str
    words: list[str]
    state: ErrandState
    by: Username
    asked_at: datetime
    begun_at: datetime | None
    ended_at: datetime | None
    log: str
    undo: Undo | None

    @classmethod
    def of(cls, row: Errand, **values: object) -> ErrandAnswer:
        undo = errands.undo_of(row)
        return super().of(row, undo=Undo(command=undo[0], words=undo[1]) if undo else None, **values)


class ErrandList(Outgoing):
    results: list[ErrandAnswer]


def _asked(request: Request, slug: str) -> QuerySet[Errand]:
    """What was asked of an agent, for those who may ask."""
    agent = get_object_or_404(shown_agents(request), slug=slug)
    rows = agent.asked.select_related("agent", "by")
    return rows if may_operate(request.user) else rows.none()


class Errands(OperatorView):
    required_scope = "agent"

    @extend_schema(operation_id="v1_agents_errands_list", responses={200: ErrandList, **REFUSALS})
    def get(self, request: Request, slug: str) -> Response:
        """What was asked of an agent, newest first, for operators."""
        rows = _asked(request, slug)[:SHOWN]
        return answered(ErrandList(results=[ErrandAnswer.of(errand) for errand in rows]))

    @extend_schema(request=ErrandGiven, responses={201: ErrandAnswer, 400: FIELD_ERRORS, **REFUSALS})
    def post(self, request: Request, slug: str) -> Response:
        """Have an agent do one of its `errands` once it has no run: install an engine, measure a storage, …"""
        agent, given = get_object_or_404(shown_agents(request), slug=slug), read(ErrandGiven, request.data)
        with refusals():
            made = errands.ask(agent, by=request.user, command=given.command, words=given.words)
        return answered(ErrandAnswer.of(made), 201)


class ErrandDetail(OperatorView):
    required_scope = "agent"

    @extend_schema(responses={200: ErrandAnswer, **REFUSALS})
    def get(self, request: Request, slug: str, pk: UUID) -> Response:
        """One errand with its log."""
        return answered(ErrandAnswer.of(get_object_or_404(_asked(request, slug), pk=pk)))

    @extend_schema(request=None, responses={204: None, **REFUSALS})
    def delete(self, request: Request, slug: str, pk: UUID) -> Response:
        """Cancel an errand; one that has begun is stopped."""
        errands.cancel(get_object_or_404(_asked(request, slug), pk=pk))
        return Response(status=204)
