"""REST for experiments: started by the form's plan and rules, listed, repeated, cancelled."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Self, cast
from uuid import UUID

from benchagent.catalog import DBMSS, WORKLOADS
from benchagent.plugins import LACKING
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import PolymorphicProxySerializer, extend_schema
from pydantic import BeforeValidator, Field, WithJsonSchema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agents.api.operators import OperatorView, refusals
from agents.jobs import life
from agents.machines import Engine
from agents.models import Agent, Job, Template
from agents.plans import estimate, schedule
from agents.plans.matrix import Stop
from agents.plans.plan import NAME_LIMIT, Plan, planned, stored_configs
from agents.refusals import FieldErrors
from agents.reruns import rerun
from agents.reruns.templating import OWN, prepared_on
from runs.answers.answer import Part
from runs.api.errors import Conflict
from runs.api.once import KEY, once
from runs.api.outgoing import FIELD_ERRORS, PAGING, REFUSALS, Error, Outgoing, Page, answered, page_of, paged
from runs.api.permissions import readable_runs, token_of
from runs.incoming.reading import read
from runs.incoming.values import Labels, OneOf, PlannedMoment, Prose, Slug, Strict, Text, wrong
from runs.models import Experiment, User
from runs.models.choices import OPEN_STATES, Visibility


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
    dbms: Annotated[str, OneOf(tuple(DBMSS), LACKING)]
    version: Annotated[str, Text(120)]
    connection: Annotated[
        str, Text(40, least=0), Field(description="the agent's name for a server that it did not start")
    ] = ""


def agent_of(slug: str) -> Agent:
    """Raises FieldErrors."""
    agent = Agent.objects.filter(slug=slug).first()
    if agent is None:
        raise FieldErrors(agent=f"There is no agent {slug}.")
    return agent


class PlanOptions(Labels):
    """How to run it. What is left out takes the catalogue's default.

    All of it is one batch, pooled with no other: label, tags, `tested` and note say what tells it from others.
    """

    factors: Annotated[
        dict[str, Values],
        Field(description="by name: a number, a text, or a list of them: every combination is run"),
    ] = {}
    repeats: int = 1
    settings: Annotated[
        dict[str, list[Setting]], Field(description="by DBMS: [name, value] pairs in order, duplicates kept")
    ] = {}
    agent: Slug | None = None
    configs: Annotated[
        dict[str, list[Slug]], Field(description="by DBMS: stored configurations, each of which is run")
    ] = {}
    swept: Annotated[
        dict[str, dict[str, list[str]]], Field(description="by DBMS: settings that are varied, each with its values")
    ] = {}
    machines: Annotated[list[Slug], Field(description="agents that may run it; none: any")] = []
    labels: Annotated[list[str], Field(description="that an agent must have")] = []
    each: Annotated[bool, Field(description="run every cell on each of these agents, not on one of them")] = False
    exclude: Annotated[
        list[dict[str, int | float | str]],
        Field(description="cells left out, by dbms, version, config, machine, a factor, a setting that is varied"),
    ] = []
    order: Annotated[str, OneOf(("interleaved", "random"))] = "interleaved"
    order_seed: Annotated[int, Field(ge=0, lt=2**31, description="of a random order; 0: drawn and recorded")] = 0
    stop: Annotated[
        Stop | None, Field(description="`repeats` are then the most that are made; docs/use/lab.md tells the rule")
    ] = None
    name: Annotated[str, Text(NAME_LIMIT, least=0)] = ""
    note: Prose = ""
    not_after: Annotated[PlannedMoment | None, Field(description="Runs that have not begun by then are cancelled.")] = (
        None
    )
    visibility: Annotated[str, OneOf(tuple(Visibility.values)), Field(description="default: the server's setting")] = ""


class PlanChange(PlanOptions):
    """What is left out is as before."""

    workload: Annotated[str, OneOf(tuple(WORKLOADS), LACKING)] | None = None
    engines: Annotated[list[EngineGiven], Field(min_length=1)] | None = None


class PlanGiven(PlanOptions):
    """What to run: every engine, `repeats` times, in turn."""

    workload: Annotated[str, OneOf(tuple(WORKLOADS), LACKING)]
    engines: Annotated[list[EngineGiven], Field(min_length=1)]

    @classmethod
    def changed(cls, plan: Plan, change: Any) -> PlanGiven:
        """As the plan says it, but for the fields of `change`."""
        document = plan.as_json()
        engines = [{"dbms": one.dbms, "version": one.version, "connection": one.connection} for one in plan.engines]
        own = {name: document[name] for name in cls.model_fields if document.get(name, "") != ""}
        own |= {"engines": engines, "factors": {**document["factors"], **document["sweep"]}}
        return read(cls, own | change if isinstance(change, dict) else change)

    def plan(self, user: User, *, complete: bool = True) -> Plan:
        """`complete`: factors not named take the catalogue's values. Raises FieldErrors for names that are none."""
        if unknown := [dbms for dbms in (*self.settings, *self.configs, *self.swept) if dbms not in DBMSS]:
            raise FieldErrors(settings=f"Unknown DBMS {', '.join(unknown)}; known: {', '.join(DBMSS)}; {LACKING}.")
        agent = agent_of(self.agent) if self.agent else None
        defaults = {factor.name: factor.default for factor in WORKLOADS[self.workload].factors if complete}
        alike = ("workload", "repeats", "each", "order_seed", "stop", "label", "note", "not_after", "visibility")
        return Plan(
            **{name: getattr(self, name) for name in alike},
            engines=tuple(Engine(**engine.model_dump()) for engine in self.engines),
            factors=defaults | {name: values[0] for name, values in self.factors.items() if len(values) == 1},
            sweep={name: values for name, values in self.factors.items() if len(values) > 1},
            settings={dbms: tuple((name, value) for name, value in pairs) for dbms, pairs in self.settings.items()},
            agent=agent,
            configs={dbms: stored_configs(dbms, slugs, user) for dbms, slugs in self.configs.items()},
            swept={dbms: {name: tuple(values) for name, values in swept.items()} for dbms, swept in self.swept.items()},
            machines=tuple(self.machines),
            labels=tuple(self.labels),
            exclude=tuple(self.exclude),
            order="random" if self.order == "random" else "interleaved",
            name=self.name or self.label,
            tags=tuple(self.tags),
            tested=self.tested.model_dump(exclude_defaults=True),
        )


