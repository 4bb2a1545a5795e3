"""Comparisons over REST: the compare page's groups, ratios and verdicts, from the same function; saved ones too."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Self
from uuid import UUID

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import OpenApiParameter, extend_schema
from pydantic import BeforeValidator, ConfigDict, Field, ModelWrapValidatorHandler, WithJsonSchema, model_validator
from rest_framework.exceptions import NotFound, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from runs.answers.words import headline
from runs.answers.words.curves import CurveWords
from runs.answers.words.gaps import gap_notes, refusal_words
from runs.answers.words.matrix import Matrix, matrix
from runs.answers.words.verdicts import against_words, robustness_words, series_words, verdict_words
from runs.answers.words.warnings import not_here_words, since_frozen_words, warnings_of
from runs.api.outgoing import PAGING, Outgoing, Page, Username, page_of, paged, source
from runs.charts.drawing import Drawing, draw
from runs.compare import reports
from runs.compare.axes import SCALES, VIEWS, X_AS, Y_AS
from runs.compare.compare import compare_selection, unread
from runs.compare.comparison import Comparison
from runs.compare.grouping import GROUPINGS
from runs.compare.groups import Printed
from runs.compare.guard import Difference
from runs.compare.levels import LevelSeries
from runs.compare.select import Selection, select
from runs.models import Report
from runs.models.choices import Visibility
from runs.stats import Interval, Ranks, Verdict

# Null where nothing is stated.
Stated = Annotated[str | None, BeforeValidator(lambda value: value or None)]
Refusal = Annotated[str | None, BeforeValidator(lambda against: refusal_words(against) or None)]
Names = Annotated[list[str], BeforeValidator(list)]
# The keys of groups, and of facts.
Keys = Annotated[list[str], BeforeValidator(lambda groups: [group.key for group in groups])]
FieldNames = Annotated[list[str], BeforeValidator(lambda facts: [fact.field for fact in facts])]

# What is said in words is not read of the thing, and there all the same.
ALWAYS_THERE = ConfigDict(json_schema_serialization_defaults_required=True)


class ComparedMetric(Outgoing):
    name: str
    label: str
    unit: str
    better: str


class ComparedRatio(Outgoing):
    """The ratio of the geometric means to the baseline; the interval is null with too few repeats.

    `confidence` is 0.95, and more where the levels of Holm ask for more because several groups are compared at once.
    """

    value: float
    low: float | None = source("interval.low", default=None)
    high: float | None = source("interval.high", default=None)
    confidence: float
    p: float | None


class ComparedVerdict(Outgoing):
    """`robustness`: what the ranks say, from six repeats a side on."""

    model_config = ALWAYS_THERE

    kind: str
    words: str = ""
    repeats_needed: int | None
    ranks: Ranks | None
    robustness: str | None = None

    @model_validator(mode="wrap")
    @classmethod
    def _in_words(cls, verdict: Verdict, read: ModelWrapValidatorHandler[Self]) -> Self:
        words = {"words": verdict_words(verdict), "robustness": robustness_words(verdict) or None}
        return read(verdict).model_copy(update=words)


class ComparedLevel(Outgoing):
    """One level: groups of the series (`groups`) against those of the baseline (`baselines`), by their keys."""

    label: str
    groups: Keys
    baselines: Keys = source("bases")
    ratio: ComparedRatio | None = source("against.ratio")
    verdict: ComparedVerdict | None = source("against.verdict")
    words: Annotated[str, BeforeValidator(against_words)] = source("against")
    refused: Refusal = source("against")
    differences: list[Difference] = source("against.differences")


class ComparedSeries(Outgoing):
    """`ratio`: the geometric mean of the ratios of the levels, null where it depends on the level; `words` say so.

    `of_repeats`: whether the interval follows from the repeats of each level, or from how the levels differ. `p_alike`:
    of the hypothesis that all levels have one ratio.
    """

    model_config = ALWAYS_THERE

    label: str
    ratio: ComparedRatio | None
    kind: str | None = source("overall.kind", default=None)
    words: str = ""
    of_repeats: bool = source("verdicts.of_repeats")
    p_alike: float | None = source("verdicts.p_alike")
    levels: list[ComparedLevel] = source("rows")

    @model_validator(mode="wrap")
    @classmethod
    def _in_words(cls, series: LevelSeries, read: ModelWrapValidatorHandler[Self]) -> Self:
        return read(series).model_copy(update={"words": series_words(series)})


class ComparedLevels(Outgoing):
    """Series at equal `held` facts, each against `baseline`."""

    compared: FieldNames
    held: FieldNames
    baseline: str = source("base_label")
    family: int
    series: list[ComparedSeries]


class ComparedSummary(Outgoing):
    """`stdev` is that of a sample, `cv` its share of the mean."""

    mean: float
    minimum: float
    maximum: float
    stdev: float | None
    cv: float | None
    geometric_mean: float | None


class ComparedRepeat(Outgoing):
    run: UUID = source("run.id")
    repeat: int = source("run.repeat")
    value: float
    provenance: str


class MissingRepeat(Outgoing):
    run: UUID = source("run.id")
    repeat: int = source("run.repeat")
    reason: str


class ComparedGroup(Outgoing):
    """A cell. `refused` says why it must not be set against the baseline; `against`: key of the group that it is set
    against, where that is its level's. `value`, interval, ratio and verdict are of the `statistic`.

    `merged_percentile`: of all repeats together, from their merged histograms. `doubt`: what was measured against the
    durability class.
    """

    key: str
    label: str
    factors: dict[str, str]
    is_baseline: bool
    ranked: bool
    demonstration: bool
    n: int
    values: list[float]
    median: float | None
    statistic: Stated = source("summary.centre_name", default=None)
    value: float | None = source("centre")
    merged_percentile: float | None
    interval: Interval | None
    summary: ComparedSummary | None
    against: Stated = source("against.base", default=None)
    ratio: ComparedRatio | None = source("against.ratio", default=None)
    verdict: ComparedVerdict | None = source("against.verdict", default=None)
    refused: Refusal = source("against")
    differences: list[Difference] = source("against.differences", default_factory=list)
    durability: Stated = source("conditions.durability")
    doubt: Stated
    runs: list[UUID] = source("run_ids")
    batches: list[UUID]
    repeats: list[ComparedRepeat] = source("dots")
    gaps: Annotated[list[str], BeforeValidator(gap_notes)]
    missing: list[MissingRepeat] = source("gaps")
    printed: list[Printed]


class DrawnPoint(Outgoing):
    """`group`: its key, of the first where several are pooled. `value` is null where all is lost."""

    x: float
    label: str = source("x_words")
    group: str = source("key")
    value: float | None = source("centre")
    interval: Interval | None
    n: int
    values: list[float]
    gap: str | None


class DrawnCurve(Outgoing):
    label: str
    key: str
    points: list[DrawnPoint]


class DrawnPanel(Outgoing):
    label: str
    key: str
    curves: list[DrawnCurve]


class DrawnByMetric(Outgoing):
    """`panels` of a curve, a heat map, a table, in per cent where y_as asks; `groups` of bars and of a trade-off, where
    x says nothing. `said` of each curve with three levels: losses, knee, scaling law.
    """

    metric: ComparedMetric | None
    panels: list[DrawnPanel]
    groups: list[DrawnPoint]
    said: list[CurveWords] = source("curve_words")


class DrawnView(Outgoing):
    """What the page draws: facts are named as in the parameters x, series, panels, fix, pool. `facts`: all that vary;
    `follow`: those that follow from the chosen ones.
    """

    view: str = source("axes.view")
    x: str = source("axes.x")
    series: list[str] = source("axes.series")
    panels: str = source("axes.panels")
    fixed: dict[str, str] = source("axes.fixed")
    pooled: list[str] = source("axes.pooled")
    follow: list[str] = source("axes.follow")
    facts: Names = source("axes.facts")
    metrics: list[DrawnByMetric] = source("by_metric")


class DrawnComparison(Outgoing):
    """`grouping`: what is pooled, in words where it is more than batches (`pooled_words`). `threshold`: a difference
    below this share of 1 is too small to matter. `family`: comparisons judged together (Holm).

    `levels`: where groups are set against each other level by level. `pairs`: all of three to twenty groups or series.
    `headline`: the answer in words, which names a winner only with a verdict. `not_here`: runs that are named and are
    deleted or not for the reader.
    """

    grouping: str
    pooled_words: str = source("pooled")
    metric: ComparedMetric | None
    unit: str | None = source("metric.unit", default=None)
    baseline: str | None = source("baseline.key", default=None)
    groups: list[ComparedGroup]
    common: Annotated[dict[str, str], BeforeValidator(lambda facts: {fact.label: fact.value for fact in facts})]
    varying: Annotated[list[str], BeforeValidator(lambda facts: [fact.label for fact in facts])]
    headline: Stated = None
    threshold: float
    family: int = source("verdicts.family")
    warnings: list[str] = Field(default_factory=list)
    levels: ComparedLevels | None
    pairs: Matrix | None = None
    left_out: int
    not_here: int = 0
    drawing: DrawnView | None = None


def answer(comparison: Comparison, drawing: Drawing) -> dict[str, Any]:
    shown = DrawnComparison.model_validate(comparison).model_copy(
        update={
            "headline": headline(comparison) or None,
            "pairs": matrix(comparison),
            "warnings": warnings_of(comparison),
            "drawing": DrawnView.model_validate(drawing),
        }
    )
    return shown.model_dump(mode="json")


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
        responses={200: DrawnComparison},
    )
    def get(self, request: Request) -> Response:
        """Groups of repeats set against a baseline. Runs are chosen by `run`, `cell`, `set` and the list's filters."""
        comparison, drawing = drawn(request, selected(request))
        return Response(answer(comparison, drawing))


