"""REST for templates: plans to start from."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any, cast

from django.http import Http404
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import Field
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response

from agents.api.operators import OperatorView, refusals
from agents.machines import approved_agents
from agents.models import Agent, Template
from agents.plans.estimate import estimate
from agents.plans.plan import NAME_LIMIT, Plan, check, planned
from agents.refusals import FieldErrors
from agents.reruns import first, rerun, templating
from agents.reruns.templating import OWN
from runs.answers.answer import Part
from runs.api.once import KEY, once
from runs.api.outgoing import FIELD_ERRORS, REFUSALS, Error, answered
from runs.incoming.reading import read
from runs.incoming.values import Slug, Strict, Text
from runs.models import Experiment, User
from runs.models.visible import Reader


class OnAgent(Part):
    """What the agent that was named makes of it: as many runs, none where it can start nothing of it."""

    runs: int
    estimated_s: float
    space_bytes: float
    lacks: Annotated[list[str], Field(description="engines, space, presence: a line each", examples=[["MySQL 5.5"]])]


class TemplatePart(Part):
    """What becomes one experiment. A template that somebody saved has one part without a name."""

    part: str
    title: str
    workload: str
    figure: Annotated[str, Field(description="of the article, which its runs fill")]
    engines: Annotated[list[str], Field(examples=[["mysql:5.5"]], description="with how their versions begin")]
    on_agent: OnAgent | None


class TemplateAnswer(Part):
    """`plan` is empty where one is made of what the agent has that is named at the start: it then `needs_agent`."""

    slug: str
    name: str
    note: str
    owner: str | None
    shared: bool
    needs_agent: bool
    plan: dict[str, Any]
    parts: list[TemplatePart]

    @classmethod
    def saved(cls, template: Template, agent: Agent | None, user: Reader) -> TemplateAnswer:
        owner = template.owner.get_username() if template.owner else None
        part = TemplatePart(
            part="", title=template.name, workload=template.plan.get("workload", ""),
            figure=template.plan.get("figure", ""), engines=[":".join(key) for key in template.plan.get("engines", ())],
            on_agent=_saved_on(template, agent, user) if agent else None,
        )  # fmt: skip
        own = {name: getattr(template, name) for name in ("slug", "name", "note", "plan")}
        return cls(**own, owner=owner, shared=template.is_shared, needs_agent=False, parts=[part])

    @classmethod
    def own(cls, slug: str, agent: Agent | None, user: Reader) -> TemplateAnswer:
        experiment = OWN[slug]
        parts = [
            TemplatePart(
                part=part.slug, title=part.title, workload=part.workload, figure=part.figure,
                engines=[":".join(filter(None, (engine.dbms, engine.version))) for engine in part.engines],
                on_agent=_part_on(rerun.prepare(experiment, part, agent), user) if agent else None,
            )
            for part in experiment.parts
        ]  # fmt: skip
        note = first.NOTE if slug == first.SLUG else ""
        return cls(
            slug=slug, name=experiment.title, note=note, owner=None, shared=True, needs_agent=True, plan={}, parts=parts
        )


def _saved_on(template: Template, agent: Agent, user: Reader) -> OnAgent:
    try:
        plan = replace(planned(template.plan, user=cast(User, user)), agent=agent, machines=(), labels=(), each=False)
        check(plan)
    except FieldErrors as error:
        return _on_agent(None, [str(error)], user)
    return _on_agent(plan, [], user)


def _part_on(prepared: rerun.Prepared, user: Reader) -> OnAgent:
    return _on_agent(prepared.plan, [gap.label for gap in prepared.gaps[len(prepared.part.gaps) :]], user)


def _on_agent(plan: Plan | None, lacks: list[str], user: Reader) -> OnAgent:
    if plan is None:
        return OnAgent(runs=0, estimated_s=0, space_bytes=0, lacks=lacks)
    guess = estimate(plan, user=user)
    return OnAgent(
        runs=guess.runs, estimated_s=guess.seconds, space_bytes=guess.space_bytes, lacks=[*lacks, *guess.lacking]
    )


def _agent_of(request: Request) -> Agent | None:
    """The approved one that `?agent=` names."""
    slug = request.query_params.get("agent", "")
    chosen = next((agent for agent in approved_agents() if agent.slug == slug), None)
    if slug and chosen is None:
        raise ValidationError({"agent": [f"There is no approved agent {slug}."]})
    return chosen


AGENT = OpenApiParameter("agent", str, description="What would this agent make of it? `on_agent` then tells.")


class TemplateList(Part):
    results: list[TemplateAnswer]


class TemplateGiven(Strict):
    experiment: Annotated[Slug, Field(description="the experiment whose plan it is")]
    name: Annotated[str, Text(NAME_LIMIT)]
    note: Annotated[str, Text(500, least=0)] = ""
    shared: Annotated[bool, Field(description="other operators may use it")] = True


class Templates(OperatorView):
    @extend_schema(
        operation_id="v1_templates_list", parameters=[AGENT], responses={200: TemplateList, 400: FIELD_ERRORS}
    )
    def get(self, request: Request) -> Response:
        """Those that come with the product; for operators also those that are shared, and their own."""
        agent, user = _agent_of(request), request.user
        saved = Template.objects.visible_to(user).select_related("owner")
        answers = [TemplateAnswer.saved(row, agent, user) for row in saved]
        answers += [TemplateAnswer.own(slug, agent, user) for slug in OWN]
        return answered(TemplateList(results=answers))

    @extend_schema(
        request=TemplateGiven, parameters=[KEY], responses={201: TemplateAnswer, 400: FIELD_ERRORS, **REFUSALS}
    )
    @once
    def post(self, request: Request) -> Response:
        """Save the plan of an experiment as a template."""
        given = read(TemplateGiven, request.data)
        experiment = Experiment.objects.readable_by(request.user).filter(slug=given.experiment).first()
        if experiment is None:
            raise ValidationError({"experiment": [f"There is no experiment {given.experiment}."]})
        with refusals():
            made = templating.make(
                experiment.plan, owner=cast(User, request.user), name=given.name, note=given.note,
                is_shared=given.shared,
            )  # fmt: skip
        return answered(TemplateAnswer.saved(made, None, request.user), 201)


class TemplateDetail(OperatorView):
    @extend_schema(parameters=[AGENT], responses={200: TemplateAnswer, 400: FIELD_ERRORS, 404: Error})
    def get(self, request: Request, slug: str) -> Response:
        """One template."""
        agent, user = _agent_of(request), request.user
        saved = Template.objects.visible_to(user).filter(slug=slug).first()
        if saved is None and slug not in OWN:
            raise Http404
        return answered(TemplateAnswer.saved(saved, agent, user) if saved else TemplateAnswer.own(slug, agent, user))

    @extend_schema(request=None, responses={204: None, **REFUSALS})
    def delete(self, request: Request, slug: str) -> Response:
        """Delete a template of one's own."""
        get_object_or_404(Template, slug=slug, owner=request.user.pk).delete()
        return Response(status=204)
