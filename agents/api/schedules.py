"""REST for schedules: plans that become experiments by the clock."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self, cast

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from django.urls import reverse
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from agents.api.operators import OperatorView, refusals
from agents.models import Schedule
from agents.plans import timetable
from agents.plans.plan import NAME_LIMIT
from runs.access.rules import may_operate
from runs.answers.answer import Part
from runs.api.once import KEY, once
from runs.api.outgoing import FIELD_ERRORS, REFUSALS, Error, Outgoing, SlugOf, answered
from runs.incoming.reading import read
from runs.incoming.values import PlannedMoment, Slug, Strict, Text
from runs.models import Experiment, User


class OccurrenceAnswer(Outgoing):
    """A time that has come. `note`: why nothing was started."""

    due_at: datetime
    experiment: SlugOf
    note: str


class ScheduleAnswer(Outgoing):
    """A plan that becomes an experiment at set times; its next five times and the last ten that have come."""

    slug: str
    url: str
    name: str
    cron: str
    timezone: str
    ends_at: datetime | None
    paused: bool
    next_times: list[datetime]
    occurrences: list[OccurrenceAnswer]

    @classmethod
    def of(cls, row: Schedule, **values: Any) -> Self:
        """`request` is in `values`."""
        return super().of(
            row, url=values["request"].build_absolute_uri(reverse("schedule-one", args=[row.slug])), timezone=row.zone,
            paused=row.is_paused, next_times=timetable.next_times(row),
            occurrences=list(row.occurrences.select_related("experiment")[:10]),
        )  # fmt: skip


class ScheduleList(Part):
    results: list[ScheduleAnswer]


class ScheduleTimes(Strict):
    """`cron`: five fields, read in the time zone; empty: once, `at` that time."""

    name: Annotated[str, Text(NAME_LIMIT - 20)]
    cron: Annotated[str, Text(100, least=0)] = ""
    timezone: Annotated[str, Text(64)] = "UTC"
    at: PlannedMoment | None = None
    ends_at: PlannedMoment | None = None


class ScheduleGiven(ScheduleTimes):
    experiment: Annotated[Slug, Field(description="the experiment whose plan is run again")]


class SchedulePaused(Strict):
    paused: bool


def _schedules(request: Request) -> QuerySet[Schedule]:
    return Schedule.objects.present() if may_operate(request.user) else Schedule.objects.none()


class Schedules(OperatorView):
    @extend_schema(operation_id="v1_schedules_list", responses={200: ScheduleList})
    def get(self, request: Request) -> Response:
        """Every schedule, for operators."""
        return answered(ScheduleList(results=[ScheduleAnswer.of(row, request=request) for row in _schedules(request)]))

    @extend_schema(
        request=ScheduleGiven, parameters=[KEY], responses={201: ScheduleAnswer, 400: FIELD_ERRORS, **REFUSALS}
    )
    @once
    def post(self, request: Request) -> Response:
        """Run the plan of an experiment again by the clock."""
        given = read(ScheduleGiven, request.data)
        experiment = Experiment.objects.readable_by(request.user).filter(slug=given.experiment).first()
        if experiment is None:
            raise ValidationError({"experiment": [f"There is no experiment {given.experiment}."]})
        values = given.model_dump(exclude={"experiment", "timezone"}) | {"zone": given.timezone}
        with refusals(zone="timezone"):
            made = timetable.make(experiment.plan, owner=cast(User, request.user), **values)
        return answered(ScheduleAnswer.of(made, request=request), 201)


class ScheduleDetail(OperatorView):
    @extend_schema(responses={200: ScheduleAnswer, 404: Error})
    def get(self, request: Request, slug: str) -> Response:
        """One schedule."""
        return answered(ScheduleAnswer.of(get_object_or_404(_schedules(request), slug=slug), request=request))

    @extend_schema(request=SchedulePaused, responses={200: ScheduleAnswer, 400: FIELD_ERRORS, **REFUSALS})
    def patch(self, request: Request, slug: str) -> Response:
        """Pause or resume a schedule. Times that come while it is paused are passed over."""
        schedule = get_object_or_404(_schedules(request), slug=slug)
        with refusals(zone="timezone"):
            timetable.set_paused(schedule, paused=read(SchedulePaused, request.data).paused)
        return answered(ScheduleAnswer.of(schedule, request=request))

    @extend_schema(request=None, responses={204: None, **REFUSALS})
    def delete(self, request: Request, slug: str) -> Response:
        """Delete a schedule. What it has measured stays; its page can bring it back."""
        timetable.delete(get_object_or_404(_schedules(request), slug=slug))
        return Response(status=204)
