"""GET /api/v1/compare/: the compare page's groups, ratios and verdicts as JSON, from the same function."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.api.serializers import FIELD_ERRORS
from runs.compare import compare as comparing
from runs.compare.groups import Against, Comparison, Group
from runs.compare.select import Selection, select


class ComparedMetricSerializer(serializers.Serializer[Any]):
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # not the field's own label
    unit = serializers.CharField()
    better = serializers.CharField()


class IntervalSerializer(serializers.Serializer[Any]):
    low = serializers.FloatField()
    high = serializers.FloatField()


class ComparedRatioSerializer(serializers.Serializer[Any]):
    """To the baseline; the interval is of 95 %, null with too few repeats."""

    value = serializers.FloatField()
    low = serializers.FloatField(allow_null=True)
    high = serializers.FloatField(allow_null=True)


class VerdictSerializer(serializers.Serializer[Any]):
    kind = serializers.CharField()
    words = serializers.CharField()
    repeats_needed = serializers.IntegerField(allow_null=True)


class ComparedGroupSerializer(serializers.Serializer[Any]):
    """A cell. `refused` says why it must not be set against the baseline."""

    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # not the field's own label
    factors = serializers.DictField(child=serializers.CharField())
    is_baseline = serializers.BooleanField()
    ranked = serializers.BooleanField()
    n = serializers.IntegerField()
    values = serializers.ListField(child=serializers.FloatField())
    median = serializers.FloatField(allow_null=True)
    interval = IntervalSerializer(allow_null=True)
    ratio = ComparedRatioSerializer(allow_null=True)
    verdict = VerdictSerializer(allow_null=True)
    refused = serializers.CharField(allow_null=True)
    durability = serializers.CharField(allow_null=True)
    doubt = serializers.CharField(allow_null=True, help_text="What was measured against the durability class.")
    runs = serializers.ListField(child=serializers.UUIDField())
    gaps = serializers.ListField(child=serializers.CharField())


class ComparisonSerializer(serializers.Serializer[Any]):
    metric = ComparedMetricSerializer(allow_null=True)
    unit = serializers.CharField(allow_null=True)
    baseline = serializers.CharField(allow_null=True)
    groups = ComparedGroupSerializer(many=True)
    common = serializers.DictField(child=serializers.CharField())
    warnings = serializers.ListField(child=serializers.CharField())
    left_out = serializers.IntegerField()


class Compare(APIView):
    @extend_schema(
        parameters=[
            OpenApiParameter("run", str, many=True, description="Ids of runs."),
            OpenApiParameter("cell", str, many=True, description="Keys of cells, or at least 8 characters of them."),
            OpenApiParameter("metric", str, description="Name of a metric; without it the workload's primary one."),
            OpenApiParameter("baseline", str, description="Key of a group; without it the first one."),
            OpenApiParameter("order", str, enum=["best"], description="By median, best first."),
        ],
        responses={200: ComparisonSerializer, 400: FIELD_ERRORS},
    )
    def get(self, request: Request) -> Response:
        """Groups of repeats set against a baseline. Runs are chosen by `run`, `cell` and the filters of the list."""
        params = request.query_params
        selection = select(params, request.user)
        if selection.problems:
            raise ValidationError(selection.problems)
        if not selection.given:
            raise ValidationError({"run": ["Choose runs: by run, by cell, or by the filters of the list of runs."]})
        _refuse_unseen(params.getlist("run"), selection)
        comparison = comparing.compare(
            selection.runs,
            metric=params.get("metric", ""),
            baseline=params.get("baseline"),
            order=params.get("order", ""),
        )
        _refuse_unknown_names(params.get("metric", ""), params.get("baseline", ""), comparison)
        return Response({**answer(comparison), "left_out": selection.left_out})


def _refuse_unseen(wanted: list[str], selection: Selection) -> None:
    """A run that is not there, or not for this person, must not be missing silently."""
    if selection.left_out:
        return
    found = {str(run.id) for run in selection.runs}
    missing = [text for text in wanted if text and str(UUID(text)) not in found]
    if missing:
        raise NotFound(f"No run here has the id {missing[0]}.")


def _refuse_unknown_names(metric: str, baseline: str, comparison: Comparison) -> None:
    """A page falls back to what it has; a program that asks for one thing must not be answered another."""
    errors: dict[str, list[str]] = {}
    names = [one.name for one in comparison.metrics]
    if metric and metric not in names:
        errors["metric"] = [f"No run has it. There are: {', '.join(dict.fromkeys(names)) or 'none'}."]
    keys = [group.key for group in comparison.groups if group.dots]
    if baseline and baseline not in keys:
        errors["baseline"] = [f"There is no such group with values. There are: {', '.join(keys) or 'none'}."]
    if errors:
        raise ValidationError(errors)


def answer(comparison: Comparison) -> dict[str, Any]:
    metric, base = comparison.metric, comparison.baseline
    return {
        "metric": metric and {"name": metric.name, "label": metric.label, "unit": metric.unit, "better": metric.better},
        "unit": metric and metric.unit,
        "baseline": base and base.key,
        "groups": [
            _group(group, is_baseline=base is not None and base.key == group.key) for group in comparison.groups
        ],
        "common": {fact.label: fact.value for fact in comparison.common},
        "warnings": comparison.warnings,
    }


def _group(group: Group, *, is_baseline: bool) -> dict[str, Any]:
    interval = group.interval
    return {
        "key": group.key,
        "label": group.label,
        "factors": group.factors,
        "is_baseline": is_baseline,
        "ranked": group.ranked,
        "n": group.n,
        "values": group.values,
        "median": group.median,
        "interval": interval and {"low": interval.low, "high": interval.high},
        **_against(group.against),
        "durability": group.durability or None,
        "doubt": group.doubt or None,
        "runs": [str(run.id) for run in group.all_runs],
        "gaps": group.gap_notes,
    }


def _against(against: Against | None) -> dict[str, Any]:
    ratio, verdict = (against.ratio, against.verdict) if against else (None, None)
    interval = ratio.interval if ratio else None
    return {
        "ratio": ratio
        and {
            "value": ratio.value,
            "low": interval.low if interval else None,
            "high": interval.high if interval else None,
        },
        "verdict": verdict
        and {"kind": verdict.kind.value, "words": verdict.words, "repeats_needed": verdict.repeats_needed},
        "refused": (against.refused or None) if against else None,
    }
