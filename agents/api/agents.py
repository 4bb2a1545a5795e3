"""REST for agents: what they are and offer, their states, codes for new ones."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils import timezone
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agents import machines
from agents.api.operators import OperatorView, refusals
from agents.jobs import reservations
from agents.models import CODE_VALID_FOR, Agent, AgentStatus, EnrolmentCode
from agents.refusals import FieldErrors
from runs.access.rules import may_operate
from runs.answers.answer import Part
from runs.api.outgoing import FIELD_ERRORS, REFUSALS, Error, Outgoing, SlugOf, answered
from runs.incoming.reading import read
from runs.incoming.values import OneOf, PlannedMoment, Strict, Text


class EngineOffered(Part):
    """`reason`: why it cannot be used; empty where it can."""

    dbms: str
    version: str
    connection: str
    available: bool
    reason: str


class AgentAnswer(Outgoing):
    """An agent and its machine. `pause`: until when it is reserved, by whom and why; empty while it is not."""

    slug: str
    url: str
    name: str
    labels: list[str]
    status: AgentStatus
    online: bool
    pause: str
    paused_until: datetime | None
    last_seen_at: datetime | None
    registered_at: datetime
    agent_version: str
    machine: SlugOf
    engines: list[EngineOffered]
    storages: list[str]
    errands: Annotated[
        dict[str, list[str]],
        Field(description="Commands that it may be asked to do, with the names that each takes; none listed: any."),
    ]

    @classmethod
    def of(cls, row: Agent, **values: Any) -> Self:
        """`request` is in `values`."""
        return super().of(
            row, url=values["request"].build_absolute_uri(reverse("agent", args=[row.slug])), online=row.is_online,
            pause=row.pause_words, paused_until=row.reservation.ends_at if row.reservation else None,
            machine=row.hardware, engines=[{"connection": "", **engine} for engine in row.engines],
            storages=[storage["name"] for storage in row.places if not storage["problem"]],
        )  # fmt: skip


class AgentList(Part):
    results: list[AgentAnswer]


class AgentChange(Strict):
    """What is left out stays. `paused` true pauses, also with another reason or end than before; false resumes."""

    name: Annotated[str, Text(200)] | None = None
    labels: list[str] | None = None
    status: Annotated[str, OneOf(("approved", "disabled", "retired"))] | None = None
    paused: bool | None = None
    pause_reason: Annotated[str, Text(200, least=0)] = ""
    paused_until: PlannedMoment | None = None

    def apply(self, agent: Agent, *, by: Any) -> None:
        """Raises FieldErrors."""
        if self.name is not None or self.labels is not None:
            labels = agent.labels if self.labels is None else self.labels
            machines.describe(agent, by=by, name=self.name or agent.name, labels=labels)
        if self.status is not None and self.status != agent.status:
            if agent.status == AgentStatus.RETIRED:
                raise FieldErrors(status="It is retired: a one-time code for it brings it back.")
            {"approved": machines.approve, "disabled": machines.disable, "retired": machines.retire}[self.status](
                agent, by=by
            )
        if self.paused:
            reservations.reserve(agent, by=by, reason=self.pause_reason, ends_at=self.paused_until)
        elif self.paused is False:
            reservations.resume(agent, by=by)


def shown_agents(request: Request) -> QuerySet[Agent]:
    """Who waits for approval is told to those who approve."""
    rows = Agent.objects.select_related("hardware").with_reservations()
    return rows if may_operate(request.user) else rows.exclude(status=AgentStatus.PENDING)


class Agents(APIView):
    @extend_schema(operation_id="v1_agents_list", responses={200: AgentList})
    def get(self, request: Request) -> Response:
        """Every agent, by name."""
        return answered(AgentList(results=[AgentAnswer.of(row, request=request) for row in shown_agents(request)]))


class AgentDetail(OperatorView):
    required_scope = "agent"

    @extend_schema(responses={200: AgentAnswer, 404: Error})
    def get(self, request: Request, slug: str) -> Response:
        """One agent."""
        return answered(AgentAnswer.of(get_object_or_404(shown_agents(request), slug=slug), request=request))

    @extend_schema(request=AgentChange, responses={200: AgentAnswer, 400: FIELD_ERRORS, **REFUSALS})
    def patch(self, request: Request, slug: str) -> Response:
        """Rename, label, approve, disable, retire, pause or resume an agent."""
        agent = get_object_or_404(shown_agents(request), slug=slug)
        with refusals(ends_at="paused_until"):
            read(AgentChange, request.data).apply(agent, by=request.user)
        return self.get(request, slug)


# For whoever sets up benchmark machines by a program


class EnrolmentCodeMade(Part):
    code: str = Field(description="Shown this once; good for one agent.")
    expires_at: datetime


class EnrolmentCodes(OperatorView):
    required_scope = "agent"

    @extend_schema(request=None, responses={201: EnrolmentCodeMade, 401: Error, 403: Error})
    def post(self, request: Request) -> Response:
        """Make a one-time code: the agent that registers with it is approved at once."""
        made = EnrolmentCodeMade(code=EnrolmentCode.issue(), expires_at=timezone.now() + CODE_VALID_FOR)
        return answered(made, 201, {"Cache-Control": "no-store"})