# What is open of a template that comes with the product: what it measures stays as it is.
OPEN = {
    "template", "part", "agent", "repeats", "order", "order_seed", "stop", "name", "not_after", "visibility", "note",
    *Labels.model_fields,
}  # fmt: skip


class TemplateStart(PlanChange):
    """A template to run; what else is given stands in the place of its plan's own.

    One that comes with the product needs an agent, and a part where it has several; what it measures stays as it is.
    """

    template: Annotated[Slug, Field(examples=["tpcb-2010"])]
    part: Annotated[str, Text(120, least=0), Field(examples=["engines"])] = ""

    def own(self) -> rerun.Prepared:
        """A part of one that comes with the product, as its agent can run it. Raises FieldErrors."""
        if self.template not in OWN:
            raise FieldErrors(template=f"There is no template {self.template}.")
        if fixed := self.model_fields_set - OPEN:
            raise FieldErrors(**{name: ["The template has its own."] for name in fixed})
        if self.agent is None:
            raise FieldErrors(agent="Required: the plan is made of what the agent has.")
        return prepared_on(OWN[self.template], agent_of(self.agent), part=self.part)


def changed(plan: Plan, change: Any, user: User) -> Plan:
    """With the fields of `change` in the place of its own. Raises FieldErrors."""
    beyond = {name: getattr(plan, name) for name in ("overrides", "extra", "called", "publication", "figure")}
    return replace(PlanGiven.changed(plan, change).plan(user, complete=False), **beyond)


