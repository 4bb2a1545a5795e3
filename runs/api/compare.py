"""Comparisons over REST: the compare page's groups, ratios and verdicts, from the same function; saved ones too."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import QuerySet
from django.http import QueryDict
from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import generics, serializers
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.pagination import PageNumberPagination
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.answers.ask import headline
from runs.answers.curve_words import CurveWords
from runs.api.serializers import AnswerField, PageField
from runs.charts.drawing import Drawing, DrawnMetric, draw
from runs.compare import reports
from runs.compare.axes import SCALES, VIEWS, X_AS, Y_AS
from runs.compare.compare import compare_selection
from runs.compare.comparison import Comparison
from runs.compare.grouping import GROUPINGS
from runs.compare.groups import Dot, Gap, Group, Printed
from runs.compare.guard import Difference
from runs.compare.levels import NO_LEVELS, Levels, Series
from runs.compare.matrix import Matrix, matrix
from runs.compare.panels import Curve, Panel, Point
from runs.compare.select import Selection, select
from runs.compare.sweep import LevelRow
from runs.models import Metric, Report
from runs.stats import Interval, Ranks, Ratio, Summary, Verdict


class StatedField(serializers.CharField):
    """Null where nothing is stated."""

    def to_representation(self, value: Any) -> str | None:  # type: ignore[override]
        return super().to_representation(value) or None


class ComparedMetricSerializer(serializers.Serializer[Metric]):
    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # not the field's own label
    unit = serializers.CharField()
    better = serializers.CharField()


class ComparedRatioSerializer(serializers.Serializer[Ratio]):
    """Of the geometric means, to the baseline; the interval is null with too few repeats.

    `confidence` is 0.95, and more where the levels of Holm ask for more because several groups are compared at once.
    """

    value = serializers.FloatField()
    low = serializers.FloatField(source="interval.low", allow_null=True)
    high = serializers.FloatField(source="interval.high", allow_null=True)
    confidence = serializers.FloatField()
    p = serializers.FloatField(allow_null=True)


class VerdictSerializer(serializers.Serializer[Verdict]):
    kind = serializers.CharField()
    words = serializers.CharField()
    repeats_needed = serializers.IntegerField(allow_null=True)
    ranks = AnswerField(Ranks | None)
    robustness = StatedField(allow_null=True, help_text="What the ranks say, from six repeats a side on.")


class LevelRowSerializer(serializers.Serializer[LevelRow]):
    """One level: groups of the series (`groups`) against those of the baseline (`baselines`), by their keys."""

    label = serializers.CharField()  # type: ignore[assignment]  # not the field's own label
    groups = serializers.ListField(child=serializers.CharField(), source="keys")
    baselines = serializers.ListField(child=serializers.CharField(), source="base_keys")
    ratio = ComparedRatioSerializer(source="against.ratio", allow_null=True)
    verdict = VerdictSerializer(source="against.verdict", allow_null=True)
    words = serializers.CharField(source="against.words")
    refused = StatedField(source="against.refused", allow_null=True)
    differences = AnswerField(list[Difference], source="against.differences")


class ComparedSeriesSerializer(serializers.Serializer[Series]):
    """`ratio`: the geometric mean of the ratios of the levels, null where it depends on the level; `words` say so."""

    label = serializers.CharField()  # type: ignore[assignment]  # not the field's own label
    ratio = ComparedRatioSerializer(allow_null=True)
    kind = serializers.CharField(source="overall.kind", default=None, allow_null=True)
    words = serializers.CharField()
    of_repeats = serializers.BooleanField(
        source="verdicts.of_repeats",
        help_text="Whether the interval follows from the repeats of each level, or from how the levels differ.",
    )
    p_alike = serializers.FloatField(
        source="verdicts.p_alike", allow_null=True, help_text="Of the hypothesis that all levels have one ratio."
    )
    levels = LevelRowSerializer(many=True, source="rows")


class LevelsSerializer(serializers.Serializer[Levels]):
    """Series at equal `held` facts, each against `baseline`."""

    compared = serializers.ListField(child=serializers.CharField(), source="sweep.compared")
    held = serializers.ListField(child=serializers.CharField(), source="sweep.held")
    baseline = serializers.CharField(source="base_label")
    family = serializers.IntegerField()
    series = ComparedSeriesSerializer(many=True)


class ComparedSummarySerializer(serializers.Serializer[Summary]):
    """`stdev` is that of a sample, `cv` its share of the mean."""

    mean = serializers.FloatField()
    minimum = serializers.FloatField()
    maximum = serializers.FloatField()
    stdev = serializers.FloatField(allow_null=True)
    cv = serializers.FloatField(allow_null=True)
    geometric_mean = serializers.FloatField(allow_null=True)


class ComparedRepeatSerializer(serializers.Serializer[Dot]):
    run = serializers.UUIDField(source="run.id")
    repeat = serializers.IntegerField(source="run.repeat")
    value = serializers.FloatField()
    provenance = serializers.CharField()


class MissingRepeatSerializer(serializers.Serializer[Gap]):
    run = serializers.UUIDField(source="run.id")
    repeat = serializers.IntegerField(source="run.repeat")
    reason = serializers.CharField()


class ComparedGroupSerializer(serializers.Serializer[Group]):
    """A cell. `refused` says why it must not be set against the baseline."""

    key = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]  # not the field's own label
    factors = serializers.DictField(child=serializers.CharField())
    is_baseline = serializers.BooleanField()
    ranked = serializers.BooleanField()
    demonstration = serializers.BooleanField()
    n = serializers.IntegerField()
    values = serializers.ListField(child=serializers.FloatField())
    median = serializers.FloatField(allow_null=True)
    statistic = StatedField(
        source="centre_name", allow_null=True, help_text="What `value`, interval, ratio and verdict are of."
    )
    value = serializers.FloatField(source="centre", allow_null=True)
    merged_percentile = serializers.FloatField(
        allow_null=True, help_text="a percentile of all repeats together, from their merged histograms"
    )
    interval = AnswerField(Interval | None)
    summary = ComparedSummarySerializer(allow_null=True)
    against = StatedField(
        source="against.base", allow_null=True, help_text="Key of the group it is set against, where it is its level's."
    )
    ratio = ComparedRatioSerializer(source="against.ratio", allow_null=True)
    verdict = VerdictSerializer(source="against.verdict", allow_null=True)
    refused = StatedField(source="against.refused", allow_null=True)
    differences = AnswerField(list[Difference])
    durability = StatedField(allow_null=True)
    doubt = StatedField(allow_null=True, help_text="What was measured against the durability class.")
    runs = serializers.ListField(child=serializers.UUIDField(), source="run_ids")
    batches = serializers.ListField(child=serializers.UUIDField(), help_text="Which its runs belong to.")
    repeats = ComparedRepeatSerializer(many=True, source="dots")
    gaps = serializers.ListField(child=serializers.CharField(), source="gap_notes")
    missing = MissingRepeatSerializer(many=True, source="gaps")
    printed = AnswerField(list[Printed])


class ComparisonSerializer(serializers.Serializer[Comparison]):
    grouping = serializers.CharField(help_text="What is pooled: batch, label, version, date or all.")
    pooled_words = serializers.CharField(
        source="pooled", help_text="What is pooled beyond batches on request, in words; else empty."
    )
    metric = ComparedMetricSerializer(allow_null=True)
    unit = serializers.CharField(source="metric.unit", allow_null=True)
    baseline = serializers.CharField(source="baseline.key", allow_null=True)
    groups = ComparedGroupSerializer(many=True)
    common = serializers.DictField(child=serializers.CharField(), source="common_values")
    varying = serializers.ListField(child=serializers.CharField(), source="varying_labels")
    headline = serializers.SerializerMethodField(help_text="The answer in words; names a winner only with a verdict.")
    threshold = serializers.FloatField(help_text="A difference below this share of 1 is too small to matter.")
    family = serializers.IntegerField(help_text="Comparisons with the baseline, judged together (Holm).")
    warnings = serializers.ListField(child=serializers.CharField())
    levels = LevelsSerializer(
        allow_null=True, help_text="Where groups are set against each other level by level, not against one baseline."
    )
    pairs = serializers.SerializerMethodField(help_text="All pairs, of three to twenty groups or series; else null.")
    left_out = serializers.IntegerField()

    def get_headline(self, comparison: Comparison) -> str | None:
        return headline(comparison, self.context.get("params")) or None

    @extend_schema_field(AnswerField(Matrix | None))
    def get_pairs(self, comparison: Comparison) -> Any:
        return AnswerField(Matrix | None).to_representation(matrix(comparison))


class DrawnPointSerializer(serializers.Serializer[Point]):
    """`groups`: key of the group, of the first where several are pooled. `value` is null where all is lost."""

    x = serializers.FloatField()
    label = serializers.CharField()  # type: ignore[assignment]  # not the field's own label
    group = serializers.CharField(source="group.key")
    value = serializers.FloatField(source="group.centre", allow_null=True)
    interval = AnswerField(Interval | None, source="group.interval")
    n = serializers.IntegerField(source="group.n")
    values = serializers.ListField(child=serializers.FloatField(), source="group.values")
    gap = serializers.CharField(source="group.gap", allow_null=True)


class DrawnCurveSerializer(serializers.Serializer[Curve]):
    label = serializers.CharField()  # type: ignore[assignment]  # not the field's own label
    key = serializers.CharField()
    points = DrawnPointSerializer(many=True)


class DrawnPanelSerializer(serializers.Serializer[Panel]):
    label = serializers.CharField()  # type: ignore[assignment]  # not the field's own label
    key = serializers.CharField()
    curves = DrawnCurveSerializer(many=True)


class SaidSerializer(serializers.Serializer[CurveWords]):
    """What stands beneath a curve; `numbers` by the names of docs/method/curves.md, shares of 1, null where none."""

    panel = serializers.CharField()
    series = serializers.CharField()
    sentences = serializers.ListField(child=serializers.CharField())
    numbers = serializers.JSONField()


class DrawnMetricSerializer(serializers.Serializer[DrawnMetric]):
    metric = ComparedMetricSerializer(allow_null=True)
    panels = DrawnPanelSerializer(many=True, help_text="Of a curve, a heat map, a table; in per cent where y_as asks.")
    groups = DrawnPointSerializer(many=True, help_text="Of bars and of a trade-off; x says nothing there.")
    said = SaidSerializer(
        many=True, source="curve_words", help_text="Of each curve with three levels: losses, knee, scaling law."
    )


class DrawingSerializer(serializers.Serializer[Drawing]):
    """What the page draws: facts are named as in the parameters x, series, panels, fix, pool."""

    view = serializers.ChoiceField(list(VIEWS), source="axes.view")
    x = serializers.CharField(source="axes.x")
    series = serializers.ListField(child=serializers.CharField(), source="axes.series")
    panels = serializers.CharField(source="axes.panels")
    fixed = serializers.DictField(child=serializers.CharField(), source="axes.fixed")
    pooled = serializers.ListField(child=serializers.CharField(), source="axes.pooled")
    follow = serializers.ListField(
        child=serializers.CharField(), source="axes.follow", help_text="Facts that follow from the chosen ones."
    )
    facts = serializers.ListField(child=serializers.CharField(), source="axes.facts", help_text="All that vary.")
    metrics = DrawnMetricSerializer(many=True, source="by_metric")


class DrawnComparisonSerializer(ComparisonSerializer):
    drawing = DrawingSerializer()


def answer(comparison: Comparison, drawing: Drawing, params: QueryDict) -> dict[str, Any]:
    told = ComparisonSerializer(comparison, context={"params": params}).data
    return {**told, "drawing": DrawingSerializer(drawing).data}


class Compare(APIView):
    @extend_schema(
        parameters=[
            OpenApiParameter("run", str, many=True, description="Ids of runs."),
            OpenApiParameter("cell", str, many=True, description="Keys of cells, or at least 8 characters of them."),
            OpenApiParameter(
                "set",
                str,
                many=True,
                description="A set of runs: a query of its own, encoded, such as publication%3Dtpcb-2010. Sets add up.",
            ),
            OpenApiParameter("base_set", int, description="Number of the set whose first group is the baseline."),
            OpenApiParameter("s", str, description="Id of a stored selection of runs."),
            OpenApiParameter(
                "metric",
                str,
                many=True,
                description="Names of metrics, four at most; verdicts are of the first. The workload's primary one.",
            ),
            OpenApiParameter("baseline", str, description="Key of a group; without it the first one."),
            OpenApiParameter(
                "group", str, enum=list(GROUPINGS), description="What is pooled; without it repeats of one batch."
            ),
            OpenApiParameter("order", str, enum=["best"], description="By geometric mean, best first."),
            OpenApiParameter(
                "compared", str, description="Fact that names the series compared level by level, or none."
            ),
            OpenApiParameter("held", str, many=True, description="Facts that are equal in each level; else all."),
            OpenApiParameter("threshold", float, description="In per cent: from where on a difference matters."),
            OpenApiParameter("view", str, enum=list(VIEWS), description="What is drawn; without it by what varies."),
            OpenApiParameter("x", str, description="Fact of the x axis, as factor:scale_factor, or none."),
            OpenApiParameter("series", str, many=True, description="Facts that name a series together, or none."),
            OpenApiParameter("panels", str, description="Fact that cuts into panels, or none."),
            OpenApiParameter("fix", str, many=True, description="FACT=VALUE: only this level."),
            OpenApiParameter("pool", str, many=True, description="Facts whose levels are taken together."),
            OpenApiParameter("x_as", str, enum=list(X_AS), description="What stands on the x axis for a level."),
            OpenApiParameter("y_as", str, enum=list(Y_AS), description="Values, or per cent of which."),
            OpenApiParameter("x_scale", str, enum=list(SCALES)),
            OpenApiParameter("y_scale", str, enum=list(SCALES)),
        ],
        responses={200: DrawnComparisonSerializer},
    )
    def get(self, request: Request) -> Response:
        """Groups of repeats set against a baseline. Runs are chosen by `run`, `cell`, `set` and the list's filters."""
        params = request.query_params
        selection = select(params, request.user)
        if selection.problems:
            raise ValidationError(selection.problems)
        if not selection.given:
            raise ValidationError({"run": ["Choose runs: by run, cell, set, or by the filters of the list of runs."]})
        refuse_unseen(params.getlist("run"), selection)
        comparison = compare_selection(selection, params)
        drawing = draw(comparison, params)
        _refuse_unknown_names(params, comparison, drawing)
        return Response(answer(comparison, drawing, params))


