"""REST for reservations: times in which an agent, or the whole queue, begins nothing that would not end before."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from agents.api.operators import OperatorView, refusals
from agents.jobs import reservations
from agents.models import Agent, Reservation
from runs.api.outgoing import FIELD_ERRORS, REFUSALS, Outgoing, SlugOf, Username, answered
from runs.incoming.reading import read
from runs.incoming.values import PlannedMoment, Slug, Strict, Text


class ReservationAnswer(Outgoing):
    """`agent` is null for the whole queue; `ends_at` is null until somebody ends it. `words` say all of it."""

    id: UUID
    agent: SlugOf
    begins_at: datetime
    ends_at: datetime | None
    by: Username
    reason: str
    words: str

    @classmethod
    def of(cls, row: Reservation, **values: object) -> ReservationAnswer:
        return super().of(row, words=str(row), **values)


class ReservationList(Outgoing):
    results: list[ReservationAnswer]


class ReservationGiven(Strict):
    """Without a begin from now on, in the place of what stands; without an end until somebody ends it."""

    agent: Annotated[Slug | None, Field(description="Left out: the whole queue.")] = None
    begins_at: PlannedMoment | None = None
    ends_at: PlannedMoment | None = None
    reason: Annotated[str, Text(200, least=0)] = ""


class Reservations(OperatorView):
    required_scope = "agent"

    @extend_schema(operation_id="v1_reservations_list", responses={200: ReservationList})
    def get(self, request: Request) -> Response:
        """What stands and what comes, by its begin."""
        ahead = reservations.Calendar(timezone.now()).ahead
        return answered(ReservationList(results=[ReservationAnswer.of(each) for each in ahead]))

    @extend_schema(request=ReservationGiven, responses={201: ReservationAnswer, 400: FIELD_ERRORS, **REFUSALS})
    def post(self, request: Request) -> Response:
        """Reserve an agent, or the whole queue. Nothing begins that would not end before; what runs goes on."""
        given = read(ReservationGiven, request.data).model_dump()
        slug = given.pop("agent")
        agent = Agent.objects.filter(slug=slug).first() if slug else None
        if slug and agent is None:
            raise ValidationError({"agent": [f"There is no agent {slug}."]})
        with refusals():
            made = reservations.reserve(agent, by=request.user, **given)
        return answered(ReservationAnswer.of(made), 201)


class ReservationDetail(OperatorView):
    required_scope = "agent"

    @extend_schema(request=None, responses={204: None, **REFUSALS})
    def delete(self, request: Request, pk: UUID) -> Response:
        """End a reservation."""
        reservations.end(get_object_or_404(Reservation, pk=pk), by=request.user)
        return Response(status=204)