# Both describe themselves (runs/api/schema.py).
GIVEN: Any = [PlanGiven, TemplateStart]


class ScheduledRun(Outgoing):
    id: UUID
    url: str
    dbms: str
    repeat: int
    order_index: int | None


class ExperimentStarted(Outgoing):
    """`estimated_s`: how long all of it is expected to take, on one machine. `warnings`: what each machine that may run
    it lacks, as space, and a warm-up that is short.
    """

    slug: str
    url: str
    name: str
    visibility: str
    estimated_s: float
    warnings: list[str]
    runs: list[ScheduledRun]

    @classmethod
    def of(cls, row: Experiment, **values: Any) -> Self:
        """`plan` and `request` are in `values`."""
        request = values["request"]
        expected = estimate.estimate(values["plan"], user=request.user)
        return super().of(
            row, url=page_of(row, request), estimated_s=expected.seconds, warnings=expected.warnings,
            runs=[
                ScheduledRun.of(run, url=page_of(run, request), dbms=run.dbms_version.name)
                for run in row.runs.select_related("dbms_version").order_by("order_index")
            ],
        )  # fmt: skip


class RunCancelled(Part):
    id: UUID
    status: str
    cancel_requested: bool


class ExperimentAnswer(Outgoing):
    """`states`: how many of its runs are in each state; `failed`: how many repeats failed or were lost and were not
    made up for since, as by "Repeat what failed".
    """

    slug: str
    url: str
    name: str
    note: str
    visibility: str
    created_at: datetime
    is_open: bool
    states: dict[str, int]
    failed: int
    plan: dict[str, Any]

    @classmethod
    def of(cls, row: Experiment, **values: Any) -> Self:
        """`request` is in `values`."""
        runs = [run for run in row.runs.all() if run.deleted_at is None]
        states = Counter(run.state for run in runs)
        failed = len(schedule.not_made_up(row, [run for run in runs if hasattr(run, "job")]))
        is_open = any(states[state] for state in OPEN_STATES)
        return super().of(row, url=page_of(row, values["request"]), is_open=is_open, states=states, failed=failed)


class ExperimentPage(Page):
    results: list[ExperimentAnswer]


class CancelledRuns(Part):
    cancelled: int


class Experiments(OperatorView):
    @extend_schema(
        operation_id="v1_experiments_list",
        parameters=PAGING,
        responses={200: ExperimentPage},
    )
    def get(self, request: Request) -> Response:
        """Experiments that whoever asks sees in lists, newest first."""
        rows = Experiment.objects.listed_for(request.user).prefetch_related("runs__job")
        return paged(request, rows, lambda shown: [ExperimentAnswer.of(row, request=request) for row in shown])

    @extend_schema(
        request=PolymorphicProxySerializer("ExperimentGiven", GIVEN, resource_type_field_name=None),
        parameters=[KEY],
        responses={201: ExperimentStarted, 400: FIELD_ERRORS, **REFUSALS},
    )
    @once
    def post(self, request: Request) -> Response:
        """Start an experiment on a registered agent: a plan, or a template."""
        with refusals():
            if isinstance(request.data, dict) and "template" in request.data:
                return _start_template(request.data, request)
            return _start(read(PlanGiven, request.data).plan(cast(User, request.user)), request)


def _start(plan: Plan, request: Request) -> Response:
    """Raises FieldErrors."""
    experiment = schedule.start(plan, user=cast(User, request.user), token=token_of(request))
    return answered(ExperimentStarted.of(experiment, plan=plan, request=request), 201)