def refuse_unseen(wanted: list[str], selection: Selection) -> None:
    """A run that is not there, or not for this person, must not be missing silently."""
    if selection.left_out:
        return
    chosen = {str(run.id) for run in selection.runs}
    missing = [text for text in wanted if text and str(UUID(text)) not in chosen]
    if missing:
        raise NotFound(f"No run here has the id {missing[0]}.")


def _refuse_unknown_names(params: QueryDict, comparison: Comparison, drawing: Drawing) -> None:
    """A page falls back to what it has; a program that asks for one thing must not be answered another."""
    errors: dict[str, list[str]] = {**drawing.axes.problems}
    grouping, baseline = params.get("group", ""), params.get("baseline", "")
    compared, levels = params.get("compared", ""), comparison.levels
    if compared not in ("", NO_LEVELS) and (levels is None or compared not in levels.sweep.compared):
        there = ", ".join(fact.field for fact in levels.choices) if levels else "none"
        errors["compared"] = [f"Not comparable level by level. There are: {there}."]
    if grouping and grouping not in GROUPINGS:
        errors["group"] = [f"There is no such grouping. There are: {', '.join(GROUPINGS)}."]
    names = [compared.name for compared in comparison.metrics]
    if any(metric not in names for metric in params.getlist("metric") if metric):
        errors["metric"] = [f"No run has it. There are: {', '.join(dict.fromkeys(names)) or 'none'}."]
    keys = [group.key for group in comparison.groups if group.dots]
    if baseline and baseline not in keys:
        errors["baseline"] = [f"There is no such group with values. There are: {', '.join(keys) or 'none'}."]
    if errors:
        raise ValidationError(errors)