def drawn(request: Request, selection: Selection) -> tuple[Comparison, Drawing]:
    """A program that asks for one thing must not be answered another."""
    comparison = compare_selection(selection)
    drawing = draw(comparison)
    if errors := unread(selection.address, comparison, drawing.axes):
        raise ValidationError(errors)
    return comparison, drawing


def selected(request: Request) -> Selection:
    """What the address chooses, where it is understood.

    A run that is not there, or not for this person, must not be missing silently. Blanks name none, of any kind.
    """
    selection = select(request.query_params, request.user)
    if selection.problems:
        raise ValidationError(selection.problems)
    if not selection.given:
        raise ValidationError({"run": ["Choose runs: by run, cell, set, or by the filters of the list of runs."]})
    wanted = [text for text in request.query_params.getlist("run") if text.strip()]
    chosen = {str(run.id) for run in selection.runs}
    missing = [text for text in wanted if str(UUID(text)) not in chosen]
    if missing and not selection.left_out:
        raise NotFound(f"No run here has the id {missing[0]}. {not_here_words(len(missing))}")
    return selection


class ReportHead(Outgoing):
    """`url`: the report's page. `frozen_version`: of the program that froze it."""

    slug: str
    url: str
    title: str
    note: str
    query: str
    visibility: Visibility
    owner: Username
    created_at: datetime
    frozen_at: Annotated[str | None, WithJsonSchema({"type": ["string", "null"], "format": "date-time"})]
    frozen_version: str | None

    @classmethod
    def of(cls, row: Report, **values: Any) -> Self:
        """`request` is in `values`."""
        frozen = row.frozen or {}
        return super().of(
            row, url=page_of(row, values["request"]), title=row.name,
            frozen_at=frozen.get("at"), frozen_version=frozen.get("version"),
        )  # fmt: skip