def _start_template(document: dict[str, Any], request: Request) -> Response:
    """Raises FieldErrors."""
    user, given = cast(User, request.user), read(TemplateStart, document)
    change = {name: value for name, value in document.items() if name not in ("template", "part")}
    saved = Template.objects.visible_to(user).filter(slug=given.template).first()
    if saved and given.part:
        raise FieldErrors(part="This template has no parts.")
    if saved:
        return _start(changed(planned(saved.plan, user=user), change, user), request)
    prepared = given.own()
    plan = changed(cast(Plan, prepared.plan), change, user)
    experiment = rerun.start(replace(prepared, plan=plan), user=user, token=token_of(request))
    return answered(ExperimentStarted.of(experiment, plan=plan, request=request), 201)


class ExperimentDetail(APIView):
    @extend_schema(responses={200: ExperimentAnswer, 404: Error})
    def get(self, request: Request, slug: str) -> Response:
        """One experiment: its plan, and how far it has come."""
        experiment = get_object_or_404(Experiment.objects.readable_by(request.user), slug=slug)
        return answered(ExperimentAnswer.of(experiment, request=request))


class ExperimentCancel(OperatorView):
    @extend_schema(request=None, responses={202: CancelledRuns, **REFUSALS})
    def post(self, request: Request, slug: str) -> Response:
        """Cancel what is left of an experiment. What was measured is kept."""
        experiment = get_object_or_404(Experiment.objects.readable_by(request.user), slug=slug)
        return answered(CancelledRuns(cancelled=life.cancel_experiment(experiment, by=request.user)), 202)


class ExperimentRepeat(OperatorView):
    @extend_schema(
        request=PlanChange, parameters=[KEY], responses={201: ExperimentStarted, 400: FIELD_ERRORS, **REFUSALS}
    )
    @once
    def post(self, request: Request, slug: str) -> Response:
        """Start the plan of an experiment again, as an experiment of its own, with what is given changed."""
        user = cast(User, request.user)
        experiment = get_object_or_404(Experiment.objects.readable_by(user), slug=slug)
        with refusals():
            return _start(changed(planned(experiment.plan, user=user), request.data or {}, user), request)


class RepeatGiven(Strict):
    run: Annotated[
        UUID | None, Field(strict=False, description="one more of its cell; null: of all that failed or was lost")
    ] = None


class RepeatedRuns(Part):
    results: list[UUID]


class ExperimentRepeatRuns(OperatorView):
    @extend_schema(request=RepeatGiven, parameters=[KEY], responses={201: RepeatedRuns, 400: FIELD_ERRORS, **REFUSALS})
    @once
    def post(self, request: Request, slug: str) -> Response:
        """Queue one more repeat of a cell, or of everything that failed or was lost."""
        user, given = cast(User, request.user), read(RepeatGiven, request.data or {})
        experiment = get_object_or_404(Experiment.objects.readable_by(user), slug=slug)
        with refusals():
            if given.run is None:
                made = schedule.repeat_failed(experiment, user=user, token=token_of(request))
            else:
                own = readable_runs(request).present().filter(experiment=experiment, job__isnull=False)
                run = get_object_or_404(own.select_related("job__agent"), pk=given.run)
                made = [schedule.repeat_cell(run, user=user, token=token_of(request))]
        return answered(RepeatedRuns(results=[run.pk for run in made]), 201)


class RunCancel(OperatorView):
    @extend_schema(request=None, responses={202: RunCancelled, 409: Error, **REFUSALS})
    def post(self, request: Request, run_id: UUID) -> Response:
        """Cancel a run: at once while it waits, else as soon as its agent hears of it. What was measured is kept."""
        run = get_object_or_404(readable_runs(request).present(), id=run_id, job__isnull=False)
        if not life.cancel(run, by=request.user):
            raise Conflict("This run has ended already.")
        job = Job.objects.select_related("run").get(pk=run.pk)
        asked = job.cancel_requested_at is not None
        return answered(RunCancelled(id=job.run.pk, status=job.run.state, cancel_requested=asked), 202)
