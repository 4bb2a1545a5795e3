"""REST for people and their programs: scheduling by the form's plan and rules, one-time codes for agents."""

from __future__ import annotations

from typing import Annotated, Any, cast
from uuid import UUID

from benchagent.catalog import DBMSS, WORKLOADS
from django.db.models import Prefetch
from django.shortcuts import get_object_or_404
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BeforeValidator, Field, WithJsonSchema
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agents.api.fleet import ExperimentPage, listed_experiments
from agents.jobs import life
from agents.machines import Engine
from agents.models import CODE_VALID_FOR, Agent, EnrolmentCode, Job
from agents.plans import estimate, schedule
from agents.plans.plan import NAME_LIMIT, Plan, PlanError
from runs.api.errors import Conflict
from runs.api.parsers import StrictJSONParser
from runs.api.permissions import OperatorWithScope, readable_runs
from runs.api.serializers import FIELD_ERRORS, ErrorSerializer
from runs.incoming.reading import read
from runs.incoming.values import Described, Moment, OneOf, Prose, Slug, Strict, Text, wrong
from runs.models import ApiToken, Experiment, Run, User
from runs.models.choices import Visibility


def _values(given: Any) -> tuple[Any, ...]:
    """One value or several, as a tuple."""
    values = given if isinstance(given, list) else [given]
    if not values:
        raise wrong(("", "Name at least one value."))
    if any(isinstance(value, bool) or not isinstance(value, int | float | str) for value in values):
        raise wrong(("", "A number is required, a text, or a list of them."))
    return tuple(int(value) if isinstance(value, float) and value.is_integer() else value for value in values)


_VALUES_SCHEMA = {"oneOf": [{"type": "number"}, {"type": "string"}, {"type": "array", "items": {}}]}
Values = Annotated[tuple[int | float | str, ...], BeforeValidator(_values), WithJsonSchema(_VALUES_SCHEMA)]
Setting = Annotated[list[Annotated[str, Text(100_000, least=0)]], Field(min_length=2, max_length=2)]


class EngineGiven(Strict):
    dbms: Annotated[str, OneOf(tuple(DBMSS))]
    version: Annotated[str, Text(120)]
    connection: Annotated[
        str, Text(40, least=0), Field(description="the agent's name for a server that it did not start")
    ] = ""


class PlanGiven(Described):
    """What to run: every engine, `repeats` times, in turn. What is left out takes the catalogue's default.

    All of it is one batch, pooled with no other: label, tags, `tested` and note say what tells it from others.
    """

    workload: Annotated[str, OneOf(tuple(WORKLOADS))]
    engines: Annotated[list[EngineGiven], Field(min_length=1)]
    factors: Annotated[
        dict[str, Values],
        Field(description="by name: a number, a text, or a list of them: every combination is run"),
    ] = {}
    repeats: int = 1
    settings: Annotated[
        dict[str, list[Setting]], Field(description="by DBMS: [name, value] pairs in order, duplicates kept")
    ] = {}
    agent: Slug | None = None
    name: Annotated[str, Text(NAME_LIMIT, least=0)] = ""
    note: Prose = ""
    not_after: Annotated[Moment | None, Field(description="Runs that have not begun by then are cancelled.")] = None
    visibility: Annotated[str, OneOf(tuple(Visibility.values)), Field(description="default: the server's setting")] = ""

    def plan(self) -> Plan:
        """Raises PlanError for names that are none."""
        if unknown := [dbms for dbms in self.settings if dbms not in DBMSS]:
            raise PlanError({"settings": [f"Unknown DBMS {', '.join(unknown)}; known: {', '.join(DBMSS)}."]})
        agent = Agent.objects.filter(slug=self.agent).first()
        if self.agent and agent is None:
            raise PlanError({"agent": [f"There is no agent {self.agent}."]})
        defaults = {factor.name: factor.default for factor in WORKLOADS[self.workload].factors}
        return Plan(
            workload=self.workload,
            engines=tuple(Engine(**engine.model_dump()) for engine in self.engines),
            factors=defaults | {name: values[0] for name, values in self.factors.items() if len(values) == 1},
            sweep={name: values for name, values in self.factors.items() if len(values) > 1},
            repeats=self.repeats,
            settings={dbms: tuple((name, value) for name, value in pairs) for dbms, pairs in self.settings.items()},
            agent=agent,
            name=self.name or self.label,
            tags=tuple(self.tags),
            tested=self.tested.model_dump(exclude_defaults=True),
            note=self.note,
            not_after=self.not_after,
            visibility=self.visibility,
        )


