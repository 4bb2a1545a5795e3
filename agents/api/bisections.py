"""REST for bisections: where between two runs of one agent a benchmark moved, measured in steps."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self, cast
from uuid import UUID

from django.db.models import QuerySet
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema
from pydantic import Field
from rest_framework.request import Request
from rest_framework.response import Response

from agents.api.operators import OperatorView, refusals
from agents.models import Bisection
from agents.plans import bisect, halving
from agents.plans.halving import Step
from runs.answers.answer import Part
from runs.api.once import KEY, once
from runs.api.outgoing import FIELD_ERRORS, REFUSALS, Error, Outgoing, SlugOf, answered, page_of
from runs.api.permissions import person_of, readable_runs
from runs.incoming.reading import read
from runs.incoming.values import Strict
from runs.models import User
from runs.results.document import Ident

EXAMPLE = ["6f3d1c52-6a0e-4a38-9a39-7a4f2f1c9b10", "0c9a1f7e-52d4-4a6b-8f10-3f1d2a7b6c55"]


class EndAnswer(Part):
    """`settings`: only those that the other end has otherwise."""

    version: str
    settings: dict[str, str]


class BisectionAnswer(Outgoing):
    """The change lies between `old` and `new`, which come closer with each step.

    `outcome`: why it ended, in words; empty while it goes on. `found`: one version or one setting is left.
    `steps_left`: about so many are to come, the present one among them; a noisy one is measured again.
    `experiment`: measures the present step, or has measured the last one.
    """

    id: UUID
    url: str
    name: str
    workload: str
    dbms: str
    agent: str
    created_at: datetime
    experiment: SlugOf
    old: EndAnswer
    new: EndAnswer
    steps: list[Step]
    steps_left: int
    outcome: str
    found: bool

    @classmethod
    def of(cls, row: Bisection, **values: Any) -> Self:
        """`request` is in `values`."""
        old, new = halving.unlike(row.points[row.low : row.high + 1])
        return super().of(
            row, url=page_of(row, values["request"]), workload=row.plan["workload"], dbms=row.plan["dbms"],
            agent=row.agent.slug, old=old, new=new, steps=halving.steps_of(row), found=row.is_found,
        )  # fmt: skip


class BisectionList(Part):
    results: list[BisectionAnswer]


class BisectionGiven(Strict):
    """In whichever order: what was measured first is the old end."""

    runs: Annotated[
        list[Ident],
        Field(min_length=2, max_length=2, description="that one agent has measured", examples=[EXAMPLE]),
    ]


def _own(request: Request) -> QuerySet[Bisection]:
    return Bisection.objects.filter(owner=person_of(request)).select_related("agent", "experiment")


class Bisections(OperatorView):
    @extend_schema(operation_id="v1_bisections_list", responses={200: BisectionList})
    def get(self, request: Request) -> Response:
        """One's own, the newest first."""
        rows = _own(request)[: halving.MOST_SHOWN]
        return answered(BisectionList(results=[BisectionAnswer.of(row, request=request) for row in rows]))

    @extend_schema(
        request=BisectionGiven, parameters=[KEY], responses={201: BisectionAnswer, 400: FIELD_ERRORS, **REFUSALS}
    )
    @once
    def post(self, request: Request) -> Response:
        """Look for what moved a benchmark between two runs: each step measures the middle in turn with both ends."""
        given = read(BisectionGiven, request.data)
        with refusals():
            old, new = bisect.ends_of(readable_runs(request), given.runs)
            begun = halving.begin(old, new, user=cast(User, request.user))
        return answered(BisectionAnswer.of(begun, request=request), 201)


class BisectionDetail(OperatorView):
    @extend_schema(responses={200: BisectionAnswer, 404: Error})
    def get(self, request: Request, pk: UUID) -> Response:
        """How far it has come."""
        return answered(BisectionAnswer.of(get_object_or_404(_own(request), pk=pk), request=request))
