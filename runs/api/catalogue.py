"""What can be run and measured here, over REST: workloads with their factors, engines, metrics."""

from __future__ import annotations

from typing import Any, Self

from benchagent.catalog import DBMSS, METRICS, WORKLOADS, FactorDef
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api.outgoing import Outgoing, answered


class FactorAnswer(Outgoing):
    """`kind`: number, choice, text or storage. `choices`: value and what it is called; of a number its limits."""

    name: str
    label: str
    unit: str
    kind: str
    default: int | str
    minimum: int | None
    maximum: int | None
    choices: dict[str, str]
    optional: bool
    role: str
    help: str

    @classmethod
    def of(cls, row: FactorDef, **values: Any) -> Self:
        limits = {} if row.kind == "number" else {"minimum": None, "maximum": None}
        return super().of(row, choices=row.words, **limits)


class WorkloadAnswer(Outgoing):
    slug: str
    name: str
    version: str
    summary: str
    primary_metric: str
    factors: list[FactorAnswer]


class EngineAnswer(Outgoing):
    """`settings`: those of a scheduled run that says nothing else. `unverified`: why no live server was ever met."""

    slug: str
    name: str
    vendor: str
    embedded: bool
    settings: list[tuple[str, str]]
    backup_methods: dict[str, str]
    unverified: str


class MetricAnswer(Outgoing):
    """`better`: higher, lower or none. `threshold`: a smaller difference, as a share of 1, is too small to matter."""

    name: str
    label: str
    unit: str
    better: str
    threshold: float


class CatalogueAnswer(Outgoing):
    workloads: list[WorkloadAnswer]
    engines: list[EngineAnswer]
    metrics: list[MetricAnswer]


class Catalogue(APIView):
    @extend_schema(responses={200: CatalogueAnswer})
    def get(self, _request: Request) -> Response:
        """Workloads with their factors, engines and metrics that this server knows; plug-ins' too."""
        return answered(
            CatalogueAnswer(
                workloads=[
                    WorkloadAnswer.of(each, factors=[FactorAnswer.of(factor) for factor in each.factors])
                    for each in WORKLOADS.values()
                ],
                engines=[EngineAnswer.of(each) for each in DBMSS.values()],
                metrics=[MetricAnswer.of(each) for each in METRICS.values()],
            )
        )
