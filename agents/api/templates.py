"""REST for templates: plans to start from."""

from __future__ import annotations

from typing import Annotated, Any, cast

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.exceptions import ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from agents.api.experiments import plan_errors
from agents.models import Template
from agents.plans import templating
from agents.plans.plan import NAME_LIMIT
from runs.answers.answer import Part
from runs.api.once import KEY, once
from runs.api.outgoing import FIELD_ERRORS, REFUSALS, Error
from runs.api.parsers import StrictJSONParser
from runs.api.permissions import OperatorWithScope
from runs.incoming.reading import read
from runs.incoming.values import Slug, Strict, Text
from runs.models import Experiment, User


class TemplateAnswer(Part):
    slug: str
    name: str
    note: str
    owner: str | None
    shared: bool
    plan: dict[str, Any]

    @classmethod
    def of(cls, template: Template) -> TemplateAnswer:
        owner = template.owner.get_username() if template.owner else None
        own = {name: getattr(template, name) for name in ("slug", "name", "note", "plan")}
        return cls(**own, owner=owner, shared=template.is_shared)


class TemplateList(Part):
    results: list[TemplateAnswer]


class TemplateGiven(Strict):
    experiment: Annotated[Slug, Field(description="the experiment whose plan it is")]
    name: Annotated[str, Text(NAME_LIMIT)]
    note: Annotated[str, Text(500, least=0)] = ""
    shared: Annotated[bool, Field(description="other operators may use it")] = True


class Templates(APIView):
    permission_classes = [OperatorWithScope]
    required_scope = "schedule"
    parser_classes = [StrictJSONParser]

    @extend_schema(operation_id="v1_templates_list", responses={200: TemplateList})
    def get(self, request: Request) -> Response:
        """For operators: templates that are shared, and their own."""
        rows = Template.objects.visible_to(request.user).select_related("owner")
        return Response(TemplateList(results=[TemplateAnswer.of(row) for row in rows]).model_dump(mode="json"))

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
        with plan_errors():
            made = templating.make(
                experiment.plan, owner=cast(User, request.user), name=given.name, note=given.note,
                is_shared=given.shared,
            )  # fmt: skip
        return Response(TemplateAnswer.of(made).model_dump(mode="json"), status=201)


class TemplateDetail(APIView):
    permission_classes = [OperatorWithScope]
    required_scope = "schedule"

    @extend_schema(responses={200: TemplateAnswer, 404: Error})
    def get(self, request: Request, slug: str) -> Response:
        """One template."""
        template = get_object_or_404(Template.objects.visible_to(request.user), slug=slug)
        return Response(TemplateAnswer.of(template).model_dump(mode="json"))

    @extend_schema(request=None, responses={204: None, **REFUSALS})
    def delete(self, request: Request, slug: str) -> Response:
        """Delete a template of one's own."""
        get_object_or_404(Template, slug=slug, owner=request.user.pk).delete()
        return Response(status=204)
