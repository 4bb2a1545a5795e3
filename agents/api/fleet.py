"""REST for a lab: its agents, what waits and runs, its experiments and schedules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Annotated, Any, Literal, cast
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.exceptions import ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agents import machines
from agents.jobs import life, queue
from agents.models import Agent, AgentStatus, Schedule
from agents.plans import timetable
from agents.plans.plan import NAME_LIMIT, PlanError
from runs.access.rules import may_operate
from runs.answers.answer import Part
from runs.api.parsers import StrictJSONParser
from runs.api.permissions import OperatorWithScope
from runs.api.serializers import FIELD_ERRORS, ErrorSerializer
from runs.incoming.reading import read
from runs.incoming.values import Moment, OneOf, Slug, Strict, Text
from runs.models import Experiment, User
from runs.models.choices import OPEN_STATES

REFUSALS = {401: ErrorSerializer, 403: ErrorSerializer, 404: ErrorSerializer}


class EngineOffered(Part):
    """`reason`: why it cannot be used; empty where it can."""

    dbms: str
    version: str
    connection: str
    available: bool
    reason: str


class AgentTold(Part):
    """An agent and its machine. `pause`: until when and why it is paused; empty while it is not."""

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
    machine: str | None
    engines: list[EngineOffered]
    storages: list[str]

    @classmethod
    def of(cls, agent: Agent, request: Request) -> AgentTold:
        return cls(
            **{name: getattr(agent, name) for name in ("slug", "name", "labels", "last_seen_at", "registered_at")},
            url=request.build_absolute_uri(reverse("agent", args=[agent.slug])),
            status=AgentStatus(agent.status),
            online=agent.is_online,
            pause=agent.pause_words,
            paused_until=agent.paused_until if agent.is_paused else None,
            agent_version=agent.agent_version,
            machine=agent.hardware.slug if agent.hardware else None,
            engines=[
                EngineOffered(
                    connection=engine.get("connection", ""),
                    **{name: engine[name] for name in ("dbms", "version", "available", "reason")},
                )
                for engine in agent.engines
            ],
            storages=[storage["name"] for storage in agent.places if not storage["problem"]],
        )


class AgentList(Part):
    results: list[AgentTold]


class AgentChange(Strict):
    """What is left out stays. `paused` true pauses, also with another reason or end than before; false resumes."""

    name: Annotated[str, Text(200)] | None = None
    labels: list[str] | None = None
    status: Annotated[str, OneOf(("approved", "disabled", "retired"))] | None = None
    paused: bool | None = None
    pause_reason: Annotated[str, Text(200, least=0)] = ""
    paused_until: Moment | None = None

    def apply(self, agent: Agent, *, by: Any) -> None:
        """Raises machines.Wrong."""
        if self.name is not None or self.labels is not None:
            labels = agent.labels if self.labels is None else self.labels
            machines.describe(agent, by=by, name=self.name or agent.name, labels=labels)
        if self.status is not None and self.status != agent.status:
            if agent.status == AgentStatus.RETIRED:
                raise machines.Wrong("status", "It is retired: a one-time code for it brings it back.")
            {"approved": machines.approve, "disabled": machines.disable, "retired": machines.retire}[self.status](
                agent, by=by
            )
        if self.paused:
            machines.pause(agent, by=by, reason=self.pause_reason, until=self.paused_until)
        elif self.paused is False:
            machines.resume(agent, by=by)


def _agents(request: Request) -> QuerySet[Agent]:
    """Who waits for approval is told to those who approve."""
    rows = Agent.objects.select_related("hardware", "paused_by")
    return rows if may_operate(request.user) else rows.exclude(status=AgentStatus.PENDING)


class Agents(APIView):
    @extend_schema(operation_id="v1_agents_list", responses={200: AgentList})
    def get(self, request: Request) -> Response:
        """Every agent, by name."""
        agents = AgentList(results=[AgentTold.of(agent, request) for agent in _agents(request)])
        return Response(agents.model_dump(mode="json"))


class AgentDetail(APIView):
    permission_classes = [OperatorWithScope]
    required_scope = "agent"
    parser_classes = [StrictJSONParser]

    @extend_schema(responses={200: AgentTold, 404: ErrorSerializer})
    def get(self, request: Request, slug: str) -> Response:
        """One agent."""
        return Response(AgentTold.of(get_object_or_404(_agents(request), slug=slug), request).model_dump(mode="json"))

    @extend_schema(request=AgentChange, responses={200: AgentTold, 400: FIELD_ERRORS, **REFUSALS})
    def patch(self, request: Request, slug: str) -> Response:
        """Rename, label, approve, disable, retire, pause or resume an agent."""
        agent = get_object_or_404(_agents(request), slug=slug)
        try:
            read(AgentChange, request.data).apply(agent, by=request.user)
        except machines.Wrong as error:
            raise ValidationError({error.field: [str(error)]}) from error
        return Response(AgentTold.of(agent, request).model_dump(mode="json"))


class QueueEntry(Part):
    """Runs of one experiment on one machine, one after the other. Times are expected; null: not as things stand.

    `experiment` and `run` (the first of them) are null where whoever asks may not see them.
    """

    experiment: str | None
    run: UUID | None
    runs: int
    agent: str | None
    state: Literal["running", "waiting"]
    begins_at: datetime | None
    ends_at: datetime | None
    reason: str = Field(description="Why it waits, or that nobody hears of it.")


class QueueList(Part):
    results: list[QueueEntry]


class Queue(APIView):
    @extend_schema(operation_id="v1_queue_list", responses={200: QueueList})
    def get(self, request: Request) -> Response:
        """What runs, then what waits, in the order in which it begins."""
        entries = [
            QueueEntry(
                experiment=entry.experiment.slug if entry.experiment else None,
                run=entry.run.pk if entry.run else None,
                runs=entry.runs,
                agent=entry.agent.slug if entry.agent else None,
                state="running" if entry.is_running else "waiting",
                begins_at=entry.begins_at,
                ends_at=entry.ends_at,
                reason=entry.reason,
            )
            for entry in queue.entries(request.user)
        ]
        return Response(QueueList(results=entries).model_dump(mode="json"))


# Experiments


class ExperimentTold(Part):
    """`states`: how many of its runs are in each state."""

    slug: str
    url: str
    name: str
    note: str
    visibility: str
    created_at: datetime
    is_open: bool
    states: dict[str, int]
    plan: dict[str, Any]

    @classmethod
    def of(cls, experiment: Experiment, request: Request) -> ExperimentTold:
        states = Counter(run.state for run in experiment.runs.all())
        return cls(
            **{
                name: getattr(experiment, name) for name in ("slug", "name", "note", "visibility", "created_at", "plan")
            },
            url=request.build_absolute_uri(experiment.get_absolute_url()),
            is_open=any(states[state] for state in OPEN_STATES),
            states=dict(states),
        )


class ExperimentPage(Part):
    count: int
    next: str | None
    previous: str | None
    results: list[ExperimentTold]


class CancelledRuns(Part):
    cancelled: int


class ExperimentPages(PageNumberPagination):
    page_size = 50


def listed_experiments(request: Request) -> Response:
    """A page of the experiments that whoever asks sees in lists, newest first."""
    rows = Experiment.objects.listed_for(request.user).prefetch_related("runs")
    pages = ExperimentPages()
    page = pages.paginate_queryset(rows, request) or []
    return pages.get_paginated_response([ExperimentTold.of(row, request).model_dump(mode="json") for row in page])


class ExperimentDetail(APIView):
    @extend_schema(responses={200: ExperimentTold, 404: ErrorSerializer})
    def get(self, request: Request, slug: str) -> Response:
        """One experiment: its plan, and how far it has come."""
        experiment = get_object_or_404(Experiment.objects.readable_by(request.user), slug=slug)
        return Response(ExperimentTold.of(experiment, request).model_dump(mode="json"))


class ExperimentCancel(APIView):
    permission_classes = [OperatorWithScope]
    required_scope = "schedule"
    parser_classes = [StrictJSONParser]

    @extend_schema(request=None, responses={202: CancelledRuns, **REFUSALS})
    def post(self, request: Request, slug: str) -> Response:
        """Cancel what is left of an experiment. What was measured is kept."""
        experiment = get_object_or_404(Experiment.objects.readable_by(request.user), slug=slug)
        return Response(CancelledRuns(cancelled=life.cancel_experiment(experiment)).model_dump(), status=202)


# Schedules


class OccurrenceTold(Part):
    """A time that has come. `note`: why nothing was started."""

    due_at: datetime
    experiment: str | None
    note: str


class ScheduleTold(Part):
    """A plan that becomes an experiment at set times; its next five times and the last ten that have come."""

    slug: str
    url: str
    name: str
    cron: str
    timezone: str
    ends_at: datetime | None
    paused: bool
    next_times: list[datetime]
    occurrences: list[OccurrenceTold]

    @classmethod
    def of(cls, schedule: Schedule, request: Request) -> ScheduleTold:
        return cls(
            **{name: getattr(schedule, name) for name in ("slug", "name", "cron", "ends_at")},
            url=request.build_absolute_uri(reverse("schedule-one", args=[schedule.slug])),
            timezone=schedule.zone,
            paused=schedule.is_paused,
            next_times=timetable.next_times(schedule),
            occurrences=[
                OccurrenceTold(
                    due_at=each.due_at, experiment=each.experiment.slug if each.experiment else None, note=each.note
                )
                for each in schedule.occurrences.select_related("experiment")[:10]
            ],
        )


class ScheduleList(Part):
    results: list[ScheduleTold]


class ScheduleTimes(Strict):
    """`cron`: five fields, read in the time zone; empty: once, `at` that time."""

    name: Annotated[str, Text(NAME_LIMIT - 20)]
    cron: Annotated[str, Text(100, least=0)] = ""
    timezone: Annotated[str, Text(64)] = "UTC"
    at: Moment | None = None
    ends_at: Moment | None = None


class ScheduleGiven(ScheduleTimes):
    experiment: Annotated[Slug, Field(description="the experiment whose plan is run again")]


class SchedulePaused(Strict):
    paused: bool


def _schedules(request: Request) -> QuerySet[Schedule]:
    return Schedule.objects.all() if may_operate(request.user) else Schedule.objects.none()


class Schedules(APIView):
    permission_classes = [OperatorWithScope]
    required_scope = "schedule"
    parser_classes = [StrictJSONParser]

    @extend_schema(operation_id="v1_schedules_list", responses={200: ScheduleList})
    def get(self, request: Request) -> Response:
        """Every schedule, for operators."""
        schedules = ScheduleList(results=[ScheduleTold.of(row, request) for row in _schedules(request)])
        return Response(schedules.model_dump(mode="json"))

    @extend_schema(request=ScheduleGiven, responses={201: ScheduleTold, 400: FIELD_ERRORS, **REFUSALS})
    def post(self, request: Request) -> Response:
        """Run the plan of an experiment again by the clock."""
        given = read(ScheduleGiven, request.data)
        experiment = Experiment.objects.readable_by(request.user).filter(slug=given.experiment).first()
        if experiment is None:
            raise ValidationError({"experiment": [f"There is no experiment {given.experiment}."]})
        values = given.model_dump(exclude={"experiment", "timezone"}) | {"zone": given.timezone}
        with _told():
            made = timetable.make(experiment.plan, owner=cast(User, request.user), **values)
        return Response(ScheduleTold.of(made, request).model_dump(mode="json"), status=201)


class ScheduleDetail(APIView):
    permission_classes = [OperatorWithScope]
    required_scope = "schedule"
    parser_classes = [StrictJSONParser]

    @extend_schema(responses={200: ScheduleTold, 404: ErrorSerializer})
    def get(self, request: Request, slug: str) -> Response:
        """One schedule."""
        return Response(
            ScheduleTold.of(get_object_or_404(_schedules(request), slug=slug), request).model_dump(mode="json")
        )

    @extend_schema(request=SchedulePaused, responses={200: ScheduleTold, 400: FIELD_ERRORS, **REFUSALS})
    def patch(self, request: Request, slug: str) -> Response:
        """Pause or resume a schedule. Times that come while it is paused are passed over."""
        schedule = get_object_or_404(_schedules(request), slug=slug)
        with _told():
            timetable.set_paused(schedule, paused=read(SchedulePaused, request.data).paused)
        return Response(ScheduleTold.of(schedule, request).model_dump(mode="json"))

    @extend_schema(request=None, responses={204: None, **REFUSALS})
    def delete(self, request: Request, slug: str) -> Response:
        """Delete a schedule. What it has measured stays."""
        get_object_or_404(_schedules(request), slug=slug).delete()
        return Response(status=204)


@contextmanager
def _told() -> Iterator[None]:
    """What is wrong of a schedule, by the API's names."""
    try:
        yield
    except PlanError as error:
        names = {"zone": "timezone"}
        raise ValidationError({names.get(name, name): words for name, words in error.errors.items()}) from error
