"""Scheduling over REST: the same plan as the form's, the same rules."""

from __future__ import annotations

from typing import Any, cast
from uuid import UUID

from benchagent.catalog import DBMSS, WORKLOADS
from django.db.models import Prefetch
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agents.jobs import life
from agents.machines.offers import Engine
from agents.models import Agent, Job
from agents.plans import estimate, schedule
from agents.plans.plan import NAME_LIMIT, Plan, PlanError
from runs.access.visibility import default_visibility
from runs.api.exceptions import Conflict
from runs.api.objects import readable_runs
from runs.api.parsers import StrictJSONParser
from runs.api.permissions import OperatorWithScope
from runs.api.serializers import FIELD_ERRORS, ErrorSerializer
from runs.models import Experiment, Run, User
from runs.models.choices import Visibility


class EngineSerializer(serializers.Serializer[Any]):
    dbms = serializers.ChoiceField(choices=list(DBMSS))
    version = serializers.CharField(max_length=120)
    connection = serializers.CharField(
        max_length=40, required=False, default="", allow_blank=True,
        help_text="the agent's name for a server that it did not start",
    )  # fmt: skip


@extend_schema_field({"oneOf": [{"type": "integer"}, {"type": "string"}, {"type": "array", "items": {}}]})
class FactorField(serializers.Field[Any, Any, Any, Any]):
    """One value or several, as a tuple."""

    def to_internal_value(self, data: Any) -> tuple[int | str, ...]:
        values = data if isinstance(data, list) else [data]
        if not values:
            raise ValidationError(["Name at least one value."])
        for value in values:
            if isinstance(value, bool) or not isinstance(value, int | str):
                raise ValidationError(["A valid integer is required, a text, or a list of them."])
        return tuple(values)

    def to_representation(self, value: Any) -> Any:
        return value


class PlanSerializer(serializers.Serializer[Any]):
    """What to run: every engine, `repeats` times, in turn. What is left out takes the catalogue's default."""

    workload = serializers.ChoiceField(choices=list(WORKLOADS))
    engines = EngineSerializer(many=True, allow_empty=False)
    factors = serializers.DictField(
        child=FactorField(), required=False, default=dict,
        help_text="by name: a whole number, a text, or a list of them: every combination is run",
    )  # fmt: skip
    repeats = serializers.IntegerField(required=False, default=1)
    settings = serializers.DictField(
        child=serializers.ListField(
            child=serializers.ListField(child=serializers.CharField(allow_blank=True), min_length=2, max_length=2)
        ),
        required=False,
        default=dict,
        help_text="by DBMS: [name, value] pairs in order, duplicates kept",
    )
    agent = serializers.SlugRelatedField[Agent](
        slug_field="slug", queryset=Agent.objects.all(), required=False, allow_null=True, default=None
    )
    name = serializers.CharField(required=False, default="", allow_blank=True, max_length=NAME_LIMIT)
    visibility = serializers.ChoiceField(
        choices=Visibility.choices,
        required=False,
        default=default_visibility,
        help_text="default: the server's setting",
    )

    def validate_settings(self, value: dict[str, Any]) -> dict[str, Any]:
        unknown = [dbms for dbms in value if dbms not in DBMSS]
        if unknown:
            raise ValidationError([f"Unknown DBMS {', '.join(unknown)}; known: {', '.join(DBMSS)}."])
        return value

    def plan(self) -> Plan:
        given = self.validated_data
        defaults = {factor.name: factor.default for factor in WORKLOADS[given["workload"]].factors}
        factors = given["factors"]
        return Plan(
            workload=given["workload"],
            engines=tuple(
                Engine(engine["dbms"], engine["version"], engine["connection"]) for engine in given["engines"]
            ),
            factors=defaults | {name: values[0] for name, values in factors.items() if len(values) == 1},
            sweep={name: values for name, values in factors.items() if len(values) > 1},
            repeats=given["repeats"],
            settings={dbms: tuple((name, value) for name, value in pairs) for dbms, pairs in given["settings"].items()},
            agent=given["agent"],
            name=given["name"].strip(),
            visibility=given["visibility"],
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
        request=PlanSerializer,
        responses={201: ExperimentSerializer, 400: FIELD_ERRORS, 401: ErrorSerializer, 403: ErrorSerializer},
    )
    def post(self, request: Request) -> Response:
        """Start an experiment on a registered agent."""
        message = PlanSerializer(data=request.data)
        message.is_valid(raise_exception=True)
        plan = message.plan()
        try:
            experiment = schedule.start(plan, user=cast(User, request.user))
        except PlanError as error:
            raise ValidationError(cast(dict[str, Any], error.errors)) from error
        runs = Prefetch("runs", Run.objects.select_related("dbms_version").order_by("order_index"), "scheduled")
        started = Experiment.objects.prefetch_related(runs).get(pk=experiment.pk)
        told = ExperimentSerializer(started, context={"request": request, "plan": plan})
        return Response(told.data, status=201)


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