class ScheduledRunSerializer(serializers.Serializer[Run]):
    id = serializers.UUIDField()
    url = serializers.HyperlinkedIdentityField(view_name="run", lookup_url_kwarg="run_id")
    dbms = serializers.CharField(source="dbms_version.name")
    repeat = serializers.IntegerField()
    order_index = serializers.IntegerField()


class ExperimentSerializer(serializers.Serializer[Experiment]):
    slug = serializers.SlugField()
    url = serializers.HyperlinkedIdentityField(view_name="experiment", lookup_field="slug")
    name = serializers.CharField()
    visibility = serializers.CharField()
    estimated_s = serializers.SerializerMethodField()
    runs = ScheduledRunSerializer(many=True, source="scheduled")

    def get_estimated_s(self, _experiment: Experiment) -> float:
        plan, user = self.context["plan"], self.context["request"].user
        return estimate.estimate(plan, user=user).seconds


class RunStateSerializer(serializers.Serializer[Job]):
    id = serializers.UUIDField(source="run.id")
    status = serializers.CharField(source="run.state")
    cancel_requested = serializers.SerializerMethodField()

    def get_cancel_requested(self, job: Job) -> bool:
        return job.cancel_requested_at is not None


class Experiments(APIView):
    permission_classes = [OperatorWithScope]
    required_scope = "schedule"
    parser_classes = [StrictJSONParser]

    @extend_schema(
        operation_id="v1_experiments_list",
        parameters=[OpenApiParameter("page", int)],
        responses={200: ExperimentPage},
    )
    def get(self, request: Request) -> Response:
        """All experiments, newest first."""
        return listed_experiments(request)

    @extend_schema(
        request=PlanGiven,
        responses={201: ExperimentSerializer, 400: FIELD_ERRORS, 401: ErrorSerializer, 403: ErrorSerializer},
    )
    def post(self, request: Request) -> Response:
        """Start an experiment on a registered agent."""
        given = read(PlanGiven, request.data)
        try:
            plan = given.plan()
            experiment = schedule.start(
                plan, user=cast(User, request.user), token=request.auth if isinstance(request.auth, ApiToken) else None
            )
        except PlanError as error:
            raise ValidationError(cast(dict[str, Any], error.errors)) from error
        runs = Prefetch("runs", Run.objects.select_related("dbms_version").order_by("order_index"), "scheduled")
        started = Experiment.objects.prefetch_related(runs).get(pk=experiment.pk)
        answer = ExperimentSerializer(started, context={"request": request, "plan": plan})
        return Response(answer.data, status=201)


class RunCancel(APIView):
    permission_classes = [OperatorWithScope]
    required_scope = "schedule"
    parser_classes = [StrictJSONParser]

    @extend_schema(
        request=None,
        responses={
            202: RunStateSerializer, 401: ErrorSerializer, 403: ErrorSerializer, 404: ErrorSerializer,
            409: ErrorSerializer,
        },
    )  # fmt: skip
    def post(self, request: Request, run_id: UUID) -> Response:
        """Cancel a run: at once while it waits, else as soon as its agent hears of it. What was measured is kept."""
        run = get_object_or_404(readable_runs(request).present(), id=run_id, job__isnull=False)
        if not life.cancel(run):
            raise Conflict("This run has ended already.")
        return Response(RunStateSerializer(Job.objects.select_related("run").get(pk=run.pk)).data, status=202)


# For whoever sets up benchmark machines by a program


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