class ReportSerializer(serializers.ModelSerializer[Report]):
    url = PageField(help_text="The report's page.")
    title = serializers.CharField(source="name")
    owner = serializers.CharField(source="owner.username", default=None, allow_null=True)
    frozen_at = serializers.DateTimeField(source="frozen.at", default=None, allow_null=True)
    frozen_version = serializers.CharField(
        source="frozen.version", default=None, allow_null=True, help_text="Of the program that froze it."
    )

    class Meta:
        model = Report
        fields = [
            "slug", "url", "title", "note", "query", "visibility", "owner", "created_at", "frozen_at", "frozen_version",
        ]  # fmt: skip


class ReportDetailSerializer(ReportSerializer):
    comparison = DrawnComparisonSerializer(
        allow_null=True,
        help_text="as /compare/ answers it; of a frozen report as it was then, null where a run is not for the reader",
    )

    class Meta(ReportSerializer.Meta):
        fields = [*ReportSerializer.Meta.fields, "comparison"]


class ReportPagination(PageNumberPagination):
    page_size = 50


class ReportList(generics.ListAPIView[Report]):
    """Reports, newest first: public ones and one's own."""

    serializer_class = ReportSerializer
    pagination_class = ReportPagination
    filter_backends: list[Any] = []

    def get_queryset(self) -> QuerySet[Report]:
        return Report.objects.present().listed_for(self.request.user).select_related("owner")


class ReportDetail(APIView):
    @extend_schema(
        parameters=[OpenApiParameter("live", bool, description="The numbers of now, also of a frozen report.")],
        responses={200: ReportDetailSerializer},
    )
    def get(self, request: Request, slug: str) -> Response:
        """One report with its comparison, of the runs that the reader may see."""
        rows = Report.objects.present().readable_by(request.user).select_related("owner")
        report = get_object_or_404(rows, slug=slug)
        body = ReportSerializer(report, context={"request": request}).data
        if report.frozen and not request.query_params.get("live"):
            seen = reports.may_read_frozen(report, request.user)
            return Response({**body, "comparison": report.frozen["comparison"] if seen else None})
        _, comparison = reports.live(report, request.user)
        params = reports.params_of(report)
        return Response({**body, "comparison": answer(comparison, draw(comparison, params), params)})