class FrozenSince(Outgoing):
    """`runs`: how many were frozen; `invalid`: why by id of those marked invalid since, `deleted`: ids of others."""

    runs: int
    invalid: dict[UUID, str]
    deleted: list[UUID]
    words: str


class ReportDetailed(ReportHead):
    """`comparison`: as /compare/ answers it; of a frozen report as it was then, null where a run is not for the
    reader. `since_frozen`: null where nothing became of its runs."""

    comparison: DrawnComparison | None
    since_frozen: FrozenSince | None


class ReportPage(Page):
    results: list[ReportHead]


class ReportList(APIView):
    @extend_schema(operation_id="v1_reports_list", parameters=PAGING, responses={200: ReportPage})
    def get(self, request: Request) -> Response:
        """Reports, newest first: public ones and one's own."""
        rows = Report.objects.present().listed_for(request.user).select_related("owner")
        return paged(request, rows, lambda shown: [ReportHead.of(row, request=request) for row in shown])


class ReportDetail(APIView):
    @extend_schema(
        parameters=[OpenApiParameter("live", bool, description="The numbers of now, also of a frozen report.")],
        responses={200: ReportDetailed},
    )
    def get(self, request: Request, slug: str) -> Response:
        """One report with its comparison, of the runs that the reader may see."""
        rows = Report.objects.present().readable_by(request.user).select_related("owner")
        report = get_object_or_404(rows, slug=slug)
        body = ReportHead.of(report, request=request).model_dump(mode="json")
        if report.frozen and not request.query_params.get("live"):
            seen, since = reports.may_read_frozen(report, request.user), reports.since_frozen(report, request.user)
            told = FrozenSince.of(since, words=since_frozen_words(since)).model_dump(mode="json") if since else None
            return Response({**body, "comparison": report.frozen["comparison"] if seen else None, "since_frozen": told})
        _, comparison = reports.live(report, request.user)
        return Response({**body, "comparison": answer(comparison, draw(comparison)), "since_frozen": None})
